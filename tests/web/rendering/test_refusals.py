"""Errors on pages: each rule in each language."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from flask import Flask

import leaseq
import leaseq.webapp
from leaseq import Invalid, sentences, transfer
from leaseq.form import check_result
from leaseq.sentences.rule import placeholders
from leaseq.transfer import BadRow
from leaseq.webapp.i18n import LANGUAGES
from leaseq.webapp.refusals import fault_in_words, in_words, reason_of, reasons_by_field
from leaseq.webapp.serving.problem import Problem
from tests.web.conftest import Browser

OTHER_LANGUAGES = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_each_rule_is_translated_with_the_same_values(language: str) -> None:
    file = Path(leaseq.webapp.__path__[0]) / "translations" / language / "LC_MESSAGES" / "messages.po"
    translations = {
        one.id: str(one.string) for one in read_po(io.BytesIO(file.read_bytes()), locale=language)
    }
    wrong = [
        text
        for text in sentences.texts()
        if not translations.get(text) or placeholders(translations[text]) != placeholders(text)
    ]
    assert wrong == []


def test_error_is_said_in_the_language_of_the_page(app: Flask) -> None:
    error = Invalid("priority", "range", minimum=0, maximum=1_000_000, value="x")
    with app.test_request_context(headers={"Accept-Language": "en"}):
        assert in_words(error) == "Priority: expected a whole number from 0 to 1,000,000, got 'x'"
        assert reason_of(error) == "expected a whole number from 0 to 1,000,000, got 'x'"
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert in_words(error).startswith("Priorität: erwartet: eine ganze Zahl von 0 bis 1.000.000;")


def test_misfit_of_answer_is_said_in_the_language_of_the_page(app: Flask) -> None:
    with pytest.raises(Invalid) as error:
        check_result({"ask": {"type": "object", "minProperties": 2}}, {"a": 1})
    with app.test_request_context(headers={"Accept-Language": "de"}):
        (reason,) = reasons_by_field(error.value).values()
        assert "mindestens 2" in reason
        assert reasons_by_field(Invalid("token", "closed")) == {
            "token": reason_of(Invalid("token", "closed"))
        }


def test_sentence_of_a_rule_does_not_begin_with_the_field(app: Flask) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        text = in_words(Invalid("name", "taken", what="person", name="ann"))
    assert "ann" in text
    assert not text.startswith(("Name:", "name:"))


def test_role_is_named_as_on_other_pages(app: Flask) -> None:
    problem = Problem.of(403, "forbidden", "role", needed="admin", yours="worker")
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert "Mitarbeiter" in in_words(problem)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "empty"),
        (b"a,b\n1\n", "header"),
        (b"a,a\n1,2\n", "column_twice"),
        (b"a;b,c\n", "splits"),
        (b'a\n"\n', "quote"),
    ],
)
def test_row_of_a_file_is_refused_in_german(app: Flask, data: bytes, what: str) -> None:
    row = next(transfer.read(io.BytesIO(data), "csv"))
    assert isinstance(row, BadRow)
    assert row.error.values["what"] == what
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert fault_in_words(row) != row.fault


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/nowhere", 404, "unter dieser Adresse ist nichts"),
        ("/q/not-there", 404, "es gibt keine Warteschlange „not-there“, oder Sie haben keinen Zugang zu ihr"),
        ("/manage", 403, "nur Manager können diese Seite öffnen"),
    ],
)
def test_error_page_is_fully_translated(
    worker_browser: Browser, path: str, status: int, message: str
) -> None:
    response = worker_browser.get(path, headers={"Accept-Language": "de"})
    assert response.status_code == status
    assert message.lower() in response.text.lower()
    assert '<p lang="en">' not in response.text


def test_a_detail_that_has_no_translation_is_marked_as_english(
    manager_browser: Browser, queue: leaseq.Queue
) -> None:
    queue.configure()
    response = manager_browser.get(f"/manage/{queue.name}/pause", headers={"Accept-Language": "de"})
    assert response.status_code == 405
    assert '<p lang="en">The method is not allowed' in response.text

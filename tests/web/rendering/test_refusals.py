"""Messages for refused fields: in English as for programs, and translated on German pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

import leaseq
from leaseq import Invalid, validation
from leaseq.webapp.rendering import refusals
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.search.criteria import search_of
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import group_of
from tests.web.conftest import Browser

REFUSALS: list[tuple[Callable[[], object], str]] = [
    (lambda: validation.person_name("x" * 65), "[Person]: [1 to %(most)s printable characters] 64"),
    (lambda: validation.integer(7, "days", 1, 5), "[Days]: [a whole number from %(least)s to %(most)s] 1 5"),
    (lambda: validation.skills(["No Good"]), "[Skills]: [at most %(most)s skills, each 1 to 64 characters "),
    (lambda: validation.one_of("x", ("a", "b"), "order"), "[Order]: [one of %(values)s] a, b"),
    (lambda: validation.load_json("{", "payload"), "[Payload]: [well-formed JSON (%(why)s)]"),
    (
        lambda: group_of("work", [], [], []),
        "[Who may work]: [at least one person, skill or team; or ",
    ),
    (lambda: search_of({"from": "soon"}), "[From]: [a day such as 2026-11-21, or a time such as "),
    (lambda: search_of({"order": "up"}), "[Order]: [newest or oldest]"),
]


@pytest.fixture
def marked_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each translated text is in brackets, followed by the values filled in."""

    class MarkedText(str):
        __slots__ = ()

        def __mod__(self, values: object) -> str:
            assert isinstance(values, dict)
            return f"{self} {' '.join(values.values())}"

    class LazyText(str):
        __slots__ = ()

        def __str__(self) -> MarkedText:
            return MarkedText(f"[{self[:]}]")

    monkeypatch.setattr(refusals, "gettext", LazyText)


def error_of(refuse: Callable[[], object]) -> Invalid:
    with pytest.raises(Invalid) as error:
        refuse()
    return error.value


@pytest.mark.parametrize(("refuse", "text"), REFUSALS)
@pytest.mark.usefixtures("marked_texts")
def test_refusal_is_translated_to_page_language(app: Flask, refuse: Callable[[], object], text: str) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert in_words(error_of(refuse)).startswith(text), text
    with app.test_request_context(headers={"Accept-Language": "en"}):
        error = error_of(refuse)
        assert in_words(error) == str(error)


@pytest.mark.usefixtures("marked_texts")
def test_sentence_is_translated_and_unknown_rule_stays_english(app: Flask, accounts: Accounts) -> None:
    accounts.add("twice there", by="test")
    with app.test_request_context(headers={"Accept-Language": "de"}):
        error = error_of(lambda: accounts.add("twice there", by="test"))
        assert in_words(error) == "[there is already a person named '%(name)s'] twice there"
        assert in_words(leaseq.Invalid("odd", "a rule of its own")) == "odd: a rule of its own"
        text = in_words(leaseq.Invalid("lease_seconds", "a number from 1 to 9"))
        assert text.endswith("]: [a number from %(least)s to %(most)s] 1 9")
        assert "lease_seconds" not in text


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/nowhere", 404, "unter dieser Adresse ist nichts"),
        ("/q/not-there", 404, "es gibt keine Warteschlange „not-there“, oder Sie haben keinen Zugang zu ihr"),
        ("/manage", 403, "die Rolle Manager, Ihre ist Mitarbeiter"),
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

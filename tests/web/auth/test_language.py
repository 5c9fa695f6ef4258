"""A person chooses the language of the pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from leaseq.webapp import i18n
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.rendering.filters import clock, pace, span
from tests.web.conftest import Browser


@pytest.fixture
def two_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(i18n.LANGUAGES, "de", "Deutsch")


@pytest.mark.usefixtures("two_languages")
def test_chosen_language_persists(worker_browser: Browser) -> None:
    assert '<html lang="en">' in worker_browser.get("/account").text
    response = worker_browser.post("/language", {"language": "de", "next": "/account"})
    assert (response.status_code, response.location) == (303, "/account")
    assert '<html lang="de">' in worker_browser.get("/account").text


@pytest.mark.usefixtures("two_languages")
def test_language_is_chosen_without_sign_in(app: Any) -> None:
    stranger = Browser(app, "nobody")
    assert "Deutsch" in stranger.get("/login").text
    assert stranger.post("/language", {"language": "de"}, page="/login").status_code == 303
    assert '<html lang="de">' in stranger.get("/login").text


@pytest.mark.usefixtures("two_languages")
@pytest.mark.guard("next-after-language")
def test_language_choice_ignores_foreign_next_url(worker_browser: Browser) -> None:
    response = worker_browser.post("/language", {"language": "de", "next": "//elsewhere.example/"})
    assert response.location == "/"


def test_unknown_language_is_refused(worker_browser: Browser) -> None:
    assert worker_browser.post("/language", {"language": "tlh"}).status_code == 400


def test_duration_is_formatted_in_request_language(app: Any) -> None:
    days = 1234 * 86_400 + 3 * 3600 + 2 * 60  # the two largest units
    for language, text in (("en", "1,234 d 3 h"), ("de", "1.234 d 3 h")):
        with app.test_request_context(headers={"Accept-Language": language}):
            assert span(days) == text


@pytest.mark.parametrize(
    ("seconds", "en", "de"),
    [
        (0.34, "0.3 s", "0,3 s"),
        (5, "5 s", "5 s"),
        (9.94, "9.9 s", "9,9 s"),
        (9.96, "10 s", "10 s"),
        (41.6, "41 s", "41 s"),
        (None, "–", "–"),
    ],
)
def test_a_measured_duration_has_tenths_below_ten_seconds(
    app: Any, seconds: float | None, en: str, de: str
) -> None:
    for language, text in (("en", en), ("de", de)):
        with app.test_request_context(headers={"Accept-Language": language}):
            assert pace(seconds) == text


def test_questions_that_no_form_names_are_in_request_language(app: Any) -> None:
    yes_or_no = {"ask": {"type": "object", "properties": {"fine": {"type": "boolean"}}}}
    for language, label, choices in (
        ("en", "Your answer", ["Yes", "No"]),
        ("de", "Ihre Antwort", ["Ja", "Nein"]),
    ):
        with app.test_request_context(headers={"Accept-Language": language}):
            assert [field.label for field in fields_of(None)] == [label]
            assert [choice.label for choice in fields_of(yes_or_no)[0].choices] == choices


def test_time_is_formatted_in_request_language(app: Any) -> None:
    """A script of the page converts it to the time zone of the browser."""
    noon = datetime(2026, 11, 22, 12, 30, 5, tzinfo=UTC)
    for language, text in (("en", "Nov 22, 2026, 12:30:05 UTC"), ("de", "22.11.2026, 12:30:05 UTC")):
        with app.test_request_context(headers={"Accept-Language": language}):
            assert clock(noon) == text


def test_same_page_is_served_in_each_requested_language(worker_browser: Browser) -> None:
    def read(language: str) -> str:
        return str(worker_browser.get("/account", headers={"Accept-Language": language}).text)

    for _ in range(2):
        assert ">Sign out<" in read("en")
        assert ">Abmelden<" in read("de-AT, en;q=0.5")

"""The error page for a refused form shows what was typed, so that it can be copied."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.test import TestResponse

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.form_input import InputField, digest_of
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.web.conftest import PASSWORD, Browser

WORDS = 'forty-two <b> & "more"\n\nsecond line'


@pytest.fixture
def inaccessible_queue(app: Flask, queue: leaseq.Queue) -> Iterator[leaseq.Queue]:
    """A queue with one item, to which nobody has access any longer."""
    queue.configure(title="Secret title")
    queue.enqueue({"secret": "payload"}, id="one")
    access = app.extensions[EXTENSION].access
    access.set(queue.name, Access(Group(teams=("Refunds",)), Group(teams=("Refunds",))))
    yield queue
    access.set(queue.name, Access())


def text_boxes(response: TestResponse) -> dict[str, str]:
    """The text of each box by its label."""
    matches = re.findall(
        r'<label for="input-\d+">([^<]*)</label>\s*<textarea id="input-[^>]*readonly>\n(.*?)</textarea>',
        response.text,
        re.DOTALL,
    )
    return {html.unescape(label): html.unescape(text) for label, text in matches}


@pytest.mark.parametrize(
    ("path", "fields", "expected"),
    [
        (
            "items/one/reopen",
            {"token": "7", "to": "ann", "reason": WORDS},
            {"For": "ann", "Reason": WORDS},
        ),
        ("items/one/answer", {"message": "m-1", "text": WORDS}, {"Message": WORDS}),
        (
            "items/one/change",
            {"priority": "90", "seen_priority": digest_of("90"), "requires": " fr", "payload": WORDS},
            {"Skills": " fr", "Content, as JSON": WORDS},
        ),
        (
            "settings",
            {"title": "New", "was.title": "Old", "instructions": "same", "was.instructions": "same"},
            {"Title": "New"},
        ),
        (
            "items",
            {"text.password": WORDS, "value.postal_code": "1"},
            {"password": WORDS, "postal_code": "1"},
        ),
        ("items/one/correct", {"token": "7", "answer.note": WORDS}, {"note": WORDS}),
    ],
)
def test_manager_form_text_is_shown_after_access_is_lost(
    manager_browser: Browser,
    inaccessible_queue: leaseq.Queue,
    path: str,
    fields: dict[str, str],
    expected: dict[str, str],
) -> None:
    response = manager_browser.post(f"/manage/{inaccessible_queue.name}/{path}", fields)
    assert response.status_code == 404
    assert text_boxes(response) == expected
    assert "ecret" not in response.text


def test_work_form_text_is_shown_after_access_is_lost(
    worker_browser: Browser, inaccessible_queue: leaseq.Queue
) -> None:
    """Without JavaScript; with it, the work page itself keeps what was typed."""
    response = worker_browser.post(
        f"/q/{inaccessible_queue.name}/items/one/finish", {"token": "1", "result": "forty-two"}
    )
    assert response.status_code == 404
    assert text_boxes(response) == {"result": "forty-two"}


def test_multipart_form_text_is_shown_on_403(
    manager_browser: Browser, inaccessible_queue: leaseq.Queue, app: Flask
) -> None:
    app.extensions[EXTENSION].access.set(inaccessible_queue.name, Access(None, Group(teams=("Refunds",))))
    response = manager_browser.post(
        f"/manage/{inaccessible_queue.name}/items/one/change",
        {"payload": WORDS},
        content_type="multipart/form-data",
    )
    assert response.status_code == 403
    assert text_boxes(response) == {"Content, as JSON": WORDS}
    assert "ecret" not in response.text


@pytest.mark.parametrize("origin", ["http://localhost", "http://evil.example", "null", None])
@pytest.mark.guard("typed-here")
def test_stale_csrf_token_shows_form_text_only_for_own_origin(
    manager_browser: Browser, queue: leaseq.Queue, origin: str | None
) -> None:
    queue.configure()
    response = manager_browser.client.post(
        f"/manage/{queue.name}/items/one/answer",
        data={"csrf_token": "of a session that is over", "text": WORDS},
        headers={"Origin": origin} if origin else {},
    )
    assert response.status_code == 403
    is_ours = origin == "http://localhost"
    assert text_boxes(response) == ({"Message": WORDS} if is_ours else {})
    assert ("forty-two" in response.text) is is_ours


def test_form_text_is_shown_after_session_ended(
    manager_browser: Browser, accounts: Accounts, queue: leaseq.Queue
) -> None:
    queue.configure()
    path, token = f"/manage/{queue.name}/items/one/answer", manager_browser.csrf("/account")
    with manager_browser.client.session_transaction() as session:
        accounts.sessions.end(session["_user_id"])
    fields = {"csrf_token": token, "text": WORDS}
    response = manager_browser.client.post(path, data=fields, headers={"Accept": "text/html,*/*;q=0.8"})
    assert response.status_code == 401
    assert text_boxes(response) == {"Message": WORDS}
    assert 'href="/login?next=/"' in response.text
    assert manager_browser.client.post(path, data=fields, headers={"Accept": "*/*"}).status_code == 303, (
        "as for a script"
    )
    empty_response = manager_browser.client.post(
        path, data={"csrf_token": token}, headers={"Accept": "text/html"}
    )
    assert empty_response.status_code == 303, "nothing was typed"


@pytest.mark.guard("typed-no-secret")
def test_a_refused_password_is_not_shown(manager_browser: Browser) -> None:
    fields = {"csrf_token": "wrong", "name": "somebody", "password": PASSWORD}
    response = manager_browser.client.post("/login", data=fields, headers={"Origin": "http://localhost"})
    assert response.status_code == 403
    assert text_boxes(response) == {}
    assert PASSWORD not in response.text


@pytest.mark.parametrize(
    ("text", "rows"), [("", 1), ("x" * 79, 1), ("x" * 80, 2), ("a\n" * 5, 6), ("a\n" * 50, 12)]
)
def test_box_is_as_high_as_its_text_up_to_a_limit(text: str, rows: int) -> None:
    assert InputField("note", text).rows == rows

"""Undo on the page without JavaScript, and the responses to the page's script."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.activity import Activity
from tests.web.conftest import Browser
from tests.web.elements import attribute, element, elements
from tests.web.work_pages import path, send, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks"}
FRAGMENT = {"X-Leaseq-Fragment": "yes"}


def undo_form(queue: leaseq.Queue, lease: leaseq.Lease) -> str:
    return f"form[action='{path(queue, 'items', lease.id, 'undo')}']"


def undo(queue: leaseq.Queue, browser: Browser, lease: leaseq.Lease, **options: Any) -> Any:
    return browser.post(path(queue, "items", lease.id, "undo"), {"token": str(lease.token)}, **options)


def test_undo_reopens_answer_in_form(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "finish", **{**ANSWER, "then": "next"})
    assert elements(worker_browser.get(path(form_queue)).text, undo_form(form_queue, lease))
    response = undo(form_queue, worker_browser, lease)
    assert response.location == path(form_queue) + "?item=one"
    page = worker_browser.get(response.location).text
    assert attribute(page, "[name='answer.note']", "value") == "thanks"
    assert "Undone. Your answer is open again." in page
    assert "Undo" not in page.replace("Undone", "")
    assert form_queue.get("one").answers == ()
    assert {one.id for one in form_queue.mine(worker_browser.name)} == {"one", "two"}


ACTIONS = {
    "later": ("abandon", {"again": "yes"}, "You gave it back. You see it again"),
    "later, with a note": (
        "abandon",
        {"again": "yes", "note": "wants <French>"},
        "You gave it back. You see",
    ),
    "never": (
        "abandon",
        {"again": "no", "reason": "I know her"},
        "You gave it back, and won't see it again.",
    ),
    "failed": ("fail", {"error": "torn"}, "others get it later."),
    "failed for good": ("fail", {"error": "torn"}, "Reported. Your manager sees it."),
}


@pytest.fixture
def activity(app: Flask) -> Activity:
    store: Activity = app.extensions["leaseq"].activity
    return store


@pytest.mark.parametrize("action", ACTIONS)
def test_giving_back_or_failing_item_can_be_undone(
    form_queue: leaseq.Queue, worker_browser: Browser, activity: Activity, action: str
) -> None:
    verb, texts, message = ACTIONS[action]
    if action == "failed for good":
        form_queue.configure(max_attempts=1)
    send(form_queue, worker_browser, take(form_queue, worker_browser), "finish", **ANSWER)
    form_queue.enqueue({"text": "more"}, id="three")
    lease = take(form_queue, worker_browser)
    fields = {"token": str(lease.token), **ANSWER, **texts}
    fragment = worker_browser.post(path(form_queue, "items", lease.id, verb), fields, headers=FRAGMENT)
    assert fragment.status_code == 200
    assert message in html.unescape(fragment.text)
    assert 'data-id="three"' in fragment.text, "the next item comes with it"
    hidden = elements(fragment.text, "#undo input[type=hidden]")
    response = worker_browser.post(
        path(form_queue, "items", lease.id, "undo"),
        {str(field.attributes["name"]): str(field.attributes["value"]) for field in hidden},
        headers=FRAGMENT,
    )
    assert f'data-id="{lease.id}"' in response.text
    assert attribute(response.text, "[name='answer.note']", "value") == "thanks", "it is its draft"
    assert "Undone. You have the item again." in response.text
    assert elements(response.text, "#undo") == []
    for text in {"note", "reason", "error"} & set(texts):
        assert element(response.text, f"details[open] textarea#{text}").text() == texts[text]
    assert {one.id for one in form_queue.mine(worker_browser.name)} == {lease.id, "three"}
    assert form_queue.get(lease.id).failures == 0
    today = activity.today(worker_browser.name, form_queue.name)
    assert (today.finished, today.abandoned, today.failed) == (1, 0, 0)


def test_only_latest_action_can_be_undone(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    """Otherwise, an undo next to "You gave it back" would undo the answer before."""
    first = take(form_queue, worker_browser)
    send(form_queue, worker_browser, first, "finish", **ANSWER)
    send(form_queue, worker_browser, take(form_queue, worker_browser), "abandon", again="yes")
    page = worker_browser.get(path(form_queue)).text
    assert path(form_queue, "items", "two", "undo") in page
    assert path(form_queue, "items", "one", "undo") not in page


def test_postponed_item_returns_if_nothing_else_waits(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    form_queue.remove("two")
    lease = take(form_queue, worker_browser)
    fields = {"token": str(lease.token), "again": "yes"}
    fragment = worker_browser.post(path(form_queue, "items", "one", "abandon"), fields, headers=FRAGMENT)
    assert 'data-id="one"' in fragment.text
    assert "Nothing else waits for you: here it is again." in fragment.text
    assert 'id="undo"' not in fragment.text
    assert form_queue.mine(worker_browser.name)[0].token == lease.token + 1


def test_undo_of_giving_back_is_refused_when_too_late(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    send(queue, worker_browser, lease, "abandon", again="no")
    expire()
    fields = {"token": str(lease.token), "act": "never"}
    response = worker_browser.post(path(queue, "items", lease.id, "undo"), fields, headers=FRAGMENT)
    assert (response.status_code, response.text) == (409, "It was too late to undo that.")
    assert queue.mine(worker_browser.name) == []


def test_undo_is_refused_if_another_person_holds_item(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    form_queue.remove("two")
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "abandon", again="no")
    other = sign_in_as("worker")
    take(form_queue, other)
    fields = {"token": str(lease.token), "act": "never"}
    response = worker_browser.post(path(form_queue, "items", lease.id, "undo"), fields, headers=FRAGMENT)
    assert response.status_code == 409
    assert "the item has changed since" in response.text
    assert len(form_queue.mine(other.name)) == 1


def test_undo_is_offered_only_to_person_who_finished_item(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    """Not to another person in the same browser, nor to a browser with a forged cookie."""
    lease = take(form_queue, worker_browser)
    response = send(form_queue, worker_browser, lease, "finish", **ANSWER)
    (cookie,) = (one for one in response.headers.getlist("Set-Cookie") if one.startswith("leaseq-saved="))
    assert {"HttpOnly", "SameSite=Lax", "Max-Age=10"} <= set(cookie.split("; "))
    assert "Undo" in worker_browser.get(path(form_queue)).text
    other = sign_in_as("worker")
    for offer in (cookie.partition("=")[2].partition(";")[0], "made/up", f"{other.name}/q/one/1//nan"):
        other.client.set_cookie("leaseq-saved", offer)
        assert "Undo" not in other.get(path(form_queue)).text


def test_undo_by_another_person_or_of_removed_item_is_refused(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "finish", **ANSWER)
    undo(form_queue, sign_in_as("worker"), lease)
    assert len(form_queue.get("one").answers) == 1, "somebody else finished it"
    form_queue.remove("one")
    assert undo(form_queue, worker_browser, lease).location == path(form_queue)
    assert "can no longer be undone" in html.unescape(worker_browser.get(path(form_queue)).text)
    response = undo(form_queue, worker_browser, lease, headers=FRAGMENT)
    assert response.status_code == 409


def test_finish_from_script_returns_next_item_as_fragment(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(form_queue, worker_browser)
    response = send(form_queue, worker_browser, lease, "finish", **ANSWER)
    assert response.status_code == 303
    lease = take(form_queue, worker_browser)
    fields = {
        "csrf_token": worker_browser.csrf("/account"),
        "token": str(lease.token),
        "then": "next",
        **ANSWER,
    }
    form_queue.enqueue({"text": "The third"}, id="three")
    fragment = worker_browser.client.post(
        path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
    )
    assert fragment.status_code == 200
    assert "The third" in fragment.text
    assert 'id="lease-status"' in fragment.text
    assert "<html" not in fragment.text
    (third_lease,) = form_queue.mine(worker_browser.name)
    fields = {**fields, "token": str(third_lease.token)}
    last_response = worker_browser.client.post(
        path(form_queue, "items", "three", "finish"), data=fields, headers=FRAGMENT
    )
    assert (last_response.status_code, last_response.headers["X-Leaseq-Redirect"]) == (204, path(form_queue))


def test_fragment_lists_other_items_that_person_holds(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    """People hold more items than `holds` allows after it was lowered, or after an undo."""
    for id in ("three", "four", "five"):
        form_queue.enqueue({"text": f"The {id}"}, id=id)
    form_queue.configure(holds=3)
    leases = [form_queue.reserve(worker_browser.name) for _ in range(3)]
    form_queue.configure(holds=1)
    for lease, has_others in zip(leases, (1, 0, 0), strict=True):
        assert lease is not None
        fields = {
            "csrf_token": worker_browser.csrf("/account"),
            "token": str(lease.token),
            "then": "next",
            **ANSWER,
        }
        fragment = worker_browser.client.post(
            path(form_queue, "items", lease.id, "finish"), data=fields, headers=FRAGMENT
        )
        assert ("Items you hold" in fragment.text) == bool(has_others)


def test_draft_is_stored_as_typed(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    response = send(
        form_queue, worker_browser, lease, "draft", **{"answer.note": "so far", "answer.count": "4x"}
    )
    assert response.status_code == 204
    assert form_queue.mine(worker_browser.name)[0].draft == {"note": "so far", "count": "4x"}


def test_session_endpoint_returns_person_and_csrf_token(worker_browser: Browser) -> None:
    session = worker_browser.get("/work/session").get_json()
    assert session["person"] == worker_browser.name
    assert session["csrf"]


def test_repeated_undo_after_renewal_succeeds(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    """The response to the first undo was lost; then another tab renewed the lease."""
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "finish", **ANSWER)
    undo(form_queue, worker_browser, lease)
    (held_lease,) = form_queue.mine(worker_browser.name)
    assert send(form_queue, worker_browser, held_lease, "renew").status_code == 303
    response = undo(form_queue, worker_browser, lease)
    assert response.location == path(form_queue) + "?item=one"
    assert "Undone. Your answer is open again." in worker_browser.get(response.location).text
    assert [one.token for one in form_queue.mine(worker_browser.name)] == [held_lease.token]


def test_undo_with_token_that_is_prefix_of_newer_token_is_refused(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    first_lease = take(form_queue, worker_browser)
    for _ in range(10):
        form_queue.release("one")
        take(form_queue, worker_browser)
    last_lease = form_queue.mine(worker_browser.name)[0]
    assert str(last_lease.token).startswith(str(first_lease.token))
    send(form_queue, worker_browser, last_lease, "finish", **ANSWER)
    undo(form_queue, worker_browser, last_lease)
    undo(form_queue, worker_browser, first_lease)
    assert "can no longer be undone" in html.unescape(worker_browser.get(path(form_queue)).text)


@pytest.mark.parametrize(("answers", "is_offered"), [(1, True), (2, False)])
def test_undo_of_final_report_is_offered_only_if_it_can_work(
    form_queue: leaseq.Queue, worker_browser: Browser, answers: int, is_offered: bool
) -> None:
    """With several answers, the item's other parts failed with it, and would stay so."""
    form_queue.configure(max_attempts=1, answers=answers)
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "fail", error="torn")
    assert form_queue.get(lease.id).state == "dead"
    page = worker_browser.get(path(form_queue)).text
    assert "Reported." in page
    assert bool(elements(page, undo_form(form_queue, lease))) == is_offered

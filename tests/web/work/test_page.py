"""The work page without JavaScript: typed text is kept, and messages are correct."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.support.leases import not_none
from tests.web.conftest import Browser
from tests.web.elements import attribute, attributes, elements, text_of
from tests.web.work_pages import path, send, take

NOTE = "[name='answer.note']"
ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "thanks <b>"}


def test_viewing_page_reserves_nothing(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    response = worker_browser.get(path(form_queue))
    assert "2 wait" in response.text
    assert form_queue.stats().reserved == 0


def test_item_is_taken_and_finish_shows_next_item(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    page = worker_browser.get(path(form_queue)).text
    assert "My parcel is not here" in page
    assert "Yours until" in page
    response = send(
        form_queue,
        worker_browser,
        lease,
        "finish",
        **{**ANSWER, "then": "next", "answer.tags": ["polite", "angry"]},
    )
    assert (response.status_code, response.location) == (303, path(form_queue))
    assert form_queue.get(lease.id).answers[0].result == {
        "about": "refund",
        "urgent": True,
        "tags": ["angry", "polite"],
        "note": "thanks <b>",
    }
    page = worker_browser.get(path(form_queue)).text
    assert "Saved." in page
    assert "I want my money back" in page
    (second_lease,) = form_queue.mine(worker_browser.name)
    assert send(form_queue, worker_browser, second_lease, "finish", **ANSWER).location == "/"
    assert form_queue.mine(worker_browser.name) == []


def test_refused_answer_keeps_typed_text(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    fields = {
        "answer.about": "refund",
        "answer.note": "x" * 21 + "<&>\"'",
        "answer.count": "many",
        "answer.tags": "angry",
    }
    response = send(form_queue, worker_browser, lease, "finish", **fields)
    assert response.status_code == 422
    page = response.text
    for name, value in fields.items():
        checked = "[checked]" if name in ("answer.about", "answer.tags") else ""
        assert value in attributes(page, f"[name='{name}']{checked}", "value")
    assert "a whole number, such as 42" in page
    assert "Please answer this." in page
    response = send(
        form_queue,
        worker_browser,
        lease,
        "finish",
        **{**fields, "answer.count": "-1", "answer.urgent": "false"},
    )
    assert response.status_code == 422
    for name in ("count", "note"):
        assert attribute(response.text, f"[name='answer.{name}']", "aria-invalid") == "true"
    (held_lease,) = form_queue.mine(worker_browser.name)
    assert held_lease.token == lease.token


def test_answer_refused_only_by_library_keeps_typed_text(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    """Only the library checks rules on several fields."""
    ask = form_queue.policy.form["ask"]
    form_queue.configure(form={"ask": {**ask, "minProperties": 4}})
    lease = take(form_queue, worker_browser)
    response = send(form_queue, worker_browser, lease, "finish", **ANSWER)
    assert (response.status_code, "at least 4 fields" in response.text) == (422, True)
    assert elements(response.text, "[name='answer.about'][value=refund][checked]")
    assert attribute(response.text, NOTE, "value") == "thanks <b>"
    assert [one.token for one in form_queue.mine(worker_browser.name)] == [lease.token]


def test_late_answer_counts_and_page_says_so(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    assert send(queue, worker_browser, lease, "finish", **ANSWER).status_code == 303
    assert (
        "Your time had run out, but nobody else had the item: your answer counts."
        in worker_browser.get(path(queue)).text
    )
    assert queue.get(lease.id).answers[0].late


def test_refused_answer_after_expiry_still_shows_item(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    response = send(queue, worker_browser, lease, "finish", **{"answer.note": "half an answer"})
    assert response.status_code == 422
    assert "My parcel is not here" in response.text
    assert "half an answer" in response.text
    assert "Your time ran out" in response.text


def test_answer_after_another_person_took_item_is_late_answer(
    expirable_queue: Any, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    other = sign_in_as("worker")
    take(queue, other)
    response = send(queue, worker_browser, lease, "finish", **ANSWER)
    assert response.status_code == 409
    assert "Your time ran out" in text_of(response.text)
    assert "Somebody else is on it now." in response.text
    assert "Your answer is kept for the manager." in response.text
    assert attribute(response.text, NOTE, "value") == "thanks <b>"
    assert "My parcel is not here" in response.text
    assert "Take it back" not in response.text
    (late_answer,) = queue.get(lease.id).late_answers
    assert late_answer.person == worker_browser.name


def test_giving_back_keeps_the_draft_and_the_reason(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(form_queue, worker_browser)
    response = send(
        form_queue,
        worker_browser,
        lease,
        "abandon",
        reason="lunch",
        **{"answer.note": "so far", "answer.count": "4x"},
    )
    assert response.location == path(form_queue)
    assert "You gave it back. You see it again when nothing else" in worker_browser.get(path(form_queue)).text
    assert form_queue.get(lease.id).history[-1].reason == "lunch"
    form_queue.remove("two")  # which would come first, since the other was given back
    assert take(form_queue, worker_browser).id == lease.id
    page = worker_browser.get(path(form_queue)).text
    assert attribute(page, NOTE, "value") == "so far"
    assert attribute(page, "[name='answer.count']", "value") == "4x"


def test_item_given_back_as_not_for_me_is_not_reserved_again(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    form_queue.remove("two")
    lease = take(form_queue, worker_browser)
    assert (
        send(form_queue, worker_browser, lease, "abandon", again="no", reason="I know her").status_code == 303
    )
    assert "You gave it back, and won't see it again." in html.unescape(
        worker_browser.get(path(form_queue)).text
    )
    worker_browser.post(path(form_queue, "reserve"))
    assert form_queue.mine(worker_browser.name) == []
    assert form_queue.get(lease.id).history[-1].reason == "I know her"


def test_renewal_keeps_typed_text(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    assert send(form_queue, worker_browser, lease, "renew", **{"answer.note": "so far"}).status_code == 303
    (renewed_lease,) = form_queue.mine(worker_browser.name)
    assert renewed_lease.expires_at > lease.expires_at
    assert attribute(worker_browser.get(path(form_queue)).text, NOTE, "value") == "so far"
    form_queue.configure(renewals=1)
    page = worker_browser.get(path(form_queue)).text
    assert "More time" not in page
    response = send(form_queue, worker_browser, lease, "renew", **{"answer.note": "and more"})
    assert response.status_code == 422
    assert "allow more time for this item" in response.text
    assert attribute(response.text, NOTE, "value") == "and more"


def test_problem_report_requires_text_and_fails_item(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(form_queue, worker_browser)
    fail_response = send(form_queue, worker_browser, lease, "fail", error="  ", **{"answer.note": "so far"})
    assert fail_response.status_code == 422
    assert "Describe the problem." in fail_response.text
    finish_response = send(
        form_queue, worker_browser, lease, "finish", error="half a report", reason="half a reason"
    )
    assert (
        finish_response.status_code,
        "half a report" in finish_response.text,
        "half a reason" in finish_response.text,
    ) == (422, True, True)
    assert attribute(fail_response.text, NOTE, "value") == "so far"
    assert send(form_queue, worker_browser, lease, "fail", error="unreadable").status_code == 303
    assert form_queue.get(lease.id).last_error == "unreadable"


def test_item_of_another_person_is_not_shown(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Any
) -> None:
    """A made-up token must not let somebody read an item through the page of a refused answer."""
    lease = take(form_queue, sign_in_as("worker"))
    for token in (lease.token, lease.token + 1):
        response = worker_browser.post(path(form_queue, "items", lease.id, "finish"), {"token": str(token)})
        assert response.status_code == 404
        assert "parcel" not in response.text


@pytest.mark.parametrize("token", ["", "x", "-1", "1" * 17, "¹"])
def test_malformed_token_is_refused(form_queue: leaseq.Queue, worker_browser: Browser, token: str) -> None:
    take(form_queue, worker_browser)
    response = worker_browser.post(path(form_queue, "items", "one", "finish"), {"token": token})
    assert response.status_code == 400
    assert "token" in response.text


def test_unknown_or_invalid_queue_name_is_refused(worker_browser: Browser) -> None:
    assert worker_browser.get("/q/not-there").status_code == 404
    assert worker_browser.get("/q/UPPER").status_code == 400
    assert worker_browser.post("/q/not-there/reserve").status_code == 404


def test_address_of_page_has_item_only_if_person_holds_several(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    def address(url: str) -> str:
        return attribute(worker_browser.get(url).text, "[data-page-url]", "data-page-url")

    form_queue.configure(holds=2)
    take(form_queue, worker_browser)
    assert address(path(form_queue)) == path(form_queue)
    assert address(path(form_queue) + "?item=one") == path(form_queue)
    not_none(form_queue.reserve(worker_browser.name))
    for id in ("one", "two"):
        assert address(path(form_queue) + f"?item={id}") == path(form_queue) + f"?item={id}"

"""A person whose lease is over sees what happened, and the form keeps their input."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.support.leases import expire_leases, not_none
from tests.web.conftest import Browser
from tests.web.work_pages import path, send, take

ANSWER = {"answer.about": "refund", "answer.urgent": "true", "answer.note": "half a <thought>"}


def outcome(text: str) -> str:
    """The text of the lease outcome in a page; times as T."""
    match = re.search(r'id="lease-outcome".*?>(.*?)</div>', text, re.DOTALL)
    return plain_text(match[1] if match else text)


def plain_text(fragment: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<time.*?</time>", "T", fragment)).split())


def is_filled_in(text: str) -> bool:
    return 'value="half a &lt;thought&gt;"' in text and bool(re.search(r'value="refund"[^>]* checked', text))


@pytest.mark.parametrize("is_cleared", [False, True])
def test_ran_out_and_nobody_has_it_take_it_back(
    expirable_queue: Any, worker_browser: Browser, is_cleared: bool
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    if is_cleared:
        queue.clear()
        assert queue.get(lease.id).state == "inbound"
    response = send(queue, worker_browser, lease, "fail", error="", **ANSWER)
    assert response.status_code == 422
    assert outcome(response.text) == (
        "Your time ran out at T. Nobody has taken it yet. "
        "Take it back, or finish it: your answer counts as long as nobody else has it. Take it back T"
    )
    assert is_filled_in(response.text)
    assert "My parcel is not here" in response.text
    assert "Later" not in response.text
    assert "not saved yet" not in response.text
    response = send(queue, worker_browser, lease, "renew", back="yes", **ANSWER)
    assert response.status_code == 303
    page = worker_browser.get(response.location).text
    assert "You have the item again." in page
    assert is_filled_in(page)
    assert queue.mine(worker_browser.name)[0].token == lease.token


def test_reported_after_it_ran_out(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    queue.clear()
    response = send(queue, worker_browser, lease, "fail", error="cut off & torn", **ANSWER)
    assert response.status_code == 409
    assert "Nobody has taken it yet." in outcome(response.text)
    assert "cut off &amp; torn" in response.text
    assert is_filled_in(response.text)
    assert send(queue, worker_browser, lease, "finish", **ANSWER).status_code == 303
    assert queue.get(lease.id).answers[0].late


def test_somebody_else_is_on_it_and_the_answer_can_still_be_sent(
    expirable_queue: Any, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    take(queue, sign_in_as("worker"))
    response = send(queue, worker_browser, lease, "renew", **ANSWER)
    assert response.status_code == 409
    explanation = "Your time ran out at T. Somebody else is on it now."
    assert outcome(response.text) == f"{explanation} You can still send your answer: your manager sees it."
    assert is_filled_in(response.text)
    response = send(queue, worker_browser, lease, "finish", **ANSWER)
    assert outcome(response.text) == f"{explanation} Your answer is kept for the manager."
    assert is_filled_in(response.text)
    (late_answer,) = queue.get(lease.id).late_answers
    assert late_answer.result["note"] == "half a <thought>"


def test_what_became_of_it_meanwhile(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    """A manager took it away; then it waits, somebody has it, it is scheduled, it is dead, it is removed."""
    form_queue.configure(max_attempts=2, retry_seconds=600)
    lease = take(form_queue, worker_browser)
    form_queue.release(lease.id)

    def current_outcome() -> str:
        response = send(form_queue, worker_browser, lease, "renew", **ANSWER)
        assert response.status_code in (404, 409)
        assert is_filled_in(response.text)
        return outcome(response.text)

    hint = "You can still send your answer: your manager sees it."
    assert current_outcome() == f"A manager released it at T. The next person gets it. {hint}"
    other = form_queue.reserve("bob")
    assert other
    assert current_outcome() == f"A manager released it at T. Somebody else is on it now. {hint}"
    form_queue.fail(other, "unreadable")
    assert current_outcome() == f"A manager released it at T. It will be retried later. {hint}"
    form_queue.configure(retry_seconds=0)
    form_queue.assign(lease.id, "bob")
    form_queue.remove("two")
    form_queue.remove(lease.id)
    assert current_outcome() == "This item no longer exists."


def test_finished_dead_and_mine_again(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.configure(max_attempts=1)
    lease = take(form_queue, worker_browser)
    form_queue.release("one")
    form_queue.finish(not_none(form_queue.reserve("bob")), {"about": "other", "urgent": False})
    assert "It is done." in outcome(send(form_queue, worker_browser, lease, "renew", **ANSWER).text)
    lease = take(form_queue, worker_browser)
    form_queue.release("two")
    second_lease = take(form_queue, worker_browser)
    assert second_lease.token != lease.token
    text = send(form_queue, worker_browser, lease, "renew", **ANSWER).text
    assert outcome(text) == "A manager released it at T. You have it now, until T. Continue with it"
    form_queue.fail(second_lease, "unreadable")
    assert "No attempts are left." in outcome(send(form_queue, worker_browser, lease, "renew", **ANSWER).text)


def test_one_that_was_finished_with_another_answer(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    lease = take(form_queue, worker_browser)
    assert send(form_queue, worker_browser, lease, "finish", **ANSWER).status_code == 303
    response = send(form_queue, worker_browser, lease, "finish", **{**ANSWER, "answer.about": "other"})
    assert response.status_code == 409
    message = "You finished it at T. Your first answer counts. Your answer is kept for the manager."
    assert outcome(response.text) == message


@pytest.mark.parametrize("verb", ["finish", "renew", "abandon", "fail", "outcome"])
def test_a_made_up_token_shows_nothing_of_the_item(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Callable[[str], Browser], verb: str
) -> None:
    """Nobody can read an item through the outcome of a lease that was not theirs."""
    other_lease = take(form_queue, sign_in_as("worker"))
    for token in (other_lease.token, other_lease.token + 1):
        if verb == "outcome":
            response = worker_browser.get(f"{path(form_queue, 'items', 'one', 'outcome')}?token={token}")
        else:
            fields = {"token": str(token), "error": "x", **ANSWER}
            response = worker_browser.post(path(form_queue, "items", "one", verb), fields)
        assert response.status_code == 404
        assert "parcel" not in response.text


def test_the_page_asks_what_became_of_its_lease(
    expirable_queue: Any, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    outcome_path = f"{path(queue, 'items', lease.id, 'outcome')}?token={lease.token}"
    assert "You have it now, until T." in plain_text(worker_browser.get(outcome_path).text)
    expire()
    fragment = worker_browser.get(outcome_path).text
    assert "Your time ran out at T. Nobody has taken it yet." in plain_text(fragment)
    assert "<html" not in fragment
    assert 'form="answer"' in fragment
    take(queue, sign_in_as("worker"))
    assert "Somebody else is on it now." in plain_text(worker_browser.get(outcome_path).text)


def test_one_who_had_it_since_gave_it_back(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    other_lease = queue.reserve("bob")
    assert other_lease.id == lease.id
    queue.abandon(other_lease)
    text = outcome(send(queue, worker_browser, lease, "fail", error="", **ANSWER).text)
    assert text.startswith("Your time ran out at T. The next person gets it. You can still send")


def test_of_several_answers_another_waits_and_theirs_was_taken(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    queue.configure(answers=3, lease_seconds=60)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    for number in (2, 3):
        queue.finish(not_none(queue.reserve(f"person {number}")), {"answer": "x"})
    expire_leases(queue)
    other_lease = not_none(queue.reserve("bob"))
    queue.release("one")
    assert other_lease.attempt == 2, "the assignment whose lease expired"
    response = send(queue, worker_browser, lease, "renew", **{"answer.answer": "mine"})
    assert response.status_code == 409
    assert "Take it back" not in response.text
    assert send(queue, worker_browser, lease, "finish", **{"answer.answer": "mine"}).status_code == 303
    assert worker_browser.name in [answer.person for answer in queue.get("one").answers]


def test_one_of_several_answers_ran_out(queue: leaseq.Queue, worker_browser: Browser) -> None:
    """Others have answered since; this assignment still waits, and nobody has taken it."""
    queue.configure(answers=2, lease_seconds=60)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    queue.finish(not_none(queue.reserve("bob")), {"answer": "b"})
    expire_leases(queue)
    response = send(queue, worker_browser, lease, "abandon", **{"answer.answer": "mine"})
    assert "Your time ran out at T. Nobody has taken it yet." in outcome(response.text)
    assert send(queue, worker_browser, lease, "renew", back="yes").status_code == 303
    assert queue.mine(worker_browser.name)[0].token == lease.token


def test_it_was_theirs_once_more_and_ran_out_again(expirable_queue: Any, worker_browser: Browser) -> None:
    """From an old page: nobody else has the item."""
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    queue.release(lease.id)
    second_lease = take(queue, worker_browser)
    assert second_lease.token != lease.token
    expire()
    text = outcome(send(queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith("A manager released it at T. The next person gets it. You can still send")


def test_of_several_answers_theirs_stands_while_others_are_to_come(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    queue.configure(answers=3)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    send(queue, worker_browser, lease, "finish", **{"answer.answer": "first"})
    message = "You finished it at T. Your first answer counts. Your answer is kept for the manager."
    response = send(queue, worker_browser, lease, "finish", **{"answer.answer": "second"})
    assert outcome(response.text) == message, "its other assignments wait"
    queue.reserve("bob")
    response = send(queue, worker_browser, lease, "finish", **{"answer.answer": "third"})
    assert outcome(response.text) == message, "somebody else has its other assignment"


def test_a_late_answer_that_was_taken_stands(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    assert send(queue, worker_browser, lease, "finish", **ANSWER).status_code == 303
    response = send(queue, worker_browser, lease, "finish", **{**ANSWER, "answer.about": "other"})
    assert "Your late answer counts. Your answer is kept for the manager." in outcome(response.text)


def test_an_answer_that_a_manager_replaced_does_not_stand(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    first_lease = form_queue.reserve("bob")
    assert first_lease is not None
    form_queue.release("one")
    lease = take(form_queue, worker_browser)
    send(form_queue, worker_browser, lease, "finish", **ANSWER)
    with pytest.raises(leaseq.LeaseLost):
        form_queue.finish(first_lease, {"about": "other", "urgent": False})
    form_queue.adopt("one", first_lease.token)
    text = outcome(send(form_queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith("You finished it at T. It is done. You can still send your answer")


def test_it_is_dead_since_so_many_gave_it_back(form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    form_queue.configure(max_abandons=1)
    lease = take(form_queue, worker_browser)
    form_queue.release("one")
    form_queue.abandon(not_none(form_queue.reserve("bob")))
    text = outcome(send(form_queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith(
        "A manager released it at T. It failed: your manager sees it. You can still send your answer"
    )

"""The outcome of an ended lease on the work page, whose form keeps the input."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.support.leases import expire_leases, not_none
from tests.web.conftest import Browser
from tests.web.elements import attribute
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
def test_expired_item_that_nobody_holds_can_be_taken_back(
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


def test_taking_back_is_offered_only_if_it_can_work(expirable_queue: Any, worker_browser: Browser) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    queue.clear()
    url = f"/q/{queue.name}/items/{lease.id}/outcome"

    def offer() -> bool:
        return "Take it back" in worker_browser.get(f"{url}?token={lease.token}").text

    assert offer()
    queue.configure(renewals=0)
    assert not offer()
    queue.configure(renewals=None)
    queue.enqueue({"text": "urgent"}, id="urgent", priority=1)
    assert not_none(queue.reserve(worker_browser.name)).id == "urgent"
    assert not offer(), "they hold as many as they may"
    response = send(queue, worker_browser, lease, "renew", back="yes", **ANSWER)
    assert response.status_code == 422
    queue.configure(holds=2)
    assert offer()
    queue.assign(lease.id, "somebody else")
    assert not offer()


@pytest.mark.parametrize("is_same_lease", [True, False], ids=["still", "again"])
def test_item_that_they_hold_is_not_offered_to_be_taken_back(
    expirable_queue: Any, worker_browser: Browser, is_same_lease: bool
) -> None:
    """The page's clock may be ahead, or they reserved it again in another tab."""
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    if not is_same_lease:
        expire()
        queue.clear()
        assert not_none(queue.reserve(worker_browser.name)).token != lease.token
    text = plain_text(
        worker_browser.get(f"/q/{queue.name}/items/{lease.id}/outcome?token={lease.token}").text
    )
    assert text.endswith("You have it now, until T. Continue with it")


def test_taking_back_is_not_offered_for_a_changed_payload(
    expirable_queue: Any, worker_browser: Browser
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    queue.clear()
    url = f"/q/{queue.name}/items/{lease.id}/outcome?token={lease.token}"
    assert "Take it back" in worker_browser.get(url).text
    queue.change(lease.id, payload={"text": "another parcel"})
    text = worker_browser.get(url).text
    assert "Take it back" not in text
    assert "your answer counts" not in text
    assert send(queue, worker_browser, lease, "renew", back="yes", **ANSWER).status_code == 409


def test_taking_back_is_not_offered_for_a_closed_assignment(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    """The item needs fewer answers than it did; another assignment of it waits."""
    queue.configure(answers=3, lease_seconds=60)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    queue.finish(not_none(queue.reserve("bob")), {"answer": "b"})
    not_none(queue.reserve("cyd"))
    queue.change("one", answers=2)
    expire_leases(queue)
    queue.clear()
    assert queue.get("one").state == "inbound"
    response = worker_browser.get(f"{path(queue, 'items', 'one', 'outcome')}?token={lease.token}")
    is_renewable = send(queue, worker_browser, lease, "renew", back="yes").status_code == 303
    assert ("Take it back" in response.text) == is_renewable


def test_report_after_expiry_is_refused_and_its_text_kept(
    expirable_queue: Any, worker_browser: Browser
) -> None:
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


def test_late_answer_can_be_sent_while_another_person_holds_item(
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


def test_outcome_describes_state_of_item_after_release(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    """A manager releases the item; then it waits, is reserved, scheduled and removed."""
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


def test_outcome_says_that_nobody_needs_the_item_and_offers_the_next(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    lease = take(form_queue, worker_browser)
    form_queue.cancel(lease.id, "withdrawn")
    fragment = worker_browser.get(f"{path(form_queue)}/items/one/outcome?token={lease.token}").text
    hint = "You can still send your answer: your manager sees it."
    assert plain_text(fragment).startswith(f"Nobody needs this any more. {hint}")
    assert attribute(fragment, "button.primary", "formaction") == f"{path(form_queue)}/reserve"
    response = send(form_queue, worker_browser, lease, "finish", **ANSWER)
    assert response.status_code == 409
    assert is_filled_in(response.text)
    assert outcome(response.text) == "Nobody needs this any more. Your answer is kept for the manager."
    assert attribute(response.text, ".bar button.primary", "formaction") == f"{path(form_queue)}/reserve"
    assert len(form_queue.get(lease.id).late_answers) == 1


def test_outcome_says_that_nobody_needs_an_answer_after_the_deadline(
    expirable_queue: Any, worker_browser: Browser
) -> None:
    queue, expire = expirable_queue
    queue.enqueue({"text": "one"}, id="until", expires=3_600, priority=0)
    lease = take(queue, worker_browser)
    assert lease.id == "until"
    expire()
    queue.clear()
    text = outcome(send(queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith("Your time ran out at T. Nobody needs this any more. You can still send")


def test_outcome_describes_item_finished_reserved_again_or_dead(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
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


def test_second_answer_by_same_person_is_kept_as_late_answer(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
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
    """The outcome of another person's lease does not disclose the item."""
    other_lease = take(form_queue, sign_in_as("worker"))
    for token in (other_lease.token, other_lease.token + 1):
        if verb == "outcome":
            response = worker_browser.get(f"{path(form_queue, 'items', 'one', 'outcome')}?token={token}")
        else:
            fields = {"token": str(token), "error": "x", **ANSWER}
            response = worker_browser.post(path(form_queue, "items", "one", verb), fields)
        assert response.status_code == 404
        assert "parcel" not in response.text


def test_receipt_returns_outcome_of_lease_as_fragment(
    expirable_queue: Any, worker_browser: Browser, sign_in_as: Callable[[str], Browser]
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    outcome_path = f"{path(queue, 'items', lease.id, 'outcome')}?token={lease.token}"
    # The clock of a page may be ahead: its time ran out, the lease did not.
    assert plain_text(worker_browser.get(outcome_path).text).startswith("You have it now, until T.")
    expire()
    fragment = worker_browser.get(outcome_path).text
    assert "Your time ran out at T. Nobody has taken it yet." in plain_text(fragment)
    assert "<html" not in fragment
    assert 'form="answer"' in fragment
    take(queue, sign_in_as("worker"))
    assert "Somebody else is on it now." in plain_text(worker_browser.get(outcome_path).text)


def test_outcome_says_item_waits_after_next_holder_abandons(
    expirable_queue: Any, worker_browser: Browser
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    other_lease = queue.reserve("bob")
    assert other_lease.id == lease.id
    queue.abandon(other_lease)
    text = outcome(send(queue, worker_browser, lease, "fail", error="", **ANSWER).text)
    assert text.startswith("Your time ran out at T. The next person gets it. You can still send")


def test_assignment_taken_by_another_is_not_renewed_but_answer_counts(
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


def test_expired_lease_is_not_offered_after_own_answer(queue: leaseq.Queue, worker_browser: Browser) -> None:
    """The request comes from an old page; the item waits for the answers of others."""
    queue.configure(answers=3, lease_seconds=60)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    expire_leases(queue)
    second_lease = take(queue, worker_browser)
    assert second_lease.token != lease.token
    send(queue, worker_browser, second_lease, "finish", **{"answer.answer": "mine"})
    response = send(queue, worker_browser, lease, "finish", **{"answer.answer": "again"})
    assert response.status_code == 409
    assert "Take it back" not in response.text


def test_expired_lease_of_several_answers_can_be_taken_back(
    queue: leaseq.Queue, worker_browser: Browser
) -> None:
    """Another person has answered; the expired assignment still waits."""
    queue.configure(answers=2, lease_seconds=60)
    queue.enqueue({"text": "hello"}, id="one")
    lease = take(queue, worker_browser)
    queue.finish(not_none(queue.reserve("bob")), {"answer": "b"})
    expire_leases(queue)
    response = send(queue, worker_browser, lease, "abandon", **{"answer.answer": "mine"})
    assert "Your time ran out at T. Nobody has taken it yet." in outcome(response.text)
    assert send(queue, worker_browser, lease, "renew", back="yes").status_code == 303
    assert queue.mine(worker_browser.name)[0].token == lease.token


def test_old_lease_stays_lost_after_newer_own_lease_expires(
    expirable_queue: Any, worker_browser: Browser
) -> None:
    """The request comes from an old page; nobody holds the item."""
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    queue.release(lease.id)
    second_lease = take(queue, worker_browser)
    assert second_lease.token != lease.token
    expire()
    text = outcome(send(queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith("A manager released it at T. The next person gets it. You can still send")


def test_first_answer_counts_while_other_answers_are_pending(
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


def test_accepted_late_answer_counts_and_second_answer_is_kept(
    expirable_queue: Any, worker_browser: Browser
) -> None:
    queue, expire = expirable_queue
    lease = take(queue, worker_browser)
    expire()
    assert send(queue, worker_browser, lease, "finish", **ANSWER).status_code == 303
    response = send(queue, worker_browser, lease, "finish", **{**ANSWER, "answer.about": "other"})
    assert "Your late answer counts. Your answer is kept for the manager." in outcome(response.text)


def test_answer_replaced_by_manager_no_longer_counts(
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


def test_outcome_says_item_is_dead_after_max_abandons(
    form_queue: leaseq.Queue, worker_browser: Browser
) -> None:
    form_queue.configure(max_abandons=1)
    lease = take(form_queue, worker_browser)
    form_queue.release("one")
    form_queue.abandon(not_none(form_queue.reserve("bob")))
    text = outcome(send(form_queue, worker_browser, lease, "renew", **ANSWER).text)
    assert text.startswith(
        "A manager released it at T. It failed: your manager sees it. You can still send your answer"
    )

"""Messages of LeaseLost: what they say about the item and its holder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take


@pytest.fixture(autouse=True)
def item_a(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")


def message_of(call: Callable[[], object]) -> str:
    """Return the message of the LeaseLost that a call raises."""
    with pytest.raises(leaseq.LeaseLost) as error:
        call()
    return str(error.value)


def calls_on_lease(queue: leaseq.Queue, lease: leaseq.Lease) -> list[Callable[[], object]]:
    return [
        lambda: queue.renew(lease),
        lambda: queue.save_draft(lease, {}),
        lambda: queue.finish(lease, {}),
        lambda: queue.abandon(lease),
        lambda: queue.fail(lease, "no"),
        lambda: queue.undo_finish(lease),
    ]


def test_message_names_new_token_if_same_person_holds_item(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    timed_queue.release("a")
    new_lease = take(timed_queue, "ann")
    for call in calls_on_lease(timed_queue, lease):
        text = message_of(call)
        assert text.startswith(
            f"this lease of item 'a' is over: the same person holds it, under token {new_lease.token}"
        )
        assert "somebody else" not in text


def test_message_names_new_token_if_other_people_hold_item_too(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    lease = take(timed_queue, "ann")
    take(timed_queue, "bob")
    timed_queue.release("a", person="ann")
    new_lease = take(timed_queue, "ann")
    assert f"the same person holds it, under token {new_lease.token}" in message_of(
        lambda: timed_queue.renew(lease)
    )


def test_message_names_new_token_after_undo_finish(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"v": 1})
    new_lease = timed_queue.undo_finish(lease)
    text = message_of(lambda: timed_queue.finish(lease, {"v": 1}))
    assert f"the same person holds it, under token {new_lease.token}" in text


def test_message_says_another_person_holds_item(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    timed_queue.release("a")
    take(timed_queue, "bob")
    for call in calls_on_lease(timed_queue, lease):
        with pytest.raises(leaseq.LeaseLost) as error:
            call()
        assert (error.value.rule, error.value.values) == ("lease_lost", {"id": "a", "what": "reserved"})


def test_undo_message_says_lease_was_not_finished(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    assert message_of(lambda: timed_queue.undo_finish(lease)) == (
        "this lease of item 'a' was not finished, so there is nothing to undo"
    )


def test_message_says_person_has_no_lease_with_token(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    text = message_of(lambda: timed_queue.renew(id="a", token=lease.token, person="bob"))
    assert text == f"'bob' has no lease of item 'a' with token {lease.token}: somebody else is on it now"
    text = message_of(lambda: timed_queue.renew(id="a", token=99, person="ann"))
    assert text == (
        f"'ann' has no lease of item 'a' with token 99: the same person holds it, under token {lease.token}"
    )


@pytest.mark.parametrize("several", [False, True])
def test_message_says_earlier_answer_stands(timed_queue: leaseq.Queue, several: bool) -> None:
    """With several answers, the message does not say that the item waits for another person."""
    timed_queue.configure(answers=2 if several else 1)
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"v": 1})
    text = message_of(lambda: timed_queue.finish(lease, {"v": 2}))
    state_text = "its answer stands" if several else "it is finished, and its answer stands"
    assert text == f"this lease of item 'a' is over: {state_text}; the answer is kept for the manager"


def test_message_says_item_is_finished(timed_queue: leaseq.Queue) -> None:
    lease = take(timed_queue, "ann")
    timed_queue.release("a")
    timed_queue.finish(take(timed_queue, "bob"), {})
    assert message_of(lambda: timed_queue.renew(lease)) == "this lease of item 'a' is over: it is finished"


def test_undo_message_says_manager_adopted_answer(timed_queue: leaseq.Queue, clock: Clock) -> None:
    lease = take(timed_queue, "ann")
    clock.tick(301)
    take(timed_queue, "bob")
    assert "kept" in message_of(lambda: timed_queue.finish(lease, {"by": "ann"}))
    timed_queue.adopt("a", lease.token)
    assert message_of(lambda: timed_queue.undo_finish(lease)) == (
        "a manager adopted the answer of this lease of item 'a': only a manager can change it"
    )


def test_message_says_attempts_are_used_up_or_item_is_dead(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(max_attempts=1)
    lease = take(timed_queue, "ann")
    timed_queue.release("a")
    timed_queue.fail(take(timed_queue, "bob"), "no")
    assert (
        message_of(lambda: timed_queue.renew(lease))
        == "this lease of item 'a' is over: its attempts are used up"
    )
    timed_queue.configure(max_attempts=9, max_abandons=1)
    timed_queue.revive("a")
    timed_queue.abandon(take(timed_queue, "bob"))
    assert message_of(lambda: timed_queue.renew(lease)) == "this lease of item 'a' is over: it is dead"

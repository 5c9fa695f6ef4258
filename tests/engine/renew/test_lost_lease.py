"""What is said of a lease that is lost is true for the person who asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.taking import take


@pytest.fixture(autouse=True)
def one(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")


def message_of(call: Callable[[], object]) -> str:
    """The message of the LeaseLost that a call raises."""
    with pytest.raises(leaseq.LeaseLost) as error:
        call()
    return str(error.value)


def verbs(queue: leaseq.Queue, lease: leaseq.Lease) -> list[Callable[[], object]]:
    return [
        lambda: queue.renew(lease),
        lambda: queue.save_draft(lease, {}),
        lambda: queue.finish(lease, {}),
        lambda: queue.abandon(lease),
        lambda: queue.fail(lease, "no"),
        lambda: queue.undo_finish(lease),
    ]


def test_the_same_person_has_it_again(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    timed.release("a")
    new_lease = take(timed, "ann")
    for call in verbs(timed, lease):
        text = message_of(call)
        assert text.startswith(
            f"this lease of item 'a' is over: the same person holds it, under token {new_lease.token}"
        )
        assert "somebody else" not in text


def test_also_of_several_answers_though_others_hold_some_as_well(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    lease = take(timed, "ann")
    take(timed, "bob")
    timed.release("a", person="ann")
    new_lease = take(timed, "ann")
    assert f"the same person holds it, under token {new_lease.token}" in message_of(
        lambda: timed.renew(lease)
    )


def test_what_they_undid_is_theirs_again(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    timed.finish(lease, {"v": 1})
    new_lease = timed.undo_finish(lease)
    text = message_of(lambda: timed.finish(lease, {"v": 1}))
    assert f"the same person holds it, under token {new_lease.token}" in text


def test_somebody_else_has_it(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    timed.release("a")
    take(timed, "bob")
    for call in verbs(timed, lease):
        assert message_of(call).startswith("this lease of item 'a' is over: somebody else is on it now")


def test_what_was_not_finished_is_not_undone_and_not_over(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    assert message_of(lambda: timed.undo_finish(lease)) == (
        "this lease of item 'a' was not finished, so there is nothing to undo"
    )


def test_a_lease_that_never_was_theirs(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    text = message_of(lambda: timed.renew(id="a", token=lease.token, person="bob"))
    assert text == f"'bob' has no lease of item 'a' with token {lease.token}: somebody else is on it now"
    text = message_of(lambda: timed.renew(id="a", token=99, person="ann"))
    assert text == (
        f"'ann' has no lease of item 'a' with token 99: the same person holds it, under token {lease.token}"
    )


@pytest.mark.parametrize("several", [False, True])
def test_their_answer_stands(timed: leaseq.Queue, several: bool) -> None:
    """Also where others are to answer it: it does not wait for somebody instead of them."""
    timed.configure(answers=2 if several else 1)
    lease = take(timed, "ann")
    timed.finish(lease, {"v": 1})
    text = message_of(lambda: timed.finish(lease, {"v": 2}))
    state_text = "its answer stands" if several else "it is finished, and its answer stands"
    assert text == f"this lease of item 'a' is over: {state_text}; the answer is kept for the manager"


def test_it_is_finished_by_somebody_else(timed: leaseq.Queue) -> None:
    lease = take(timed, "ann")
    timed.release("a")
    timed.finish(take(timed, "bob"), {})
    assert message_of(lambda: timed.renew(lease)) == "this lease of item 'a' is over: it is finished"


def test_a_manager_adopted_their_late_answer(timed: leaseq.Queue, clock: Clock) -> None:
    lease = take(timed, "ann")
    clock.tick(301)
    take(timed, "bob")
    assert "kept" in message_of(lambda: timed.finish(lease, {"by": "ann"}))
    timed.adopt("a", lease.token)
    assert message_of(lambda: timed.undo_finish(lease)) == (
        "a manager adopted the answer of this lease of item 'a': only a manager can change it"
    )


def test_it_is_dead_of_its_attempts_or_of_being_given_back(timed: leaseq.Queue) -> None:
    timed.configure(max_attempts=1)
    lease = take(timed, "ann")
    timed.release("a")
    timed.fail(take(timed, "bob"), "no")
    assert (
        message_of(lambda: timed.renew(lease)) == "this lease of item 'a' is over: its attempts are used up"
    )
    timed.configure(max_attempts=9, max_abandons=1)
    timed.revive("a")
    timed.abandon(take(timed, "bob"))
    assert message_of(lambda: timed.renew(lease)) == "this lease of item 'a' is over: it is dead"

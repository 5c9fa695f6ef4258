"""Why a person gets nothing, with several answers, bars, skills and assigned items; the plain queue is in
test_looking."""

from __future__ import annotations

import leaseq
from leaseq import Nothing
from tests.conftest import Clock


def take(queue: leaseq.Queue, person: str, *skills: str) -> leaseq.Lease:
    lease = queue.reserve(person, skills=skills)
    assert lease is not None
    return lease


def test_what_waits_is_not_for_them(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a", requires=["fr"])
    timed.enqueue({}, id="b")
    timed.finish(take(timed, "ann"), {})
    assert timed.why_nothing("ann") == Nothing("not-eligible")
    assert timed.why_nothing("ann", ["fr"]) == Nothing(None)
    timed.assign("b", "cyd")
    assert timed.why_nothing("bob") == Nothing("not-eligible")
    assert timed.why_nothing("cyd") == Nothing(None)


def test_when_the_first_may_come_free_is_told_all_the_same(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.enqueue({}, id="b", requires=["fr"])
    anns = take(timed, "ann")
    assert timed.why_nothing("bob") == Nothing("not-eligible", anns.expires_at)
    take(timed, "cyd", "fr")
    assert timed.why_nothing("bob") == Nothing("held", anns.expires_at)


def test_who_holds_one_assignment_is_not_eligible_for_the_next(timed: leaseq.Queue) -> None:
    timed.configure(answers=2, holds=2)
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    assert timed.reserve("ann") is None
    assert timed.why_nothing("ann") == Nothing("not-eligible", lease.expires_at)
    assert timed.why_nothing("bob") == Nothing(None)


def test_full_hands_get_what_they_hold_even_in_a_pause(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    lease = take(timed, "ann", "fr")
    timed.pause("lunch")
    assert timed.why_nothing("ann") == Nothing(None)
    assert timed.reserve("ann") == lease
    assert timed.why_nothing("bob") == Nothing("paused", detail="lunch")


def test_after_what_was_put_off_there_is_something(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    timed.abandon(take(timed, "ann"))
    assert timed.why_nothing("ann") == Nothing(None)
    timed.abandon(take(timed, "ann"), again=False)
    assert timed.why_nothing("ann") == Nothing("not-eligible")
    bobs = take(timed, "bob")
    assert timed.why_nothing("ann") == Nothing("held", bobs.expires_at)
    clock.tick(301)
    timed.reserve("ann")  # takes it back, and sees that it is not for them
    assert timed.why_nothing("ann") == Nothing("not-eligible")


def test_asking_changes_nothing(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.enqueue({}, id="b")
    timed.abandon(take(timed, "ann"))
    for _ in range(3):
        assert timed.why_nothing("ann").reason is None
    assert [take(timed, "ann").id, take(timed, "bob").id] == ["b", "a"]


def test_a_queue_that_is_empty_or_not_there(timed: leaseq.Queue) -> None:
    assert timed.why_nothing("ann", ["fr"]) == Nothing("empty")
    timed.configure(answers=3)
    assert timed.why_nothing("ann", ["fr"]) == Nothing("empty")

"""Why a person gets nothing, with several answers, bars, skills and assigned items; for the plain queue, see
test_looking."""

from __future__ import annotations

import leaseq
from leaseq import Ineligibility, WhyNothing
from tests.conftest import Clock
from tests.support.leases import take


def test_what_waits_is_not_for_them(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.enqueue({}, id="b")
    timed_queue.finish(take(timed_queue, "ann"), {})
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible")
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing(None)
    timed_queue.assign("b", "cyd")
    assert timed_queue.why_nothing("bob") == WhyNothing("not-eligible")
    assert timed_queue.why_nothing("cyd") == WhyNothing(None)


def test_when_the_first_may_come_free_is_told_all_the_same(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b", requires=["fr"])
    anns = take(timed_queue, "ann")
    assert timed_queue.why_nothing("bob") == WhyNothing("not-eligible", anns.expires_at)
    take(timed_queue, "cyd", "fr")
    assert timed_queue.why_nothing("bob") == WhyNothing("held", anns.expires_at)


def test_the_first_to_come_free_is_the_end_of_a_lease_or_a_scheduled_item(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(lease_seconds=60)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "bob")
    timed_queue.enqueue({}, id="b", delay=90)
    assert timed_queue.why_nothing("ann") == WhyNothing("held", lease.expires_at)
    clock.tick(45)
    timed_queue.renew(lease)
    free_at = timed_queue.why_nothing("ann").free_at
    assert free_at is not None
    assert free_at < timed_queue.mine("bob")[0].expires_at
    clock.tick(50)
    assert timed_queue.why_nothing("ann") == WhyNothing(None)


def test_a_lease_that_ran_out_is_something(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(lease_seconds=60)
    timed_queue.enqueue({}, id="a")
    take(timed_queue, "bob")
    clock.tick(61)
    assert timed_queue.why_nothing("ann") == WhyNothing(None)


def test_who_holds_one_assignment_is_not_eligible_for_the_next(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2, holds=2)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    assert timed_queue.reserve("ann") is None
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible", lease.expires_at)
    assert timed_queue.why_nothing("bob") == WhyNothing(None)


def test_full_hands_get_what_they_hold_even_in_a_pause(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    lease = take(timed_queue, "ann", "fr")
    timed_queue.pause("lunch")
    assert timed_queue.why_nothing("ann") == WhyNothing(None)
    assert timed_queue.reserve("ann") == lease
    assert timed_queue.why_nothing("bob") == WhyNothing("paused", detail="lunch")


def test_after_what_was_put_off_there_is_something(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"))
    assert timed_queue.why_nothing("ann") == WhyNothing(None)
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible")
    bobs = take(timed_queue, "bob")
    assert timed_queue.why_nothing("ann") == WhyNothing("held", bobs.expires_at)
    clock.tick(301)
    timed_queue.reserve("ann")  # takes it back, but ann may not have it
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible")


def test_asking_changes_nothing(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b")
    timed_queue.abandon(take(timed_queue, "ann"))
    for _ in range(3):
        assert timed_queue.why_nothing("ann").reason is None
    assert [take(timed_queue, "ann").id, take(timed_queue, "bob").id] == ["b", "a"]


def test_a_queue_that_is_empty(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure()
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing("empty")
    timed_queue.configure(answers=3)
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing("empty")


def test_what_stands_between_them_and_what_waits(timed_queue: leaseq.Queue) -> None:
    """Found by the non-empty rows, however many items are waiting in front."""
    timed_queue.enqueue_many(leaseq.NewItem({}, requires=("fr",)) for _ in range(150))
    timed_queue.enqueue({}, requires=["legal", "de"])
    timed_queue.enqueue({}, requires=["legal", "de", "fr"])
    assert timed_queue.why_nothing("ann").ineligibility == Ineligibility(
        (("fr",), ("de", "legal"), ("de", "fr", "legal")), assigned=False, passed=False
    )
    timed_queue.enqueue({}, id="hers")
    timed_queue.assign("hers", "eve")
    assert timed_queue.why_nothing("ann", ["legal"]).ineligibility == Ineligibility(
        (("de",), ("fr",), ("de", "fr")), assigned=True, passed=False
    )
    timed_queue.enqueue({}, id="passed")
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.why_nothing("ann", ["legal", "x"]).ineligibility == Ineligibility(
        (("de",), ("fr",), ("de", "fr")), assigned=True, passed=True
    )


def test_a_row_that_emptied_is_no_obstacle(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.enqueue({}, id="b", requires=["de"])
    take(timed_queue, "bob", "fr")
    assert timed_queue.why_nothing("ann").ineligibility == Ineligibility(
        (("de",),), assigned=False, passed=False
    )
    timed_queue.remove("b")
    explanation = timed_queue.why_nothing("ann")
    assert (explanation.reason, explanation.ineligibility) == ("held", None)


def test_what_was_assigned_to_them_and_they_said_no_to(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "ann")
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.why_nothing("ann").ineligibility == Ineligibility((), assigned=False, passed=True)

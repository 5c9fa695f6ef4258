"""Why a person gets nothing, with several answers, bars, skills and assigned items; the plain queue is in
test_looking."""

from __future__ import annotations

import leaseq
from leaseq import Ineligibility, WhyNothing
from tests.conftest import Clock
from tests.support.taking import take


def test_what_waits_is_not_for_them(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a", requires=["fr"])
    timed.enqueue({}, id="b")
    timed.finish(take(timed, "ann"), {})
    assert timed.why_nothing("ann") == WhyNothing("not-eligible")
    assert timed.why_nothing("ann", ["fr"]) == WhyNothing(None)
    timed.assign("b", "cyd")
    assert timed.why_nothing("bob") == WhyNothing("not-eligible")
    assert timed.why_nothing("cyd") == WhyNothing(None)


def test_when_the_first_may_come_free_is_told_all_the_same(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.enqueue({}, id="b", requires=["fr"])
    anns = take(timed, "ann")
    assert timed.why_nothing("bob") == WhyNothing("not-eligible", anns.expires_at)
    take(timed, "cyd", "fr")
    assert timed.why_nothing("bob") == WhyNothing("held", anns.expires_at)


def test_the_first_to_come_free_is_the_end_of_a_lease_or_a_scheduled_item(
    timed: leaseq.Queue, clock: Clock
) -> None:
    timed.configure(lease_seconds=60)
    timed.enqueue({}, id="a")
    lease = take(timed, "bob")
    timed.enqueue({}, id="b", delay=90)
    assert timed.why_nothing("ann") == WhyNothing("held", lease.expires_at)
    clock.tick(45)
    timed.renew(lease)
    free_at = timed.why_nothing("ann").free_at
    assert free_at is not None
    assert free_at < timed.mine("bob")[0].expires_at
    clock.tick(50)
    assert timed.why_nothing("ann") == WhyNothing(None)


def test_a_lease_that_ran_out_is_something(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(lease_seconds=60)
    timed.enqueue({}, id="a")
    take(timed, "bob")
    clock.tick(61)
    assert timed.why_nothing("ann") == WhyNothing(None)


def test_who_holds_one_assignment_is_not_eligible_for_the_next(timed: leaseq.Queue) -> None:
    timed.configure(answers=2, holds=2)
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    assert timed.reserve("ann") is None
    assert timed.why_nothing("ann") == WhyNothing("not-eligible", lease.expires_at)
    assert timed.why_nothing("bob") == WhyNothing(None)


def test_full_hands_get_what_they_hold_even_in_a_pause(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    lease = take(timed, "ann", "fr")
    timed.pause("lunch")
    assert timed.why_nothing("ann") == WhyNothing(None)
    assert timed.reserve("ann") == lease
    assert timed.why_nothing("bob") == WhyNothing("paused", detail="lunch")


def test_after_what_was_put_off_there_is_something(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    timed.abandon(take(timed, "ann"))
    assert timed.why_nothing("ann") == WhyNothing(None)
    timed.abandon(take(timed, "ann"), again=False)
    assert timed.why_nothing("ann") == WhyNothing("not-eligible")
    bobs = take(timed, "bob")
    assert timed.why_nothing("ann") == WhyNothing("held", bobs.expires_at)
    clock.tick(301)
    timed.reserve("ann")  # takes it back, and sees that it is not for them
    assert timed.why_nothing("ann") == WhyNothing("not-eligible")


def test_asking_changes_nothing(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.enqueue({}, id="b")
    timed.abandon(take(timed, "ann"))
    for _ in range(3):
        assert timed.why_nothing("ann").reason is None
    assert [take(timed, "ann").id, take(timed, "bob").id] == ["b", "a"]


def test_a_queue_that_is_empty(timed: leaseq.Queue) -> None:
    timed.configure()
    assert timed.why_nothing("ann", ["fr"]) == WhyNothing("empty")
    timed.configure(answers=3)
    assert timed.why_nothing("ann", ["fr"]) == WhyNothing("empty")


def test_what_stands_between_them_and_what_waits(timed: leaseq.Queue) -> None:
    """By the rows that hold something, however many items wait in front."""
    timed.enqueue_many(leaseq.NewItem({}, requires=("fr",)) for _ in range(150))
    timed.enqueue({}, requires=["legal", "de"])
    timed.enqueue({}, requires=["legal", "de", "fr"])
    assert timed.why_nothing("ann").ineligibility == Ineligibility(
        (("fr",), ("de", "legal"), ("de", "fr", "legal")), assigned=False, passed=False
    )
    timed.enqueue({}, id="hers")
    timed.assign("hers", "eve")
    assert timed.why_nothing("ann", ["legal"]).ineligibility == Ineligibility(
        (("de",), ("fr",), ("de", "fr")), assigned=True, passed=False
    )
    timed.enqueue({}, id="passed")
    timed.abandon(take(timed, "ann"), again=False)
    assert timed.why_nothing("ann", ["legal", "x"]).ineligibility == Ineligibility(
        (("de",), ("fr",), ("de", "fr")), assigned=True, passed=True
    )


def test_a_row_that_emptied_is_no_obstacle(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    timed.enqueue({}, id="b", requires=["de"])
    take(timed, "bob", "fr")
    assert timed.why_nothing("ann").ineligibility == Ineligibility((("de",),), assigned=False, passed=False)
    timed.remove("b")
    explanation = timed.why_nothing("ann")
    assert (explanation.reason, explanation.ineligibility) == ("held", None)


def test_what_was_assigned_to_them_and_they_said_no_to(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    timed.assign("a", "ann")
    timed.abandon(take(timed, "ann"), again=False)
    assert timed.why_nothing("ann").ineligibility == Ineligibility((), assigned=False, passed=True)

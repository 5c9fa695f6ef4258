"""Why a person gets nothing, with several answers, items given back, skills and assigned items; for the plain
queue, see test_inspection."""

from __future__ import annotations

import leaseq
from leaseq import Ineligibility, WhyNothing
from tests.conftest import Clock
from tests.support.leases import take


def test_reason_is_not_eligible_if_no_waiting_item_is_for_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.enqueue({}, id="b")
    timed_queue.finish(take(timed_queue, "ann"), {})
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible")
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing(None)
    timed_queue.assign("b", "cyd")
    assert timed_queue.why_nothing("bob") == WhyNothing("not-eligible")
    assert timed_queue.why_nothing("cyd") == WhyNothing(None)


def test_free_at_is_given_if_person_is_not_eligible(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b", requires=["fr"])
    anns = take(timed_queue, "ann")
    assert timed_queue.why_nothing("bob") == WhyNothing("not-eligible", anns.expires_at)
    take(timed_queue, "cyd", "fr")
    assert timed_queue.why_nothing("bob") == WhyNothing("held", anns.expires_at)


def test_free_at_is_earliest_lease_expiry_or_due_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
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


def test_expired_lease_counts_as_available_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(lease_seconds=60)
    timed_queue.enqueue({}, id="a")
    take(timed_queue, "bob")
    clock.tick(61)
    assert timed_queue.why_nothing("ann") == WhyNothing(None)


def test_holder_of_assignment_is_not_eligible_for_next_one(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2, holds=2)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    assert timed_queue.reserve("ann") is None
    assert timed_queue.why_nothing("ann") == WhyNothing("not-eligible", lease.expires_at)
    assert timed_queue.why_nothing("bob") == WhyNothing(None)


def test_person_at_holds_limit_gets_held_lease_even_in_paused_queue(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    lease = take(timed_queue, "ann", "fr")
    timed_queue.pause("lunch")
    assert timed_queue.why_nothing("ann") == WhyNothing(None)
    assert timed_queue.reserve("ann") == lease
    assert timed_queue.why_nothing("bob") == WhyNothing("paused", detail="lunch")


def test_postponed_item_is_available_and_declined_item_is_not(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
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


def test_why_nothing_changes_nothing(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b")
    timed_queue.abandon(take(timed_queue, "ann"))
    for _ in range(3):
        assert timed_queue.why_nothing("ann").reason is None
    assert [take(timed_queue, "ann").id, take(timed_queue, "bob").id] == ["b", "a"]


def test_reason_is_empty_for_empty_queue(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure()
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing("empty")
    timed_queue.configure(answers=3)
    assert timed_queue.why_nothing("ann", ["fr"]) == WhyNothing("empty")


def test_ineligibility_lists_missing_skills_assigned_and_passed_items(timed_queue: leaseq.Queue) -> None:
    """The answer is read from the non-empty rows, for any number of waiting items."""
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


def test_emptied_row_is_not_in_ineligibility(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.enqueue({}, id="b", requires=["de"])
    take(timed_queue, "bob", "fr")
    assert timed_queue.why_nothing("ann").ineligibility == Ineligibility(
        (("de",),), assigned=False, passed=False
    )
    timed_queue.remove("b")
    explanation = timed_queue.why_nothing("ann")
    assert (explanation.reason, explanation.ineligibility) == ("held", None)


def test_declined_assigned_item_counts_as_passed(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "ann")
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.why_nothing("ann").ineligibility == Ineligibility((), assigned=False, passed=True)

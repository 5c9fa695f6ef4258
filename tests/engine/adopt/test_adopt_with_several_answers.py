"""adopt with several answers: which of the item's assignments a late answer replaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.adopt.test_adopt import Take, answers, finish_late
from tests.engine.conftest import Sets


def answerers(item: leaseq.Item) -> list[tuple[str, bool]]:
    return sorted((a.person, a.late) for a in item.answers)


@pytest.fixture
def stale_lease(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> leaseq.Lease:
    """An item with two answers: bob gave one, by the assignment that ann had; cyd holds the other; ann's late
    answer is kept."""
    timed_queue.configure(answers=2, max_attempts=2)
    timed_queue.enqueue({}, id="a")
    stale = take("ann")
    clock.tick(301)
    timed_queue.finish(take("bob"), {"by": "bob"})
    take("cyd")
    finish_late(timed_queue, stale, {"by": "ann"})
    return stale


LEASE_ENDINGS: dict[str, Callable[[leaseq.Queue, leaseq.Lease], object]] = {
    "inbound": lambda queue, lease: queue.abandon(lease),
    "scheduled": lambda queue, lease: (queue.configure(max_attempts=9), queue.fail(lease, "no")),
    "dead": lambda queue, lease: queue.fail(lease, "no"),
}


@pytest.mark.parametrize("state", LEASE_ENDINGS)
def test_adoption_takes_unheld_unanswered_assignment_first(
    timed_queue: leaseq.Queue, stale_lease: leaseq.Lease, sets: Sets, state: str
) -> None:
    LEASE_ENDINGS[state](timed_queue, timed_queue.mine("cyd")[0])
    assert timed_queue.get("a").state == state
    item = timed_queue.adopt("a", stale_lease.token, by="meg")
    assert answerers(item) == [("ann", True), ("bob", False)]
    assert (item.state, item.late_answers, item.attempts) == ("finished", (), 3)
    assert len(item.history) == 3
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": ["a", "a\a2"], "dead": []}
    assert timed_queue.adopt("a", stale_lease.token) == item, "adopting again changes nothing"
    assert timed_queue.stats().counters["finished"] == 2
    assert timed_queue.reserve("ann") is None


def test_adoption_replaces_answer_when_other_assignments_are_held(
    timed_queue: leaseq.Queue, stale_lease: leaseq.Lease
) -> None:
    item = timed_queue.adopt("a", stale_lease.token)
    assert answerers(item) == [("ann", True)]
    assert [a.person for a in item.late_answers] == ["bob"]
    assert [lease.person for lease in item.leases] == ["cyd"]
    timed_queue.abandon(timed_queue.mine("cyd")[0])
    item = timed_queue.adopt("a", item.late_answers[0].token)
    assert answerers(item) == [("ann", True), ("bob", True)]
    assert (item.late_answers, item.attempts) == ((), len(item.history))


def test_adoption_uses_next_assignment_and_holder_keeps_item(timed_queue: leaseq.Queue, take: Take) -> None:
    """The next assignment is created, as if this one was handed out."""
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    stale = take("ann")
    timed_queue.release("a")
    take("bob")
    finish_late(timed_queue, stale, {"by": "ann"})
    item = timed_queue.adopt("a", stale.token)
    assert answerers(item) == [("ann", True)]
    assert [lease.person for lease in item.leases] == ["bob"]
    assert item.attempts == 2
    assert [waiting_item.assignment for waiting_item in timed_queue.items("inbound")] == [3]
    timed_queue.finish(timed_queue.mine("bob")[0], {})
    timed_queue.finish(take("cyd"), {})
    assert timed_queue.reserve("dan") is None
    assert len(timed_queue.get("a").answers) == 3


def test_adoption_takes_first_waiting_assignment(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=4)
    timed_queue.enqueue({}, id="a")
    stale = take("ann")
    timed_queue.release("a")
    take("bob")
    timed_queue.abandon(take("cyd"))
    assert [waiting_item.assignment for waiting_item in timed_queue.items("inbound")] == [2, 3]
    finish_late(timed_queue, stale, {"by": "ann"})
    timed_queue.adopt("a", stale.token)
    assert [waiting_item.assignment for waiting_item in timed_queue.items("inbound")] == [3], (
        "the assignment that nobody had yet"
    )


def test_second_answer_of_person_replaces_first(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    lease = take("ann")
    timed_queue.finish(lease, {"v": 1})
    finish_late(timed_queue, lease, {"v": 2})
    assert answers(timed_queue.adopt("a", lease.token)) == ([{"v": 2}], [{"v": 1}])
    assert [waiting_item.assignment for waiting_item in timed_queue.items("inbound")] == [2]


def test_adoption_takes_assignment_assigned_to_another_person_last(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.configure(answers=4)
    timed_queue.enqueue({}, id="a")
    anns, bobs, _ = take("ann"), take("bob"), take("flo")
    timed_queue.release("a")
    for person in ("cyd", "dan"):
        timed_queue.finish(take(person), {})
    timed_queue.assign("a", "eve")  # one of the two that are waiting
    finish_late(timed_queue, anns, {})
    finish_late(timed_queue, bobs, {})
    assert timed_queue.adopt("a", anns.token).assigned_to == ("eve",)
    item = timed_queue.adopt("a", bobs.token)
    assert [person for person, _ in answerers(item)] == ["ann", "bob", "cyd", "dan"]
    assert (item.state, item.assigned_to, item.attempts) == ("finished", (), 5)
    assert timed_queue.reserve("eve") is None


def test_repeated_replacement_of_adopted_answer_adds_no_attempts(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take("zed"))
    stale = take("ann")  # the second attempt of the first assignment
    clock.tick(301)
    timed_queue.finish(take("bob"), {"by": "bob"})
    cyds = take("cyd")
    finish_late(timed_queue, stale, {"by": "ann"})
    timed_queue.abandon(cyds)
    finish_late(timed_queue, cyds, {"by": "cyd"})
    attempts = timed_queue.get("a").attempts
    assert attempts == 4
    for token, people in (
        (stale.token, [("ann", True), ("bob", False)]),  # answered by the assignment that cyd had
        (cyds.token, [("bob", False), ("cyd", True)]),
        (stale.token, [("ann", True), ("bob", False)]),
    ):
        item = timed_queue.adopt("a", token)
        assert (answerers(item), item.attempts) == (people, attempts)


def test_adoption_in_reverse_order_keeps_attempts_and_history(timed_queue: leaseq.Queue, take: Take) -> None:
    """Even if the answers of later attempts are adopted elsewhere before those of earlier ones."""
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    anns = take("ann")
    timed_queue.release("a")
    bobs = take("bob")
    timed_queue.release("a")
    cyds = take("cyd")
    timed_queue.finish(cyds, {})
    take("dan"), take("eve")
    finish_late(timed_queue, anns, {})
    finish_late(timed_queue, bobs, {})
    assert answerers(timed_queue.adopt("a", bobs.token)) == [("bob", True)], "bob's answer replaces cyd's"
    for person in ("dan", "eve"):
        timed_queue.abandon(timed_queue.mine(person)[0])
    for token in (cyds.token, anns.token):
        item = timed_queue.adopt("a", token)
        assert (item.attempts, len(item.history)) == (5, 5)
    assert [person for person, _ in answerers(item)] == ["ann", "bob", "cyd"]

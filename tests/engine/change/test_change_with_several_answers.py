"""change of an item with several answers, or of an item that somebody held before."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take
from tests.support.refused import refused

PAST = datetime(2001, 1, 1, tzinfo=UTC)


def test_waiting_assignment_moves_and_held_assignment_stays(three: leaseq.Queue) -> None:
    three.enqueue({"n": 1}, id="a")
    lease = take(three, "ann")
    for n in range(2):
        three.enqueue({}, id=f"{n}", priority=10)
    item = three.change("a", priority=10, requires=["fr"])
    assert (item.state, item.priority, item.requires) == ("reserved", 10, ("fr",))
    assert three.mine("ann") == [lease]
    assert [take(three, "bob", "fr").id, take(three, "cyd").id] == ["0", "1"], "ann still holds a"
    three.abandon(lease)
    assert take(three, "dan", "fr").id == "a"


def test_delay_schedules_unheld_assignments(three: leaseq.Queue, clock: Clock) -> None:
    three.enqueue({}, id="a")
    three.abandon(take(three, "ann"))
    assert [item.assignment for item in three.items("inbound")] == [1, 2]
    assert three.change("a", delay=60).state == "scheduled"
    assert three.reserve("bob") is None
    clock.tick(61)
    assert take(three, "bob").id == "a"
    assert three.change("a", delay=60).state == "reserved"
    assert [item.assignment for item in three.items("scheduled")] == [2]
    assert three.reserve("cyd") is None


def test_item_is_overdue_until_all_answers_are_given(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    lease = take(three, "ann")
    three.change("a", due=PAST)
    three.finish(lease, {})
    assert three.stats().overdue == 1
    for person in ("bob", "cyd"):
        three.finish(take(three, person), {})
    assert three.stats().overdue == 0


def test_payload_of_held_or_answered_item_cannot_be_changed(three: leaseq.Queue) -> None:
    three.enqueue({"n": 1}, id="a")
    lease = take(three, "ann")
    for _ in range(2):
        with refused("payload_fixed", "payload", id="a") as error:
            three.change("a", payload={"n": 2}, priority=10)
        assert error.value.field == "payload"
        assert three.get("a").priority == 100
        item = three.change("a", payload={"n": 1}, due=PAST, priority=100)
        assert (item.payload, item.due) == ({"n": 1}, PAST), "the same payload is no change"
        three.change("a", due=None)
        three.finish(lease, {})


def test_payload_of_abandoned_item_can_be_changed(three: leaseq.Queue) -> None:
    three.enqueue({"n": 1}, id="a")
    three.abandon(take(three, "ann"))
    three.change("a", payload={"n": 2})
    assert [take(three, person).payload for person in ("bob", "cyd")] == [{"n": 2}] * 2


@pytest.mark.parametrize("answers", [1, 3])
def test_answer_to_earlier_payload_is_kept_as_late_answer(
    timed_queue: leaseq.Queue, clock: Clock, answers: int
) -> None:
    timed_queue.configure(answers=answers)
    timed_queue.enqueue({"n": 1}, id="a")
    lease = take(timed_queue, "ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.change("a", priority=10)
    timed_queue.save_draft(lease, "half")
    timed_queue.change("a", payload={"n": 2})
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.renew(lease)
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(lease, "old")
    assert error.value.answer_kept
    assert timed_queue.get("a").state == "inbound"
    second_lease = take(timed_queue, "bob")
    assert (second_lease.payload, second_lease.attempt) == ({"n": 2}, 2)
    clock.tick(301)
    timed_queue.clear()
    assert timed_queue.finish(second_lease, "new").late, "an answer to the current payload counts"
    assert timed_queue.adopt("a", lease.token).answers[-1].result in ("old", "new")


def test_late_answer_counts_when_payload_is_unchanged(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    lease = take(timed_queue, "ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.change("a", priority=10, requires=["fr"])
    assert timed_queue.finish(lease, {}).late

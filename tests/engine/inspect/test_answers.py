"""answers: the results of a queue, filtered by person, time and lateness."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock

Take = Callable[[str], leaseq.Lease]


def test_answers_are_filtered_by_person_time_and_lateness(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(lease_seconds=10)
    start = datetime.fromtimestamp(clock.start / 1e6, UTC)
    for n, person in enumerate(("ann", "bob", "ann", "bob")):
        timed_queue.enqueue(n, id=str(n))
        lease = take(person)
        clock.tick(20 if n > 1 else 1)  # the last two answers are late
        timed_queue.finish(lease, n)
    timed_queue.enqueue(4, id="4")
    lease = take("ann")
    timed_queue.release("4")
    timed_queue.finish(take("cyd"), "hers")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lease, "refused")

    def results(**arguments: Any) -> list[Any]:
        return [answer.result for answer in timed_queue.answers(**arguments)]

    assert results() == [0, 1, 2, 3, "hers"]
    assert results(person="ann") == [0, 2]
    assert results(person="ann", with_late=True) == [0, 2, "refused"]
    assert results(late=True) == [2, 3]
    assert results(late=True, with_late=True) == [2, 3, "refused"]
    assert results(late=False) == [0, 1, "hers"]
    assert results(since=start + timedelta(seconds=2), until=start + timedelta(seconds=23)) == [1, 2]
    assert results(until=start + timedelta(seconds=2)) == [0]
    for with_late in (False, True):
        for found_answer in timed_queue.answers(with_late=with_late):
            assert found_answer in timed_queue.answers(with_late=with_late, since=found_answer.finished_at)
            assert found_answer not in timed_queue.answers(
                with_late=with_late, until=found_answer.finished_at
            )
    with pytest.raises(leaseq.Invalid):
        timed_queue.answers(person="")


def test_answer_has_its_start_and_duration(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue_many([leaseq.NewItem(n, id=str(n)) for n in range(2)])
    lost_lease = take("ann")
    timed_queue.release("0")
    lease = take("bob")
    clock.tick(42.5)
    timed_queue.finish(lease, "bob's")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lost_lease, "ann's")
    answer, late_answer = timed_queue.answers(with_late=True)
    assert (answer.reserved_at, answer.seconds) == (lease.reserved_at, 42.5)
    assert (late_answer.reserved_at, late_answer.seconds) == (lost_lease.reserved_at, 42.5)
    adopted = timed_queue.adopt("0", lost_lease.token).answers[0]
    assert (adopted.reserved_at, adopted.seconds) == (lost_lease.reserved_at, 42.5)


def test_answer_that_nobody_reserved_has_no_start(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue(1, id="one")
    lease = take("ann")
    clock.tick(9)
    timed_queue.finish(lease, "wrong")
    item = timed_queue.correct("one", lease.token, "right", by="meg")
    given = leaseq.GivenAnswer(99, "ann", '"old"', datetime(2026, 1, 1, tzinfo=UTC), late=False, stands=True)
    timed_queue.restore(leaseq.NewItem(1, id="two"), [given])
    for answer in (item.answers[0], timed_queue.get("two").answers[0]):
        assert (answer.reserved_at, answer.seconds) == (None, None)
    assert item.late_answers[0].seconds == 9

"""How many items wait for each set of people who may have them."""

from __future__ import annotations

import leaseq
from leaseq import NewItem, WaitingRow
from tests.conftest import Clock
from tests.support.leases import take


def test_empty_queue_has_no_rows(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure()
    assert timed_queue.waiting_rows() == ()


def test_rows_count_what_waits_for_skills_and_for_people(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue_many(
        [
            NewItem({}, id="plain"),
            NewItem({}, id="high", priority=1),
            NewItem({}, id="low", priority=200),
            NewItem({}, requires=("fr",)),
            NewItem({}, requires=("legal", "fr")),
            NewItem({}, requires=("legal", "fr"), priority=1),
            NewItem({}, id="later", requires=("fr",), delay=60),
            NewItem({}, id="for ann b"),
        ]
    )
    timed_queue.assign("for ann b", "ann b")
    assert set(timed_queue.waiting_rows()) == {
        WaitingRow((), None, 3),
        WaitingRow((), "ann b", 1),
        WaitingRow(("fr",), None, 1),
        WaitingRow(("fr", "legal"), None, 2),
    }
    take(timed_queue, "ann b")
    take(timed_queue, "dan", "fr")
    clock.tick(61)
    timed_queue.clear()
    assert sum(row.waiting for row in timed_queue.waiting_rows()) == timed_queue.stats().inbound


def test_rows_contain_returned_items_and_further_assignments(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.release(take(timed_queue, "ann", "fr").id)
    assert timed_queue.waiting_rows() == (WaitingRow(("fr",), None, 2),)


def test_more_rows_than_one_step_reads(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(500))
    timed_queue.enqueue({})
    rows = timed_queue.waiting_rows()
    assert len(rows) == 501
    assert {row.waiting for row in rows} == {1}

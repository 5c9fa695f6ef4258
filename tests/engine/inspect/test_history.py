"""history: the events of one item, read from the journal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from tests.support.leases import take as take_from

Take = Callable[[str], leaseq.Lease]


def test_history_lists_events_of_item_with_their_people(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("one", "two", "boss"))
    timed_queue.release(take("ann").id, by="boss")
    timed_queue.assign("one", "bob", by="boss")
    timed_queue.fail(take("bob"), "no")
    timed_queue.revive("one", by="carl")
    history = timed_queue.history("one")
    assert [(event.what, event.person) for event in history.events] == [
        ("enqueued", None),
        ("reserved", "ann"),
        ("released", "boss"),
        ("assigned", "boss"),
        ("reserved", "bob"),
        ("failed", "bob"),
        ("died", "bob"),
        ("revived", "carl"),
    ]
    assert history.whole
    part = timed_queue.history("one", look=2)
    assert [event.what for event in part.events] == ["enqueued", "released"], "the release is found by time"
    assert not part.whole
    assert [event.what for event in timed_queue.history("boss").events] == ["enqueued"]


def test_history_beyond_limit_contains_only_release(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    timed_queue.release("one", by="boss")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lease, {"about": "refund"})
    assert [event.what for event in timed_queue.history("one").events][-2:] == ["released", "late"]
    assert [event.what for event in timed_queue.history("one", look=2).events] == ["enqueued", "released"]


def test_history_after_large_import_is_read_in_short_calls(queue: leaseq.Queue) -> None:
    queue.enqueue_many(NewItem({}, id=f"ticket-{n:020}") for n in range(20_000))
    queue.finish(take_from(queue, "ann"), {})
    scanned, next_cursor, events = queue._item_events(f"ticket-{1:020}", "-", 1_000)
    assert scanned < 80
    assert next_cursor
    assert [event.what for event in events] == ["enqueued"]
    history = queue.history(f"ticket-{0:020}")
    assert [event.what for event in history.events] == ["enqueued", "reserved", "finished"]
    assert history.whole

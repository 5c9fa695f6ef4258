"""Those of tests/engine/guarantees/test_entry_size.py that read, on a queue of `leaseq.aio`."""

from __future__ import annotations

import leaseq
from tests.conftest import Clock, Server
from tests.engine.guarantees.test_entry_size import (
    large_entry,
    test_follower_passes_large_entry_only_when_all_is_read,
    test_journal_is_read_through_large_entry,
)
from tests.support.large_entries import add_foreign_entry, journal_of, write_large_entries

__all__ = [
    "large_entry",
    "test_follower_passes_large_entry_only_when_all_is_read",
    "test_journal_is_read_through_large_entry",
]


def test_follower_reads_each_event_of_large_entries_once(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    timed_queue.configure()
    cursor = timed_queue.follow("audit")
    write_large_entries(timed_queue, clock)
    add_foreign_entry(server, timed_queue, clock, "died")
    events: list[leaseq.Event] = []
    while page := timed_queue.journal(cursor, limit=700):
        events += page
        cursor = page[-1].cursor  # the page may end within an entry
        timed_queue.follow("audit", read=cursor)
    assert events == journal_of(timed_queue)
    assert timed_queue.journal(timed_queue.follow("audit")) == []

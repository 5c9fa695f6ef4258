"""Entries of a journal with many changes: those that the scripts write with the largest policy, and one that
an earlier version wrote."""

from __future__ import annotations

import itertools

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server

ITEMS = 4
ANSWERS = HOLDS = 100
FOREIGN_EVENTS = 3_000


def write_large_entries(queue: leaseq.Queue, clock: Clock) -> None:
    """Let all assignments of some items be handed out, given back and die. ``queue``: with this clock."""
    queue.configure(answers=ANSWERS, holds=HOLDS, lease_seconds=60, max_attempts=1)
    queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n:02}") for n in range(ITEMS))
    for person, _ in itertools.product(range(ANSWERS), range(ITEMS)):
        assert queue.reserve(f"p{person}")
    for n in range(ITEMS):
        queue.release(f"{n:02}")
    for _ in range(ITEMS):
        assert queue.reserve("ann")
    clock.tick(61)
    while queue.clear().more:
        pass


def add_foreign_entry(server: Server, queue: leaseq.Queue, clock: Clock, what: str) -> None:
    """Add one entry with as many events, of items that `write_large_entries` made, and one after it."""
    clock.tick(1)
    fields = itertools.chain.from_iterable((what, f"{n % ITEMS:02}\t\t") for n in range(FOREIGN_EVENTS))
    server.redis.execute_command("XADD", Keys(queue.name).journal, clock.now, *fields)
    clock.tick(1)
    queue.enqueue({}, id="last")


def journal_of(queue: leaseq.Queue) -> list[leaseq.Event]:
    events: list[leaseq.Event] = []
    while page := queue.journal(events[-1].cursor if events else None):
        events += page
    return events

"""No call writes an entry of the journal beyond its limit, and every reader takes an entry of any size."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys, of_queue
from leaseq.policy import PolicyChanges
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import not_none

MOST = 1_000  # changes in an entry, as lua/lib/journal.lua says
ANSWERS = HOLDS = 100
ITEMS = 45  # their assignments are more than Lua can pass to one command
LARGEST: PolicyChanges = {"answers": ANSWERS, "holds": HOLDS, "lease_seconds": 60, "max_attempts": 1}


@pytest.fixture(scope="module")
def largest_contents(server: Server) -> dict[str, bytes]:
    """The keys of a queue with the largest policy: one person holds all items, each for the last time, and
    all other assignments wait. Each test has a copy, since to make them takes thousands of calls."""
    queue = leaseq.Queue(server.client, "largest", clock=Clock())
    queue.configure(**LARGEST)
    queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(ITEMS))
    for person, _ in itertools.product(range(ANSWERS), range(ITEMS)):
        assert queue.reserve(f"p{person}")
    for n in range(ITEMS):
        queue.release(f"{n:03}")
    for _ in range(ITEMS):
        assert queue.reserve("ann")
    keys = map(bytes.decode, server.redis.scan_iter(match=of_queue(queue.name), count=10_000))
    return {key.rpartition("}:")[2]: server.redis.dump(key) for key in keys}


@pytest.fixture
def largest_policy(
    server: Server, timed_queue: leaseq.Queue, largest_contents: dict[str, bytes], clock: Clock
) -> leaseq.Queue:
    """A queue with the largest policy, where the lease of each item has run out."""
    timed_queue.configure(**LARGEST)
    for part, content in largest_contents.items():
        server.redis.restore(of_queue(timed_queue.name, part), 0, content, replace=True)
    clock.tick(61)
    return timed_queue


def entry_sizes(queue: leaseq.Queue) -> list[int]:
    """The number of events of each entry of the journal."""
    positions = [row.position for row in all_rows(queue)]
    return [len(list(group)) for _, group in itertools.groupby(positions)]


def all_rows(queue: leaseq.Queue) -> list[leaseq.EventRow]:
    rows: list[leaseq.EventRow] = []
    while page := queue.event_rows(rows[-1].cursor if rows else None):
        rows += page
    return rows


def clear(queue: leaseq.Queue) -> object:
    cleared = queue.clear()
    assert (cleared.died, cleared.more) == (ITEMS, False)
    return None


def reserve(queue: leaseq.Queue) -> object:
    return queue.reserve("bob")


def reserve_again(queue: leaseq.Queue) -> object:
    return queue.reserve("ann")


CALLS = (clear, reserve, reserve_again)


@pytest.mark.parametrize("call", CALLS)
def test_each_call_writes_bounded_entries_with_all_events(
    largest_policy: leaseq.Queue, clock: Clock, sets: Sets, call: Callable[[leaseq.Queue], object]
) -> None:
    while call(largest_policy):  # somebody may get an item whose turn to die has not come
        pass
    while largest_policy.clear().more:
        pass
    clock.tick(61)
    while largest_policy.clear().more:
        pass
    assert len(sets()["dead"]) == ITEMS * ANSWERS
    rows = all_rows(largest_policy)
    counts = Counter(row.what for row in rows)
    counters = largest_policy.stats().counters
    assert counts["died"] == counters["died"] == ITEMS * ANSWERS
    assert counts["expired"] == counters["expired"]
    assert max(entry_sizes(largest_policy)) <= MOST


def test_releases_and_deaths_of_held_assignments_are_in_bounded_entries(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=ANSWERS, holds=HOLDS, lease_seconds=60, max_attempts=1)
    timed_queue.enqueue_many(NewItem({}, id=f"{n}") for n in range(3))
    leases = [not_none(timed_queue.reserve(f"p{n}")) for _ in range(3) for n in range(ANSWERS)]
    for lease in (leases[0], leases[ANSWERS], leases[2 * ANSWERS]):
        timed_queue.fail(lease, "torn")
    timed_queue.release("0")
    timed_queue.revive("0")
    timed_queue.remove("1")
    clock.tick(61)
    while timed_queue.clear().more:
        pass
    assert max(entry_sizes(timed_queue)) <= MOST
    stats = timed_queue.stats()
    assert (stats.inbound, stats.dead, stats.reserved) == (ANSWERS, ANSWERS, 0)


def test_erasing_a_person_with_many_leases_writes_bounded_entries(
    timed_queue: leaseq.Queue, sets: Sets
) -> None:
    """An undo lets a person hold more than the policy's ``holds``."""
    timed_queue.configure(holds=HOLDS)
    count = 6 * HOLDS
    timed_queue.enqueue_many(NewItem({}) for _ in range(count))
    finished_leases: list[leaseq.Lease] = []
    for _ in range(count):
        lease = not_none(timed_queue.reserve("ann"))
        timed_queue.finish(lease, {})
        finished_leases.append(lease)
    for lease in finished_leases:
        timed_queue.undo_finish(lease)
    assert len(sets()["reserved"]) == count
    assert timed_queue.erase_person("ann", "erased") == leaseq.Erased(items=count, leases=count)
    assert (len(sets()["inbound"]), timed_queue.mine("ann")) == (count, [])
    assert max(entry_sizes(timed_queue)) < count, "one step does not end all of them"
    assert timed_queue.stats().counters["released"] == count


@pytest.fixture
def large_entry(timed_queue: leaseq.Queue, server: Server, clock: Clock) -> int:
    """An entry with 3,000 events, as an earlier version wrote it; returns its time."""
    timed_queue.configure()
    clock.tick(1)
    fields = itertools.chain.from_iterable(("died", f"i{n:04}\t\t") for n in range(3_000))
    server.redis.execute_command("XADD", Keys(timed_queue.name).journal, clock.now, *fields)
    clock.tick(1)
    timed_queue.enqueue({}, id="last")
    return clock.now - 1_000_000


@pytest.mark.parametrize("limit", [700, 1_000, 10_000])
def test_journal_is_read_through_large_entry(timed_queue: leaseq.Queue, large_entry: int, limit: int) -> None:
    ids = [None, *(f"i{n:04}" for n in range(3_000)), "last"]
    events: list[leaseq.Event] = []
    while page := timed_queue.journal(events[-1].cursor if events else None, limit):
        events += page
    assert [event.id for event in events] == ids
    events = []
    while page := timed_queue.latest_events(limit, events[-1].cursor if events else None):
        events += page
    assert [event.id for event in events] == ids[::-1]
    rows = timed_queue.event_rows(None, limit)
    assert [row.id for row in rows] == (ids if limit > 3_000 else ids[:-1])


def test_follower_passes_large_entry_only_when_all_is_read(
    timed_queue: leaseq.Queue, large_entry: int
) -> None:
    timed_queue.follow("audit")
    before = timed_queue.follow("audit", read=f"{large_entry}.2998")
    assert [event.id for event in timed_queue.journal(before, limit=1)] == ["i0000"]
    after = timed_queue.follow("audit", read=f"{large_entry}.2999")
    assert [event.id for event in timed_queue.journal(after)] == ["last"]

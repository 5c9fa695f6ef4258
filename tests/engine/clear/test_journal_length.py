"""The length of the journal: clear trims it; if no clear job runs, enqueue does."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.test_retention import GROUP, acknowledge, group, read
from tests.engine.script_rewrites import rewrite


def short_journal(queue: leaseq.Queue, script_name: str) -> None:
    """Rewrite a script so that a journal of 500 entries is long, and one of 2,000 too long."""
    rewrite(
        queue, script_name, "ENTRIES = 1000000, MAX_ENTRIES = 4000000", "ENTRIES = 500, MAX_ENTRIES = 2000"
    )


def test_clear_trims_read_entries_and_bounds_journal_length(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    short_journal(timed_queue, "clear")
    timed_queue.configure(lease_seconds=1, max_attempts=100)
    journal = Keys(timed_queue.name).journal

    def fill(count: int) -> int:
        """Add this many entries, then clear; return how many are left."""
        clock.tick(10)
        timed_queue.enqueue({})
        pipe = server.redis.pipeline()
        for n in range(1, count + 1):
            pipe.xadd(journal, {"renewed": "a\t1\tann"}, id=f"{clock.now + n}-0")
        pipe.execute()
        clock.tick(1)
        timed_queue.reserve("ann")
        clock.tick(2)
        assert timed_queue.clear().returned == 1
        return int(server.redis.xlen(journal))

    # By default, one trim of the server removes at most 10,000 entries.
    assert 500 <= fill(13_000) <= 600
    group(server, timed_queue)
    assert fill(1_000) > 1_500  # the group has read nothing yet
    entries = read(server, timed_queue, 700)
    acknowledge(server, timed_queue, entries)
    unread_id = server.redis.xrange(journal, min=b"(" + entries[-1], count=1)[0][0]
    length = fill(10)
    assert 700 <= length <= 1_000
    assert server.redis.xrange(journal, count=1)[0][0] <= unread_id
    assert fill(13_000) <= 2_100
    acknowledge(server, timed_queue, read(server, timed_queue, 10_000))
    assert fill(0) >= 500, "read entries stay, within the normal length"


@pytest.mark.parametrize("read_by", ["nobody", "all"])
def test_single_clear_trims_limited_number_of_entries(
    timed_queue: leaseq.Queue, clock: Clock, server: Server, read_by: str
) -> None:
    short_journal(timed_queue, "clear")
    rewrite(timed_queue, "clear", "STEP = 100000", "STEP = 1000")
    timed_queue.enqueue({}, delay=1)
    journal, count = Keys(timed_queue.name).journal, 5_000
    fill = "for n = 1, ARGV[2] do redis.call('XADD', KEYS[1], string.format('%d', ARGV[1] + n), 'f', 'v') end"
    clock.tick(1)
    server.redis.eval(fill, 1, journal, clock.now, count)
    if read_by == "all":
        group(server, timed_queue)
        server.redis.xgroup_setid(journal, GROUP, "$")
    clock.tick(2)
    assert timed_queue.clear().released == 1
    assert count - 2_000 <= server.redis.xlen(journal) <= count - 500


def test_clear_trims_before_its_last_write(timed_queue: leaseq.Queue, clock: Clock, server: Server) -> None:
    """So that an error of the server while it trims comes before the queue's state is saved."""
    timed_queue.configure(lease_seconds=1)
    timed_queue.enqueue({})
    timed_queue.reserve("ann")
    clock.tick(2)
    rewrite(timed_queue, "clear", "ENTRIES = 1000000, MAX_ENTRIES", "ENTRIES = 1, MAX_ENTRIES")
    with server.redis.monitor() as monitor:
        assert timed_queue.clear().returned == 1
        commands: list[str] = []
        while not commands or commands[-1] != "XADD":  # the journal entry
            commands.append(monitor.next_command()["command"].split(" ")[0])
    assert commands[-2] == "HSET"
    assert "XTRIM" in commands


def test_an_enqueue_keeps_the_journal_within_the_bound(timed_queue: leaseq.Queue, server: Server) -> None:
    """If no clear job runs."""
    short_journal(timed_queue, "enqueue")
    for _ in range(2_200):
        timed_queue.enqueue({}, id="one")
        timed_queue.remove("one")
    assert int(server.redis.xlen(Keys(timed_queue.name).journal)) <= 2_100

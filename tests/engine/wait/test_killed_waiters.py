"""Processes that were killed while they waited: they are not counted, and do not delay others."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import Keys
from leaseq.engine.notifications import NoItemYet
from tests.conftest import Clock, Server
from tests.engine.waiters import LONG, in_line
from tests.support.waiting import eventually

PROGRAM = """
import sys, threading, leaseq
queue = leaseq.Queue(leaseq.connect(sys.argv[1]), sys.argv[2])
for number in range(3):
    threading.Thread(target=queue.reserve, args=(f"killed {number}",), kwargs={"wait": 600}).start()
"""
PRESENCE_SECONDS = 5  # how long a waiter counts as present after its last call


@pytest.fixture
def join_line(timed_queue: leaseq.Queue, clock: Clock) -> Callable[..., None]:
    """Return a function that lets people join the line, a moment apart, each with their name as waiter."""

    def join_line(*people: str) -> None:
        for person in people:
            clock.tick(0.01)
            assert try_reserve(timed_queue, person) is None

    return join_line


def try_reserve(queue: leaseq.Queue, person: str, woken: bool = False) -> str | None:
    outcome = queue._reserve(person, f"r-{person}", "", person, woken)
    return outcome.id if isinstance(outcome, leaseq.Lease) else None


def test_killed_waiters_are_not_counted_after_five_seconds(server: Server, queue: leaseq.Queue) -> None:
    """Even if nothing else happens in the queue."""
    queue.configure()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, server.url, queue.name]) as program:
        eventually(lambda: queue.stats().waiting == 3, "three wait")
        program.kill()
    later_queue = leaseq.Queue(
        server.client, queue.name, clock=lambda: int((time.time() + PRESENCE_SECONDS + 1) * 1e6)
    )
    assert later_queue.stats().waiting == 0


def test_killed_waiters_are_removed_when_others_wait(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    join_line(*(f"killed {n}" for n in range(60)))
    clock.tick(PRESENCE_SECONDS + 1)
    join_line("ann")
    keys = Keys(timed_queue.name)
    assert server.redis.zrange(keys.waiters, 0, -1) == server.redis.hkeys(keys.waiter_times) == [b"ann"]
    timed_queue.enqueue({}, id="a")
    assert try_reserve(timed_queue, "ann", woken=True) == "a"
    assert not server.redis.exists(keys.waiters, keys.waiter_times)
    assert not server.redis.hexists(keys.ledger, "woken"), "an enqueue has no extra cost now"


def test_woken_waiter_that_was_killed_is_removed(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    join_line("killed", "bob")
    timed_queue.enqueue({}, id="a")
    clock.tick(PRESENCE_SECONDS + 1)
    assert try_reserve(timed_queue, "bob") == "a"
    assert not server.redis.exists(Keys(timed_queue.name).waiter_times)


def test_line_of_killed_waiters_expires(
    timed_queue: leaseq.Queue, join_line: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    join_line("ann", "bob")
    timed_queue.enqueue({})  # ann is woken, but does not come
    assert 0 < server.redis.ttl(Keys(timed_queue.name).waiters) <= 60
    assert 0 < server.redis.ttl(Keys(timed_queue.name).waiter_times) <= 60


def test_many_killed_waiters_do_not_keep_item_from_live_waiter(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure()
    join_line(*(f"killed {n}" for n in range(60)), "ann")
    clock.tick(4)
    assert try_reserve(timed_queue, "ann") is None
    clock.tick(1.5)  # 5.5 seconds after the others looked
    timed_queue.enqueue({}, id="a")
    assert timed_queue.stats().waiting == 0, "ann is woken"
    assert try_reserve(timed_queue, "ann", woken=True) == "a"


def test_waiter_behind_killed_waiters_looks_when_lease_expires(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure(lease_seconds=20)
    timed_queue.enqueue({})
    assert timed_queue.reserve("gone")
    join_line("killed 1", "killed 2", "ann")
    clock.tick(PRESENCE_SECONDS + 12)
    outcome = timed_queue._reserve("ann", "r-ann", "", "ann", False)
    assert isinstance(outcome, NoItemYet)
    assert outcome.seconds < 3


def test_next_waiters_are_woken_if_woken_waiter_does_not_come(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    """Even while all of them still count as present."""
    timed_queue.configure()
    join_line("killed 1", "killed 2", "killed 3", "ann", "bob")
    timed_queue.enqueue({}, id="a")
    clock.tick(0.25)
    assert try_reserve(timed_queue, "ann") is None, "two more are woken, who were killed as well"
    assert timed_queue.stats().waiting == 2, "ann and bob still wait"
    clock.tick(0.25)
    assert try_reserve(timed_queue, "ann") == "a"


def test_at_most_two_waiters_are_woken_in_place_of_killed_one(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure()
    join_line("killed", "ann", "bob", "cyd", "dan")
    timed_queue.enqueue({})
    clock.tick(0.25)
    assert try_reserve(timed_queue, "dan") is None
    assert timed_queue.stats().waiting == 2, "cyd and dan still wait"


def test_one_call_wakes_bounded_number_of_waiters(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    timed_queue.configure()
    for n in range(400):
        clock.tick(0.001)
        assert try_reserve(timed_queue, f"killed {n}") is None
    join_line("ann")
    timed_queue.enqueue_many([{} for _ in range(130)])
    assert timed_queue.stats().waiting == 271, "each item has woken one"
    clock.tick(0.25)
    assert try_reserve(timed_queue, "ann") is None
    assert timed_queue.stats().waiting == 21, "two more for each of them would be 260"


@pytest.mark.parametrize("seconds", [0.25, PRESENCE_SECONDS - 0.02], ids=["soon", "just before it expires"])
def test_slow_waiter_keeps_place_in_line(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None], server: Server, seconds: float
) -> None:
    timed_queue.configure()
    join_line("slow", "ann", "bob")  # 0.02 seconds
    timed_queue.enqueue({}, id="a")  # wakes "slow"
    clock.tick(seconds)
    assert try_reserve(timed_queue, "ann") == "a", "ann gets it, and bob is woken"
    assert try_reserve(timed_queue, "bob", woken=True) is None
    clock.tick(0.25)
    assert try_reserve(timed_queue, "slow", woken=True) is None
    timed_queue.enqueue({}, id="b")
    assert server.redis.zrange(Keys(timed_queue.name).waiters, 0, -1) == [b"bob"], (
        "bob began later, and still waits"
    )
    assert try_reserve(timed_queue, "slow", woken=True) == "b"


@pytest.mark.parametrize("seconds", [0.25, 3.5])
def test_waiter_that_looks_first_does_not_overtake_earlier_waiter(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None], seconds: float
) -> None:
    """If the woken one does not come, all candidates are woken, and start again."""
    timed_queue.configure()
    join_line("killed", "ann", "bob")
    timed_queue.enqueue({}, id="a")
    clock.tick(seconds)
    assert try_reserve(timed_queue, "bob") is None
    assert timed_queue.stats().waiting == 0, "both are woken"
    assert try_reserve(timed_queue, "ann", woken=True) == "a"
    assert try_reserve(timed_queue, "bob", woken=True) is None


def test_waiter_killed_during_earlier_grant_does_not_delay_later_ones(
    timed_queue: leaseq.Queue, clock: Clock, join_line: Callable[..., None]
) -> None:
    """They are still recorded, although two were woken in their place."""
    timed_queue.configure(lease_seconds=10)
    timed_queue.enqueue({}, id="held")
    assert timed_queue.reserve("gone")
    clock.tick(6)
    join_line("killed", "ann", "bob", "cyd")
    timed_queue.enqueue({}, id="a")
    clock.tick(0.25)
    assert try_reserve(timed_queue, "cyd") is None
    assert try_reserve(timed_queue, "ann", woken=True) == "a"
    assert try_reserve(timed_queue, "bob", woken=True) is None
    clock.tick(PRESENCE_SECONDS - 1.25)
    assert try_reserve(timed_queue, "cyd") is None, "cyd, second in line, takes the expired lease back"
    assert timed_queue.get("held").state == "inbound"
    assert try_reserve(timed_queue, "bob", woken=True) == "held"


class WokenOnlyQueue(leaseq.Queue):
    """A queue whose waits call the server again only when woken."""

    def _reserve(self, *arguments: Any, **keywords: Any) -> leaseq.Lease | NoItemYet:
        outcome = super()._reserve(*arguments, **keywords)
        return outcome if isinstance(outcome, leaseq.Lease) else NoItemYet(LONG, outcome.last_token)


def test_waiter_takes_item_after_killed_waiters_were_woken_for_it(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiter is notified that others were woken, and calls the server a moment later."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (LONG, LONG))
    queue.configure()
    woken_only_queue = WokenOnlyQueue(server.client, queue.name)
    for name in ("killed 1", "killed 2", "killed 3"):
        assert try_reserve(queue, name) is None
    with ThreadPoolExecutor(1) as pool:
        ann: Future[leaseq.Lease | None] = pool.submit(woken_only_queue.reserve, "ann", wait=LONG)
        eventually(lambda: in_line(server, queue) == 4)
        queue.enqueue({}, id="a")
        lease = ann.result(LONG)
    assert lease is not None
    assert lease.id == "a"

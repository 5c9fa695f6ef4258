"""Processes that were killed while they waited: they count nowhere, and delay nobody."""

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
PROMISE = 5  # seconds for which a waiter counts as present after its last look


@pytest.fixture
def stand(timed_queue: leaseq.Queue, clock: Clock) -> Callable[..., None]:
    """Return a function that lets people join the line, a moment apart, each with their name as waiter."""

    def stand(*people: str) -> None:
        for person in people:
            clock.tick(0.01)
            assert look(timed_queue, person) is None

    return stand


def look(queue: leaseq.Queue, person: str, woken: bool = False) -> str | None:
    outcome = queue._reserve(person, f"r-{person}", "", person, woken)
    return outcome.id if isinstance(outcome, leaseq.Lease) else None


def test_they_are_in_no_figure_once_their_promise_is_over(server: Server, queue: leaseq.Queue) -> None:
    """Although nothing else happens in the queue."""
    queue.configure()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, server.url, queue.name]) as program:
        eventually(lambda: queue.stats().waiting == 3, "three wait")
        program.kill()
    later_queue = leaseq.Queue(
        server.client, queue.name, clock=lambda: int((time.time() + PROMISE + 1) * 1e6)
    )
    assert later_queue.stats().waiting == 0


def test_they_are_no_longer_stored_once_others_waited(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    stand(*(f"killed {n}" for n in range(60)))
    clock.tick(PROMISE + 1)
    stand("ann")
    keys = Keys(timed_queue.name)
    assert server.redis.zrange(keys.line, 0, -1) == server.redis.hkeys(keys.line_until) == [b"ann"]
    timed_queue.enqueue({}, id="a")
    assert look(timed_queue, "ann", woken=True) == "a"
    assert not server.redis.exists(keys.line, keys.line_until)
    assert not server.redis.hexists(keys.ledger, "line"), "an enqueue has no extra cost now"


def test_where_all_were_killed_the_server_forgets_them(
    timed_queue: leaseq.Queue, stand: Callable[..., None], server: Server
) -> None:
    timed_queue.configure()
    stand("ann", "bob")
    timed_queue.enqueue({})  # ann is woken, but does not come
    assert 0 < server.redis.ttl(Keys(timed_queue.name).line) <= 60
    assert 0 < server.redis.ttl(Keys(timed_queue.name).line_until) <= 60


def test_more_of_them_than_one_wake_up_looks_at_keep_no_item_from_who_is_there(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure()
    stand(*(f"killed {n}" for n in range(60)), "ann")
    clock.tick(4)
    assert look(timed_queue, "ann") is None
    clock.tick(1.5)  # 5.5 seconds after the others looked
    timed_queue.enqueue({}, id="a")
    assert timed_queue.stats().waiting == 0, "ann is woken"
    assert look(timed_queue, "ann", woken=True) == "a"


def test_who_stands_behind_them_looks_when_a_lease_runs_out(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure(lease_seconds=20)
    timed_queue.enqueue({})
    assert timed_queue.reserve("gone")
    stand("killed 1", "killed 2", "ann")
    clock.tick(PROMISE + 12)
    outcome = timed_queue._reserve("ann", "r-ann", "", "ann", False)
    assert isinstance(outcome, NoItemYet)
    assert outcome.seconds < 3


def test_the_next_are_woken_in_the_place_of_who_does_not_come(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    """Even while all of them still count as present."""
    timed_queue.configure()
    stand("killed 1", "killed 2", "killed 3", "ann", "bob")
    timed_queue.enqueue({}, id="a")
    clock.tick(0.25)
    assert look(timed_queue, "ann") is None, "two more are woken, who were killed as well"
    assert timed_queue.stats().waiting == 2, "ann and bob still wait"
    clock.tick(0.25)
    assert look(timed_queue, "ann") == "a"


def test_no_more_than_two_are_woken_in_the_place_of_one(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure()
    stand("killed", "ann", "bob", "cyd", "dan")
    timed_queue.enqueue({})
    clock.tick(0.25)
    assert look(timed_queue, "dan") is None
    assert timed_queue.stats().waiting == 2, "cyd and dan still wait"


def test_however_many_do_not_come_one_call_wakes_only_so_many(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    timed_queue.configure()
    for n in range(400):
        clock.tick(0.001)
        assert look(timed_queue, f"killed {n}") is None
    stand("ann")
    timed_queue.enqueue_many([{} for _ in range(130)])
    assert timed_queue.stats().waiting == 271, "each item has woken one"
    clock.tick(0.25)
    assert look(timed_queue, "ann") is None
    assert timed_queue.stats().waiting == 21, "two more for each of them would be 260"


@pytest.mark.parametrize("seconds", [0.25, PROMISE - 0.02], ids=["soon", "at the end of its promise"])
def test_who_was_slow_to_come_keeps_their_place(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None], server: Server, seconds: float
) -> None:
    timed_queue.configure()
    stand("slow", "ann", "bob")  # 0.02 seconds
    timed_queue.enqueue({}, id="a")  # wakes "slow"
    clock.tick(seconds)
    assert look(timed_queue, "ann") == "a", "ann gets it, and bob is woken"
    assert look(timed_queue, "bob", woken=True) is None
    clock.tick(0.25)
    assert look(timed_queue, "slow", woken=True) is None
    timed_queue.enqueue({}, id="b")
    assert server.redis.zrange(Keys(timed_queue.name).line, 0, -1) == [b"bob"], (
        "bob began later, and still waits"
    )
    assert look(timed_queue, "slow", woken=True) == "b"


@pytest.mark.parametrize("seconds", [0.25, 3.5])
def test_who_looks_first_does_not_take_the_turn_of_who_began_first(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None], seconds: float
) -> None:
    """If the woken one does not come, all candidates are woken, and start again."""
    timed_queue.configure()
    stand("killed", "ann", "bob")
    timed_queue.enqueue({}, id="a")
    clock.tick(seconds)
    assert look(timed_queue, "bob") is None
    assert timed_queue.stats().waiting == 0, "both are woken"
    assert look(timed_queue, "ann", woken=True) == "a"
    assert look(timed_queue, "bob", woken=True) is None


def test_one_who_was_killed_while_others_got_an_item_holds_up_nobody_later(
    timed_queue: leaseq.Queue, clock: Clock, stand: Callable[..., None]
) -> None:
    """They are still recorded, although two were woken in their place."""
    timed_queue.configure(lease_seconds=10)
    timed_queue.enqueue({}, id="held")
    assert timed_queue.reserve("gone")
    clock.tick(6)
    stand("killed", "ann", "bob", "cyd")
    timed_queue.enqueue({}, id="a")
    clock.tick(0.25)
    assert look(timed_queue, "cyd") is None
    assert look(timed_queue, "ann", woken=True) == "a"
    assert look(timed_queue, "bob", woken=True) is None
    clock.tick(PROMISE - 1.25)
    assert look(timed_queue, "cyd") is None, "cyd, second in line, takes the expired lease back"
    assert timed_queue.get("held").state == "inbound"
    assert look(timed_queue, "bob", woken=True) == "held"


class RousedQueue(leaseq.Queue):
    """A queue whose waits look only when woken."""

    def _reserve(self, *arguments: Any, **keywords: Any) -> leaseq.Lease | NoItemYet:
        outcome = super()._reserve(*arguments, **keywords)
        return outcome if isinstance(outcome, leaseq.Lease) else NoItemYet(LONG, outcome.last_token)


def test_who_waits_elsewhere_takes_what_the_killed_did_not_come_for(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hear that others were woken, and look a moment later."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (LONG, LONG))
    queue.configure()
    roused_queue = RousedQueue(server.client, queue.name)
    for name in ("killed 1", "killed 2", "killed 3"):
        assert look(queue, name) is None
    with ThreadPoolExecutor(1) as pool:
        ann: Future[leaseq.Lease | None] = pool.submit(roused_queue.reserve, "ann", wait=LONG)
        eventually(lambda: in_line(server, queue) == 4)
        queue.enqueue({}, id="a")
        lease = ann.result(LONG)
    assert lease is not None
    assert lease.id == "a"

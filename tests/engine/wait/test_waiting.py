"""reserve with wait=: people wait in line, across clients and processes, until they are woken for an item."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.engine.client import connection_of
from leaseq.engine.keys import Keys
from leaseq.engine.notifications import NoItemYet
from tests.conftest import Clock, Server
from tests.engine.waiters import LONG, Start, granted_ids, in_line
from tests.support.waiting import eventually


def test_waiters_of_several_clients_get_items_in_order_of_start(
    server: Server, queue: leaseq.Queue, start: Start
) -> None:
    queue.configure()
    other_queue = leaseq.Queue(leaseq.connect(server.url), queue.name)
    futures = [start(f"p{n}", on=other_queue if n % 2 else queue) for n in range(6)]
    for n in range(6):
        queue.enqueue({}, id=f"{n}")
        assert granted_ids(futures[n]) == [f"{n}"]
    assert in_line(server, queue) == 0
    assert server.redis.hget(Keys(queue.name).ledger, "woken") is None, "an enqueue has no extra cost now"


def test_as_many_waiters_get_items_as_there_are_items(queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    futures = [start(f"p{n}") for n in range(4)]
    queue.enqueue_many([{}, {}, {}])
    assert len(set(granted_ids(*futures[:3]))) == 3
    assert not futures[3].done()
    queue.enqueue({})
    granted_ids(futures[3])


def abandon_and_resume(queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    queue.abandon(lease)
    queue.resume()


RETURNS: dict[str, Callable[[leaseq.Queue, leaseq.Lease], object]] = {
    "abandoned": lambda queue, lease: queue.abandon(lease),
    "released": lambda queue, lease: queue.release(lease.id),
    "failed": lambda queue, lease: queue.fail(lease, "no"),
    "expired": lambda *_: None,
    "resumed": abandon_and_resume,
}


@pytest.mark.parametrize("way", RETURNS)
def test_returned_item_wakes_waiter(
    queue: leaseq.Queue, start: Start, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Including an expired lease and a due retry, while only waiters are running."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (2 * LONG, 2 * LONG))
    queue.configure(lease_seconds=0.5, retry_seconds=0.2)
    queue.enqueue({}, id="a")
    lease = queue.reserve("ann")
    assert lease is not None
    if way == "resumed":
        queue.pause()
    bob = start("bob", wait=2 * LONG)
    RETURNS[way](queue, lease)
    assert granted_ids(bob) == ["a"]


def test_item_goes_to_first_waiter_with_required_skill(queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    ann, bob, cyd = start("ann"), start("bob", skills=["fr"]), start("cyd", skills=["fr"])
    queue.enqueue({}, id="french", requires=["fr"])
    assert granted_ids(bob) == ["french"]
    queue.enqueue({}, id="any")
    assert granted_ids(ann) == ["any"], "those who were passed over kept their place"
    assert not cyd.done()
    queue.enqueue({})
    granted_ids(cyd)


def test_wait_returns_none_after_timeout(server: Server, queue: leaseq.Queue) -> None:
    queue.configure()
    assert queue.reserve("ann", wait=0.05) is None
    assert in_line(server, queue) == 0
    assert leaseq.Queue(server.client, f"{queue.name}.none").reserve("ann", wait=0.01) is None


def test_person_at_holds_limit_does_not_wait(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    queue.reserve("ann")
    leases: list[leaseq.Lease | None] = []
    thread = threading.Thread(target=lambda: leases.append(queue.reserve("ann", wait=LONG)))
    thread.start()
    thread.join(LONG / 2)
    assert [lease.id for lease in leases if lease] == ["a"]


def test_killed_waiter_does_not_block_others(server: Server, queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    code = (
        "import sys, leaseq; leaseq.Queue(leaseq.connect(sys.argv[1]), sys.argv[2]).reserve('gone', wait=600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, server.url, queue.name])
    eventually(lambda: in_line(server, queue) == 1)
    child.kill()
    child.wait(LONG)
    ann = start("ann")
    queue.enqueue({}, id="a")
    assert granted_ids(ann) == ["a"]


@pytest.mark.parametrize("wait", [-1, 3_601, float("nan"), "1", True, None])
def test_invalid_wait_is_refused(queue: leaseq.Queue, wait: object) -> None:
    """An invalid wait is refused even if there is an item."""
    queue.enqueue({})
    with pytest.raises(leaseq.Invalid) as error:
        queue.reserve("ann", wait=wait)  # type: ignore[arg-type]
    assert error.value.field == "wait"


def test_longest_waiting_person_is_woken_first(
    timed_queue: leaseq.Queue, clock: Clock, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiters call the server now and then, and thereby stay present."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (0.05, 0.05))
    names: list[str] = []
    reserve = leaseq.Queue._reserve

    def look(self: leaseq.Queue, person: str, *arguments: Any) -> Any:
        names.append(person)
        return reserve(self, person, *arguments)

    monkeypatch.setattr(leaseq.Queue, "_reserve", look)
    timed_queue.configure()
    ann, bob = start("ann", on=timed_queue), start("bob", on=timed_queue)
    for _ in range(4):
        clock.tick(2)
        count = len(names)
        eventually(lambda count=count: {"ann", "bob"} <= set(names[count + 1 :]))  # type: ignore[misc]
    timed_queue.enqueue({}, id="a")
    assert granted_ids(ann) == ["a"]
    timed_queue.enqueue({}, id="b")
    assert granted_ids(bob) == ["b"]


def test_wake_up_during_pending_reply_is_not_lost(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The item and its wake-up arrive while the reply that there is nothing is on its way."""
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (LONG, LONG))
    queue.configure()

    class RacingQueue(leaseq.Queue):
        def _reserve(
            self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
        ) -> leaseq.Lease | NoItemYet:
            if woken or not waiter:
                return super()._reserve(person, request, skills, waiter, woken)
            if not queue.stats().inbound:  # otherwise her time is over, and she calls without a wake-up
                super()._reserve(person, request, skills, waiter)
                queue.enqueue({}, id="a")
                channel = connection_of(server.client).listener._channels[Keys(queue.name).wake]
                eventually(channel.waiters[waiter].wake_event.is_set)
            return NoItemYet(LONG, 0)

    lease = RacingQueue(server.client, queue.name).reserve("ann", wait=LONG / 2)
    assert lease is not None
    assert lease.id == "a"


@pytest.mark.parametrize(("due_in", "limit"), [(LONG, 3), (0.0, 23)], ids=["much later", "at once"])
def test_waiting_call_polls_server_rarely(
    server: Server, queue: leaseq.Queue, due_in: float, limit: int
) -> None:
    """A wait calls the server once at first, once in line, and once at the end; it pauses between calls even
    if a lease is about to expire."""
    waiters: list[str | None] = []

    class CountingQueue(leaseq.Queue):
        def _reserve(
            self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
        ) -> leaseq.Lease | NoItemYet:
            waiters.append(waiter)
            return NoItemYet(due_in, 0)

    queue.configure()
    assert CountingQueue(server.client, queue.name).reserve("ann", wait=0.2) is None
    assert 3 <= len(waiters) <= limit

"""Helpers that take an item that must exist, and let its lease expire."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import leaseq
from tests.support.waiting import TIMEOUT, eventually

T = TypeVar("T")


def not_none(value: T | None) -> T:
    """Return the result of a call, which must not be None."""
    assert value is not None
    return value


def take(queue: leaseq.Queue, person: str, *skills: str) -> leaseq.Lease:
    return not_none(queue.reserve(person, skills=skills))


def wait_and_take(queue: leaseq.Queue, person: str) -> leaseq.Lease:
    """Take an item from a new queue; it is enqueued while the person waits for it."""
    queue.configure()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(queue.reserve, person, wait=TIMEOUT)
        eventually(lambda: queue.stats().waiting == 1)
        queue.enqueue({})
        return not_none(future.result())


def fail(queue: leaseq.Queue, id: str, error: str, *, times: int = 1) -> None:
    """Enqueue an item on which ann reports a problem this many times."""
    queue.enqueue({"text": f"letter {id}"}, id=id)
    for attempt in range(times):
        if attempt:
            queue.change(id, delay=0)
        queue.fail(take(queue, "ann"), error)


def expire_leases(queue: leaseq.Queue) -> int:
    """Let all its leases expire, by a clear with a time one day ahead. Return how many items came back."""
    tomorrow = round((time.time() + 86_400) * 1e6)
    return leaseq.Queue(queue._client, queue.name, clock=lambda: tomorrow).clear().returned


def finish_items(queue: leaseq.Queue, count: int) -> None:
    """Finish this many items, held for 50.5 s each, until now; one lease expires before that."""
    now = time.time() - 51 * count - 300
    past_queue = leaseq.Queue(queue._client, queue.name, clock=lambda: round(now * 1e6))
    past_queue.configure(lease_seconds=200)
    past_queue.enqueue_many(leaseq.NewItem({}) for _ in range(count + 1))
    assert past_queue.reserve("left")
    now += 201
    past_queue.clear()
    for _ in range(count):
        lease = take(past_queue, "ann")
        now += 50.5
        past_queue.finish(lease, {})

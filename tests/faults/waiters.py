"""People who wait for an item during a fault, and get one after it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import leaseq
from tests.support.waiting import eventually, retry_while_unavailable

PEOPLE = 3
WAIT_SECONDS = 90.0  # seconds for which they wait at most


class Waiters:
    def __init__(self, client: leaseq.Client, name: str, pool: ThreadPoolExecutor) -> None:
        self._queue = leaseq.Queue(client, name)
        self._queue.configure(durable="replica")
        self._futures = [
            pool.submit(self._queue.reserve, f"waiter {n}", wait=WAIT_SECONDS) for n in range(PEOPLE)
        ]
        eventually(lambda: self._queue.stats().waiting == PEOPLE)

    def serve(self) -> float:
        """Enqueue an item for each; return the seconds from then until each has one."""
        for number in range(PEOPLE):
            retry_while_unavailable(lambda number=number: self._queue.enqueue({}, id=f"{number}"))  # type: ignore[misc]
        start = time.monotonic()
        leases = [future.result(WAIT_SECONDS) for future in self._futures]
        ids = sorted(lease.id if lease else "nothing" for lease in leases)
        assert ids == [f"{number}" for number in range(PEOPLE)], ids
        return time.monotonic() - start


@contextmanager
def waiters(url: str, name: str) -> Iterator[Waiters]:
    client = leaseq.connect(url)
    with ThreadPoolExecutor(PEOPLE) as pool:
        try:
            yield Waiters(client, name, pool)
        finally:
            client.close()

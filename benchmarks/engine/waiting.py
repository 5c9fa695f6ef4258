"""Benchmark of wake-ups: the time from an enqueue until a waiting person has the item."""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from statistics import quantiles
from typing import Self

from benchmarks.engine.environment import PAYLOAD, RESULT, Bench, Figure

_SINGLE = 200  # items that come one by one
_BURSTS = 5  # bursts of as many items as people wait
_WAIT_SECONDS = 3_600  # seconds


def figures(bench: Bench) -> list[Figure]:
    results: list[Figure] = []
    for people in (50, 500):
        bench.announce(f"{people} people wait")
        with _WaitingPeople(bench, people) as crowd:
            crowd.p95(1, people)  # so that all of them are connected
            single, each = crowd.p95(_SINGLE, 1), crowd.p95(_BURSTS, people)
        results += [
            Figure(f"enqueue to lease, {people} waiting, one item: p95", single, "ms", 100, 10),
            Figure(f"enqueue to lease, {people} waiting, an item each: p95", each, "ms", 2 * people, people),
        ]
    return results


class _WaitingPeople:
    """Waiting people, each a thread of one process."""

    def __init__(self, bench: Bench, people: int) -> None:
        self._queue = bench.queue(f"waiting-{people}", 0)
        self._people = people
        self._arrivals: SimpleQueue[float] = SimpleQueue()
        self._permits = threading.Semaphore(0)  # so that no person's next call delays the measured ones
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(f"person-{n}",)) for n in range(people)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._permits.release(self._people)
        self._queue.enqueue_many(PAYLOAD for _ in self._threads)
        for thread in self._threads:
            thread.join()

    def _work(self, person: str) -> None:
        while not self._stop.is_set():
            lease = self._queue.reserve(person, wait=_WAIT_SECONDS)
            if lease is not None:
                self._arrivals.put(time.perf_counter())
                self._permits.acquire()
                self._queue.finish(lease, RESULT)

    def p95(self, times: int, items: int) -> float:
        """The 95th percentile, in milliseconds, of the time from an enqueue to the waiting person's lease."""
        delays: list[float] = []
        for _ in range(times):
            while self._queue.stats().waiting < self._people:
                time.sleep(0.001)
            started = time.perf_counter()
            self._queue.enqueue_many(PAYLOAD for _ in range(items))
            delays += [(self._arrivals.get() - started) * 1000 for _ in range(items)]
            self._permits.release(items)
        return quantiles(delays, n=20)[-1]

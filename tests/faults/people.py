"""Simulated people and a producer who work on a queue in threads during faults."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import leaseq
from tests.faults.history import History, Recorder
from tests.faults.spec import Rules
from tests.support.waiting import TIMEOUT, eventually, retry_while_unavailable

LEASE_SECONDS = 1.0
RULES = Rules(max_attempts=1_000, lease_seconds=LEASE_SECONDS)


@dataclass(frozen=True)
class Habits:
    """Percentages of items with which a person does something else than finish."""

    abandons: int = 5
    fails: int = 3
    walks_away: float = 3
    renews: int = 10
    finishes_twice: int = 5  # as a program does if the reply was lost
    answers_late: float = 3  # after the lease expired
    think_seconds: float = 0.01  # maximum


PRODUCER = "producer"


class Crowd:
    """A producer and some people, each with their own client, who work until they are stopped. ``queue_for``
    gets the queue and a name, and returns the object that this person calls; by default the queue itself.
    ``stock`` of the ``items`` are in the queue before anybody starts."""

    def __init__(
        self,
        url: str,
        name: str,
        seed: int,
        *,
        people: int = 8,
        items: int = 200,
        stock: int = 0,
        habits: Habits = Habits(),
        durable: leaseq.Durable = "server",
        connect: Callable[[str], leaseq.Client] = leaseq.connect,
        queue_for: Callable[[leaseq.Queue, str], Any] = lambda queue, _: queue,
    ) -> None:
        self.history = History(seed)
        self._name, self._items, self._people, self._habits = name, items, people, habits
        self._queue_for, self._stock = queue_for, stock
        self._clients = [connect(url) for _ in range(people + 1)]
        self.queue = leaseq.Queue(self._clients[0], name)
        retry_while_unavailable(
            lambda: self.queue.configure(
                lease_seconds=LEASE_SECONDS,
                max_attempts=RULES.max_attempts,
                retry_seconds=0.1,
                retry_max_seconds=0.2,
                durable=durable,
            )
        )
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(people + 1)
        self._futures: list[Future[None]] = []

    def start(self) -> None:
        if self._stock:
            Recorder(self.queue, self.history).fill(_item_id(number) for number in range(self._stock))
        seeds = random.Random(self.history.seed)
        self._futures.append(self._pool.submit(self._produce))
        for number in range(self._people):
            name, queue = f"person {number}", leaseq.Queue(self._clients[number + 1], self._name)
            recorder = Recorder(self._queue_for(queue, name), self.history)
            person = _Person(name, recorder, random.Random(seeds.random()), self._habits, self._stop)
            self._futures.append(self._pool.submit(person.work))

    def grants(self) -> int:
        return self.history.grants

    def wait_for_grants(self, grants: int, *, seconds: float = TIMEOUT) -> None:
        """Wait until this many leases were granted in total."""
        self._wait(lambda: self.grants() >= grants, f"{grants} grants", seconds)

    def wait_for_more_grants(self, grants: int) -> None:
        """Wait until this many more leases were granted, or all items are done: this thread may be late."""
        goal = self.grants() + grants
        self._wait(lambda: self.grants() >= goal or self._is_all_done(), f"{goal} grants", TIMEOUT)

    def wait_until_done(self, *, seconds: float = 2 * TIMEOUT) -> None:
        """Wait until everything that was sent is finished; then stop the people."""
        self._wait(self._is_all_done, "all is finished", seconds)
        self.stop()

    def _wait(self, condition: Callable[[], bool], description: str, seconds: float) -> None:
        eventually(lambda: self._any_failed() or condition(), description, seconds=seconds)
        self._raise_failure()

    def _is_all_done(self) -> bool:
        stats = retry_while_unavailable(self.queue.stats)
        remaining = stats.inbound or stats.reserved or stats.scheduled
        return stats.finished >= self._items and not remaining

    def stop(self) -> None:
        self._stop.set()
        for future in self._futures:
            future.result(60)

    def close(self) -> None:
        """Stop all people, whatever state they are in."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for client in self._clients:
            client.close()

    def _any_failed(self) -> bool:
        return any(future.done() and future.exception() for future in self._futures)

    def _raise_failure(self) -> None:
        for future in self._futures:
            if future.done():
                future.result()

    def _produce(self) -> None:
        recorder = Recorder(self._queue_for(self.queue, PRODUCER), self.history)
        for number in range(self._items):
            item_id, payload = f"item-{number:06}", {"n": number}
            while not self._stop.is_set():
                if retry_while_unavailable(lambda: recorder.enqueue(item_id, payload)).outcome != "unknown":  # noqa: B023
                    break
                self._stop.wait(0.05)  # refused by a full server


def _item_id(number: int) -> str:
    return f"item-{number:06}"


class _Person:
    def __init__(
        self, name: str, queue: Recorder, dice: random.Random, habits: Habits, stop: threading.Event
    ) -> None:
        self._name, self._queue, self._dice, self._stop = name, queue, dice, stop
        self._habits = habits

    def work(self) -> None:
        lease: leaseq.Lease | None = None
        while not self._stop.is_set():
            try:
                if lease is None:
                    lease = self._queue.reserve(self._name)
                if lease is None:
                    self._stop.wait(0.01)
                    continue
                lease = self._act(lease)
            except leaseq.ServerUnavailable:
                self._stop.wait(self._dice.uniform(0.01, 0.05))

    def _act(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        """Do something with an item; return the next lease if that call reserved one."""
        self._stop.wait(self._dice.uniform(0, self._habits.think_seconds))
        habits, draw = self._habits, self._dice.uniform(0, 100)
        for share, act in (
            (habits.abandons, self._abandon),
            (habits.fails, self._fail),
            (habits.walks_away, self._walk_away),
            (habits.answers_late, self._be_late),
            (habits.renews, self._renew),
        ):
            if draw < share:
                return act(lease)
            draw -= share
        return self._finish(lease)

    def _finish(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        """Send the result until there is a reply; it is never given up."""
        result, then_reserve = {"by": self._name, "token": lease.token}, self._dice.random() < 0.5
        call, next_lease = retry_while_unavailable(
            lambda: self._queue.finish(lease, result, then_reserve=then_reserve)
        )
        while call.outcome == "unknown" and not self._stop.wait(0.05):  # refused by a full server
            call, next_lease = retry_while_unavailable(
                lambda: self._queue.finish(lease, result, then_reserve=then_reserve)
            )
        if self._dice.uniform(0, 100) < self._habits.finishes_twice:
            retry_while_unavailable(lambda: self._queue.finish(lease, result))
        return next_lease

    def _abandon(self, lease: leaseq.Lease) -> None:
        self._queue.abandon(lease)

    def _fail(self, lease: leaseq.Lease) -> None:
        self._queue.fail(lease)

    def _walk_away(self, lease: leaseq.Lease) -> None:
        remaining = lease.expires_at.timestamp() - time.time()
        # The remaining time is longer only if the server's clock is wrong.
        self._stop.wait(min(max(remaining, 0), LEASE_SECONDS))

    def _be_late(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        self._walk_away(lease)
        self._stop.wait(self._dice.uniform(0, 0.5))
        return self._finish(lease)

    def _renew(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        renewed_lease = self._queue.renew(lease)
        return self._finish(renewed_lease) if renewed_lease else None


@contextmanager
def crowd(url: str, name: str, seed: int, **options: object) -> Iterator[Crowd]:
    """Run a crowd, and stop it at the end in any case."""
    people = Crowd(url, name, seed, **options)  # type: ignore[arg-type]
    try:
        people.start()
        yield people
    finally:
        people.close()

"""Samples of each queue's counts, for charts of up to thirty days, and the thread that takes one each minute.

Two rings of fixed size per queue: one sample for each minute of the last day, and one for each hour of the
last 30 days.
Hash: place in the ring -> "number of the minute or hour, items added so far, finished so far, waiting".
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import leaseq
from leaseq import Client, LeaseqError, webhooks
from leaseq.backup import LeftOut, StoredKeys
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.base import Command, KeyPrefix, Store
from leaseq.webapp.store.queue_access import QueueAccess, count_unreachable, unreachable_rows

Unit: TypeAlias = Literal["minute", "hour"]
SECONDS: dict[Unit, int] = {"minute": 60, "hour": 3_600}
PLACES: dict[Unit, int] = {"minute": 1_500, "hour": 31 * 24}
_BASE = "leaseq:{@samples}:"  # no queue can have this name: it has an '@'
_key = KeyPrefix(_BASE)  # by unit and queue
_KEPT_SECONDS = 32 * 86_400
STORED = (
    *(StoredKeys(_key(unit, "*"), "hash") for unit in PLACES),
    LeftOut(_key("turn", "*"), "it says which process samples this minute"),
)


class Sample(NamedTuple):
    """A queue's counts at the end of a minute or hour, or so far in the current one."""

    added: int  # items added so far
    done: int  # finished so far
    waiting: int


class Samples(Store):
    """The samples of all queues."""

    def is_due(self) -> bool:
        """Whether this process is the one that samples this minute."""
        minute = int(self._clock() // SECONDS["minute"])
        return bool(self._redis.set(_key("turn", minute), "1", nx=True, ex=120))

    def record(self, stats_by_queue: Mapping[str, leaseq.Stats]) -> None:
        """Store the current counts of queues. The last sample of a minute or hour stays."""
        commands: list[Command] = []
        for queue, stats in stats_by_queue.items():
            added_count, finished_count = stats.counters["enqueued"], stats.counters["finished"]
            for unit, places in PLACES.items():
                number, key = int(self._clock() // SECONDS[unit]), _key(unit, queue)
                value = f"{number} {added_count} {finished_count} {stats.inbound}"
                commands += [("HSET", key, str(number % places), value), ("EXPIRE", key, _KEPT_SECONDS)]
        if commands:
            self._client.ask(*commands)

    def forget_queue(self, queue: str) -> None:
        """Delete the samples of a queue that is deleted."""
        self._client.ask(*(("UNLINK", _key(unit, queue)) for unit in PLACES))

    def get(self, queue: str, unit: Unit) -> dict[int, Sample]:
        """The stored samples, by the number of the minute or hour since the epoch."""
        values = self._redis.hvals(_key(unit, queue))
        oldest = int(self._clock() // SECONDS[unit]) - PLACES[unit]
        samples = (tuple(map(int, value.split())) for value in values)
        return {number: Sample(*counts) for number, *counts in samples if number > oldest}


log = logging.getLogger(__name__)
EVERY_SECONDS = 15.0  # between two checks whether this minute has a sample


class Sampler:
    """The thread that takes the samples, in whichever web process is first, and counts what nobody can take,
    for the alerts."""

    def __init__(self, client: Client, samples: Samples, accounts: Accounts, access: QueueAccess) -> None:
        self._client, self._samples = client, samples
        self._accounts, self._access = accounts, access
        self._stop = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="leaseq-sampler", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            with suppress(LeaseqError):  # the server is unavailable: a gap in the charts
                self.sample()

    def sample(self) -> None:
        """Sample all queues, unless another process did so in this minute."""
        if not self._samples.is_due():
            return
        names = [name for name in leaseq.queues(self._client) if name != webhooks.QUEUE]
        stats_by_queue, _errors = leaseq.read_queues(self._client, lambda queue: queue.stats(), names)
        self._samples.record(stats_by_queue)
        read_people = cache(self._accounts.people)
        leaseq.read_queues(self._client, lambda queue: self._check(queue, read_people), names)

    def _check(self, queue: leaseq.Queue, read_people: Callable[[], Sequence[Person]]) -> None:
        with suppress(leaseq.QueueNotFound):  # it was deleted just now
            rows = unreachable_rows(queue, self._access.get(queue.name), read_people)
            queue.check_alerts(unreachable=count_unreachable(rows))

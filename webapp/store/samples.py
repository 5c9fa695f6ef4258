"""Samples of each queue's counts, for charts of up to thirty days.

Two rings of fixed size per queue: one sample for each minute of the last day, and one for each hour of the
last 30 days.
Hash: place in the ring -> "number of the minute or hour, items added so far, finished so far, waiting".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import leaseq
from leaseq.backup import LeftOut, StoredKeys
from leaseq.webapp.store.base import Command, Store

Unit: TypeAlias = Literal["minute", "hour"]
SECONDS: dict[Unit, int] = {"minute": 60, "hour": 3_600}
PLACES: dict[Unit, int] = {"minute": 1_500, "hour": 31 * 24}
_BASE = "leaseq:{@samples}:"  # no queue can have this name: it has an '@'
_KEPT_SECONDS = 32 * 86_400
STORED = (
    *(StoredKeys(f"{_BASE}{unit}:*", "hash") for unit in PLACES),
    LeftOut(_BASE + "turn:*", "it says which process samples this minute"),
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
        return bool(self._redis.set(f"{_BASE}turn:{minute}", "1", nx=True, ex=120))

    def record(self, stats_by_queue: Mapping[str, leaseq.Stats]) -> None:
        """Store the current counts of queues. The last sample of a minute or hour stays."""
        commands: list[Command] = []
        for queue, stats in stats_by_queue.items():
            added_count, finished_count = stats.counters["enqueued"], stats.counters["finished"]
            for unit, places in PLACES.items():
                number, key = int(self._clock() // SECONDS[unit]), _key(queue, unit)
                value = f"{number} {added_count} {finished_count} {stats.inbound}"
                commands += [("HSET", key, str(number % places), value), ("EXPIRE", key, _KEPT_SECONDS)]
        if commands:
            self._client.ask(*commands)

    def forget_queue(self, queue: str) -> None:
        """Delete the samples of a queue that is deleted."""
        self._client.ask(*(("UNLINK", _key(queue, unit)) for unit in PLACES))

    def get(self, queue: str, unit: Unit) -> dict[int, Sample]:
        """The stored samples, by the number of the minute or hour since the epoch."""
        values = self._redis.hvals(_key(queue, unit))
        oldest = int(self._clock() // SECONDS[unit]) - PLACES[unit]
        samples = (tuple(map(int, value.split())) for value in values)
        return {number: Sample(*counts) for number, *counts in samples if number > oldest}


def _key(queue: str, unit: Unit) -> str:
    return f"{_BASE}{unit}:{queue}"

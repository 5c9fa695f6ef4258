"""A follower's place in a queue's journal, and the events after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

from leaseq.queue import Queue

MAX_LAG = timedelta(minutes=1)
"""How far behind a follower may be before it is logged."""


class HasCursor(Protocol):
    """An event: `Event` or `EventRow`."""

    @property
    def cursor(self) -> str: ...


E = TypeVar("E", bound=HasCursor)


class Place(Protocol):
    """Where a follower has stopped reading a journal."""

    def load(self) -> str | None:
        """The cursor to read on from; None: from the oldest event."""

    def save(self, cursor: str) -> None:
        """Save the cursor of the last event that was handed on."""


class ServerPlace:
    """A place in the server. The journal keeps what comes after it, for all processes that follow under this
    name."""

    def __init__(self, queue: Queue, name: str) -> None:
        self._queue = queue
        self._name = name

    def load(self) -> str:
        return self._queue.follow(self._name)

    def save(self, cursor: str) -> None:
        self._queue.follow(self._name, read=cursor)


class MemoryPlace:
    """A place that ends with this process. Events that the journal no longer has are passed over."""

    def __init__(self, cursor: str | None = None) -> None:
        self.cursor = cursor

    def load(self) -> str | None:
        return self.cursor

    def save(self, cursor: str) -> None:
        self.cursor = cursor


def read_on(
    read: Callable[[str | None, int], Sequence[E]],
    place: Place,
    handle: Callable[[Sequence[E]], object],
    limit: int,
) -> int:
    """Read the events after a place, at least ``limit`` if there are as many, hand them on, then save the
    place; return their number. ``read`` is `Queue.event_rows` or `Queue.journal`.

    If the process ends in between, the same events are handed on again: ``handle`` must be idempotent, or
    the place must be saved in the transaction that it writes in.
    """
    events = read(place.load(), limit)
    if events:
        handle(events)
        place.save(events[-1].cursor)
    return len(events)


class Lag:
    """Says in the log when a follower is more than a minute behind a queue's newest event, and when it has
    caught up again."""

    def __init__(self, follower: str, log: logging.Logger) -> None:
        self._follower = follower
        self._log = log
        self._lagging_names: set[str] = set()

    def check(self, queue: Queue, place: str, *, has_more: bool) -> None:
        """Check after a read up to the cursor ``place``; with ``has_more`` there may be later events."""
        if not has_more:
            if queue.name in self._lagging_names:
                self._lagging_names.discard(queue.name)
                self._log.warning("queue %s: %s has caught up", queue.name, self._follower)
            return
        newest_events = queue.latest_events(1)
        behind = _time_of(newest_events[0].cursor) - _time_of(place) if newest_events else timedelta()
        if behind > MAX_LAG and queue.name not in self._lagging_names:
            self._lagging_names.add(queue.name)
            self._log.warning(
                "queue %s: %s is %s behind its journal", queue.name, self._follower, _rounded(behind)
            )


def _time_of(cursor: str) -> timedelta:
    """An entry's id is its time in microseconds."""
    return timedelta(microseconds=int(cursor.partition(".")[0]))


def _rounded(span: timedelta) -> timedelta:
    return timedelta(seconds=round(span.total_seconds()))

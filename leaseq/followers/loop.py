"""The loop of a follower, its place in a queue's journal, and its warning when it is behind."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Generic, NamedTuple, Protocol, TypeVar

from leaseq.errors import LeaseqError, ServerRefused, ServerUnavailable
from leaseq.queue import Queue

S = TypeVar("S")

RETRY_SECONDS = 1.0  # until an unavailable server is tried again; doubled for each failure of a subject
MAX_RETRY_SECONDS = 60.0
_MIN_PAUSE = 0.05  # seconds, after a round that took longer than the pause

Wait = Callable[[float], object]
"""Waits for so many seconds, or until there is something to do."""


class _Failure(NamedTuple):
    """The failures of a subject since it last worked."""

    text: str
    tries: int
    next_try: float


class Loop(Generic[S]):
    """Works on each subject in turn, round after round. ``subjects`` are called for at the beginning of each
    round; ``work`` returns whether there is more to do, and then the next round follows without a pause.

    An error of one subject is logged once, and it is tried again after 1, 2, 4 … seconds, up to a minute,
    while the others are worked on. An error of ``outages`` concerns all: it ends the round, and `run` tries
    again every second. One for which ``is_fatal`` is true ends `run`.
    """

    def __init__(
        self,
        name: str,
        subjects: Callable[[], Iterable[S]],
        work: Callable[[S], object],
        log: logging.Logger,
        *,
        pause: float,
        label: str = "queue {}",
        outages: tuple[type[Exception], ...] = (ServerUnavailable, ServerRefused),
        is_fatal: Callable[[Exception], bool] = lambda _: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._subjects = subjects
        self._work = work
        self._log = log
        self._pause = pause
        self._label = label
        self._outages = outages
        self._is_fatal = is_fatal
        self._clock = clock
        self._failures: dict[S, _Failure] = {}

    def round(self) -> bool:
        """Work on each subject once, and return whether there is more to do."""
        has_more, subjects = False, list(self._subjects())
        if self._failures:
            self._failures = {
                subject: self._failures[subject] for subject in subjects if subject in self._failures
            }
        for subject in subjects:
            failure = self._failures.get(subject)
            if failure and self._clock() < failure.next_try:
                continue
            try:
                has_more = bool(self._work(subject)) or has_more
            except Exception as error:
                if isinstance(error, self._outages) or self._is_fatal(error):
                    raise
                self._note_failure(subject, error)
            else:
                if self._failures.pop(subject, None):
                    self._log.warning("%s: %s goes on with it", self._label.format(subject), self._name)
        return has_more

    def run(
        self, stop: threading.Event, waiting: Callable[[], AbstractContextManager[Wait]] | None = None
    ) -> None:
        """Run until ``stop`` is set. ``waiting`` opens what the loop waits with, again after each outage; by
        default it waits for ``stop``."""
        is_unavailable = False
        while not stop.is_set():
            try:
                with waiting() if waiting else nullcontext(stop.wait) as wait:
                    while not stop.is_set():
                        started_at = self._clock()
                        has_more = self.round()
                        if is_unavailable:
                            self._log.warning("%s goes on", self._name)
                        is_unavailable = False
                        if not has_more:
                            wait(max(self._pause - (self._clock() - started_at), _MIN_PAUSE))
            except LeaseqError as error:
                if self._is_fatal(error):
                    raise
                if not is_unavailable:
                    self._log.warning("%s: %s; trying again until it is back", self._name, error)
                is_unavailable = True
                stop.wait(RETRY_SECONDS)

    def _note_failure(self, subject: S, error: Exception) -> None:
        failure = self._failures.get(subject) or _Failure("", 0, 0.0)
        text = f"{type(error).__name__}: {error}"
        if text != failure.text:
            is_known = isinstance(error, LeaseqError)
            self._log.warning(
                "%s is tried again later: %s",
                self._label.format(subject),
                error if is_known else text,
                exc_info=not is_known,
            )
        seconds = min(RETRY_SECONDS * 2**failure.tries, MAX_RETRY_SECONDS)
        self._failures[subject] = _Failure(text, failure.tries + 1, self._clock() + seconds)


MAX_LAG = timedelta(minutes=1)
"""How far behind a follower may be before it is logged."""


class HasCursor(Protocol):
    """An event: `Event` or `EventRow`."""

    @property
    def cursor(self) -> str: ...


E = TypeVar("E", bound=HasCursor)


class Place(Protocol):
    """The place at which a follower has stopped reading a journal."""

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

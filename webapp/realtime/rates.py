"""A queue's rates over the last hour: items in and done per minute, their sparklines, and handling times."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import leaseq

MINUTES = 60
PACE_MINUTES = 15
MIN_PACE_MINUTES = 5  # of known figures, for a pace
LARGEST_CALL = 20  # items that one call adds, unless it belongs to an import
_MAX_TIMES = 5_000  # stored handling times
_MAX_OPEN = 20_000  # grants whose end is awaited
_ENDS = frozenset({"finished", "abandoned", "failed", "expired", "released", "undone", "removed"})


@dataclass(frozen=True, slots=True)
class HandlingTimes:
    """Handling times of finished items, in seconds."""

    median: float
    p95: float
    count: int


@dataclass(frozen=True, slots=True)
class Pace:
    """Items that came, without imports, and that were finished, in the last minutes."""

    minutes: int
    came: int
    finished: int


class RateCounter:
    """Counts events per minute. They must be added in the order in which they happened."""

    def __init__(self, since: datetime) -> None:
        self._since = _minute(since.timestamp())  # this one may be incomplete
        kinds = ("enqueued", "came", "finished", "expired")
        self._counts = {what: Counter[int]() for what in kinds}  # by minute
        self._first_minute: int | None = None  # of all events
        self._call = ("", 0)  # the journal entry of the latest items, and how many it has so far
        self._open_grants: dict[int, float] = {}  # token -> when it was given out
        self._times: deque[tuple[int, float]] = deque(maxlen=_MAX_TIMES)  # minute, seconds

    def add(self, event: leaseq.Event) -> None:
        at, token = event.at.timestamp(), event.token
        minute = _minute(at)
        if self._first_minute is None:
            self._first_minute = minute
        if event.what in self._counts:
            self._counts[event.what][minute] += 1
        if event.what == "enqueued":
            self._count_call(event.cursor.partition(".")[0], minute)
        if event.what == "reserved" and token is not None:
            self._open_grants[token] = at
            if len(self._open_grants) > _MAX_OPEN:
                del self._open_grants[next(iter(self._open_grants))]
        elif event.what in _ENDS:
            start = self._open_grants.pop(token, None) if token is not None else None
            if event.what == "finished" and start is not None:
                self._times.append((minute, at - start))
            elif event.what == "undone":
                self._counts["finished"][minute] = max(self._counts["finished"][minute] - 1, 0)

    def _count_call(self, entry: str, minute: int) -> None:
        """Count an item that came. Those of a call that adds more than LARGEST_CALL don't count."""
        count = self._call[1] + 1 if self._call[0] == entry else 1
        self._call = (entry, count)
        if count <= LARGEST_CALL:
            self._counts["came"][minute] += 1
        elif count == LARGEST_CALL + 1:
            self._counts["came"][minute] -= LARGEST_CALL

    def pace(self, now: datetime) -> Pace | None:
        """The pace of the last whole minutes, PACE_MINUTES or as many as there have been events. None if too
        few minutes are known."""
        present = _minute(now.timestamp())
        first = max(present - PACE_MINUTES, self._since, self._first_minute or present)
        minutes = range(first, present)
        if len(minutes) < MIN_PACE_MINUTES:
            return None
        came, finished = (
            sum(self._counts[what][minute] for minute in minutes) for what in ("came", "finished")
        )
        return Pace(len(minutes), came, finished)

    def forget(self, now: datetime) -> None:
        first = self._first(now)
        for counts in self._counts.values():
            for minute in [minute for minute in counts if minute < first]:
                del counts[minute]
        while self._times and self._times[0][0] < first:
            self._times.popleft()

    def enqueued_per_minute(self, now: datetime) -> list[int | None]:
        """The number of items enqueued in each of the last 60 minutes, the current one last; None:
        unknown."""
        return self._by_minute("enqueued", now)

    def finished_per_minute(self, now: datetime) -> list[int | None]:
        return self._by_minute("finished", now)

    def covers_hour(self, now: datetime) -> bool:
        """Whether all of the last 60 minutes are known."""
        return self._since <= self._first(now)

    def expired(self) -> int:
        """The number of leases that expired."""
        return self._counts["expired"].total()

    def handling(self) -> HandlingTimes | None:
        """The handling times; None if no finished item has a known grant."""
        if not self._times:
            return None
        ordered_times = sorted(seconds for _, seconds in self._times)
        return HandlingTimes(_rank(ordered_times, 0.5), _rank(ordered_times, 0.95), len(ordered_times))

    def _by_minute(self, what: str, now: datetime) -> list[int | None]:
        first, counts = self._first(now), self._counts[what]
        return [counts[minute] if minute >= self._since else None for minute in range(first, first + MINUTES)]

    def _first(self, now: datetime) -> int:
        return _minute(now.timestamp()) - MINUTES + 1


def per_minute(counts: list[int | None]) -> float | None:
    """The mean of the known ones among the last five whole minutes; the current minute if none is known."""
    whole_minutes = [count for count in counts[-6:-1] if count is not None]
    values = whole_minutes or [count for count in counts[-1:] if count is not None]
    return sum(values) / len(values) if values else None


def _minute(timestamp: float) -> int:
    return int(timestamp // 60)


def _rank(ordered_times: list[float], share: float) -> float:
    """The value that this share of all (less than 1) does not exceed."""
    return ordered_times[int(len(ordered_times) * share)]


HEIGHT = 20
_MIN_HEIGHT = 1.0  # a bar above zero is visible


def spark(values: Sequence[int | None]) -> str:
    """The path of the bars; an unknown or zero value has no bar."""
    maximum = max((value or 0 for value in values), default=0)
    bars = []
    for number, value in enumerate(values):
        if value:
            height = max(HEIGHT * value / maximum, _MIN_HEIGHT)
            bars.append(f"M{number} {HEIGHT}v-{height:.3g}h.8V{HEIGHT}z")
    return "".join(bars)

"""A queue's rates over the last hour: items in and done per minute, their sparklines, and handling times."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import leaseq

MINUTES = 60
_MAX_TIMES = 5_000  # stored handling times
_MAX_OPEN = 20_000  # grants whose end is awaited
_ENDS = frozenset({"finished", "abandoned", "failed", "expired", "released", "undone", "removed"})


@dataclass(frozen=True, slots=True)
class HandlingTimes:
    """Handling times of finished items, in seconds."""

    median: float
    p95: float
    count: int


class RateCounter:
    """Counts events per minute. They must be added in the order in which they happened."""

    def __init__(self, since: datetime) -> None:
        self._since = _minute(since.timestamp())  # this one may be incomplete
        self._counts = {what: Counter[int]() for what in ("enqueued", "finished", "expired")}  # by minute
        self._open_grants: dict[int, float] = {}  # token -> when it was given out
        self._times: deque[tuple[int, float]] = deque(maxlen=_MAX_TIMES)  # minute, seconds

    def add(self, event: leaseq.Event) -> None:
        at, token = event.at.timestamp(), event.token
        minute = _minute(at)
        if event.what in self._counts:
            self._counts[event.what][minute] += 1
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

"""A person's figures of a day and their latest items, and their stored format.

A day is a hash: "queue counter" -> count or milliseconds. A latest item is the text "how queue token id".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Literal, cast

How = Literal["finished", "gave_back", "broken"]
"""How a person ended a lease."""

_LONGEST_MS = 7 * 86_400 * 1_000  # the longest lease


@dataclass(frozen=True, slots=True)
class DayFigures:
    """A person's counts of a day, or the sums of several."""

    finished: int = 0
    gave_back: int = 0
    broken: int = 0
    active_ms: int = 0  # at work, as their page measured it
    held_ms: int = 0  # from getting an item to the end of its lease
    finishing_ms: int = 0  # the part of the active time on items that they finished
    untimed: int = 0  # finished items without a measured time, such as those finished by REST

    @property
    def active_seconds(self) -> float:
        return self.active_ms / 1_000

    @property
    def held_seconds(self) -> float:
        return self.held_ms / 1_000

    @property
    def seconds_each(self) -> float | None:
        """The mean active time of finished items whose time a page measured; None if there are none."""
        timed_count = self.finished - self.untimed
        return self.finishing_ms / 1_000 / timed_count if timed_count >= 1 and self.finishing_ms else None

    def __add__(self, other: DayFigures) -> DayFigures:
        return DayFigures(*(getattr(self, name) + getattr(other, name) for name in _COUNTERS))

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _COUNTERS)


_COUNTERS = tuple(field.name for field in fields(DayFigures))

ByQueue = Mapping[str, DayFigures]


@dataclass(frozen=True, slots=True)
class RecentItem:
    """An item that a person finished or gave back."""

    how: How
    queue: str
    id: str
    token: int
    at: datetime


def times_of(how: How, active_ms: int, held_ms: int) -> dict[str, int]:
    """The times to count, limited by the lease, since the active time that a page reports may be wrong."""
    held_time = min(max(held_ms, 0), _LONGEST_MS)
    active_time = min(max(active_ms, 0), held_time or _LONGEST_MS)
    is_finished = how == "finished"
    times = {"active_ms": active_time, "held_ms": held_time, "finishing_ms": active_time * is_finished}
    times["untimed"] = int(is_finished and not active_time)
    return {name: value for name, value in times.items() if value}


def field_of(queue: str, counter: str) -> str:
    return f"{queue} {counter}"


def fields_of(queue: str) -> list[str]:
    return [field_of(queue, name) for name in _COUNTERS]


def figures_of(values: Iterable[bytes | None]) -> DayFigures:
    """The figures from the values of ``fields_of``."""
    return DayFigures(*(int(value or 0) for value in values))


def by_queue(fields: Mapping[bytes, bytes]) -> ByQueue:
    counts: dict[str, dict[str, int]] = {}
    for field, value in fields.items():
        queue, _, counter = field.decode().partition(" ")
        counts.setdefault(queue, {})[counter] = int(value)
    figures_by_queue = {queue: DayFigures(**counters) for queue, counters in sorted(counts.items())}
    return {queue: figures for queue, figures in figures_by_queue.items() if figures}


def member_of(how: How, queue: str, token: int, id: str) -> str:
    return f"{how} {queue} {token} {id}"


def recent_item(member: str, at: float) -> RecentItem:
    how, queue, token, id = member.split(" ", 3)
    return RecentItem(cast("How", how), queue, id, int(token), datetime.fromtimestamp(at, UTC))

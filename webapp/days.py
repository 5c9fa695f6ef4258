"""What each person did on each day, per queue: how many, how long. Days are those of UTC.

Kept beside the accounts, in a hash for each person and day, so that a day costs what was done on it and goes
when it is old. A call is one round trip, whatever the number of people and days.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from leaseq import Client, LeaseqError
from webapp.accounts import keys

log = logging.getLogger(__name__)

What = Literal["finished", "undone", "gave_back", "broken"]

KEPT_DAYS = 400
RECENT = 200
"""So many finishes of a person are known one by one, for a day: what may be undone, and what is a retry."""
_DAY_SECONDS = 86_400
_LONGEST_MS = 7 * _DAY_SECONDS * 1_000  # the longest lease


@dataclass(frozen=True, slots=True)
class DayFigures:
    """What somebody did on a day, or on several: they add up."""

    finished: int = 0
    gave_back: int = 0
    broken: int = 0
    active_ms: int = 0  # at work, as their page measured it
    held_ms: int = 0  # from being given an item to letting it go
    finishing_ms: int = 0  # of the active time, that on items which they finished

    @property
    def active_seconds(self) -> float:
        return self.active_ms / 1_000

    @property
    def held_seconds(self) -> float:
        return self.held_ms / 1_000

    @property
    def seconds_each(self) -> float | None:
        """The active time that a finished item took; None where no page measured it."""
        if self.finished < 1 or not self.finishing_ms:
            return None
        return self.finishing_ms / 1_000 / self.finished

    def __add__(self, other: DayFigures) -> DayFigures:
        return DayFigures(*(getattr(self, name) + getattr(other, name) for name in _COUNTERS))

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in _COUNTERS)


_COUNTERS = tuple(field.name for field in fields(DayFigures))

ByQueue = Mapping[str, DayFigures]


@dataclass(frozen=True, slots=True)
class Done:
    """A finish of today, by name."""

    queue: str
    id: str
    token: int
    at: datetime


class Days:
    """Counts what people do, and tells it."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._redis: Any = client.redis  # gives bytes, which redis-py's types don't know
        self._clock = clock

    def today(self, person: str, queue: str) -> DayFigures:
        with self._client.translating():
            found = self._redis.hmget(
                keys.day_of(self._date().isoformat(), person), [_field(queue, name) for name in _COUNTERS]
            )
        return DayFigures(*(int(value or 0) for value in found))

    def of_person(self, person: str, days: int = 30) -> dict[date, ByQueue]:
        """The last days, today first, those without work included: what they did, by queue."""
        dates = [self._date() - timedelta(days=back) for back in range(days)]
        found = self._hashes([keys.day_of(day.isoformat(), person) for day in dates])
        return dict(zip(dates, map(_by_queue, found), strict=True))

    def of_everybody(self, day: date | None = None) -> dict[str, ByQueue]:
        """What each person did on a day, by name and queue; without a day, today."""
        text = (day or self._date()).isoformat()
        with self._client.translating():
            names = sorted(name.decode() for name in self._redis.smembers(keys.who_worked(text)))
        found = self._hashes([keys.day_of(text, name) for name in names])
        return dict(zip(names, map(_by_queue, found), strict=True))

    def recent(self, person: str, limit: int = 10) -> list[Done]:
        """Their latest finishes within a day, the latest first."""
        with self._client.translating():
            found = self._redis.zrevrange(keys.recent(person), 0, limit - 1, withscores=True)
        return [_done(member.decode(), score) for member, score in found]

    def record(
        self,
        person: str,
        queue: str,
        what: What,
        *,
        id: str = "",
        token: int = 0,
        active_ms: int = 0,
        held_ms: int = 0,
    ) -> None:
        """Count what they did just now with one item. ``id`` and ``token`` name it: a finish that is
        recorded again is not counted again, and ``undone`` takes off the finish of the same id and token.

        Never raises because of the server: what is counted here is done already, and the person is told so.
        """
        try:
            with self._client.translating():
                if what == "undone":
                    self._take_off(person, queue, id, token)
                else:
                    self._count(person, queue, what, id, token, _times(what, active_ms, held_ms))
        except LeaseqError:
            log.warning("the figures of the day miss one %s of %r", what, queue, exc_info=True)

    def _count(
        self, person: str, queue: str, what: What, id: str, token: int, times: Mapping[str, int]
    ) -> None:
        today, recent = self._date().isoformat(), keys.recent(person)
        key, who = keys.day_of(today, person), keys.who_worked(today)
        counted = {what: 1, **times}
        pipe = self._redis.pipeline(transaction=True)
        if what == "finished":
            pipe.zadd(recent, {_member(queue, token, id): self._clock()}, nx=True)
            pipe.zremrangebyrank(recent, 0, -RECENT - 1)
            pipe.expire(recent, _DAY_SECONDS)
        for name, count in counted.items():
            pipe.hincrby(key, _field(queue, name), count)
        pipe.sadd(who, person)
        pipe.expire(key, KEPT_DAYS * _DAY_SECONDS)
        pipe.expire(who, KEPT_DAYS * _DAY_SECONDS)
        replies = pipe.execute()
        if what == "finished" and not replies[0]:  # a retry: known only now, to save everybody a round trip
            self._add(key, queue, {name: -count for name, count in counted.items()})

    def _take_off(self, person: str, queue: str, id: str, token: int) -> None:
        """The time stays: it was spent, and what follows is spent on the same item."""
        recent, member = keys.recent(person), _member(queue, token, id)
        pipe = self._redis.pipeline(transaction=True)
        pipe.zscore(recent, member)
        pipe.zrem(recent, member)
        at, removed = pipe.execute()
        if removed:
            day = datetime.fromtimestamp(at, UTC).date().isoformat()
            self._add(keys.day_of(day, person), queue, {"finished": -1})

    def _add(self, key: str, queue: str, counts: Mapping[str, int]) -> None:
        pipe = self._redis.pipeline(transaction=True)
        for name, count in counts.items():
            pipe.hincrby(key, _field(queue, name), count)
        pipe.execute()

    def _hashes(self, wanted: list[str]) -> list[dict[bytes, bytes]]:
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=False)
            for key in wanted:
                pipe.hgetall(key)
            found: list[dict[bytes, bytes]] = pipe.execute() if wanted else []
        return found

    def _date(self) -> date:
        return datetime.fromtimestamp(self._clock(), UTC).date()


def _times(what: What, active_ms: int, held_ms: int) -> dict[str, int]:
    """What goes into the sums: a page says how long it was worked on, and a page can be wrong."""
    held = min(max(held_ms, 0), _LONGEST_MS)
    active = min(max(active_ms, 0), held or _LONGEST_MS)
    times = {"active_ms": active, "held_ms": held, "finishing_ms": active if what == "finished" else 0}
    return {name: time for name, time in times.items() if time}


def _field(queue: str, counter: str) -> str:
    return f"{queue} {counter}"


def _by_queue(found: Mapping[bytes, bytes]) -> ByQueue:
    counts: dict[str, dict[str, int]] = {}
    for field, value in found.items():
        queue, _, counter = field.decode().partition(" ")
        counts.setdefault(queue, {})[counter] = int(value)
    by_queue = {queue: DayFigures(**counters) for queue, counters in sorted(counts.items())}
    return {queue: figures for queue, figures in by_queue.items() if figures}


def _member(queue: str, token: int, id: str) -> str:
    return f"{queue} {token} {id}"


def _done(member: str, at: float) -> Done:
    queue, token, id = member.split(" ", 2)
    return Done(queue, id, int(token), datetime.fromtimestamp(at, UTC))

"""The figures of people's days, and their breaks."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal, TypeVar, cast

from leaseq import Client, LeaseqError
from leaseq.backup import StoredKeys
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.base import Command, Deferred, Store

How = Literal["finished", "abandoned", "failed"]
"""How a person ended a lease."""

_LONGEST_MS = 7 * 86_400 * 1_000  # the longest lease


@dataclass(frozen=True, slots=True)
class DayFigures:
    """A person's counts of a day, or the sums of several."""

    finished: int = 0
    abandoned: int = 0
    failed: int = 0
    active_ms: int = 0  # at work, as their page measured it
    held_ms: int = 0  # from getting an item to the end of its lease
    finishing_ms: int = 0  # the part of the active time on items that they finished
    untimed: int = 0  # finished items without a measured time, such as those finished by REST
    reopened: int = 0  # answers that a manager took back, by the day when that was done
    corrected: int = 0  # answers that a manager replaced, by the day when that was done

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


log = logging.getLogger(__name__)

KEPT_DAYS = 400
RECENT = 200
"""The number of a person's items that are stored by id for a day, for undo and to detect repeated calls."""
_DAY_SECONDS = 86_400
_DATES = 100  # per call
_KEPT_SECONDS = KEPT_DAYS * _DAY_SECONDS
_PART_SECONDS = 120  # the resolution of the last hour
_HOUR_PARTS = 3_600 // _PART_SECONDS
_HOUR_KEPT_SECONDS = 2 * 3_600


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The arguments of `Activity.record`."""

    person: str
    queue: str
    member: str
    counts: Mapping[str, int]
    at: float


_Group = TypeVar("_Group")


class Activity(Store):
    """Counts and reads the daily activity."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time, zone: tzinfo = UTC) -> None:
        super().__init__(client, clock=clock)
        self._zone = zone
        self._deferred = Deferred(self._write)

    def today(self, person: str, queue: str) -> DayFigures:
        self.flush()
        return figures_of(*self._client.ask(self.today_command(person, queue)))

    def today_command(self, person: str, queue: str) -> Command:
        """The command that reads a person's figures of today, to send with others; see `today_from`."""
        return "HMGET", model.day_key(self._today().isoformat(), person), *fields_of(queue)

    def today_from(self, reply: Iterable[bytes | None], person: str, queue: str) -> DayFigures:
        """A person's figures of today: the reply to the command of `today_command`, and what this process has
        not written yet."""
        new_counts = {  # each once, even if sent repeatedly
            outcome.member: outcome.counts
            for outcome in self._deferred.pending()
            if (outcome.person, outcome.queue) == (person, queue)
        }
        return sum((DayFigures(**counts) for counts in new_counts.values()), figures_of(reply))

    def of_person(self, person: str, days: int = 30) -> dict[date, ByQueue]:
        """A person's activity of the last days, today first, days without work included, by queue."""
        self.flush()
        dates = [self._today() - timedelta(days=back) for back in range(days)]
        hashes = self._hashes([model.day_key(day.isoformat(), person) for day in dates])
        return dict(zip(dates, map(by_queue, hashes), strict=True))

    def of_all_people(self) -> dict[str, ByQueue]:
        """The activity of each person today, by name and queue."""
        self.flush()
        text = self._today().isoformat()
        names = sorted(name.decode() for name in self._redis.smembers(model.workers_key(text)))
        hashes = self._hashes([model.day_key(text, name) for name in names])
        return dict(zip(names, map(by_queue, hashes), strict=True))

    def sums(
        self,
        first: date,
        last: date,
        group_of: Callable[[date, str, str], _Group | None],
        in_slices: Callable[[Iterable[Any]], Iterable[Any]],
    ) -> dict[_Group, DayFigures]:
        """The sums of everybody's figures on these days, by what ``group_of`` makes of the day, the person
        and the queue; None: not counted. ``in_slices`` yields the people of a day."""
        self.flush()
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        workers = self._client.ask(*(("SMEMBERS", model.workers_key(day.isoformat())) for day in days))
        sums: dict[_Group, list[int]] = {}
        counters: dict[bytes, tuple[str, int]] = {}  # the queue and the place in _COUNTERS, by field
        for day, members in zip(days, workers, strict=True):
            names = [name.decode() for name in members]
            hashes = self._client.ask(*(("HGETALL", model.day_key(day.isoformat(), name)) for name in names))
            for name, values in in_slices(zip(names, hashes, strict=True)):
                of_queues: dict[str, list[int]] = {}
                for field, value in zip(values[::2], values[1::2], strict=True):
                    if field not in counters:
                        queue, _, counter = field.decode().partition(" ")
                        counters[field] = queue, _COUNTERS.index(counter)
                    queue, place = counters[field]
                    if queue not in of_queues:
                        group = group_of(day, name, queue)
                        of_queues[queue] = (
                            [] if group is None else sums.setdefault(group, [0] * len(_COUNTERS))
                        )
                    if of_queues[queue]:
                        of_queues[queue][place] += int(value)
        totals = {group: DayFigures(*counts) for group, counts in sums.items()}
        return {group: figures for group, figures in totals.items() if figures}

    def last_hour(self) -> dict[str, dict[str, int]]:
        """The number of items that each person finished in the last hour (to within two minutes), by name and
        queue."""
        self.flush()
        last = self._part(self._clock())
        totals: dict[str, dict[str, int]] = {}
        for counts in self._hashes([model.finished_key(last - back) for back in range(_HOUR_PARTS + 1)]):
            for field, count in counts.items():
                queue, _, person = field.decode().partition(" ")
                person_totals = totals.setdefault(person, {})
                person_totals[queue] = person_totals.get(queue, 0) + int(count)
        return totals

    def recent(self, person: str, limit: int = 10) -> list[RecentItem]:
        """The items that a person finished or gave back within a day, latest first."""
        self.flush()
        since = self._clock() - _DAY_SECONDS
        entries = self._redis.zrevrangebyscore(
            model.recent_key(person), "+inf", since, start=0, num=limit, withscores=True
        )
        return [recent_item(member.decode(), score) for member, score in entries]

    def record(
        self, person: str, queue: str, how: How, *, id: str, token: int, active_ms: int = 0, held_ms: int = 0
    ) -> DayFigures:
        """Count an item that a person finished or gave back; a repeated call for the same lease counts once.
        Returns what this item adds to their figures.

        It costs the request no round trip, and never fails: it is written later, together with other
        outcomes. Reads in this process count it immediately; other processes see it some milliseconds later.
        """
        counts = {how: 1, **times_of(how, active_ms, held_ms)}
        member = member_of(how, queue, token, id)
        self._deferred.add(_Outcome(person, queue, member, counts, self._clock()))
        return DayFigures(**counts)

    def count(self, person: str, queue: str, what: Literal["reopened", "corrected"]) -> None:
        """Count an answer of a person that a manager took back or replaced now."""
        day = self._today().isoformat()
        with self._log_errors():
            _, is_first = self._client.ask(
                ("HINCRBY", model.day_key(day, person), field_of(queue, what), 1),
                ("SADD", model.workers_key(day), person),
            )
            if is_first:
                self._expire(day, person)

    def flush(self) -> None:
        """Write what was recorded here, for other processes to read."""
        self._deferred.flush()

    def _write(self, outcomes: Sequence[_Outcome]) -> None:
        with self._log_errors():
            replies = self._client.ask(
                *(
                    ("ZADD", model.recent_key(outcome.person), "NX", outcome.at, outcome.member)
                    for outcome in outcomes
                )
            )
            new_outcomes = [outcome for outcome, is_new in zip(outcomes, replies, strict=True) if is_new]
            if new_outcomes:
                self._add_up(new_outcomes)

    def _add_up(self, outcomes: Sequence[_Outcome]) -> None:
        counts: Counter[tuple[str, str]] = Counter()  # by key and field
        people: dict[tuple[str, str], None] = {}  # by day and person
        parts: Counter[tuple[int, str]] = Counter()  # by part of the hour and field
        for outcome in outcomes:
            day = self._date(outcome.at).isoformat()
            people[day, outcome.person] = None
            for name, count in outcome.counts.items():
                counts[model.day_key(day, outcome.person), field_of(outcome.queue, name)] += count
            if "finished" in outcome.counts:
                parts[self._part(outcome.at), field_of(outcome.queue, outcome.person)] += 1
        replies = self._client.ask(
            *(("SADD", model.workers_key(day), person) for day, person in people),
            *(("ZREMRANGEBYRANK", model.recent_key(person), 0, -RECENT - 1) for _, person in people),
            *(("HINCRBY", key, field, count) for (key, field), count in counts.items()),
            *(("HINCRBY", model.finished_key(part), field, count) for (part, field), count in parts.items()),
            *(
                ("EXPIRE", model.finished_key(part), _HOUR_KEPT_SECONDS)
                for part in {part for part, _ in parts}
            ),
        )
        for (day, person), is_first in zip(people, replies, strict=False):
            if is_first:
                self._expire(day, person)

    def subtract(self, person: str, queue: str, how: How = "finished", *, id: str, token: int) -> None:
        """Subtract what was undone. Its time still counts, since it was spent."""
        self.flush()
        recent, member = model.recent_key(person), member_of(how, queue, token, id)
        with self._log_errors():
            at, is_removed = self._client.ask(("ZSCORE", recent, member), ("ZREM", recent, member))
            if is_removed:
                day = model.day_key(self._date(float(at)).isoformat(), person)
                self._redis.hincrby(day, field_of(queue, how), -1)
                part = self._part(float(at))
                if how == "finished" and part >= self._part(self._clock()) - _HOUR_PARTS:
                    self._client.ask(("HINCRBY", model.finished_key(part), field_of(queue, person), -1))

    def forget_person(self, person: str) -> None:
        """Delete a person's figures and latest items."""
        self.flush()
        tomorrow = self._today() + timedelta(days=1)  # for a process with another time zone
        dates = [(tomorrow - timedelta(days=back)).isoformat() for back in range(KEPT_DAYS + 2)]
        for start in range(0, len(dates), _DATES):
            batch = dates[start : start + _DATES]
            self._client.ask(*(("UNLINK", model.day_key(date, person)) for date in batch))
            self._client.ask(*(("SREM", model.workers_key(date), person) for date in batch))
        self._client.ask(("UNLINK", model.recent_key(person)))
        last = self._part(self._clock())
        for part in range(last - _HOUR_KEPT_SECONDS // _PART_SECONDS, last + 1):
            (fields,) = self._client.ask(("HKEYS", model.finished_key(part)))
            if stale_fields := [field for field in fields if field.decode().partition(" ")[2] == person]:
                self._client.ask(("HDEL", model.finished_key(part), *stale_fields))

    def forget_queue(self, queue: str) -> None:
        """Delete a deleted queue from people's days and latest items."""
        self.flush()
        last = self._part(self._clock())
        hour_keys = [model.finished_key(last - back) for back in range(_HOUR_PARTS + 1)]
        for days in (*self._keys_like(model.day_key("*", "*")), hour_keys):
            counts = self._client.ask(*(("HGETALL", key) for key in days))
            for key, stored_counts in zip(days, counts, strict=True):
                if stale_names := [
                    field for field in stored_counts if field.startswith(f"{queue} ".encode())
                ]:
                    self._client.ask(("HDEL", key, *stale_names))
        for people in self._keys_like(model.recent_key("*")):
            replies = self._client.ask(*(("ZRANGE", key, 0, -1) for key in people))
            for key, members in zip(people, replies, strict=True):
                if stale_names := [member for member in members if member.split(b" ")[1] == queue.encode()]:
                    self._client.ask(("ZREM", key, *stale_names))

    def _expire(self, day: str, person: str) -> None:
        """Set the expiry of a person's keys. Done once a day, by their first call of the day."""
        self._client.ask(
            ("EXPIRE", model.recent_key(person), 2 * _DAY_SECONDS),
            ("EXPIRE", model.day_key(day, person), _KEPT_SECONDS),
            ("EXPIRE", model.workers_key(day), _KEPT_SECONDS),
        )

    @contextmanager
    def _log_errors(self) -> Iterator[None]:
        try:
            yield
        except LeaseqError:
            log.warning("the figures of the day are incomplete", exc_info=True)

    def _part(self, at: float) -> int:
        return int(at // _PART_SECONDS)

    def _today(self) -> date:
        return self._date(self._clock())

    def _date(self, at: float) -> date:
        return datetime.fromtimestamp(at, self._zone).date()


_KEY = "leaseq:{@breaks}:since"  # no queue can have this name: it has an '@'
_LONGEST_SECONDS = 86_400  # after that, somebody forgot to end it
STORED = (StoredKeys(_KEY, "hash"),)


class Breaks(Store):
    """People's breaks. They block nothing: they only explain why somebody is not working now."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(client, clock=clock)
        self._ended = Deferred(self._delete)

    def take(self, person: str) -> None:
        """Begin a break, unless the person is already on one."""
        if self.get(person) is None:
            self._redis.hset(_KEY, person, round(self._clock()))

    def end(self, person: str) -> None:
        self._delete([person])

    def end_soon(self, person: str) -> None:
        """End a break without a round trip: it is written later, and read in this process immediately."""
        self._ended.add(person)

    def _delete(self, people: Sequence[str]) -> None:
        self._redis.hdel(_KEY, *people)

    def get(self, person: str) -> datetime | None:
        """The time when their break began; None if they are not on one."""
        self._ended.flush()
        return self._time(self._redis.hget(_KEY, person))

    def all(self) -> dict[str, datetime]:
        """The time when each break began, by name."""
        self._ended.flush()
        fields = self._redis.hgetall(_KEY)
        times = {name.decode(): self._time(since) for name, since in fields.items()}
        return {name: since for name, since in times.items() if since is not None}

    def _time(self, raw: bytes | None) -> datetime | None:
        if raw is None or self._clock() - int(raw) > _LONGEST_SECONDS:
            return None
        return datetime.fromtimestamp(int(raw), UTC)

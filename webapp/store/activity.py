"""Daily activity of each person, per queue: counts and handling times. Days are in the site's time zone.

Stored next to the accounts, in a hash for each person and day, so that a day takes only the space of its
entries, and expires. A call takes one round trip, regardless of the number of people and days.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from leaseq import Client, LeaseqError
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.base import Command, Store
from leaseq.webapp.store.day_figures import (
    ByQueue,
    DayFigures,
    How,
    RecentItem,
    by_queue,
    field_of,
    fields_of,
    figures_of,
    member_of,
    recent_item,
    times_of,
)
from leaseq.webapp.store.deferred import Deferred

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
        return "HMGET", keys.day_of(self._today().isoformat(), person), *fields_of(queue)

    def today_from(self, reply: Iterable[bytes | None], person: str, queue: str) -> DayFigures:
        """A person's figures of today: the reply to the command of `today_command`, and what this process has
        not written yet."""
        outcomes = (one for one in self._deferred.pending() if (one.person, one.queue) == (person, queue))
        new_counts = {one.member: one.counts for one in outcomes}  # each once, even if sent repeatedly
        return sum((DayFigures(**counts) for counts in new_counts.values()), figures_of(reply))

    def of_person(self, person: str, days: int = 30) -> dict[date, ByQueue]:
        """A person's activity of the last days, today first, days without work included, by queue."""
        self.flush()
        dates = [self._today() - timedelta(days=back) for back in range(days)]
        hashes = self._hashes([keys.day_of(day.isoformat(), person) for day in dates])
        return dict(zip(dates, map(by_queue, hashes), strict=True))

    def of_all_people(self) -> dict[str, ByQueue]:
        """The activity of each person today, by name and queue."""
        self.flush()
        text = self._today().isoformat()
        with self._client.translating():
            names = sorted(name.decode() for name in self._redis.smembers(keys.workers_of(text)))
        hashes = self._hashes([keys.day_of(text, name) for name in names])
        return dict(zip(names, map(by_queue, hashes), strict=True))

    def last_hour(self) -> dict[str, dict[str, int]]:
        """How many items each person finished in the last hour (to within two minutes), by name and queue."""
        self.flush()
        last = self._part(self._clock())
        totals: dict[str, dict[str, int]] = {}
        for counts in self._hashes([keys.finished_in(last - back) for back in range(_HOUR_PARTS + 1)]):
            for field, count in counts.items():
                queue, _, person = field.decode().partition(" ")
                person_totals = totals.setdefault(person, {})
                person_totals[queue] = person_totals.get(queue, 0) + int(count)
        return totals

    def recent(self, person: str, limit: int = 10) -> list[RecentItem]:
        """The items that a person finished or gave back within a day, latest first."""
        self.flush()
        since = self._clock() - _DAY_SECONDS
        with self._client.translating():
            entries = self._redis.zrevrangebyscore(
                keys.recent(person), "+inf", since, start=0, num=limit, withscores=True
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

    def flush(self) -> None:
        """Write what was recorded here, for other processes to read."""
        self._deferred.flush()

    def _write(self, outcomes: Sequence[_Outcome]) -> None:
        with self._log_errors():
            replies = self._client.ask(
                *(("ZADD", keys.recent(one.person), "NX", one.at, one.member) for one in outcomes)
            )
            new_outcomes = [one for one, is_new in zip(outcomes, replies, strict=True) if is_new]
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
                counts[keys.day_of(day, outcome.person), field_of(outcome.queue, name)] += count
            if "finished" in outcome.counts:
                parts[self._part(outcome.at), field_of(outcome.queue, outcome.person)] += 1
        replies = self._client.ask(
            *(("SADD", keys.workers_of(day), person) for day, person in people),
            *(("ZREMRANGEBYRANK", keys.recent(person), 0, -RECENT - 1) for _, person in people),
            *(("HINCRBY", key, field, count) for (key, field), count in counts.items()),
            *(("HINCRBY", keys.finished_in(part), field, count) for (part, field), count in parts.items()),
            *(("EXPIRE", keys.finished_in(part), _HOUR_KEPT_SECONDS) for part in {part for part, _ in parts}),
        )
        for (day, person), is_first in zip(people, replies, strict=False):
            if is_first:
                self._expire(day, person)

    def subtract(self, person: str, queue: str, how: How = "finished", *, id: str, token: int) -> None:
        """Subtract what was undone. Its time still counts, since it was spent."""
        self.flush()
        recent, member = keys.recent(person), member_of(how, queue, token, id)
        with self._log_errors():
            at, is_removed = self._client.ask(("ZSCORE", recent, member), ("ZREM", recent, member))
            if is_removed:
                self._add(keys.day_of(self._date(float(at)).isoformat(), person), queue, {how: -1})
                part = self._part(float(at))
                if how == "finished" and part >= self._part(self._clock()) - _HOUR_PARTS:
                    self._client.ask(("HINCRBY", keys.finished_in(part), field_of(queue, person), -1))

    def forget_person(self, person: str) -> None:
        """Delete a person's figures and latest items."""
        self.flush()
        tomorrow = self._today() + timedelta(days=1)  # for a process with another time zone
        dates = [(tomorrow - timedelta(days=back)).isoformat() for back in range(KEPT_DAYS + 2)]
        for start in range(0, len(dates), _DATES):
            batch = dates[start : start + _DATES]
            self._client.ask(*(("UNLINK", keys.day_of(date, person)) for date in batch))
            self._client.ask(*(("SREM", keys.workers_of(date), person) for date in batch))
        self._client.ask(("UNLINK", keys.recent(person)))
        last = self._part(self._clock())
        for part in range(last - _HOUR_KEPT_SECONDS // _PART_SECONDS, last + 1):
            (fields,) = self._client.ask(("HKEYS", keys.finished_in(part)))
            if stale_fields := [one for one in fields if one.decode().partition(" ")[2] == person]:
                self._client.ask(("HDEL", keys.finished_in(part), *stale_fields))

    def forget_queue(self, queue: str) -> None:
        """Delete a deleted queue from people's days and latest items."""
        self.flush()
        last = self._part(self._clock())
        hour_keys = [keys.finished_in(last - back) for back in range(_HOUR_PARTS + 1)]
        for days in (*self._keys_like(keys.day_of("*", "*")), hour_keys):
            counts = self._client.ask(*(("HGETALL", key) for key in days))
            for key, fields in zip(days, counts, strict=True):
                if stale_names := [one for one in fields if one.startswith(f"{queue} ".encode())]:
                    self._client.ask(("HDEL", key, *stale_names))
        for people in self._keys_like(keys.recent("*")):
            replies = self._client.ask(*(("ZRANGE", key, 0, -1) for key in people))
            for key, members in zip(people, replies, strict=True):
                if stale_names := [one for one in members if one.split(b" ")[1] == queue.encode()]:
                    self._client.ask(("ZREM", key, *stale_names))

    def _expire(self, day: str, person: str) -> None:
        """Set the expiry of a person's keys. Done once a day, by their first call of the day."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.expire(keys.recent(person), 2 * _DAY_SECONDS)
        pipe.expire(keys.day_of(day, person), _KEPT_SECONDS)
        pipe.expire(keys.workers_of(day), _KEPT_SECONDS)
        pipe.execute()

    def _add(self, key: str, queue: str, counts: Mapping[str, int]) -> None:
        pipe = self._redis.pipeline(transaction=True)
        for name, count in counts.items():
            pipe.hincrby(key, field_of(queue, name), count)
        pipe.execute()

    def _hashes(self, hash_keys: list[str]) -> list[dict[bytes, bytes]]:
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=False)
            for key in hash_keys:
                pipe.hgetall(key)
            hashes: list[dict[bytes, bytes]] = pipe.execute() if hash_keys else []
        return hashes

    @contextmanager
    def _log_errors(self) -> Iterator[None]:
        try:
            with self._client.translating():
                yield
        except LeaseqError:
            log.warning("the figures of the day are incomplete", exc_info=True)

    def _part(self, at: float) -> int:
        return int(at // _PART_SECONDS)

    def _today(self) -> date:
        return self._date(self._clock())

    def _date(self, at: float) -> date:
        return datetime.fromtimestamp(at, self._zone).date()

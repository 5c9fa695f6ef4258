"""The people of a queue: who may work on it, who is online now, and what they have in hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.activity import Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess, UnreachableRow, may_work, unreachable_rows

ACTIVE_PERIOD = timedelta(minutes=5)
"""Somebody who took, extended or ended a lease within this time is online."""
SHOWN = 50  # people in the list
_REREAD_SECONDS = 5.0
_ACTS = frozenset({"reserved", "renewed", "finished", "abandoned", "failed"})


@dataclass(frozen=True, slots=True)
class Staff:
    """Reads the people of any queue."""

    read_people: Callable[[], Sequence[Person]]
    access: QueueAccess
    open_calls: OpenCalls
    breaks: Breaks
    announcements: Announcements
    shown_names: Callable[[], Mapping[str, str]] = dict  # of the people who have one

    def names(self, queue: str) -> list[str]:
        """Those who may work on it."""
        access = self.access.get(queue)
        return [person.name for person in self.read_people() if may_work(person, access)]

    def unreachable(self, queue: leaseq.Queue, online: Collection[str]) -> list[UnreachableRow]:
        return unreachable_rows(queue, self.access.get(queue.name), self.read_people, online)


class Presence:
    """Who is online on one queue: those with a page of the web app open, and those who took, extended or
    ended a lease of the queue in the last minutes."""

    def __init__(
        self, queue: leaseq.Queue, staff: Staff, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._queue = queue
        self._staff = staff
        self._clock = clock
        self._acted_at: dict[str, datetime] = {}  # by name
        self._read_at: float | None = None
        self._names: Sequence[str] = ()  # of those who may work on the queue
        self._connected: Collection[str] = ()  # those of them who have a page open
        self._on_break: Collection[str] = ()

    def add(self, event: leaseq.Event) -> None:
        if event.person is not None and event.what in _ACTS:
            self._acted_at[event.person] = event.at

    def names(self, now: datetime) -> set[str]:
        """Those who are online."""
        self._read()
        self._acted_at = {name: at for name, at in self._acted_at.items() if now - at <= ACTIVE_PERIOD}
        return {*self._connected, *self._acted_at}

    def figures(self, leases: Iterable[Mapping[str, Any]], now: datetime) -> dict[str, Any]:
        """Those who are online, with what they hold; those with an item first. ``leases``: see Snapshot."""
        online = self.names(now)
        held: dict[str, Mapping[str, Any]] = {}
        for lease in leases:
            held.setdefault(lease["person"], lease)
        rows = [_row(name, held.get(name), name in self._on_break) for name in online]
        rows.sort(key=lambda row: (not row["working"], row["on_break"], row["person"].casefold()))
        return {
            "online": rows[:SHOWN],
            "online_count": len(rows),
            "more_online": max(len(rows) - SHOWN, 0),
            "people_count": len(online.union(self._names)),
            "announcement": self._announcement(online),
        }

    def _announcement(self, online: Collection[str]) -> dict[str, Any] | None:
        """The queue's announcement, with how many have seen it of those who may work on the queue, and of
        those who are online."""
        announcements = self._staff.announcements
        announcement = announcements.get(self._queue.name)
        if announcement is None:
            return None
        seen = announcements.seen_by(self._queue.name, announcement)
        return {
            "text": announcement.text,
            "until": rfc3339(announcement.until) if announcement.until else None,
            "seen": len(seen.intersection(self._names)),
            "people": len(self._names),
            "seen_online": len(seen.intersection(online)),
        }

    def _read(self) -> None:
        now = self._clock()
        if self._read_at is not None and now - self._read_at < _REREAD_SECONDS:
            return
        self._read_at = now
        self._names = self._staff.names(self._queue.name)
        self._connected = self._staff.open_calls.online(self._names)
        self._on_break = self._staff.breaks.all()


def _row(name: str, lease: Mapping[str, Any] | None, is_on_break: bool) -> dict[str, Any]:
    return {
        "key": name,
        "person": name,
        "id": lease["id"] if lease else None,
        "title": lease["title"] if lease else None,
        "working": lease is not None,
        "on_break": lease is None and is_on_break,
        "free": lease is None and not is_on_break,
    }

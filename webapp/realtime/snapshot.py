"""A queue's figures for its dashboard, kept up to date while it is watched."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import leaseq
from leaseq.followers import MemoryPlace, read_on
from leaseq.transfer import rfc3339
from leaseq.webapp.item_title import item_title
from leaseq.webapp.realtime.attention import Attention
from leaseq.webapp.realtime.rates import MINUTES, RateCounter, per_minute, spark
from leaseq.webapp.realtime.staff import Presence, Staff
from leaseq.webapp.store.threads import Threads

BACKLOG = 10_000  # maximum number of past events that are read at the start
HELD_SHOWN = 50
_BATCH = 5_000  # events per read
_PAGE = 1_000
_PAGES = 5  # pages of events that one update reads; if there are more, it starts again
_READ_SECONDS = 1.0  # seconds between two updates
_HELD_READ_SECONDS = 2.0
_KEPT_SECONDS = 300.0  # seconds that an unused snapshot is kept
_TOLERANCE = timedelta(seconds=2)  # tolerance of the oldest item's time, which is computed from its age

_LEASE_EVENTS = frozenset(
    {"reserved", "renewed", "finished", "abandoned", "failed", "expired", "released", "undone", "removed"}
)


class Snapshot:
    """The figures of one queue, thread-safe; it reads the queue at most once a second."""

    def __init__(
        self,
        queue: leaseq.Queue,
        threads: Threads,
        staff: Staff,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._lock = threading.Lock()
        self._read_at: float | None = None
        self._figures: dict[str, Any] = {}
        self._oldest_time: datetime | None = None
        self._held_cache: tuple[float, list[dict[str, Any]]] | None = None
        self._has_held_changed = False
        self._place = MemoryPlace()
        self._rates: RateCounter | None = None
        self._attention = Attention(queue, threads, staff, clock=clock)
        self._presence = Presence(queue, staff, clock=clock)
        self._staff = staff
        self.used_at = clock()

    def figures(self) -> dict[str, Any]:
        """The current figures; the same object as before if nothing has changed."""
        with self._lock:
            self.used_at = now = self._clock()
            if self._read_at is None or now - self._read_at >= _READ_SECONDS:
                self._read_at = now
                figures = self._read_figures(datetime.now(UTC))
                if figures != self._figures:
                    self._figures = figures
            return self._figures

    def summary(self, *, read: bool = True) -> dict[str, Any]:
        """The counts and rates. ``read`` False: the rates only if they were read before."""
        with self._lock:
            self.used_at, now = self._clock(), datetime.now(UTC)
            rates = self._read(now) if read or self._rates else None
            return self._summary(self._queue.stats(), rates, now)

    def rates(self) -> RateCounter:
        """The rates of the last hour."""
        with self._lock:
            self.used_at = self._clock()
            return self._read(datetime.now(UTC))

    def _read_figures(self, now: datetime) -> dict[str, Any]:
        rates = self._read(now)
        stats = self._queue.stats()
        holders, handling = self._holders(stats), rates.handling()
        times = {"median": _rounded(handling.median), "p95": _rounded(handling.p95)} if handling else None
        figures = {
            **self._summary(stats, rates, now),
            "handling": times,
            "covers_hour": rates.covers_hour(now),
            **_questions(stats),
            "leases": holders,
            "more_leases": max(stats.reserved - len(holders), 0),
            **self._presence.figures(holders, now),
            **self._attention.figures(stats, now, self._presence.names(now)),
        }
        names = self._staff.shown_names()
        return {
            name: [_with_shown_name(row, names) for row in value] if isinstance(value, list) else value
            for name, value in figures.items()
        }

    def _summary(self, stats: leaseq.Stats, rates: RateCounter | None, now: datetime) -> dict[str, Any]:
        return {
            "counts": {state: getattr(stats, state) for state in leaseq.STATES},
            "overdue": stats.overdue,
            "paused": stats.paused,
            "oldest_at": self._oldest_at(stats, now),
            "alerts": [_alert(alert) for alert in stats.alerts],
            "enqueued": _flow(rates.enqueued_per_minute(now) if rates else []),
            "finished": _flow(rates.finished_per_minute(now) if rates else []),
        }

    # Events

    def _read(self, now: datetime) -> RateCounter:
        if self._rates is None or not self._read_new_events(self._rates):
            self._rates = self._read_last_hour(now)
        self._rates.forget(now)
        return self._rates

    def _read_new_events(self, rates: RateCounter) -> bool:
        """Add the new events; False if there are too many."""

        def add(events: Sequence[leaseq.Event]) -> None:
            for event in events:
                rates.add(event)
                self._add_event(event)

        return any(read_on(self._queue.journal, self._place, add, _PAGE) < _PAGE for _ in range(_PAGES))

    def _read_last_hour(self, now: datetime) -> RateCounter:
        """Read the last hour of events, or as much of it as BACKLOG allows."""
        since = now - timedelta(minutes=MINUTES)
        events: list[leaseq.Event] = []
        while len(events) < BACKLOG:
            page = self._queue.latest_events(_BATCH, events[-1].cursor if events else None)
            events += page
            if len(page) < _BATCH or page[-1].at < since:
                break
        else:
            since = events[-1].at
        rates = RateCounter(since)
        for event in reversed(events):
            if event.at >= since:
                rates.add(event)
                self._add_event(event)
        self._place = MemoryPlace(events[0].cursor if events else None)
        self._has_held_changed = True
        return rates

    def _add_event(self, event: leaseq.Event) -> None:
        self._attention.add(event)
        self._presence.add(event)
        self._has_held_changed = self._has_held_changed or event.what in _LEASE_EVENTS

    # Items

    def _holders(self, stats: leaseq.Stats) -> list[dict[str, Any]]:
        """The people who hold leases, by when each expires."""
        now = self._clock()
        if self._held_cache is None or (
            self._has_held_changed and now - self._held_cache[0] >= _HELD_READ_SECONDS
        ):
            self._has_held_changed = False
            items = self._queue.items("reserved", limit=HELD_SHOWN) if stats.reserved else []
            grants = {grant.token: (item, grant) for item in items for grant in item.leases}
            lease = self._queue.policy.lease_seconds if grants else 0
            self._held_cache = (now, [_holder(item, grant, lease) for item, grant in grants.values()])
        return self._held_cache[1]

    def _oldest_at(self, stats: leaseq.Stats, now: datetime) -> str | None:
        if stats.oldest_inbound_seconds is None:
            self._oldest_time = None
            return None
        at = now - timedelta(seconds=stats.oldest_inbound_seconds)
        if self._oldest_time is None or abs(at - self._oldest_time) > _TOLERANCE:
            self._oldest_time = at
        return rfc3339(self._oldest_time)


class Snapshots:
    """One `Snapshot` for each queue that is, or just was, watched."""

    def __init__(self, threads: Threads, staff: Staff) -> None:
        self._threads = threads
        self._staff = staff
        self._lock = threading.Lock()
        self._snapshots: dict[str, Snapshot] = {}

    def get(self, queue: leaseq.Queue) -> Snapshot:
        now = time.monotonic()
        with self._lock:
            for name in [
                name for name, snapshot in self._snapshots.items() if now - snapshot.used_at > _KEPT_SECONDS
            ]:
                del self._snapshots[name]
            return self._snapshots.setdefault(queue.name, Snapshot(queue, self._threads, self._staff))


def _flow(counts: list[int | None]) -> dict[str, Any]:
    rate = per_minute(counts)
    return {
        "spark": spark(counts),
        "a_minute": None if rate is None else _rounded(rate),
        "sum": sum(count or 0 for count in counts),
        "minutes": sum(count is not None for count in counts),
    }


def _with_shown_name(row: Any, names: Mapping[str, str]) -> Any:
    """A row about a person with the name by which pages call them."""
    if not isinstance(row, dict) or not row.get("person"):
        return row
    shown = names.get(row["person"], row["person"])
    return {**row, "shown": shown, **({"whom": shown} if "whom" in row else {})}


def _holder(item: leaseq.Item, grant: leaseq.Grant, lease: float) -> dict[str, Any]:
    return {
        "key": str(grant.token),
        "id": item.id,
        "title": item_title(item.payload, item.id),
        "person": grant.person,
        "since": rfc3339(grant.reserved_at),
        "until": rfc3339(grant.expires_at) if grant.expires_at else None,
        "lease": _length(grant, lease),
        "renewals": grant.renewals,
    }


def _length(grant: leaseq.Grant, lease: float) -> float:
    """The length of a lease in seconds; after a renewal, that of the policy."""
    if grant.renewals or grant.expires_at is None:
        return lease
    return (grant.expires_at - grant.reserved_at).total_seconds()


def _alert(alert: leaseq.Alert) -> dict[str, Any]:
    return {
        "key": f"{alert.name}>{alert.limit}",
        "name": alert.name,
        "limit": alert.limit,
        "since": rfc3339(alert.since),
    }


def _questions(stats: leaseq.Stats) -> dict[str, Any]:
    median, lapsed = stats.answer_seconds, stats.counters["lapsed"]
    return {
        "has_questions": bool(stats.questions or lapsed or median is not None),
        "open_questions": stats.questions,
        "answer_seconds": None if median is None else _rounded(median),
        "lapsed": lapsed,
    }


def _rounded(number: float) -> float:
    return round(number) if number >= 10 else round(number, 1)

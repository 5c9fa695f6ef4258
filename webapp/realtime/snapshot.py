"""A queue's figures for its dashboard, kept up to date while anybody watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.realtime.attention import Attention
from leaseq.webapp.realtime.rates import MINUTES, Tally, a_minute
from leaseq.webapp.realtime.sparkline import spark

BACKLOG = 20_000  # moves that are read back at most, to begin with
HELD_SHOWN = 50
_BACK = 5_000  # of one reading
_PAGE = 1_000
_PAGES = 5  # of moves that one look reads; where there are more it begins anew
_EVERY = 1.0  # seconds between two looks
_HELD_EVERY = 2.0
_FRESH = 300.0  # seconds that a picture is kept when nobody looks
_SLACK = timedelta(seconds=2)  # of when the oldest entered, which is told as an age

_HOLD = frozenset(
    {"reserved", "renewed", "finished", "abandoned", "failed", "expired", "released", "undone", "removed"}
)


class Snapshot:
    """The figures of one queue, for any thread; it reads the queue once a second at most."""

    def __init__(self, queue: leaseq.Queue, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue = queue
        self._clock = clock
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._seen: dict[str, Any] = {}
        self._oldest: datetime | None = None
        self._held: tuple[float, list[dict[str, Any]]] | None = None
        self._held_moved = False
        self._cursor: str | None = None
        self._tally: Tally | None = None
        self._trouble = Attention(queue, clock=clock)
        self.asked = clock()

    def seen(self) -> dict[str, Any]:
        """The present figures. The same object again where nothing has changed."""
        with self._lock:
            self.asked = now = self._clock()
            if self._looked is None or now - self._looked >= _EVERY:
                self._looked = now
                fresh = self._look(datetime.now(UTC))
                if fresh != self._seen:
                    self._seen = fresh
            return self._seen

    def brief(self, *, read: bool = True) -> dict[str, Any]:
        """The counts and rates. ``read`` False: the rates only where they were read before."""
        with self._lock:
            self.asked, now = self._clock(), datetime.now(UTC)
            tally = self._read(now) if read or self._tally else None
            return self._brief(self._queue.stats(), tally, now)

    def _look(self, now: datetime) -> dict[str, Any]:
        tally = self._read(now)
        stats = self._queue.stats()
        held, handling = self._holders(stats), tally.handling()
        times = {"median": _rounded(handling.median), "p95": _rounded(handling.p95)} if handling else None
        return {
            **self._brief(stats, tally, now),
            "handling": times,
            "held": held,
            "held_more": max(stats.reserved - len(held), 0),
            **self._trouble.seen(stats, now),
        }

    def _brief(self, stats: leaseq.Stats, tally: Tally | None, now: datetime) -> dict[str, Any]:
        return {
            "counts": {state: getattr(stats, state) for state in leaseq.STATES},
            "overdue": stats.overdue,
            "paused": stats.paused,
            "oldest_at": self._oldest_at(stats, now),
            "come": _flow(tally.come(now) if tally else []),
            "done": _flow(tally.done(now) if tally else []),
        }

    # The moves

    def _read(self, now: datetime) -> Tally:
        if self._tally is None or not self._read_on(self._tally):
            self._tally = self._begin(now)
        self._tally.forget(now)
        return self._tally

    def _read_on(self, tally: Tally) -> bool:
        """Take in what is new; False where that is too much."""
        for _ in range(_PAGES):
            events = self._queue.journal(after=self._cursor, limit=_PAGE)
            for event in events:
                tally.add(event)
                self._note(event)
            if events:
                self._cursor = events[-1].cursor
            if len(events) < _PAGE:
                return True
        return False

    def _begin(self, now: datetime) -> Tally:
        """Read back an hour, or as much of it as BACKLOG allows."""
        since = now - timedelta(minutes=MINUTES)
        found: list[leaseq.Event] = []
        while len(found) < BACKLOG:
            page = self._queue.latest_events(_BACK, found[-1].cursor if found else None)
            found += page
            if len(page) < _BACK or page[-1].at < since:
                break
        else:
            since = found[-1].at
        tally = Tally(since)
        for event in reversed(found):
            if event.at >= since:
                tally.add(event)
                self._note(event)
        self._cursor = found[0].cursor if found else None
        self._held_moved = True
        return tally

    def _note(self, event: leaseq.Event) -> None:
        self._trouble.add(event)
        self._held_moved = self._held_moved or event.what in _HOLD

    # What is there

    def _holders(self, stats: leaseq.Stats) -> list[dict[str, Any]]:
        """The people who hold leases, by when each expires."""
        now = self._clock()
        if self._held is None or (self._held_moved and now - self._held[0] >= _HELD_EVERY):
            self._held_moved = False
            items = self._queue.items("reserved", limit=HELD_SHOWN) if stats.reserved else []
            grants = {grant.token: (item.id, grant) for item in items for grant in item.leases}
            self._held = (now, [_holder(id, grant) for id, grant in grants.values()])
        return self._held[1]

    def _oldest_at(self, stats: leaseq.Stats, now: datetime) -> str | None:
        if stats.oldest_inbound_seconds is None:
            self._oldest = None
            return None
        at = now - timedelta(seconds=stats.oldest_inbound_seconds)
        if self._oldest is None or abs(at - self._oldest) > _SLACK:
            self._oldest = at
        return rfc3339(self._oldest)


class Snapshots:
    """One `Snapshot` for each queue that is, or just was, watched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Snapshot] = {}

    def of(self, queue: leaseq.Queue) -> Snapshot:
        now = time.monotonic()
        with self._lock:
            for name in [name for name, one in self._kept.items() if now - one.asked > _FRESH]:
                del self._kept[name]
            return self._kept.setdefault(queue.name, Snapshot(queue))


def _flow(counts: list[int | None]) -> dict[str, Any]:
    rate = a_minute(counts)
    return {
        "spark": spark(counts),
        "a_minute": None if rate is None else round(rate, None if rate >= 10 else 1),
        "sum": sum(one or 0 for one in counts),
        "minutes": sum(one is not None for one in counts),
    }


def _holder(id: str, grant: leaseq.Grant) -> dict[str, Any]:
    return {
        "key": str(grant.token),
        "id": id,
        "person": grant.person,
        "since": rfc3339(grant.reserved_at),
        "until": rfc3339(grant.expires_at) if grant.expires_at else None,
        "renewals": grant.renewals,
    }


def _rounded(seconds: float) -> float:
    return round(seconds) if seconds >= 10 else round(seconds, 1)

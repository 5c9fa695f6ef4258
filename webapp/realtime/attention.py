"""What needs a manager's attention: questions, reports and notes, failed, unwanted and overdue items, and
late answers."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.item_title import title_of
from leaseq.webapp.reports import named, question_row, reports_on, waiting_reports
from leaseq.webapp.store.threads import Threads

SHOWN = 5
LATELY = timedelta(hours=1)
UNWANTED = 3  # people who gave an item back
_DEAD_LOOKED_AT = 200
_LATE = 1_000
_LOOK = 2_000  # entries of inbound that are searched for what was given back
_UNWANTED_SHOWN = 100
_SAID_LOOKED_AT = 100  # items of each state
_WORDS = 300  # characters of what somebody said
_AGAIN = 5.0  # seconds between two reads of one list

Rows = list[dict[str, Any]]


class Attention:
    """The lists that need attention; each is reread only where an event may have changed it, but for the
    questions, of which there is no event."""

    def __init__(
        self, queue: leaseq.Queue, threads: Threads, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._queue = queue
        self._threads = threads
        self._clock = clock
        self._looked: dict[str, tuple[float, Any, Rows]] = {}  # when, at what state of the list, what
        self._asked_count = 0
        self._said_more = False  # more than the most that are counted
        self._late_titles: dict[str, str] = {}
        self._late: deque[leaseq.Event] = deque(maxlen=_LATE)

    def add(self, event: leaseq.Event) -> None:
        if event.id is None:
            return
        if event.what == "late":
            self._late.append(event)
        elif event.what in ("adopted", "removed", "forgotten"):
            token = event.token if event.what == "adopted" else None  # of its late answers that one alone
            left = (one for one in self._late if one.id != event.id or token not in (None, one.token))
            self._late = deque(left, maxlen=_LATE)

    def seen(self, stats: leaseq.Stats, now: datetime) -> dict[str, Any]:
        moved = (stats.dead, stats.counters.get("died"), stats.counters.get("revived"))
        while self._late and self._late[0].at < now - LATELY:
            self._late.popleft()
        late = list(self._late)
        left = (stats.inbound, stats.counters.get("abandoned"), stats.counters.get("reserved"))
        unwanted = self._look("unwanted", left, self._unwanted) if stats.inbound else []
        failed, abandoned = stats.counters.get("failed"), stats.counters.get("abandoned")
        told = (*moved, *left, failed, stats.scheduled)
        said = self._look("said", told, self._said) if failed or abandoned else []
        asked = self._look("asked", self._clock(), self._asked)
        return {
            "asked": asked,
            "asked_count": self._asked_count,
            "said": said[:SHOWN],
            "said_count": len(said),
            "reports_count": self._asked_count + len(said),
            "reports_more": self._said_more,
            "dead": self._look("dead", moved, self._dead) if stats.dead else [],
            "unwanted": unwanted[:SHOWN],
            "unwanted_count": len(unwanted),
            "due": self._look("due", stats.overdue, self._overdue) if stats.overdue else [],
            "late": self._late_rows(late[: -SHOWN - 1 : -1]),
            "late_count": len(late),
        }

    def _look(self, name: str, state: Any, find: Callable[[], Rows]) -> Rows:
        now = self._clock()
        known = self._looked.get(name)
        # equivalent mutant: compare: five seconds are over, to the clock's last digit or not
        if known is None or (known[1] != state and now - known[0] >= _AGAIN):
            known = self._looked[name] = (now, state, find())
        return known[2]

    def _late_rows(self, events: list[leaseq.Event]) -> Rows:
        ids = [one.id for one in events if one.id]
        self._late_titles = {id: self._late_titles.get(id) or self._title(id) for id in ids}
        return [
            {
                "key": one.cursor,
                "id": one.id,
                "title": self._late_titles[one.id],
                "person": one.person,
                "at": rfc3339(one.at),
            }
            for one in events
            if one.id
        ]

    def _title(self, id: str) -> str:
        return title_of(self._queue, id) or id

    def _dead(self) -> Rows:
        """The latest of them, by reason."""
        latest = self._queue.find("dead", limit=_DEAD_LOOKED_AT, look=_DEAD_LOOKED_AT, backwards=True).items
        reasons = Counter(_reason(one) for one in latest)
        return [
            {"key": f"{how} {error}", "how": how, "error": error, "count": count}
            for (how, error), count in reasons.most_common(SHOWN)
        ]

    def _said(self) -> Rows:
        """The latest report or note on each item that nobody has or finished since, the newest first."""
        most = _SAID_LOOKED_AT
        dead = self._queue.find("dead", limit=most, look=most, backwards=True)
        waiting, _whole = waiting_reports(self._queue, most=most, look=_LOOK)
        self._said_more = dead.after is not None or len(waiting) >= most
        reports = {one.key: one for one in (*reports_on(list(dead.items)), *waiting)}
        newest = sorted(reports.values(), key=lambda one: one.at, reverse=True)
        return [one.row(_WORDS) for one in newest]

    def _asked(self) -> Rows:
        """The questions of people that no manager answered, the longest unanswered first."""
        questions = self._threads.unanswered(self._queue.name, SHOWN)
        titles = {one.id: title_of(self._queue, one.id) for one in questions}
        for id in [id for id, title in titles.items() if title is None]:
            self._threads.settle(self._queue.name, id)
        self._asked_count = self._threads.count_unanswered(self._queue.name)
        return [question_row(one, title, _WORDS) for one in questions if (title := titles[one.id])]

    def _overdue(self) -> Rows:
        due = self._queue.by_due(limit=SHOWN).items
        return [{"key": one.id, **named(one), "due": rfc3339(one.due)} for one in due if one.due]

    def _unwanted(self) -> Rows:
        """Waiting items that so many people gave back. These are at the front of the queue."""
        where = leaseq.Filter(given_back_by=UNWANTED)
        items = self._queue.find("inbound", where, limit=_UNWANTED_SHOWN, look=_LOOK).items
        return [
            {"key": f"{one.id} {one.assignment}", **named(one), "people": _gave_back(one)} for one in items
        ]


def _gave_back(item: leaseq.Item) -> int:
    return len({grant.person for grant in item.history if grant.how == "abandoned"})


def _reason(item: leaseq.Item) -> tuple[str, str | None]:
    """How its last grant ended, and what was said."""
    last = item.history[-1] if item.history else None
    how = last.how if last else "expired"
    return how, last.reason if last and how == "failed" else None

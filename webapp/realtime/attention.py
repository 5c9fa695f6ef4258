"""The things that need a manager's attention: items that nobody can take, questions, reports and notes,
failed, unwanted and overdue items, late answers, items that need more answers than the policy says; and
reports."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.item_title import item_title, title_of
from leaseq.webapp.realtime.staff import Staff
from leaseq.webapp.store.queue_access import UnreachableRow, count_unreachable
from leaseq.webapp.store.threads import Question, Threads

SHOWN = 5
RECENT_PERIOD = timedelta(hours=1)
UNWANTED = 3  # people who gave an item back
_MAX_DEAD = 200
_LATE = 1_000
_SCAN_LIMIT = 500  # inbound entries that are searched for returned items
_UNWANTED_SHOWN = 100
_MAX_REPORTS = 50  # items of each state
_WORDS = 300  # characters of a person's text
_SURPLUS_SCANNED = 250  # items of each state
_REREAD_SECONDS = 5.0  # seconds between two reads of one list

Rows = list[dict[str, Any]]


class Attention:
    """The lists that need attention. Each is reread only if an event may have changed it, except the
    questions and what nobody can take, for which there are no events."""

    def __init__(
        self,
        queue: leaseq.Queue,
        threads: Threads,
        staff: Staff,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._staff = staff
        self._online: Collection[str] = ()
        self._unreachable_count = 0
        self._threads = threads
        self._clock = clock
        self._cache: dict[str, tuple[float, Any, Rows]] = {}  # time, state of the list, rows
        self._question_count = 0
        self._policy_changes = 0
        self._has_more_reports = False  # more than the maximum that is counted
        self._late_titles: dict[str, str] = {}
        self._late_events: deque[leaseq.Event] = deque(maxlen=_LATE)

    def add(self, event: leaseq.Event) -> None:
        if event.what == "configured":
            self._policy_changes += 1
        if event.id is None:
            return
        if event.what == "late":
            self._late_events.append(event)
        elif event.what in ("adopted", "removed", "forgotten"):
            token = event.token if event.what == "adopted" else None  # only this one of its late answers
            remaining_events = (
                late for late in self._late_events if late.id != event.id or token not in (None, late.token)
            )
            self._late_events = deque(remaining_events, maxlen=_LATE)

    def figures(self, stats: leaseq.Stats, now: datetime, online: Collection[str]) -> dict[str, Any]:
        """The lists and their counts. ``online``: the names of those who are."""
        self._online = online
        dead_state = (stats.dead, stats.counters.get("died"), stats.counters.get("revived"))
        while self._late_events and self._late_events[0].at < now - RECENT_PERIOD:
            self._late_events.popleft()
        late_events = list(self._late_events)
        inbound_state = (stats.inbound, stats.counters.get("abandoned"), stats.counters.get("reserved"))
        unwanted_rows = self._cached("unwanted", inbound_state, self._find_unwanted) if stats.inbound else []
        failed_count, abandoned_count = stats.counters.get("failed"), stats.counters.get("abandoned")
        report_state = (*dead_state, *inbound_state, failed_count, stats.scheduled)
        report_rows: Rows = []
        if failed_count or abandoned_count:
            report_rows = self._cached("reports", report_state, self._find_reports)
        question_rows = self._cached("questions", self._clock(), self._find_questions)
        unreachable_rows: Rows = []
        if stats.inbound:
            unreachable_rows = self._cached("unreachable", self._clock(), self._list_unreachable)
        figures = {
            "surplus": self._has_surplus(stats),
            "unreachable": unreachable_rows,
            "unreachable_count": self._unreachable_count if unreachable_rows else 0,
            "questions": question_rows,
            "question_count": self._question_count,
            "reports": report_rows[:SHOWN],
            "report_count": len(report_rows),
            "has_more_reports": self._has_more_reports,
            "dead": self._cached("dead", dead_state, self._count_dead) if stats.dead else [],
            "unwanted": unwanted_rows[:SHOWN],
            "unwanted_count": len(unwanted_rows),
            "due": self._cached("due", stats.overdue, self._find_overdue) if stats.overdue else [],
            "late": self._late_rows(late_events[: -SHOWN - 1 : -1]),
            "late_count": len(late_events),
        }
        return {**figures, "problem_count": _count_problems(stats, figures)}

    def _cached(self, name: str, state: Any, find: Callable[[], Rows]) -> Rows:
        now = self._clock()
        entry = self._cache.get(name)
        if entry is None or (entry[1] != state and now - entry[0] >= _REREAD_SECONDS):
            entry = self._cache[name] = (now, state, find())
        return entry[2]

    def _has_surplus(self, stats: leaseq.Stats) -> bool:
        """Whether items need more answers than the policy says. Only a change of the policy can cause that,
        so that it is reread without one only while there are some."""
        if not stats.inbound + stats.reserved + stats.scheduled + stats.dead:
            return False
        _time, _state, rows = self._cache.get("surplus", (0.0, None, []))
        state = (self._policy_changes, self._queue.policy.answers, self._clock() if rows else None)
        return bool(self._cached("surplus", state, self._find_surplus))

    def _find_surplus(self) -> Rows:
        return [{"key": "surplus"}] if some_need_more_answers(self._queue) else []

    def _late_rows(self, events: list[leaseq.Event]) -> Rows:
        ids = [event.id for event in events if event.id]
        self._late_titles = {id: self._late_titles.get(id) or title_of(self._queue, id) or id for id in ids}
        return [
            {
                "key": event.cursor,
                "id": event.id,
                "title": self._late_titles[event.id],
                "person": event.person,
                "at": rfc3339(event.at),
            }
            for event in events
            if event.id
        ]

    def _count_dead(self) -> Rows:
        """The reasons of the latest items that failed, with their counts."""
        latest = self._queue.find("dead", limit=_MAX_DEAD, look=_MAX_DEAD, backwards=True).items
        reasons = Counter(_reason(item) for item in latest if item.died_of == "failed")
        return [
            {"key": f"{how} {error}", "how": how, "error": error, "count": count}
            for (how, error), count in reasons.most_common(SHOWN)
        ]

    def _find_reports(self) -> Rows:
        """The latest report or note on each item that nobody has reserved or finished since, the newest
        first."""
        limit = _MAX_REPORTS
        dead_page = self._queue.find("dead", limit=limit, look=limit, backwards=True)
        open_reports, _whole = waiting_reports(self._queue, most=limit, look=_SCAN_LIMIT)
        self._has_more_reports = dead_page.after is not None or len(open_reports) >= limit
        reports = {report.key: report for report in (*reports_on(list(dead_page.items)), *open_reports)}
        newest = sorted(reports.values(), key=lambda report: report.at, reverse=True)
        return [report.row(_WORDS) for report in newest]

    def _find_questions(self) -> Rows:
        """The questions that no manager has answered, the oldest first."""
        questions = self._threads.unanswered(self._queue.name, SHOWN)
        titles = {question.id: title_of(self._queue, question.id) for question in questions}
        for id in [id for id, title in titles.items() if title is None]:
            self._threads.settle(self._queue.name, id)
        self._question_count = self._threads.count_unanswered(self._queue.name)
        return [
            question_row(question, title, _WORDS) for question in questions if (title := titles[question.id])
        ]

    def _list_unreachable(self) -> Rows:
        rows = self._staff.unreachable(self._queue, self._online)
        self._unreachable_count = count_unreachable(rows)
        return [
            {
                "key": f"{row.reason} {row.person or ' '.join(row.requires)}",
                "why": _why(row),
                "whom": row.person or ", ".join(row.requires),
                "person": row.person,
                "skill": row.requires[0] if row.requires else None,
                "search": _search(row),
                "count": row.waiting,
            }
            for row in rows[:SHOWN]
        ]

    def _find_overdue(self) -> Rows:
        items = self._queue.by_due(limit=SHOWN).items
        return [
            {"key": item.id, **title_fields(item), "due": rfc3339(item.due)} for item in items if item.due
        ]

    def _find_unwanted(self) -> Rows:
        """Inbound items that at least UNWANTED people gave back. These are at the front of the queue."""
        criteria = leaseq.Filter(given_back_by=UNWANTED)
        items = self._queue.find("inbound", criteria, limit=_UNWANTED_SHOWN, look=_SCAN_LIMIT).items
        return [
            {"key": f"{item.id} {item.assignment}", **title_fields(item), "people": _count_people(item)}
            for item in items
        ]


def _why(row: UnreachableRow) -> str:
    """The reason why nobody can take a row, by which the page chooses its words."""
    if row.reason == "skills" and len(row.requires) > 1:
        return "skillset"
    return "absent" if row.reason == "offline" and row.requires else row.reason


def _search(row: UnreachableRow) -> str:
    """The search for a row's items, as a query string. Of several skills, by the first."""
    criteria = {"person": row.person, "outcome": "assigned"} if row.person else {"skill": row.requires[0]}
    return urlencode({"state": "inbound", **criteria})


def _count_problems(stats: leaseq.Stats, figures: Mapping[str, Any]) -> int:
    """The number of cards that the page shows for this."""
    kinds = (
        stats.paused is not None,
        stats.overdue,
        *(
            figures[name]
            for name in ("dead", "surplus", "question_count", "report_count", "unwanted_count", "late_count")
        ),
    )
    return len(stats.alerts) + len(figures["unreachable"]) + sum(map(bool, kinds))


def some_need_more_answers(queue: leaseq.Queue) -> bool:
    """Whether unfinished items need more answers than the policy says now, among the oldest: they are from
    before it was lowered."""
    criteria = leaseq.Filter(answers_above=queue.policy.answers)
    states: tuple[leaseq.State, ...] = ("inbound", "reserved", "scheduled", "dead")
    return any(queue.find(state, criteria, limit=1, look=_SURPLUS_SCANNED).items for state in states)


def _count_people(item: leaseq.Item) -> int:
    return len({grant.person for grant in item.history if grant.how == "abandoned"})


def _reason(item: leaseq.Item) -> tuple[str, str | None]:
    """The end of its last grant, and the reason if it failed."""
    last_grant = item.history[-1] if item.history else None
    how = last_grant.how if last_grant else "expired"
    return how, last_grant.reason if last_grant and how == "failed" else None


def end_reason(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant whose holder reported a problem, or gave the item back with a note."""
    return next((grant for grant in reversed(item.history) if grant.reason and grant.how in _OUTCOMES), None)


def last_note(item: leaseq.Item) -> leaseq.Grant | None:
    """The latest grant with a text for the next person: the note with which its holder gave the item back, or
    a manager's reason for reopening it."""
    endings = ("abandoned", "reopened")
    return next((grant for grant in reversed(item.history) if grant.reason and grant.how in endings), None)


_OUTCOMES: tuple[leaseq.LeaseOutcome, ...] = ("failed", "abandoned")
_RETURNED = ("dead", "scheduled")


@dataclass(frozen=True, slots=True)
class Report:
    """The latest report or note on an item."""

    item: leaseq.Item
    grant: leaseq.Grant

    @property
    def at(self) -> datetime:
        return self.grant.ended_at or self.grant.reserved_at

    @property
    def key(self) -> str:
        return f"{self.item.id} {self.grant.token}"

    def row(self, length: int) -> dict[str, Any]:
        """``length``: the limit of the text, in characters."""
        return {
            "key": self.key,
            **title_fields(self.item),
            "person": self.grant.person,
            "at": rfc3339(self.at),
            "how": self.grant.how,
            "text": shorten(self.grant.reason or "", length),
            "dead": self.item.state == "dead",
            "returnable": self.item.state in _RETURNED,
        }


def reports_on(items: list[leaseq.Item]) -> list[Report]:
    """The reports on these items: one per item, even if several of its assignments are in the list."""
    reports = (Report(item, grant) for item in items if (grant := end_reason(item)))
    return list({report.key: report for report in reports}.values())


def waiting_reports(queue: leaseq.Queue, *, most: int, look: int) -> tuple[list[Report], bool]:
    """The reports on inbound and scheduled items, and whether these are all. For each list and outcome, at
    most ``look`` entries are scanned and ``most`` items returned."""
    items: list[leaseq.Item] = []
    is_whole = True
    lists: tuple[leaseq.ListName, ...] = ("inbound", "scheduled")
    for name in lists:
        for outcome in _OUTCOMES:
            page = queue.find(name, leaseq.Filter(outcome=outcome), limit=most, look=look)
            items += page.items
            is_whole = is_whole and page.after is None
    return reports_on(items), is_whole


def question_row(question: Question, title: str, length: int) -> dict[str, Any]:
    return {
        "key": f"{question.id} {question.message.at.timestamp()}",
        "id": question.id,
        "title": title,
        "person": question.message.person,
        "at": rfc3339(question.message.at),
        "text": shorten(question.message.text, length),
    }


def title_fields(item: leaseq.Item) -> dict[str, str]:
    return {"id": item.id, "title": item_title(item.payload, item.id)}


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"

"""The page of all reports, notes and questions that need attention, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from flask import render_template, request

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.item_title import title_of
from leaseq.webapp.manage import bp
from leaseq.webapp.reports import Report, question_row, reports_on, waiting_reports
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.serving.numbers import whole_number

PAGE = 50
SCAN_LIMIT = 5_000
"""Entries of the waiting and scheduled lists, each, that a page scans for reports."""
_MAX_REPORTS = 500
DEAD_SCAN_LIMIT = 250  # failed items that a page scans
_TEXT_LENGTH = 2_000  # characters of a report: enough for all of it


Order: TypeAlias = tuple[int, str, int]
"""An entry's time in microseconds since the epoch, item id and number; unique."""


@dataclass(frozen=True, slots=True)
class Place:
    """The beginning of a page: entries older than ``before``, and failed items after the cursor ``dead``."""

    before: Order | None = None
    dead: str | None = None

    def args(self) -> dict[str, Any]:
        time, id, number = self.before or (0, "", 0)
        return {"before": time, "id": id or None, "number": number or None, "dead": self.dead}


@dataclass(frozen=True, slots=True)
class _Entry:
    order: Order
    row: dict[str, Any]
    cursor: str | None = None  # of a failed item


@bp.get("/manage/<q>/reports")
@needs("manager")
def reports(q: str) -> str:
    queue, place = existing_queue(q), _place()
    pending_reports, searched_all = waiting_reports(queue, most=_MAX_REPORTS, look=SCAN_LIMIT)
    rows, after = page_of(queue, pending_reports, place)
    return render_template(
        "manage/reports.html",
        queue=queue,
        policy=queue.policy,
        rows=rows,
        next_place=after,
        is_later_page=place.before is not None,
        searched_all=searched_all,
        scan_limit=SCAN_LIMIT,
    )


def page_of(
    queue: leaseq.Queue, pending_reports: list[Report], place: Place
) -> tuple[list[dict[str, Any]], Place | None]:
    """The rows of a page, and the place where the next one begins."""
    dead, dead_to, dead_after = _dead_entries(queue, place.dead)
    questions, questions_to = _question_entries(queue, place.before)
    entries = [*dead, *questions, *_waiting_entries(pending_reports, place.before)]
    # Entries older than the end of a partly read list must wait for the rest of that list.
    boundary = max((one for one in (dead_to, questions_to) if one is not None), default=None)
    ready_entries = [one for one in entries if boundary is None or one.order >= boundary]
    page_entries = sorted(ready_entries, key=lambda one: one.order, reverse=True)[:PAGE]
    rows = [one.row for one in page_entries]
    if boundary is None and len(page_entries) == len(entries):
        return rows, None
    cursors = [one.cursor for one in page_entries if one.cursor]
    cursor = cursors[-1] if cursors else place.dead
    if dead_after and len(cursors) == len(dead):
        cursor = dead_after
    return rows, Place(
        boundary if len(page_entries) == len(ready_entries) else page_entries[-1].order, cursor
    )


def _dead_entries(queue: leaseq.Queue, after: str | None) -> tuple[list[_Entry], Order | None, str | None]:
    """Reports on failed items, by when they failed. If there are more: also the place of the last one read,
    and the cursor after it."""
    page = queue.find("dead", limit=DEAD_SCAN_LIMIT, look=DEAD_SCAN_LIMIT, after=after, backwards=True)
    entries = [
        _Entry(_order(one, one.item.state_since), one.row(_TEXT_LENGTH), one.item.cursor)
        for one in reports_on(list(page.items))
    ]
    has_more = page.after is not None and page.items
    return entries, (_microseconds(page.items[-1].state_since), "", 0) if has_more else None, page.after


def _question_entries(queue: leaseq.Queue, before: Order | None) -> tuple[list[_Entry], Order | None]:
    """Unanswered questions and, if there are more, the place after the last one read: others may have its
    microsecond."""
    until = None if before is None else before[0] / 1_000_000
    questions = state().threads.latest_unanswered(queue.name, until, PAGE + 1)
    titles = ((one, title_of(queue, one.id)) for one in questions)
    entries = [
        _Entry((_microseconds(one.message.at), one.id, 0), question_row(one, title, _TEXT_LENGTH))
        for one, title in titles
        if title
    ]
    has_more = len(questions) > PAGE
    end = (_microseconds(questions[-1].message.at) + 1, "", 0) if has_more else None
    return _entries_before(entries, before), end


def _waiting_entries(pending_reports: list[Report], before: Order | None) -> list[_Entry]:
    return _entries_before(
        [_Entry(_order(one, one.at), one.row(_TEXT_LENGTH)) for one in pending_reports], before
    )


def _entries_before(entries: list[_Entry], before: Order | None) -> list[_Entry]:
    return [one for one in entries if before is None or one.order < before]


def _order(report: Report, at: datetime) -> Order:
    return _microseconds(at), report.item.id, report.grant.token


def _microseconds(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


def _place() -> Place:
    text = request.args.get("before")
    if not text:
        return Place()
    before, number = whole_number(text), whole_number(request.args.get("number") or "0")
    if before is None or number is None:
        raise Invalid("before", "a time in microseconds since the epoch, as the link to the next page has it")
    return Place((before, request.args.get("id", ""), number), request.args.get("dead") or None)

"""Reported items, and late answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeAlias

from flask import flash, redirect, request, url_for
from flask_babel import gettext as _
from flask_babel import ngettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.item_title import item_title, title_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.bulk.moves import RefusedItem, moves_in
from leaseq.webapp.manage.items import payload_summary
from leaseq.webapp.realtime.attention import RECENT_PERIOD, Report, question_row, reports_on, waiting_reports
from leaseq.webapp.refusals import reason_of
from leaseq.webapp.rendering.filters import state_word, unused_answers
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import bulk
from leaseq.webapp.serving.bodies import whole_number

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
    return queue_page(
        "manage/reports.html",
        queue,
        rows=[{**row, "time": datetime.fromisoformat(row["at"])} for row in rows],
        move_names=moves_in(("inbound", "scheduled", "dead")),
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
    waiting = [_Entry(_order(report, report.at), report.row(_TEXT_LENGTH)) for report in pending_reports]
    entries = [*dead, *questions, *_entries_before(waiting, place.before)]
    # Entries older than the end of a partly read list must wait for the rest of that list.
    boundary = max((order for order in (dead_to, questions_to) if order is not None), default=None)
    ready_entries = [entry for entry in entries if boundary is None or entry.order >= boundary]
    page_entries = sorted(ready_entries, key=lambda entry: entry.order, reverse=True)[:PAGE]
    rows = [entry.row for entry in page_entries]
    if boundary is None and len(page_entries) == len(entries):
        return rows, None
    cursors = [entry.cursor for entry in page_entries if entry.cursor]
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
        _Entry(_order(report, report.item.state_since), report.row(_TEXT_LENGTH), report.item.cursor)
        for report in reports_on(list(page.items))
    ]
    has_more = page.after is not None and page.items
    return entries, (_microseconds(page.items[-1].state_since), "", 0) if has_more else None, page.after


def _question_entries(queue: leaseq.Queue, before: Order | None) -> tuple[list[_Entry], Order | None]:
    """Unanswered questions and, if there are more, the place after the last one read: others may have its
    microsecond."""
    until = None if before is None else before[0] / 1_000_000
    questions = state().threads.latest_unanswered(queue.name, until, PAGE + 1)
    titles = ((question, title_of(queue, question.id)) for question in questions)
    entries = [
        _Entry(
            (_microseconds(question.message.at), question.id, 0),
            question_row(question, title, _TEXT_LENGTH),
        )
        for question, title in titles
        if title
    ]
    has_more = len(questions) > PAGE
    end = (_microseconds(questions[-1].message.at) + 1, "", 0) if has_more else None
    return _entries_before(entries, before), end


def _entries_before(entries: list[_Entry], before: Order | None) -> list[_Entry]:
    return [entry for entry in entries if before is None or entry.order < before]


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
        raise Invalid("before", "format", what="microseconds")
    return Place((before, request.args.get("id", ""), number), request.args.get("dead") or None)


MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class AdoptableAnswer:
    """A late answer that can be adopted."""

    item: leaseq.Item
    answer: leaseq.Answer

    @property
    def key(self) -> str:
        return f"{self.answer.token} {self.item.id}"


@bp.get("/manage/<q>/late")
@needs("manager")
def late(q: str) -> str:
    return _list_page(existing_queue(q))


@bp.post("/manage/<q>/late")
@needs("manager")
def confirm_late(q: str) -> str | Response:
    """The confirmation: what would happen to each selected answer."""
    queue, keys = existing_queue(q), _chosen_keys()
    answers = [answer for answer in (_find_answer(queue, key) for key in keys) if answer is not None]
    if not answers:
        flash(_("Select some late answers first.") if not keys else _("They no longer exist."))
        return redirect(_list_url(q), 303)
    repeated_items = {
        answer.item.id: answer.item
        for answer in answers
        if sum(other.item.id == answer.item.id for other in answers) > 1
    }
    return queue_page(
        "manage/late_confirm.html",
        queue,
        chosen_answers=[(answer, adoption_effect(answer.item)) for answer in answers],
        repeated_titles=sorted(item_title(item.payload, item.id) for item in repeated_items.values())
        if queue.policy.answers == 1
        else (),
        payload_summary=payload_summary,
        period=_period(),
        back=_list_url(q),
    )


@bp.post("/manage/<q>/late/adopt")
@needs("manager")
def adopt_late(q: str) -> str | Response:
    queue = existing_queue(q)
    count, refusals = bulk.adopt_each(queue, [_parts(key) for key in _chosen_keys()])
    if count:
        flash(ngettext("%(num)s late answer is accepted.", "%(num)s late answers are accepted.", count))
    refused_items = [
        RefusedItem(refusal.id, title_of(queue, refusal.id) or refusal.id, reason_of(refusal.error))
        if isinstance(refusal.error, Invalid)
        else RefusedItem(refusal.id, refusal.id, _("it no longer exists"))
        for refusal in refusals
    ]
    return _list_page(queue, refused_items) if refused_items else redirect(_list_url(q), 303)


def _list_page(queue: leaseq.Queue, refusals: list[RefusedItem] | None = None) -> str:
    since = datetime.now(UTC) - RECENT_PERIOD if _period() else None
    answers = list(islice(_adoptable_answers(queue, since), MAX_SHOWN + 1))
    rows = sorted(answers[:MAX_SHOWN], key=lambda row: row.answer.finished_at, reverse=True)
    return queue_page(
        "manage/late.html",
        queue,
        stats=queue.stats(),
        rows=[(row, _state_text(row)) for row in rows],
        has_more=len(answers) > MAX_SHOWN,
        payload_summary=payload_summary,
        period=_period(),
        refusals=refusals or (),
    )


def _adoptable_answers(queue: leaseq.Queue, since: datetime | None) -> Iterator[AdoptableAnswer]:
    for item in queue.late_items(since):
        for answer in unused_answers(item):
            if since is None or answer.finished_at >= since:
                yield AdoptableAnswer(item, answer)


def _find_answer(queue: leaseq.Queue, key: str) -> AdoptableAnswer | None:
    id, token = _parts(key)
    try:
        item = queue.get(id)
    except ItemNotFound:
        return None
    return next(
        (AdoptableAnswer(item, answer) for answer in item.late_answers if answer.token == token), None
    )


def _chosen_keys() -> list[str]:
    """The keys of the ticked answers, or of the one whose own button was pressed."""
    key = request.form.get("only")
    keys = [key] if key else list(dict.fromkeys(request.form.getlist("id")))
    if len(keys) > MAX_SHOWN:
        raise Invalid("id", "maximum", what="late_answers", maximum=MAX_SHOWN)
    return keys


def _parts(key: str) -> tuple[str, int]:
    """The item and the token of a key."""
    text, _space, id = key.partition(" ")
    token = whole_number(text)
    if token is None:
        raise Invalid("id", "format", what="late_id")
    return id, token


def _period() -> str:
    return "hour" if request.values.get("last") == "hour" else ""


def _list_url(q: str) -> str:
    return url_for("manage.late", q=q, last=_period() or None)


def _state_text(late_answer: AdoptableAnswer) -> str:
    """The current state of the answer's item, in words."""
    item = late_answer.item
    words: dict[str, str] = {
        "inbound": state_word("inbound"),
        "reserved": _("held by %(people)s", people=_people(item.leases)),
        "scheduled": state_word("scheduled"),
        "finished": _("answered by %(people)s", people=_people(item.answers)),
        "dead": state_word("dead"),
    }
    return words[item.state]


def adoption_effect(item: leaseq.Item) -> str:
    """The effect of adopting a late answer of the item, in words."""
    words: str = _("This finishes the item, and nobody else gets it.")
    if item.answers_needed > 1:
        words = _(
            "It becomes one of the item's answers: an additional one if an answer is still missing, "
            "otherwise it replaces one."
        )
    elif item.answers:
        words = _(
            "It replaces the answer from %(people)s, which becomes a late answer: you can restore that in "
            "the same way.",
            people=_people(item.answers),
        )
    elif item.leases:
        words = _("This finishes the item and takes it from %(people)s.", people=_people(item.leases))
    return words


def _people(records: tuple[leaseq.Answer, ...] | tuple[leaseq.Grant, ...]) -> str:
    return ", ".join(record.person for record in records)

"""Bulk actions: the confirmation, and the action in bounded steps with their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode

from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, validation
from leaseq.transfer import rfc3339, time_of
from leaseq.webapp.context import existing_queue
from leaseq.webapp.item_title import title_of
from leaseq.webapp.manage import bp
from leaseq.webapp.manage.actions import (
    MOVES,
    Move,
    RefusedItem,
    ids_in_words,
    log_move,
    meaning_of,
    name_of,
    narrowed_search,
    outcome_text,
    run_moves,
)
from leaseq.webapp.rendering.refusals import in_words
from leaseq.webapp.search.criteria import ANY, Search, description_of, needing_more_answers, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import people_of, worker_name
from leaseq.webapp.serving.numbers import whole_number

MAX_CHOSEN = 500
MAX_COUNTED = 1_000  # matches that the confirmation counts at most
STEP = 100  # actions per request
SCAN_LIMIT = 20_000  # entries of a list that a request scans
_ENTRY_LISTS = ("inbound", "finished", "dead")
"""The lists ordered by when an item entered them: items that entered later are left out."""


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A form's input: the action, the list it came from, and the items."""

    move: Move
    search: Search
    all: bool  # all results of the search
    ids: tuple[str, ...]  # otherwise these
    began: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """The progress of the action."""

    done: int
    refusals: tuple[RefusedItem, ...]  # of this step
    not_done: int  # of all steps
    scanned: int
    total: int | None  # as counted by the confirmation
    after: str | None  # where the next step begins


@bp.post("/manage/<q>/bulk")
@needs("manager")
def confirm_bulk(q: str) -> str | Response:
    queue = existing_queue(q)
    bulk = _bulk_request(queue.policy.form)
    if not bulk.all and not bulk.ids:
        flash(_("Select some items first."))
        return redirect(url_for("manage.items", q=q, **bulk.search.args()), 303)
    return _question(queue, bulk)


@bp.get("/manage/<q>/bulk/lower")
@needs("manager")
def confirm_lower(q: str) -> str:
    """The confirmation for all items that need more answers than the policy says now."""
    queue = existing_queue(q)
    return _question(
        queue,
        BulkRequest("lower", needing_more_answers(queue.policy), all=True, ids=(), began=datetime.now(UTC)),
    )


@bp.post("/manage/<q>/bulk/do")
@needs("manager")
def run_bulk(q: str) -> str | tuple[str, int]:
    queue = existing_queue(q)
    bulk = _bulk_request(queue.policy.form)
    assignee = request.form.get("person", "").strip()
    try:
        if bulk.move == "assign":
            assignee = worker_name(queue.name, assignee)
    except Invalid as error:
        return _question(queue, bulk, error=in_words(error)), 400
    outcome = _run_step(queue, bulk, assignee) if bulk.all else _run_selected(queue, bulk, assignee)
    return render_template(
        "manage/bulk_progress.html",
        queue=queue,
        policy=queue.policy,
        bulk=bulk,
        assignee=assignee,
        name=name_of(bulk.move),
        outcome_text=outcome_text(bulk.move, outcome.done),
        outcome=outcome,
        **_hidden_fields(bulk),
    )


def _question(queue: leaseq.Queue, bulk: BulkRequest, *, error: str | None = None) -> str:
    count, has_more, scanned = len(bulk.ids), False, 0
    if bulk.all:
        page = _bounded_search(bulk).page(queue, limit=MAX_COUNTED, look=SCAN_LIMIT)
        count, has_more, scanned = len({item.id for item in page.items}), page.after is not None, page.scanned
    return render_template(
        "manage/bulk_confirm.html",
        queue=queue,
        titles={id: title_of(queue, id) or id for id in bulk.ids},
        policy=queue.policy,
        bulk=bulk,
        name=name_of(bulk.move),
        meaning=meaning_of(bulk.move),
        description=description_of(bulk.search),
        count=count,
        has_more=has_more,
        scanned_count=scanned,
        people=[account.name for account in people_of(queue.name) if not account.disabled],
        error=error,
        **_hidden_fields(bulk),
    )


def _hidden_fields(bulk: BulkRequest) -> dict[str, str]:
    """The hidden fields of the next form."""
    return {
        "search": request.form.get("search") or urlencode(bulk.search.args()),
        "began": rfc3339(bulk.began),
        "back": url_for("manage.items", q=(request.view_args or {})["q"], **bulk.search.args()),
    }


def _bulk_request(form: leaseq.Json) -> BulkRequest:
    ids = tuple(dict.fromkeys(request.form.getlist("id")))
    if len(ids) > MAX_CHOSEN:
        raise Invalid("id", f"at most {MAX_CHOSEN} items at once, or all items of a search")
    began = request.form.get("began")
    move = validation.one_of(request.form.get("move"), MOVES, "move")
    if move == "assign" and "anybody" in request.form:
        move = "unassign"
    search = search_of(dict(parse_qsl(request.form.get("search", ""))), form)
    all = request.form.get("which") == "all"
    if move == "lower" and not (all and search.where.answers_above):
        raise Invalid("move", "lower only for all items that need more answers than the search says")
    return BulkRequest(
        move=move,
        search=narrowed_search(move, search) if all else search,
        all=all,
        ids=ids,
        began=time_of(began, "began") if began else datetime.now(UTC),
    )


def _bounded_search(bulk: BulkRequest) -> Search:
    return bulk.search.up_to(bulk.began) if bulk.search.state in _ENTRY_LISTS else bulk.search


def _run_selected(queue: leaseq.Queue, bulk: BulkRequest, assignee: str) -> Outcome:
    done_ids: list[str] = []
    try:
        refusals = run_moves(queue, bulk.move, bulk.ids, assignee, bulk.began, done_ids)
    finally:
        if done_ids:
            detail = " ".join(
                filter(None, (f"{len(done_ids)}:", ids_in_words(done_ids), _assignee_detail(assignee)))
            )
            log_move(queue, bulk.move, detail)
    return Outcome(len(done_ids), tuple(refusals), len(refusals), 0, len(bulk.ids), None)


def _run_step(queue: leaseq.Queue, bulk: BulkRequest, assignee: str) -> Outcome:
    after = request.form.get("after") or None
    if after is None:
        log_move(
            queue,
            bulk.move,
            " ".join(
                filter(
                    None,
                    (
                        _("all items of this search: %(search)s", search=description_of(bulk.search)),
                        _assignee_detail(assignee),
                    ),
                )
            ),
        )
    page = _bounded_search(bulk).page(queue, limit=STEP, look=SCAN_LIMIT, after=after)
    ids = [item.id for item in page.items if not _is_newer(item, bulk)]
    done_ids: list[str] = []
    answers = bulk.search.where.answers_above
    refusals = run_moves(queue, bulk.move, ids, assignee, bulk.began, done_ids, answers)
    outcome = Outcome(
        done=_number("done") + len(done_ids),
        refusals=tuple(refusals),
        not_done=_number("not_done") + len(refusals),
        scanned=_number("scanned") + page.scanned,
        total=_number("total") or None,
        after=page.after,
    )
    if page.after is None:
        log_move(
            queue,
            bulk.move,
            f"{outcome.done}: "
            + _("all items of this search: %(search)s", search=description_of(bulk.search)),
        )
    return outcome


def _is_newer(item: leaseq.Item, bulk: BulkRequest) -> bool:
    """Whether the item was added (in a search of all states) or reserved (for a release) after the
    confirmation was shown."""
    leases = item.leases
    if bulk.search.state == ANY:
        return item.enqueued_at > bulk.began
    return bulk.move == "release" and leases != () and all(one.reserved_at > bulk.began for one in leases)


def _assignee_detail(assignee: str) -> str:
    return f"→ {assignee}" if assignee else ""


def _number(name: str) -> int:
    return whole_number(request.form.get(name)) or 0

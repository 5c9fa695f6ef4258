"""The pages of an act on many items: its confirmation, its progress, and undo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import parse_qsl, urlencode

from flask import flash, redirect, request, url_for
from flask_babel import gettext
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, validation
from leaseq.transfer import rfc3339, time_of
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.item_title import title_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.manage.bulk.moves import (
    FIELDS,
    MOVES,
    UNDOABLE,
    WORDS,
    Move,
    MoveInput,
    RefusedItem,
    applies,
    items_text,
    narrowed_search,
    outcome_text,
    read_input,
    refused_item,
    refused_undo,
    texts_of,
    title_of_move,
)
from leaseq.webapp.refusals import in_words
from leaseq.webapp.search.criteria import ANY, Search, description_of, needing_more_answers, search_of
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import bulk as bulk_service
from leaseq.webapp.services import queues
from leaseq.webapp.services.bulk import Result
from leaseq.webapp.serving.bodies import whole_number

MAX_CHOSEN = 500
MAX_COUNTED = 1_000  # matches that the confirmation counts at most
STEP = 100  # items that one request changes
SCAN_LIMIT = 20_000  # entries of a list that a request scans
MAX_TITLES = 20  # selected items that the confirmation names
_ENTRY_LISTS = ("inbound", "finished", "dead")
"""The lists ordered by when an item entered them: items that entered later are left out."""


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A form's input: the act, the list it came from, and the items."""

    move: Move
    search: Search
    all: bool  # all results of the search
    ids: tuple[str, ...]  # otherwise these
    began: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """The progress of an act."""

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
    bulk = bulk_request(queue.policy.form)
    if not bulk.all and not bulk.ids:
        flash(gettext("Select some items first."))
        return redirect(_back(bulk.search), 303)
    return _question(queue, bulk)


@bp.get("/manage/<q>/bulk/lower")
@needs("manager")
def confirm_lower(q: str) -> str:
    """The confirmation for all items that need more answers than the policy says now."""
    queue = existing_queue(q)
    search = needing_more_answers(queue.policy)
    return _question(queue, BulkRequest("lower", search, all=True, ids=(), began=datetime.now(UTC)))


@bp.post("/manage/<q>/bulk/do")
@needs("manager")
def run_bulk(q: str) -> str | tuple[str, int]:
    """One step; the page requests the next one. Skills that nobody has are asked about first."""
    queue = existing_queue(q)
    bulk = bulk_request(queue.policy.form)
    texts = texts_of(bulk.move, request.form)
    try:
        typed = read_input(queue.name, bulk.move, texts, bulk.search.where.answers_above)
        unmet = queues.unmet_skills(q, typed.changes.get("requires", ()))
    except Invalid as error:
        return _question(queue, bulk, error=error), 400
    if unmet and "confirmed" not in request.form:
        return _question(queue, bulk, unmet=unmet)
    undo = request.form.get("undo", "")
    if not undo and typed.bulk(bulk.began).undoable:
        undo = state().undo.begin(q)
    outcome = _run_step(queue, bulk, typed, undo)
    return queue_page(
        "manage/bulk_progress.html",
        queue,
        name=WORDS[bulk.move].name,
        outcome_text=outcome_text(bulk.move, outcome.done, typed.value),
        outcome=outcome,
        is_search=bulk.all,
        next_url=url_for("manage.run_bulk", q=q),
        next_fields=_next_fields(bulk, texts, outcome, undo),
        undo=undo if outcome.after is None and undo and state().undo.count(q, undo) else None,
        back=_back(bulk.search),
    )


@bp.post("/manage/<q>/bulk/undo")
@needs("manager")
def undo_bulk(q: str) -> str | Response:
    """One step of putting back what an act replaced."""
    queue, undo = existing_queue(q), request.form.get("undo", "")
    search = search_of(dict(parse_qsl(request.form.get("search", ""))), queue.policy.form)
    remaining_count = state().undo.count(q, undo)
    if not remaining_count:
        flash(gettext("This can't be undone any more."))
        return redirect(_back(search), 303)
    is_last = remaining_count <= STEP
    done = _number("done")
    result = bulk_service.undo_step(queue, undo, STEP, earlier=done, is_last=is_last)
    outcome = Outcome(
        done + len(result.changed),
        tuple(refused_undo(queue, refusal) for refusal in result.refusals),
        _number("not_done") + len(result.refusals),
        0,
        _number("total") or remaining_count,
        None if is_last else "next",
    )
    return queue_page(
        "manage/bulk_progress.html",
        queue,
        name=gettext("Undo"),
        outcome_text=gettext("Undone for %(items)s.", items=items_text(outcome.done)),
        outcome=outcome,
        is_search=False,
        next_url=url_for("manage.undo_bulk", q=q),
        next_fields={
            "undo": undo,
            "search": _search_text(search),
            "back": request.form.get("back", ""),
            **_counts(outcome),
        },
        undo=None,
        back=_back(search),
    )


def _question(
    queue: leaseq.Queue, bulk: BulkRequest, *, error: Invalid | None = None, unmet: tuple[str, ...] = ()
) -> str:
    count, has_more, scanned = len(bulk.ids), False, 0
    if bulk.all:
        page = bounded_search(bulk).page(queue, limit=MAX_COUNTED, look=SCAN_LIMIT)
        count = len({item.id for item in page.items if applies(bulk.move, item)})
        has_more, scanned = page.after is not None, page.scanned
    template = "manage/bulk_export.html" if bulk.move == "export" else "manage/bulk_confirm.html"
    return queue_page(
        template,
        queue,
        title=title_of_move(bulk.move, count, has_more=has_more),
        titles={id: title_of(queue, id) or id for id in bulk.ids[:MAX_TITLES]},
        bulk=bulk,
        words=WORDS[bulk.move],
        fields=FIELDS.get(bulk.move, ()),
        texts=texts_of(bulk.move, request.form),
        description=description_of(bulk.search),
        count=count,
        has_more=has_more,
        scanned_count=scanned,
        people=[account.name for account in queues.people_of(queue.name) if not account.disabled],
        field_error=error,
        error=in_words(error) if error else None,
        unmet=unmet,
        can_undo=bulk.move in UNDOABLE and not has_more,
        hidden_fields=_hidden_fields(bulk, count, has_more=has_more),
        back=_back(bulk.search),
    )


_LISTS = {"reports": "manage.reports", "answers": "manage.answers"}
"""The pages other than the list of items that have such a list."""


def _back(search: Search) -> str:
    """The URL of the page with the list."""
    q = (request.view_args or {})["q"]
    page = _LISTS.get(request.form.get("back", ""))
    return url_for(page, q=q) if page else url_for("manage.items", q=q, **search.args())


def _search_text(search: Search) -> str:
    return request.form.get("search") or urlencode(search.args())


def _hidden_fields(bulk: BulkRequest, count: int, *, has_more: bool) -> dict[str, str]:
    """The fields of the confirmation's form, without the ids and what is typed."""
    fields = {"move": bulk.move, "search": _search_text(bulk.search), "began": rfc3339(bulk.began)}
    if bulk.all:
        fields["which"] = "all"
    if request.form.get("back") in _LISTS:
        fields["back"] = request.form["back"]
    return fields if has_more else {**fields, "total": str(count)}


def _next_fields(
    bulk: BulkRequest, texts: dict[str, str], outcome: Outcome, undo: str
) -> dict[str, str | tuple[str, ...]]:
    """The fields of the next step's form."""
    return {
        **_hidden_fields(bulk, 0, has_more=True),
        **texts,
        **_counts(outcome),
        "confirmed": "yes",
        "undo": undo,
        "id": bulk.ids,
    }


def _counts(outcome: Outcome) -> dict[str, str]:
    names = ("after", "done", "not_done", "scanned", "total")
    return {name: str(getattr(outcome, name) or "") for name in names}


def bulk_request(form: leaseq.Json) -> BulkRequest:
    """The act that the request's form asks for. Raises Invalid."""
    ids = tuple(dict.fromkeys(request.form.getlist("id")))
    if len(ids) > MAX_CHOSEN:
        raise Invalid("id", "maximum", what="items", maximum=MAX_CHOSEN)
    began = request.form.get("began")
    move = validation.one_of(request.form.get("move"), MOVES, "move")
    search = search_of(dict(parse_qsl(request.form.get("search", ""))), form)
    all = request.form.get("which") == "all"
    if move == "lower" and not (all and search.where.answers_above):
        raise Invalid("move", "format", what="fewer_answers")
    return BulkRequest(
        move=move,
        search=narrowed_search(move, search) if all else search,
        all=all,
        ids=ids,
        began=time_of(began, "began") if began else datetime.now(UTC),
    )


def bounded_search(bulk: BulkRequest) -> Search:
    """The search without what entered the list since the confirmation."""
    return bulk.search.up_to(bulk.began) if bulk.search.state in _ENTRY_LISTS else bulk.search


def _run_step(queue: leaseq.Queue, bulk: BulkRequest, typed: MoveInput, undo: str) -> Outcome:
    if bulk.all:
        return _run_search(queue, bulk, typed, undo)
    start = _number("after")
    ids, end = tuple(islice(bulk.ids, start, start + STEP)), start + STEP
    act, earlier = typed.bulk(bulk.began), _number("done")
    result = bulk_service.run_bulk(queue, act, ids, undo=undo, earlier=earlier)
    outcome = _outcome(queue, bulk, result, 0, str(end) if end < len(bulk.ids) else None)
    return replace(outcome, total=len(bulk.ids))


def _run_search(queue: leaseq.Queue, bulk: BulkRequest, typed: MoveInput, undo: str) -> Outcome:
    after = request.form.get("after") or None
    page = bounded_search(bulk).page(queue, limit=STEP, look=SCAN_LIMIT, after=after)
    ids = [item.id for item in page.items if applies(bulk.move, item) and not _is_newer(item, bulk)]
    step = bulk_service.Step(bulk.search.args(), _number("done"), after is None, page.after is None, undo)
    result = bulk_service.run_step(queue, typed.bulk(bulk.began), ids, step)
    return _outcome(queue, bulk, result, page.scanned, page.after)


def _outcome(
    queue: leaseq.Queue, bulk: BulkRequest, result: Result, scanned: int, after: str | None
) -> Outcome:
    return Outcome(
        done=_number("done") + len(result.changed),
        refusals=tuple(refused_item(queue, bulk.move, refusal) for refusal in result.refusals),
        not_done=_number("not_done") + len(result.refusals),
        scanned=_number("scanned") + scanned,
        total=_number("total") or None,
        after=after,
    )


def _is_newer(item: leaseq.Item, bulk: BulkRequest) -> bool:
    """Whether the item was added (in a search of all states) or reserved (for a release) after the
    confirmation was shown."""
    leases = item.leases
    if bulk.search.state == ANY:
        return item.enqueued_at > bulk.began
    return bulk.move == "release" and leases != () and all(lease.reserved_at > bulk.began for lease in leases)


def _number(name: str) -> int:
    return whole_number(request.form.get(name)) or 0

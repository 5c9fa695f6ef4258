"""Actions on one item or on many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode

from flask import flash, redirect, request, url_for
from flask_babel import gettext, ngettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString
from werkzeug.wrappers import Response

import leaseq
from leaseq import Invalid, ItemNotFound, ListName, validation
from leaseq.transfer import rfc3339, time_of
from leaseq.webapp.context import existing_queue
from leaseq.webapp.item_title import item_title, title_of
from leaseq.webapp.manage.blueprint import bp, queue_page
from leaseq.webapp.refusals import in_words
from leaseq.webapp.rendering.filters import state_word
from leaseq.webapp.search.criteria import (
    ANY,
    Search,
    SearchedState,
    description_of,
    needing_more_answers,
    search_of,
)
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import items, queues
from leaseq.webapp.services.items import MOVES, Bulk, Move, Refusal
from leaseq.webapp.serving.bodies import whole_number

MOVES_BY_STATE: dict[SearchedState, tuple[Move, ...]] = {
    "inbound": ("assign", "unassign", "remove"),
    "reserved": ("release", "unassign", "remove"),
    "scheduled": ("assign", "unassign", "remove"),
    "finished": ("remove",),
    "dead": ("revive", "remove"),
    "due": ("release", "assign", "unassign", "remove"),
    "any": ("release", "revive", "remove"),
}
"""The actions that apply to the items of a list, or of all states."""
_STATE_BY_MOVE: dict[Move, ListName] = {"release": "reserved", "revive": "dead"}


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that an action did not change, and why."""

    id: str
    title: str
    reason: str


def narrowed_search(move: Move, search: Search) -> Search:
    """The search for an action on all its results. A search of all states is narrowed to the state that the
    action applies to."""
    return replace(search, state=_STATE_BY_MOVE.get(move, ANY)) if search.state == ANY else search


@dataclass(frozen=True, slots=True)
class MoveWords:
    """The words for an action: its name, its effect for the confirmation, and why an item stays as it is."""

    name: LazyString
    meaning: LazyString
    unchanged: LazyString


WORDS: dict[Move, MoveWords] = {
    "release": MoveWords(
        _("Release"),
        _(
            "They are taken from the people who hold them, and somebody else can get them. What is typed is "
            "kept: an answer sent after that becomes a late answer."
        ),
        _("nobody holds it"),
    ),
    "assign": MoveWords(
        _("Assign"),
        _("Only this person gets them, before other items of their priority, until they give them back."),
        _("they already have it"),
    ),
    "unassign": MoveWords(
        _("Let anybody have them"),
        _(
            "They are no longer for one person only: anybody with the right skills can get them, before "
            "other items of their priority. Those who hold one keep it."
        ),
        _("it is assigned to nobody"),
    ),
    "revive": MoveWords(
        _("Hand out again"),
        _(
            "They wait again with all their attempts. People who chose “Not for me” may get them again. "
            "This can't be undone."
        ),
        _("it has not failed, it is %(state)s"),
    ),
    "remove": MoveWords(
        _("Remove"),
        _("They are deleted, with their answers and their history. This can't be undone."),
        _("it no longer exists"),
    ),
    "lower": MoveWords(
        _("Require fewer answers"),
        _(
            "They were handed out when the queue wanted more answers for each item, and still wait for them. "
            "With fewer, those that have enough answers are finished. A person who holds one may finish it, "
            "and the answer counts. This can't be undone."
        ),
        _("it needs no more than that"),
    ),
}


def outcome_text(move: Move, count: int) -> str:
    """The result, in words, with the number of items."""
    words: dict[Move, str] = {
        "release": ngettext("%(num)s is released and waiting.", "%(num)s are released and waiting.", count),
        "assign": ngettext("%(num)s is assigned.", "%(num)s are assigned.", count),
        "unassign": ngettext("Anybody can get %(num)s now.", "Anybody can get %(num)s now.", count),
        "revive": ngettext("%(num)s is waiting again.", "%(num)s are waiting again.", count),
        "remove": ngettext("%(num)s is removed.", "%(num)s are removed.", count),
        "lower": ngettext("%(num)s needs fewer answers now.", "%(num)s need fewer answers now.", count),
    }
    return words[move]


def refused_item(queue: leaseq.Queue, move: Move, refusal: Refusal) -> RefusedItem:
    """A refusal in words."""
    id, item, error = refusal.id, refusal.item, refusal.error
    title = item_title(item.payload, id) if item else id
    if isinstance(error, leaseq.ItemFinished):
        return RefusedItem(id, title, gettext("somebody has just answered it"))
    if isinstance(error, Invalid):  # without an item, the id is malformed
        is_wrong_state = item is not None and error.field == "id"
        return RefusedItem(id, title, _wrong_state(queue, move, id) if is_wrong_state else in_words(error))
    return RefusedItem(id, title, _unchanged(move, item) if item else gettext("it no longer exists"))


def _wrong_state(queue: leaseq.Queue, move: Move, id: str) -> str:
    """The reason why an item was in no state for the action, by its state now: it may have changed since it
    was read."""
    try:
        item = queue.get(id)
    except ItemNotFound:
        return str(gettext("it no longer exists"))
    if move != "assign":
        return _unchanged(move, item)
    if item.state in ("inbound", "scheduled"):
        return str(gettext("somebody else just changed it: try again"))
    return str(gettext("it is not waiting, it is %(state)s", state=state_word(item.state)))


def _unchanged(move: Move, item: leaseq.Item) -> str:
    return str(WORDS[move].unchanged) % {"state": state_word(item.state)}


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
        flash(gettext("Select some items first."))
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
            assignee = queues.worker_name(queue.name, assignee)
    except Invalid as error:
        return _question(queue, bulk, error=in_words(error)), 400
    whom = assignee if bulk.move == "assign" else ""
    action = Bulk(bulk.move, whom, answers=bulk.search.where.answers_above, began=bulk.began)
    outcome = _run_step(queue, bulk, action) if bulk.all else _run_selected(queue, bulk, action)
    return queue_page(
        "manage/bulk_progress.html",
        queue,
        bulk=bulk,
        assignee=assignee,
        name=WORDS[bulk.move].name,
        outcome_text=outcome_text(bulk.move, outcome.done),
        outcome=outcome,
        **_hidden_fields(bulk),
    )


def _question(queue: leaseq.Queue, bulk: BulkRequest, *, error: str | None = None) -> str:
    count, has_more, scanned = len(bulk.ids), False, 0
    if bulk.all:
        page = _bounded_search(bulk).page(queue, limit=MAX_COUNTED, look=SCAN_LIMIT)
        count, has_more, scanned = len({item.id for item in page.items}), page.after is not None, page.scanned
    return queue_page(
        "manage/bulk_confirm.html",
        queue,
        titles={id: title_of(queue, id) or id for id in bulk.ids},
        bulk=bulk,
        name=WORDS[bulk.move].name,
        meaning=WORDS[bulk.move].meaning,
        description=description_of(bulk.search),
        count=count,
        has_more=has_more,
        scanned_count=scanned,
        people=[account.name for account in queues.people_of(queue.name) if not account.disabled],
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
        raise Invalid("id", "maximum", what="items", maximum=MAX_CHOSEN)
    began = request.form.get("began")
    move = validation.one_of(request.form.get("move"), MOVES, "move")
    if move == "assign" and "anybody" in request.form:
        move = "unassign"
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


def _bounded_search(bulk: BulkRequest) -> Search:
    return bulk.search.up_to(bulk.began) if bulk.search.state in _ENTRY_LISTS else bulk.search


def _run_selected(queue: leaseq.Queue, bulk_request: BulkRequest, bulk: Bulk) -> Outcome:
    count, refusals = items.run_bulk(queue, bulk, bulk_request.ids)
    refused_items = tuple(refused_item(queue, bulk.move, refusal) for refusal in refusals)
    return Outcome(count, refused_items, len(refusals), 0, len(bulk_request.ids), None)


def _run_step(queue: leaseq.Queue, bulk_request: BulkRequest, bulk: Bulk) -> Outcome:
    after = request.form.get("after") or None
    page = _bounded_search(bulk_request).page(queue, limit=STEP, look=SCAN_LIMIT, after=after)
    ids = [item.id for item in page.items if not _is_newer(item, bulk_request)]
    description = gettext("all items of this search: %(search)s", search=description_of(bulk_request.search))
    step = items.Step(description, _number("done"), is_first=after is None, is_last=page.after is None)
    count, refusals = items.run_step(queue, bulk, ids, step)
    return Outcome(
        done=count,
        refusals=tuple(refused_item(queue, bulk.move, refusal) for refusal in refusals),
        not_done=_number("not_done") + len(refusals),
        scanned=_number("scanned") + page.scanned,
        total=_number("total") or None,
        after=page.after,
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

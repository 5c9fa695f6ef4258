"""Items over REST: one, many, by search."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from flask import Response, request
from pydantic import Field
from typing_extensions import TypeAliasType

import leaseq
from leaseq import Invalid, transfer
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.base import AFTER, LIMIT, Query, list_response, page_model
from leaseq.webapp.api.models.requests import (
    MAX_IDS,
    PERSON,
    PLACE,
    AssignRequest,
    BulkRequest,
    CancelRequest,
    CorrectRequest,
    DueQuery,
    EmptyRequest,
    ItemChanges,
    ItemPath,
    ItemsQuery,
    QueuePath,
    RemoveQuery,
    ReopenRequest,
    State,
    TokenRequest,
    moment,
    optional,
)
from leaseq.webapp.api.negotiation import accepted_format
from leaseq.webapp.context import existing_queue, person
from leaseq.webapp.errors import problem_of
from leaseq.webapp.rendering.downloads import streamed_items
from leaseq.webapp.search.criteria import ANY, search_among
from leaseq.webapp.search.matching import LONGEST
from leaseq.webapp.security.authorization import may_manage, needs
from leaseq.webapp.services import bulk as bulk_service
from leaseq.webapp.services import items
from leaseq.webapp.services.queues import worker_name
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "items"}]


@bp.get("/queues/<q>/items", tags=TAGS, responses={"200": responses.ItemList})
@needs("manager")
def list_items(path: QueuePath, query: ItemsQuery) -> dict[str, Any]:
    """List the items in one state, in order, page by page."""
    page = page_or_problem(
        lambda: existing_queue(path.q).page(query.state, limit=query.limit, after=query.after)
    )
    return list_response("items", [responses.Item.from_record(item) for item in page.items], page.after)


@bp.get("/queues/<q>/due", tags=TAGS, responses={"200": responses.ItemList})
@needs("manager")
def list_due(path: QueuePath, query: DueQuery) -> dict[str, Any]:
    """List the items with a due date that are neither finished nor dead, earliest first."""
    page = page_or_problem(lambda: existing_queue(path.q).by_due(limit=query.limit, after=query.after))
    return list_response("items", [responses.Item.from_record(item) for item in page.items], page.after)


def page_or_problem(read_page: Callable[[], leaseq.Page]) -> leaseq.Page:
    """Read a page. A malformed cursor is an invalid field; a cursor of another list is not found in this
    one."""
    try:
        return read_page()
    except leaseq.Invalid as error:
        if error.field == "after" and re.match(PLACE["pattern"], request.args["after"]):
            raise Problem.of(404, "not-found", "not_found", what="cursor") from None
        raise


@bp.get("/queues/<q>/items/<item:id>", tags=TAGS, responses={"200": responses.Item})
@needs("worker")
def get_item(path: ItemPath) -> dict[str, Any]:
    """Read one item, with its answers and history.

    A worker may read an item while they hold it, with only their own leases, answers and history.
    """
    queue = existing_queue(path.q)
    item = queue.get(path.id) if may_manage(queue.name) else _read_own_item(queue, path.id)
    return responses.Item.from_record(item)


def _read_own_item(queue: leaseq.Queue, id: str) -> leaseq.Item:
    """An item that this person holds, without what others did. Raises Forbidden for any other id."""
    name = person().name
    if not any(lease.id == id for lease in queue.mine(name)):
        raise Problem.of(403, "forbidden", "forbidden", what="held_only")
    item = queue.get(id)
    return replace(
        item,
        leases=tuple(lease for lease in item.leases if lease.person == name),
        answers=tuple(answer for answer in item.answers if answer.person == name),
        late_answers=tuple(answer for answer in item.late_answers if answer.person == name),
        history=tuple(grant for grant in item.history if grant.person == name),
    )


@bp.patch("/queues/<q>/items/<item:id>", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def change(path: ItemPath, body: ItemChanges) -> dict[str, Any]:
    """Change an item that is inbound, scheduled or dead; fields that are left out keep their values.

    If its priority or skills change, it is placed among the items there by its age. If the item has several
    assignments, at least one must be in one of these states: that one moves, and nobody loses a lease.
    """
    changes = body.sent_fields()
    return responses.Item.from_record(items.change(existing_queue(path.q), path.id, **changes))


@bp.delete("/queues/<q>/items/<item:id>", tags=TAGS, responses={"204": None})
@needs("manager")
def remove(path: ItemPath, query: RemoveQuery) -> Response:
    """Delete an item, with its answers: also with one that was given a moment ago.

    With `unless=finished`, an item that has an answer is not deleted: 409 `item-finished`.
    """
    items.remove(existing_queue(path.q), path.id, unless=query.unless)
    return Response(status=204)


@bp.post("/queues/<q>/items/<item:id>/revive", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def revive(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return a dead item to the queue, with its full number of attempts."""
    return responses.Item.from_record(items.revive(existing_queue(path.q), path.id))


@bp.post("/queues/<q>/items/<item:id>/cancel", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def cancel(path: ItemPath, body: CancelRequest) -> dict[str, Any]:
    """End an item that nobody needs any more: it is dead at once, also if somebody holds it.

    Their answer is kept as a late answer if it still arrives. A dead item is not changed.
    """
    return responses.Item.from_record(items.cancel(existing_queue(path.q), path.id, body.reason))


@bp.post("/queues/<q>/items/<item:id>/release", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def release(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """End the lease of an item, so that somebody else can get it."""
    return responses.Item.from_record(items.release(existing_queue(path.q), path.id))


@bp.post("/queues/<q>/items/<item:id>/assign", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def assign(path: ItemPath, body: AssignRequest) -> dict[str, Any]:
    """Assign a waiting item to one person: only they may reserve it, until they give it back."""
    return responses.Item.from_record(items.assign(existing_queue(path.q), path.id, body.person))


@bp.delete("/queues/<q>/items/<item:id>/assignment", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def unassign(path: ItemPath) -> dict[str, Any]:
    """Let anybody have an item again that is assigned to somebody. The person who holds it keeps it.

    If it waits, it goes to the front of its priority. An item that is assigned to nobody is not changed.
    """
    return responses.Item.from_record(items.unassign(existing_queue(path.q), path.id))


@bp.post("/queues/<q>/items/<item:id>/adopt", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def adopt(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Make the late answer of this token the item's answer."""
    return responses.Item.from_record(items.adopt(existing_queue(path.q), path.id, body.token))


@bp.post("/queues/<q>/items/<item:id>/reopen", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def reopen(path: ItemPath, body: ReopenRequest) -> dict[str, Any]:
    """Take back the answer of this token: the item is inbound again, at the front of its priority.

    The answer is kept as a late answer, and becomes the draft of the person who gave it.
    """
    queue = existing_queue(path.q)
    item = items.reopen(queue, path.id, body.token, to=body.to, reason=body.reason)
    return responses.Item.from_record(item)


@bp.post("/queues/<q>/items/<item:id>/correct", tags=TAGS, responses={"200": responses.Item})
@needs("manager")
def correct(path: ItemPath, body: CorrectRequest) -> dict[str, Any]:
    """Replace the answer of this token with yours. The replaced one is kept as a late answer."""
    item = items.correct(existing_queue(path.q), path.id, body.token, body.result)
    return responses.Item.from_record(item)


SCAN_LIMIT = 10_000  # entries that one search scans, if it compares no text
AnyState = TypeAliasType("AnyState", State)


class SearchQuery(Query):
    find: str = Field(
        "",
        description="Words in the id, the payload or an answer, and conditions on their fields: `refund "
        "rating<=2`",
        max_length=LONGEST,
    )
    state: AnyState | None = Field(None, description="Only items in this state; by default in any")
    person: str | None = optional("Only items that this person held", **PERSON)
    since: str | None = moment("from", "In their state since")
    until: str | None = moment("to", "In their state before this; a day is included as a whole")
    after: str | None = Field(None, description=AFTER, min_length=1)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


_COMPARED = Field(description="How many entries this call compared; `after` continues after them")
FoundItems = page_model("FoundItems", items=list[responses.Item], compared=Annotated[int, _COMPARED])


@bp.get("/queues/<q>/search", tags=TAGS, responses={"200": FoundItems})
@needs("manager")
def search_items(path: QueuePath, query: SearchQuery) -> dict[str, Any]:
    """Find items of any state, or of one, by words, fields, person and time.

    A call compares a limited number of entries, so a page may be short, or empty, although there are more:
    continue with `after` until it is null.
    """
    queue = existing_queue(path.q)
    since, until = transfer.period_of(query.since, query.until)
    criteria = leaseq.Filter(person=query.person, since=since, until=until)
    search = search_among(query.find, query.state or ANY, criteria, queue.policy.form)
    page = page_or_problem(lambda: search.page(queue, limit=query.limit, look=SCAN_LIMIT, after=query.after))
    found = [responses.Item.from_record(item) for item in page.items]
    return list_response("items", found, page.after, compared=page.scanned)


@bp.post("/queues/<q>/bulk", tags=TAGS, responses={"200": responses.BulkResult})
@needs("manager")
def bulk(path: QueuePath, body: BulkRequest) -> dict[str, Any]:
    """Release, assign, unassign, reopen, revive, cancel, change or remove up to 1,000 items, by their ids.

    Each item is changed separately. `reopen` takes back all answers of an item. With `unless`, items that
    somebody has finished are not removed.
    `refused` lists the items that were not changed, with the `code` and `detail` that the call for the
    single item would have had.
    """
    queue = existing_queue(path.q)
    if not 1 <= len(body.ids) <= MAX_IDS:
        raise Invalid("ids", "range", minimum=1, maximum=MAX_IDS, value=len(body.ids))
    if (body.action == "assign") != (body.person is not None):
        raise Invalid("person", "only_for", uses=("assign",))
    for field, actions in _ACTS_OF_FIELDS.items():
        if field in body.model_fields_set and body.action not in actions:
            raise Invalid(field, "only_for", uses=actions)
    changes = body.changes()
    if body.action == "change" and not changes:
        raise Invalid("priority", "required")
    assignee = ""
    if body.action == "assign":
        assignee = worker_name(queue.name, body.person)
    elif body.to is not None:
        assignee = worker_name(queue.name, body.to, "to")
    act = bulk_service.Bulk(body.action, assignee, body.reason, changes, body.unless)
    result = bulk_service.run_bulk(queue, act, body.ids)
    return {
        "done": len(result.changed),
        "refused": [_refused(refusal.id, refusal.error) for refusal in result.refusals if refusal.error],
    }


_ACTS_OF_FIELDS = {
    "unless": ("remove",),
    "to": ("reopen",),
    "reason": ("reopen", "cancel"),
    **dict.fromkeys(("priority", "due", "requires", "delay"), ("change",)),
}


_ITEM_ROWS = {
    "description": "One item per line, with its answers; in a table, a row for each answer",
    "content": {
        "application/x-ndjson": {"schema": {"type": "string"}},
        "application/json": {"schema": {"type": "array", "items": {}}},
        "text/csv": {"schema": {"type": "string"}},
        "text/tab-separated-values": {"schema": {"type": "string"}},
        transfer.CONTENT_TYPES["xlsx"]: {"schema": {"type": "string", "format": "binary"}},
    },
}


class ExportQuery(Query):
    state: AnyState | None = Field(None, description="Only items in this state; by default in any")
    query: str = Field(
        "", description="Words and conditions, as `find` of the search has them", max_length=LONGEST
    )
    format: Literal["jsonl", "json", "csv", "tsv", "xlsx"] = optional(
        "The format, by default the one that `Accept` prefers, else jsonl"
    )


@bp.get("/queues/<q>/items/export", tags=TAGS, responses={"200": _ITEM_ROWS})
@needs("manager")
def export_items(path: QueuePath, query: ExportQuery) -> Response:
    """Stream items with their answers: all, those in one state, or those that a search finds."""
    queue = existing_queue(path.q)
    format = accepted_format(query.format, ("jsonl", "json", "csv", "tsv", "xlsx"))
    search = search_among(query.query, query.state or ANY, leaseq.Filter(), queue.policy.form)
    return streamed_items(queue, search.items(queue), format)


def _refused(id: str, error: leaseq.LeaseqError) -> dict[str, Any]:
    problem = problem_of(error)
    return {
        "id": id,
        "code": problem.code,
        "rule": problem.rule,
        "values": problem.values,
        "detail": problem.detail,
    }

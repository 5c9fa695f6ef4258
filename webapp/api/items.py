"""REST calls for items: read, change, move."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import Response, request
from werkzeug.exceptions import Forbidden

import leaseq
from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.models_in import (
    PLACE,
    AssignRequest,
    CorrectRequest,
    DueQuery,
    EmptyRequest,
    ItemChanges,
    ItemPath,
    ItemsQuery,
    QueuePath,
    RemoveQuery,
    ReopenRequest,
    TokenRequest,
)
from leaseq.webapp.api.pagination import list_response
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.security.audit_log import detail_changes
from leaseq.webapp.security.authorization import may_manage, needs
from leaseq.webapp.security.queue_access import worker_name
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "items"}]


@bp.get("/queues/<q>/items", tags=TAGS, responses={"200": models_out.ItemList})
@needs("manager")
def list_items(path: QueuePath, query: ItemsQuery) -> dict[str, Any]:
    """List the items in one state, in order, page by page."""
    page = page_or_problem(
        lambda: existing_queue(path.q).page(query.state, limit=query.limit, after=query.after)
    )
    return list_response("items", [models_out.Item.from_record(item) for item in page.items], page.after)


@bp.get("/queues/<q>/due", tags=TAGS, responses={"200": models_out.ItemList})
@needs("manager")
def list_due(path: QueuePath, query: DueQuery) -> dict[str, Any]:
    """List the items with a due date that are neither finished nor dead, earliest first."""
    page = page_or_problem(lambda: existing_queue(path.q).by_due(limit=query.limit, after=query.after))
    return list_response("items", [models_out.Item.from_record(item) for item in page.items], page.after)


def page_or_problem(read_page: Callable[[], leaseq.Page]) -> leaseq.Page:
    """Read a page. A malformed cursor is an invalid field; a cursor of another list is not found in this
    one."""
    try:
        return read_page()
    except leaseq.Invalid as error:
        if error.field == "after" and re.match(PLACE["pattern"], request.args["after"]):
            raise Problem(404, "not-found", f"{error}: start again without it") from None
        raise


@bp.get("/queues/<q>/items/<item:id>", tags=TAGS, responses={"200": models_out.Item})
@needs("worker")
def get_item(path: ItemPath) -> dict[str, Any]:
    """Read one item, with its answers and history.

    A worker may read an item while they hold it, with only their own leases, answers and history.
    """
    queue = existing_queue(path.q)
    item = queue.get(path.id) if may_manage(queue.name) else _read_own_item(queue, path.id)
    return models_out.Item.from_record(item)


def _read_own_item(queue: leaseq.Queue, id: str) -> leaseq.Item:
    """An item that this person holds, without what others did. Raises Forbidden for any other id."""
    name = person().name
    if not any(lease.id == id for lease in queue.mine(name)):
        raise Forbidden(
            "a worker may read an item only while they hold it; other items require the role manager"
        )
    item = queue.get(id)
    return replace(
        item,
        leases=tuple(one for one in item.leases if one.person == name),
        answers=tuple(one for one in item.answers if one.person == name),
        late_answers=tuple(one for one in item.late_answers if one.person == name),
        history=tuple(one for one in item.history if one.person == name),
    )


@bp.patch("/queues/<q>/items/<item:id>", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def change(path: ItemPath, body: ItemChanges) -> dict[str, Any]:
    """Change an item that is inbound, scheduled or dead; fields that are left out keep their values.

    If its priority or skills change, it is placed among the items there by its age. If the item has several
    assignments, at least one must be in one of these states: that one moves, and nobody loses a lease.
    """
    changes = body.sent_fields()
    item = existing_queue(path.q).change(path.id, by=person().name, **changes)
    detail_changes(changes)
    return models_out.Item.from_record(item)


@bp.delete("/queues/<q>/items/<item:id>", tags=TAGS, responses={"204": None})
@needs("manager")
def remove(path: ItemPath, query: RemoveQuery) -> Response:
    """Delete an item, with its answers: also with one that was given a moment ago.

    With `unless=finished`, an item that has an answer is not deleted: 409 `item-finished`.
    """
    existing_queue(path.q).remove(path.id, unless=query.unless, by=person().name)
    state().threads.forget(path.q, path.id)
    return Response(status=204)


@bp.post("/queues/<q>/items/<item:id>/revive", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def revive(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return a dead item to the queue, with its full number of attempts."""
    return models_out.Item.from_record(existing_queue(path.q).revive(path.id, by=person().name))


@bp.post("/queues/<q>/items/<item:id>/release", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def release(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """End the lease of an item, so that somebody else can get it."""
    return models_out.Item.from_record(existing_queue(path.q).release(path.id, by=person().name))


@bp.post("/queues/<q>/items/<item:id>/assign", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def assign(path: ItemPath, body: AssignRequest) -> dict[str, Any]:
    """Assign a waiting item to one person: only they may reserve it, until they give it back."""
    queue = existing_queue(path.q)
    assignee = worker_name(queue.name, body.person)
    return models_out.Item.from_record(queue.assign(path.id, assignee, by=person().name))


@bp.delete("/queues/<q>/items/<item:id>/assignment", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def unassign(path: ItemPath) -> dict[str, Any]:
    """Let anybody have an item again that is assigned to somebody. The person who holds it keeps it.

    If it waits, it goes to the front of its priority. An item that is assigned to nobody is not changed.
    """
    return models_out.Item.from_record(existing_queue(path.q).unassign(path.id, by=person().name))


@bp.post("/queues/<q>/items/<item:id>/adopt", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def adopt(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Make the late answer of this token the item's answer."""
    return models_out.Item.from_record(existing_queue(path.q).adopt(path.id, body.token, by=person().name))


@bp.post("/queues/<q>/items/<item:id>/reopen", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def reopen(path: ItemPath, body: ReopenRequest) -> dict[str, Any]:
    """Take back the answer of this token: the item is inbound again, at the front of its priority.

    The answer is kept as a late answer, and becomes the draft of the person who gave it.
    """
    queue = existing_queue(path.q)
    assignee = None if body.to is None else worker_name(queue.name, body.to, "to")
    item = queue.reopen(path.id, body.token, to=assignee, reason=body.reason, by=person().name)
    return models_out.Item.from_record(item)


@bp.post("/queues/<q>/items/<item:id>/correct", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def correct(path: ItemPath, body: CorrectRequest) -> dict[str, Any]:
    """Replace the answer of this token with yours. The replaced one is kept as a late answer."""
    item = existing_queue(path.q).correct(path.id, body.token, body.result, by=person().name)
    return models_out.Item.from_record(item)

"""REST calls on items: add, read, move."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from flask import Response, request, url_for
from werkzeug.exceptions import Forbidden, UnsupportedMediaType

import leaseq
from leaseq import transfer
from leaseq.webapp.api import bp, models_out, shape
from leaseq.webapp.api.conflicts import Conflicts, refuse
from leaseq.webapp.api.idempotency import (
    NDJSON,
    byte_lines,
    derived_id,
    idempotency_key,
    key_reused,
    request_id,
)
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
    ReopenRequest,
    TokenRequest,
)
from leaseq.webapp.api.pagination import listed
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.security.audit_log import detail_changes
from leaseq.webapp.security.authorization import may_manage, needs, takes_any_size
from leaseq.webapp.security.queue_access import who_may_work
from leaseq.webapp.serving.json_request import JSON, strict_request
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "items"}]
MAX_ARRAY = 100_000

LINES = '{"payload": {"text": "Great, but late"}, "id": "r-1"}\n{"payload": {"text": "Never again"}}\n'
_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        JSON: {"schema": {"oneOf": [shape("NewItem"), {"type": "array", "items": shape("NewItem")}]}},
        NDJSON: {
            "schema": {
                "type": "string",
                "description": "One new item per line, any number of lines: " + LINES,
            }
        },
    },
}
_ADDED: dict[str, Any] = {
    "description": "One item: `{id, added}`. Several: `{added, duplicates}`",
    "headers": {"Location": {"description": "For one item: its address", "schema": {"type": "string"}}},
    "content": {JSON: {"schema": {"oneOf": [shape("Enqueued"), shape("EnqueuedMany")]}}},
}


_THERE = {
    "description": "One item: its id, or with `dedupe_seconds` its payload, exists. Nothing changed",
    "content": _ADDED["content"],
}


@bp.post("/queues/<q>/items", tags=TAGS, request_body=_BODY, responses={"200": _THERE, "201": _ADDED})
@needs("manager")
@takes_any_size
def enqueue(path: QueuePath) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add one item, an array of items, or a stream of lines.

    An item whose id exists with an equal payload is a duplicate. With a different payload it is a 409
    `conflict` and is not added. The other items of an array or a stream are added; the answer has their
    number and lists the first 100 conflicts.

    A stream is read line by line. It stops at the first bad line: that line is not added, the lines
    before it are, and the answer has their number. When it is sent again with the same ids or the same
    `Idempotency-Key`, lines that were added before count as duplicates.
    """
    queue, key = existing_queue(path.q), idempotency_key()
    if request.mimetype == NDJSON:
        return _enqueue_lines(queue, key), 201, {}
    body = _bounded_json()
    if isinstance(body, list):
        if len(body) > MAX_ARRAY:
            raise leaseq.Invalid("body", f"at most {MAX_ARRAY:,} items in an array; send more as {NDJSON}")
        items = [_element(number, value) for number, value in enumerate(body, 1)]
        conflicts = Conflicts()
        counts = queue.enqueue_many(_with_ids(queue.name, key, items), on_conflict=conflicts.note)
        return conflicts.answer(counts), 201, {}
    entered = _enqueue_one(queue, transfer.from_envelope(body))
    answer = {"id": entered.id, "added": entered.added}
    if not entered.added:
        return answer, 200, {}
    return answer, 201, {"Location": url_for("api.get_item", q=queue.name, id=entered.id)}


def _enqueue_one(queue: leaseq.Queue, item: leaseq.NewItem) -> leaseq.Enqueued:
    try:
        return queue.enqueue(
            item.payload,
            id=item.id,
            priority=item.priority,
            delay=item.delay,
            at=item.at,
            requires=item.requires,
            due=item.due,
            max_attempts=item.max_attempts,
            request_id=request_id(),
            on_conflict=refuse,
        )
    except leaseq.Invalid as refused:
        if refused.field == "request_id":
            raise key_reused() from None
        raise


def _bounded_json() -> Any:
    if request.mimetype != JSON:
        raise UnsupportedMediaType(f"send an item or an array as {JSON}, a stream of lines as {NDJSON}")
    request.max_content_length = state().settings.max_body_bytes
    return strict_request().strict_json()


def _element(number: int, value: Any) -> leaseq.NewItem:
    try:
        return transfer.from_envelope(value)
    except leaseq.Invalid as refused:
        raise type(refused)(
            f"{number - 1}.{refused.field}", refused.limit, f"item {number}: {refused}"
        ) from None


def _with_ids(queue_name: str, key: str | None, items: list[leaseq.NewItem]) -> list[leaseq.NewItem]:
    """Give an id to items without one: derived from the request's key, where it has one."""
    if key is None:
        return items
    return [_with_id(queue_name, key, number, item) for number, item in enumerate(items, 1)]


def _with_id(queue_name: str, key: str, number: int, item: leaseq.NewItem) -> leaseq.NewItem:
    return item if item.id is not None else replace(item, id=derived_id(queue_name, key, number))


def _enqueue_lines(queue: leaseq.Queue, key: str | None) -> dict[str, Any]:
    """Take the body line by line, in constant memory."""
    bad: list[transfer.BadRow] = []
    conflicts = Conflicts()

    def good() -> Iterator[leaseq.NewItem]:
        rows = transfer.read(byte_lines(), "jsonl", envelope=True)
        for number, row in enumerate(rows, 1):
            if isinstance(row, transfer.BadRow):
                bad.append(row)
                return
            yield row if key is None else _with_id(queue.name, key, number, row)

    counts = queue.enqueue_many(good(), on_conflict=conflicts.note)
    if bad:
        why = bad[0].message.removeprefix("row: ")
        raise Problem(
            413 if bad[0].too_large else 400,
            "too-large" if bad[0].too_large else "invalid",
            f"line {bad[0].line}: {why}. The lines before it were added, this line and those after it were "
            f"not",
            field="body",
            limit=why,
            line=bad[0].line,
            **conflicts.members(counts),
        )
    return conflicts.answer(counts)


@bp.get("/queues/<q>/items", tags=TAGS, responses={"200": models_out.ItemList})
@needs("manager")
def list_items(path: QueuePath, query: ItemsQuery) -> dict[str, Any]:
    """List the items in one state, in order, page by page."""
    page = page_or_problem(
        lambda: existing_queue(path.q).page(query.state, limit=query.limit, after=query.after)
    )
    return listed("items", [models_out.Item.of(item) for item in page.items], page.after)


@bp.get("/queues/<q>/due", tags=TAGS, responses={"200": models_out.ItemList})
@needs("manager")
def list_due(path: QueuePath, query: DueQuery) -> dict[str, Any]:
    """List the items with a due date that are neither finished nor dead, earliest first."""
    page = page_or_problem(lambda: existing_queue(path.q).by_due(limit=query.limit, after=query.after))
    return listed("items", [models_out.Item.of(item) for item in page.items], page.after)


def page_or_problem(look: Callable[[], leaseq.Page]) -> leaseq.Page:
    """A malformed cursor is an invalid field; a cursor of another list finds nothing in this one."""
    try:
        return look()
    except leaseq.Invalid as refused:
        if refused.field == "after" and re.match(PLACE["pattern"], request.args["after"]):
            raise Problem(404, "not-found", f"{refused}: start again without it") from None
        raise


@bp.get("/queues/<q>/items/<name:id>", tags=TAGS, responses={"200": models_out.Item})
@needs("worker")
def get_item(path: ItemPath) -> dict[str, Any]:
    """Read one item, with its answers and history.

    A worker may read an item while they hold it, with their own part of its leases, answers and history.
    """
    queue = existing_queue(path.q)
    item = queue.get(path.id) if may_manage(queue.name) else _as_its_holder_sees(queue, path.id)
    return models_out.Item.of(item)


def _as_its_holder_sees(queue: leaseq.Queue, id: str) -> leaseq.Item:
    """An item that this person holds, without what others did; no other is told of."""
    me = person().name
    if not any(lease.id == id for lease in queue.mine(me)):  # guard: item-of-its-holder
        raise Forbidden("a worker may read an item only while they hold it; others require the role manager")
    item = queue.get(id)
    return replace(
        item,
        leases=tuple(one for one in item.leases if one.person == me),
        answers=tuple(one for one in item.answers if one.person == me),
        late_answers=tuple(one for one in item.late_answers if one.person == me),
        history=tuple(one for one in item.history if one.person == me),
    )


@bp.patch("/queues/<q>/items/<name:id>", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def change(path: ItemPath, body: ItemChanges) -> dict[str, Any]:
    """Change an item that is inbound, scheduled or dead; what is left out stays as it is.

    With another priority or other skills it goes among the items there by its age. If the item has several
    assignments, at least one must be in one of these states: it moves, and nobody loses a lease.
    """
    changes = body.named()
    item = existing_queue(path.q).change(path.id, by=person().name, **changes)
    detail_changes(changes)
    return models_out.Item.of(item)


@bp.delete("/queues/<q>/items/<name:id>", tags=TAGS, responses={"204": None})
@needs("manager")
def remove(path: ItemPath) -> Response:
    """Delete an item, with its answers."""
    existing_queue(path.q).remove(path.id, by=person().name)
    state().threads.forget(path.q, path.id)
    return Response(status=204)


@bp.post("/queues/<q>/items/<name:id>/revive", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def revive(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return a dead item to the queue, with all its attempts."""
    return models_out.Item.of(existing_queue(path.q).revive(path.id, by=person().name))


@bp.post("/queues/<q>/items/<name:id>/release", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def release(path: ItemPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """End the lease of an item, so that somebody else can get it."""
    return models_out.Item.of(existing_queue(path.q).release(path.id, by=person().name))


@bp.post("/queues/<q>/items/<name:id>/assign", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def assign(path: ItemPath, body: AssignRequest) -> dict[str, Any]:
    """Assign a waiting item to one person: only they may reserve it, until they give it back."""
    queue = existing_queue(path.q)
    whom = who_may_work(queue.name, body.person)
    return models_out.Item.of(queue.assign(path.id, whom, by=person().name))


@bp.post("/queues/<q>/items/<name:id>/adopt", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def adopt(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Make the late answer of this token the item's answer."""
    return models_out.Item.of(existing_queue(path.q).adopt(path.id, body.token, by=person().name))


@bp.post("/queues/<q>/items/<name:id>/reopen", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def reopen(path: ItemPath, body: ReopenRequest) -> dict[str, Any]:
    """Take back the answer of this token: the item is inbound again, at the front of its priority.

    The answer is kept as a late one, and is the draft of the person who gave it.
    """
    queue = existing_queue(path.q)
    whom = None if body.to is None else who_may_work(queue.name, body.to, "to")
    item = queue.reopen(path.id, body.token, to=whom, reason=body.reason, by=person().name)
    return models_out.Item.of(item)


@bp.post("/queues/<q>/items/<name:id>/correct", tags=TAGS, responses={"200": models_out.Item})
@needs("manager")
def correct(path: ItemPath, body: CorrectRequest) -> dict[str, Any]:
    """Put your answer in the place of the one with this token, which is kept as a late one."""
    item = existing_queue(path.q).correct(path.id, body.token, body.result, by=person().name)
    return models_out.Item.of(item)

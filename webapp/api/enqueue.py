"""The REST call that adds items: one, an array, or a stream of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from flask import request, url_for
from werkzeug.exceptions import UnsupportedMediaType

import leaseq
from leaseq import transfer
from leaseq.webapp.api import bp, schema_ref
from leaseq.webapp.api.conflicts import Conflicts, refuse
from leaseq.webapp.api.idempotency import (
    NDJSON,
    byte_lines,
    derived_id,
    idempotency_key,
    key_reused,
    request_id,
)
from leaseq.webapp.api.models_in import QueuePath
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.serving.json_request import JSON, strict_request
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.time_slices import in_slices

TAGS: list[Any] = [{"name": "items"}]
MAX_ARRAY = 100_000

LINES = '{"payload": {"text": "Great, but late"}, "id": "r-1"}\n{"payload": {"text": "Never again"}}\n'
_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        JSON: {
            "schema": {"oneOf": [schema_ref("NewItem"), {"type": "array", "items": schema_ref("NewItem")}]}
        },
        NDJSON: {
            "schema": {
                "type": "string",
                "description": "One new item per line, any number of lines: " + LINES,
            }
        },
    },
}
_CREATED_RESPONSE: dict[str, Any] = {
    "description": "One item: `{id, added}`. Several: `{added, duplicates}`",
    "headers": {"Location": {"description": "For one item: its address", "schema": {"type": "string"}}},
    "content": {JSON: {"schema": {"oneOf": [schema_ref("Enqueued"), schema_ref("EnqueuedMany")]}}},
}
_EXISTS_RESPONSE = {
    "description": "One item: its id, or with `dedupe_seconds` its payload, already exists. Nothing changed",
    "content": _CREATED_RESPONSE["content"],
}


@bp.post(
    "/queues/<q>/items",
    tags=TAGS,
    request_body=_BODY,
    responses={"200": _EXISTS_RESPONSE, "201": _CREATED_RESPONSE},
)
@needs("manager", scopes=("enqueue",))
@takes_any_size
def enqueue(path: QueuePath) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Add one item, an array of items, or a stream of lines.

    An item whose id exists with an equal payload is a duplicate. With a different payload it is a 409
    `conflict` and is not added. The other items of an array or a stream are added; the response has their
    number and lists the first 100 conflicts.

    A stream is read line by line. It stops at the first bad line: that line is not added, the lines before it
    are, and the response has their number. If the stream is sent again with the same ids or the same
    `Idempotency-Key`, lines that were added before count as duplicates.
    """
    queue, key = existing_queue(path.q), idempotency_key()
    if request.mimetype == NDJSON:
        return _enqueue_lines(queue, key), 201, {}
    body = _bounded_json()
    if isinstance(body, Iterator):
        items = _checked_items(body)
        conflicts = Conflicts()
        counts = queue.enqueue_many(_with_ids(queue.name, key, items), on_conflict=conflicts.add)
        return conflicts.answer(counts), 201, {}
    result = _enqueue_one(queue, transfer.from_envelope(body))
    answer = {"id": result.id, "added": result.added}
    if not result.added:
        return answer, 200, {}
    return answer, 201, {"Location": url_for("api.get_item", q=queue.name, id=result.id)}


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
    except leaseq.Invalid as error:
        if error.field == "request_id":
            raise key_reused() from None
        raise


def _bounded_json() -> Any:
    if request.mimetype != JSON:
        raise UnsupportedMediaType(f"send an item or an array as {JSON}, a stream of lines as {NDJSON}")
    request.max_content_length = state().settings.max_body_bytes
    return strict_request().value_or_elements()


def _checked_items(values: Iterator[Any]) -> list[leaseq.NewItem]:
    """All items of an array, before any is added."""
    items: list[leaseq.NewItem] = []
    for number, value in enumerate(in_slices(values), 1):
        if number > MAX_ARRAY:
            raise leaseq.Invalid("body", f"at most {MAX_ARRAY:,} items in an array; send more as {NDJSON}")
        items.append(_element(number, value))
    return items


def _element(number: int, value: Any) -> leaseq.NewItem:
    try:
        return transfer.from_envelope(value)
    except leaseq.Invalid as error:
        raise type(error)(f"{number - 1}.{error.field}", error.limit, f"item {number}: {error}") from None


def _with_ids(queue_name: str, key: str | None, items: list[leaseq.NewItem]) -> list[leaseq.NewItem]:
    """Give items without an id one that is derived from the request's key, if it has a key."""
    if key is None:
        return items
    return [with_id(queue_name, key, number, item) for number, item in enumerate(items, 1)]


def with_id(queue_name: str, key: str, number: int, item: leaseq.NewItem) -> leaseq.NewItem:
    return item if item.id is not None else replace(item, id=derived_id(queue_name, key, number))


def _enqueue_lines(queue: leaseq.Queue, key: str | None) -> dict[str, Any]:
    """Add the body's items line by line, in constant memory."""
    bad_rows: list[transfer.BadRow] = []
    conflicts = Conflicts()

    def good_rows() -> Iterator[leaseq.NewItem]:
        rows = transfer.read(byte_lines(), "jsonl", envelope=True)
        for number, row in enumerate(rows, 1):
            if isinstance(row, transfer.BadRow):
                bad_rows.append(row)
                return
            yield row if key is None else with_id(queue.name, key, number, row)

    counts = queue.enqueue_many(good_rows(), on_conflict=conflicts.add)
    if bad_rows:
        bad_row = bad_rows[0]
        message = bad_row.message.removeprefix("row: ")
        raise Problem(
            413 if bad_row.too_large else 400,
            "too-large" if bad_row.too_large else "invalid",
            f"line {bad_row.line}: {message}. The lines before it were added, this line and those after it "
            "were not",
            field="body",
            limit=message,
            line=bad_row.line,
            **conflicts.members(counts),
        )
    return conflicts.answer(counts)

"""New items over REST: as JSON, and as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any, NoReturn, cast

from flask import request, url_for

import leaseq
from leaseq import transfer
from leaseq.webapp.api.blueprint import bp, schema_ref
from leaseq.webapp.api.idempotency import NDJSON, byte_lines, derived_id, idempotency_key, key_reused
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.base import request_id
from leaseq.webapp.api.models.requests import ImportQuery, QueuePath
from leaseq.webapp.context import existing_queue, state
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.services import imports, items
from leaseq.webapp.services.queues import with_addressee
from leaseq.webapp.serving.bodies import JSON, strict_request
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.time_slices import in_slices

MAX_LISTED = 100


def refuse(conflict: leaseq.Conflict) -> NoReturn:
    """Raise the problem for the conflict of one item."""
    raise Problem.of(409, "conflict", "conflict", what="item", members={"id": conflict.id}, id=conflict.id)


class Conflicts:
    """The conflicts of an enqueue of many items. All others are added."""

    def __init__(self) -> None:
        self._count = 0
        self._entries: list[dict[str, Any]] = []

    def add(self, conflict: leaseq.Conflict) -> None:
        self._count += 1
        if len(self._entries) < MAX_LISTED:
            self._entries.append({"number": conflict.place + 1, "id": conflict.id})

    def members(self, counts: leaseq.EnqueuedMany) -> dict[str, Any]:
        """The members of the problem: the items that were added, and those that were not."""
        return {
            "added": counts.added,
            "duplicates": counts.duplicates,
            "conflicts": self._count,
            "items": self._entries,
        }

    def answer(self, counts: leaseq.EnqueuedMany) -> dict[str, int]:
        """The response if every item could be read. Raises Problem if there are conflicts."""
        if self._count == 0:
            return {"added": counts.added, "duplicates": counts.duplicates}
        raise Problem.of(
            409,
            "conflict",
            "conflict",
            what="items",
            members=self.members(counts),
            count=self._count,
            total=counts.added + counts.duplicates + counts.conflicts,
            ids=[f"{entry['number']} ({entry['id']!r})" for entry in self._entries[:3]]
            + ["…"] * (self._count > 3),
        )


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
        conflicts = Conflicts()
        new_items = cast(
            "Iterator[leaseq.NewItem]", _with_ids(queue.name, key, _checked_items(queue.name, body))
        )
        counts = items.enqueue_many(queue, new_items, conflicts.add)
        return conflicts.answer(counts), 201, {}
    result = _enqueue_one(queue, transfer.from_envelope(body))
    answer = {"id": result.id, "added": result.added}
    if not result.added:
        return answer, 200, {}
    return answer, 201, {"Location": url_for("api.get_item", q=queue.name, id=result.id)}


def _enqueue_one(queue: leaseq.Queue, item: leaseq.NewItem) -> leaseq.Enqueued:
    try:
        return items.enqueue(queue, item, request_id=request_id(), on_conflict=refuse)
    except leaseq.Invalid as error:
        if error.field == "request_id":
            raise key_reused() from None
        raise


def _bounded_json() -> Any:
    if request.mimetype != JSON:
        raise Problem.of(415, "unsupported-media-type", "media_type", kinds=[JSON, NDJSON])
    request.max_content_length = state().settings.max_body_bytes
    return strict_request().value_or_elements()


def _checked_items(queue_name: str, values: Iterator[Any]) -> list[leaseq.NewItem]:
    """All items of an array, before any is added."""
    new_items: list[leaseq.NewItem] = []
    known: dict[str, str] = {}
    for place, value in enumerate(in_slices(values)):
        if place == MAX_ARRAY:
            raise leaseq.Invalid("body", "maximum", what="array", maximum=MAX_ARRAY, type=NDJSON)
        try:
            item = transfer.from_envelope(value)
            new_items.append(item if item.to is None else with_addressee(queue_name, item, known))
        except leaseq.Invalid as error:
            raise error.at(f"{place}.{error.field}") from None
    return new_items


def _with_ids(
    queue_name: str, key: str | None, rows: Iterable[leaseq.NewItem | transfer.BadRow]
) -> Iterator[leaseq.NewItem | transfer.BadRow]:
    """Give items without an id one that is derived from the request's key, if it has a key."""
    for number, row in enumerate(rows, 1):
        if key is None or isinstance(row, transfer.BadRow) or row.id is not None:
            yield row
        else:
            yield replace(row, id=derived_id(queue_name, key, number))


def _enqueue_lines(queue: leaseq.Queue, key: str | None) -> dict[str, Any]:
    """Add the body's items line by line, in constant memory."""
    bad_rows: list[transfer.BadRow] = []
    conflicts = Conflicts()

    def good_rows() -> Iterator[leaseq.NewItem]:
        rows = imports.addressed(queue, transfer.read(byte_lines(), "jsonl", envelope=True))
        for row in _with_ids(queue.name, key, rows):
            if isinstance(row, transfer.BadRow):
                bad_rows.append(row)
                return
            yield row

    counts = items.enqueue_many(queue, good_rows(), conflicts.add)
    if bad_rows:
        bad_row = bad_rows[0]
        message = bad_row.message
        status, code = (413, "too-large") if bad_row.too_large else (400, "invalid")
        problem = Problem.of(status, code, "bad_line", field="body", line=bad_row.line, why=message)
        problem.members |= {"line": bad_row.line, **conflicts.members(counts)}
        raise problem
    return conflicts.answer(counts)


ERRORS_SHOWN = 100
CONFLICTS_SHOWN = 10_000
FORMATS: dict[str, transfer.Format] = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    JSON: "json",
    NDJSON: "jsonl",
    transfer.CONTENT_TYPES["xlsx"]: "xlsx",
}
_TEXT = {"type": "string", "description": "The file; its first row names the columns"}
_REMEDIES: dict[transfer.Remedy, str] = {
    "delimiter": "name the separator with delimiter=comma, semicolon, tab or pipe",
    "quotes": "to read quotes as text, send quotes=none",
    "encoding": "name its encoding in Content-Type, such as text/csv; charset=windows-1252",
    "header": "name the header's line with header_line, or send no_header=true if the file has none",
    "cells": "to keep the cells of a column as text, name it with text_field",
}
_FILE_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "text/csv": {"schema": _TEXT, "examples": {"a table": {"value": "id,text\nr-1,Great\n"}}},
        "text/tab-separated-values": {
            "schema": _TEXT,
            "examples": {"a table": {"value": "id\ttext\nr-1\tGreat\n"}},
        },
        JSON: {"schema": {"description": "One array: each element is a row"}},
        NDJSON: {
            "schema": {"type": "string", "description": "A row per line"},
            "examples": {"rows": {"value": '{"id": "r-1", "text": "Great"}\n'}},
        },
        transfer.CONTENT_TYPES["xlsx"]: {
            "schema": {"type": "string", "format": "binary", "description": "A workbook: its first sheet"},
            "examples": {"a workbook": {"value": "PK…, the bytes of a workbook"}},
        },
    },
}


@bp.post("/queues/<q>/import", tags=TAGS, request_body=_FILE_BODY, responses={"200": responses.Imported})
@needs("manager", scopes=("enqueue",))
@takes_any_size
def import_rows(path: QueuePath, query: ImportQuery) -> dict[str, Any]:
    """Import a file of any size: each row becomes an item, with its fields from the named columns.

    Bad rows are left out, and the others are added; the response lists the first 100 bad rows. A row whose id
    exists counts as a duplicate if the payload is equal, and otherwise as a conflict. The text is UTF-8 or
    UTF-16, or in the `charset` of its Content-Type. If the connection or the server fails, rows before that
    have been added: with an id field or an `Idempotency-Key`, the same file can be sent again.
    """
    if request.mimetype not in FORMATS:
        raise Problem.of(415, "unsupported-media-type", "media_type", kinds=list(FORMATS))
    if query.no_header and query.header_line is not None:
        raise leaseq.Invalid("header_line", "not_together", other="no_header")
    queue, key = existing_queue(path.q), idempotency_key()
    mapping = transfer.ColumnMapping(
        query.payload_field,
        query.id_field,
        query.priority_field,
        query.due_field,
        query.requires_field,
        query.form_field,
        query.expires_field,
        query.to_field,
        dates=query.dates,
    )
    rows = transfer.read(
        transfer.unpacked(byte_lines())
        if request.mimetype == transfer.CONTENT_TYPES["xlsx"]
        else byte_lines(),
        FORMATS[request.mimetype] if query.format == "auto" else query.format,
        mapping=mapping,
        delimiter=transfer.DELIMITERS.get(query.delimiter),  # auto: none
        quotes=query.quotes,
        encoding=request.mimetype_params.get("charset"),
        header_line=0 if query.no_header else query.header_line,
        cells=transfer.CellChoice(query.text_field, query.value_field, query.raw_cells),
    )
    errors: list[dict[str, Any]] = []

    def bad(row: transfer.BadRow) -> None:
        if len(errors) < ERRORS_SHOWN:
            detail, error = row.message_with(_REMEDIES), row.error
            errors.append({"line": row.line, "detail": detail, "rule": error.rule, "values": error.values})

    conflicting: list[dict[str, Any]] = []

    def conflict(row: transfer.BadRow) -> None:
        if len(conflicting) < CONFLICTS_SHOWN:
            conflicting.append({"line": row.line, "id": row.id})

    rows_with_ids = _with_ids(queue.name, key, rows)
    result = imports.add_rows(queue, rows_with_ids, on_bad=bad, on_conflict=conflict)
    sheet = rows.summary.sheet if rows.summary else None
    return {
        **asdict(result),
        "errors": errors,
        "conflicting": conflicting,
        "sheet": sheet,
        "sheets": rows.summary.sheets if rows.summary and sheet is not None else None,
    }

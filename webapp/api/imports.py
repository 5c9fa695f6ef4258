"""The REST call that imports a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flask import request
from werkzeug.exceptions import UnsupportedMediaType

import leaseq
from leaseq import transfer
from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.enqueue import with_id
from leaseq.webapp.api.idempotency import NDJSON, byte_lines, idempotency_key
from leaseq.webapp.api.models_in import ImportQuery, QueuePath
from leaseq.webapp.context import existing_queue
from leaseq.webapp.security.authorization import needs, takes_any_size
from leaseq.webapp.serving.json_request import JSON

TAGS: list[Any] = [{"name": "items"}]
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
_BODY: dict[str, Any] = {
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


@bp.post("/queues/<q>/import", tags=TAGS, request_body=_BODY, responses={"200": models_out.Imported})
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
        raise UnsupportedMediaType(f"send a file as {', '.join(FORMATS)}")
    if query.no_header and query.header_line is not None:
        raise leaseq.Invalid("header_line", "only without no_header")
    queue, key = existing_queue(path.q), idempotency_key()
    mapping = transfer.ColumnMapping(
        query.payload_field,
        query.id_field,
        query.priority_field,
        query.due_field,
        query.requires_field,
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
            errors.append({"line": row.line, "detail": row.message_with(_REMEDIES)})

    conflicting: list[dict[str, Any]] = []

    def conflict(row: transfer.BadRow) -> None:
        if len(conflicting) < CONFLICTS_SHOWN:
            conflicting.append({"line": row.line, "id": row.id})

    items = _with_ids(queue.name, key, rows)
    result = transfer.import_items(queue, items, on_bad=bad, on_conflict=conflict)
    sheet = rows.summary.sheet if rows.summary else None
    return {
        **asdict(result),
        "errors": errors,
        "conflicting": conflicting,
        "sheet": sheet,
        "sheets": rows.summary.sheets if rows.summary and sheet is not None else None,
    }


def _with_ids(
    queue_name: str, key: str | None, rows: transfer.Rows
) -> Iterator[leaseq.NewItem | transfer.BadRow]:
    """Give rows without an id one that is derived from the request's key, if it has a key."""
    for number, row in enumerate(rows, 1):
        if key is None or isinstance(row, transfer.BadRow):
            yield row
        else:
            yield with_id(queue_name, key, number, row)

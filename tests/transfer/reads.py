"""Reads from bytes, and the results."""

from __future__ import annotations

import io
from itertools import islice

from leaseq import transfer
from leaseq.transfer import BadRow, NewItem, TableSummary


def read(data: bytes, format: str, **options: object) -> list[NewItem | BadRow]:
    rows = transfer.read(io.BytesIO(data), format, **options)  # type: ignore[arg-type]
    all_rows = list(islice(rows, len(data) + 2))
    assert len(all_rows) < len(data) + 2, "reading does not end"
    return all_rows


def payloads(rows: list[NewItem | BadRow]) -> list[object]:
    return [row.payload for row in rows if isinstance(row, NewItem)]


def bad_rows(rows: list[NewItem | BadRow]) -> list[tuple[int, str]]:
    return [(row.line, row.message) for row in rows if isinstance(row, BadRow)]


def summary(data: bytes, format: str, **options: object) -> TableSummary:
    """Read everything; return how quotes and lines were read."""
    rows = transfer.read(io.BytesIO(data), format, **options)  # type: ignore[arg-type]
    list(rows)
    assert rows.summary is not None
    return rows.summary

"""Reads from bytes, and the results."""

from __future__ import annotations

import io
from dataclasses import fields
from itertools import islice

from leaseq import transfer
from leaseq.transfer import BadRow, NewItem, TableSummary

TEXT = transfer.CellChoice(raw=True)
NEW_ITEM_FIELDS = [field.name for field in fields(NewItem)]


def read(
    data: bytes, format: str, *, cells: transfer.CellChoice = TEXT, **options: object
) -> list[NewItem | BadRow]:
    """The rows, with the cells of a table as text unless ``cells`` says otherwise."""
    rows = transfer.read(io.BytesIO(data), format, cells=cells, **options)  # type: ignore[arg-type]
    all_rows = list(islice(rows, len(data) + 2))
    assert len(all_rows) < len(data) + 2, "reading does not end"
    return [row if isinstance(row, BadRow) else plain(row) for row in all_rows]


def plain(item: NewItem) -> NewItem:
    """The new item without the row that it was read from."""
    return NewItem(**{name: getattr(item, name) for name in NEW_ITEM_FIELDS})


def next_item(rows: transfer.Rows) -> NewItem:
    row = next(rows)
    assert isinstance(row, NewItem)
    return plain(row)


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

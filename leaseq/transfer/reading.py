"""A stream of rows in, new items out, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from leaseq import strict
from leaseq.errors import Invalid
from leaseq.model import Json, NewItem
from leaseq.transfer.arrays import elements
from leaseq.transfer.delimiters import NAMES
from leaseq.transfer.formats import checked_format
from leaseq.transfer.lines import TOO_LONG, lines
from leaseq.transfer.picking import Picked
from leaseq.transfer.rows import BadRow, Row, from_envelope, from_row
from leaseq.transfer.tables import read_table


def read(
    stream: BinaryIO,
    format: str,
    *,
    id_field: str | None = None,
    envelope: bool = False,
    picked: Picked | None = None,
    delimiter: str | None = None,
) -> Iterator[NewItem | BadRow]:
    """Each row of ``stream`` as a new item, or as a bad row with its line and what is wrong.

    A row is a payload: of CSV and TSV a dict of strings, of JSON (one array) and JSONL any value.
    ``id_field`` names the field that gives the item's id. With ``envelope`` a row is a whole new item:
    ``{payload, id?, priority?, delay?, requires?, due?, max_attempts?}``. ``picked`` says field by field what
    becomes what. ``delimiter``: what splits the columns of CSV and TSV, a comma, semicolon or tab; left out,
    TSV has tabs and CSV what its header has. Where that may be either of two, the header is a bad row.

    One row is held at a time, whatever the length of the stream. Nothing in the stream makes this raise;
    Invalid is raised at once where the arguments don't go together.
    """
    known = checked_format(format)
    if delimiter is not None and (known not in ("csv", "tsv") or delimiter not in NAMES):
        raise Invalid("delimiter", "a comma, a semicolon or a tab, for csv and tsv")
    if envelope and known in ("csv", "tsv"):
        raise Invalid(
            "envelope",
            "json or jsonl",
            f"new items with their fields are read from json or jsonl, not {known}",
        )
    if picked is not None and (envelope or id_field is not None):
        raise Invalid("picked", "rows whose fields are picked", "picked says it all: leave out the others")
    if envelope and id_field is not None:
        raise Invalid(
            "id_field", "rows that are payloads", "an envelope has its own id: leave out the id field"
        )
    needs = picked.needs() if picked else (id_field,) if id_field is not None else ()
    if known == "csv":
        rows = read_table(stream, delimiter, needs=needs)
    elif known == "tsv":
        rows = read_table(stream, delimiter or "\t", needs=needs)
    elif known == "json":
        rows = _from_array(stream)
    else:
        rows = _from_lines(stream)
    if envelope:
        return _new_items(rows, from_envelope)
    if picked is not None:
        return _new_items(rows, picked.item)
    return _new_items(rows, lambda row: from_row(row, id_field))


def _new_items(rows: Iterator[Row | BadRow], turn: Callable[[Json], NewItem]) -> Iterator[NewItem | BadRow]:
    for row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            item = turn(row.value)
        except Invalid as error:
            yield BadRow(row.line, str(error), row.value)
        else:
            yield item


def _from_lines(stream: BinaryIO) -> Iterator[Row | BadRow]:
    for line in lines(stream):
        if line.too_long:
            yield BadRow(line.number, TOO_LONG)
        elif line.data.strip():
            yield _decoded(line.number, line.data)


def _from_array(stream: BinaryIO) -> Iterator[Row | BadRow]:
    for element in elements(stream):
        yield element if isinstance(element, BadRow) else _decoded(element.line, element.text)


def _decoded(line: int, text: bytes) -> Row | BadRow:
    try:
        return Row(line, strict.load_json(text, "row"))
    except Invalid as error:
        return BadRow(line, str(error), text.decode(errors="replace"))

"""Writes answers or items to a stream in any of the formats, in constant memory."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from leaseq import validation
from leaseq.checkpoints import with_checkpoints
from leaseq.errors import Invalid
from leaseq.models import Answer, Item, Json
from leaseq.transfer.cells import Columns, cell, compact_json, flat, raw_cell
from leaseq.transfer.formats import FORMATS, MAX_COLUMNS, TABLES, TEXT_TABLES
from leaseq.transfer.lines import BOM, check_binary
from leaseq.transfer.shapes import ANSWER_FIELDS, ITEM_FIELDS, KNOWN_FIELDS, answer_shape, item_shape
from leaseq.transfer.workbooks import workbook


@dataclass(frozen=True, slots=True)
class _Options:
    """How a table is written."""

    form: Json = None
    raw_cells: bool = False
    bom: bool = False


def encode(
    answers: Iterable[Answer], format: str, *, form: Json = None, raw_cells: bool = False, bom: bool = False
) -> Iterator[bytes]:
    """Return the export of ``answers`` in pieces of one row, for a streamed web response.

    JSON is one array with one element per line. Its closing bracket is in the last piece, so a truncated
    export is never well-formed. A table has the columns of all its rows: the answers are kept in a temporary
    file until the last one is read, so the first piece comes late. It also has a column for each question of
    ``form``, the queue's, in the form's order.

    In CSV and TSV, a cell that a spreadsheet would run gets an apostrophe, which `unguarded` removes; with
    ``raw_cells`` none does. ``bom`` begins them with a byte order mark, by which Excel knows that they are
    UTF-8. In xlsx, text is text, numbers are numbers, and a text over 32,767 characters is refused.
    """
    return _encode(map(answer_shape, answers), ANSWER_FIELDS, format, _Options(form, raw_cells, bom))


def encode_items(
    items: Iterable[Item],
    format: str,
    *,
    max_attempts: int,
    raw_cells: bool = False,
    bom: bool = False,
) -> Iterator[bytes]:
    """The same for items; the rows are made by `item_shape`. From JSON and JSONL, `read` with ``envelope``
    creates equal new items. ``max_attempts`` is the policy's."""
    shapes = (item_shape(item, max_attempts) for item in items)
    if format in TABLES:  # as an import reads skills from a column
        shapes = ({**shape, "requires": " ".join(shape["requires"])} for shape in shapes)
    return _encode(shapes, (*ITEM_FIELDS, *KNOWN_FIELDS), format, _Options(None, raw_cells, bom))


def _encode(
    shapes: Iterable[dict[str, Any]], fields: Sequence[str], format: str, options: _Options
) -> Iterator[bytes]:
    file_format = validation.one_of(format, FORMATS, "format")
    for name in ("raw_cells", "bom"):
        if getattr(options, name) and file_format not in TEXT_TABLES:
            raise Invalid(name, f"used with {' or '.join(TEXT_TABLES)}, not with {file_format}")
    if file_format == "jsonl":
        return (compact_json(shape).encode() + b"\n" for shape in shapes)
    if file_format == "json":
        return _array(shapes)
    columns = Columns(fields, options.form)
    if file_format == "xlsx":
        return _workbook(shapes, columns)
    return _table(shapes, columns, "," if file_format == "csv" else "\t", options)


def write(
    answers: Iterable[Answer],
    stream: BinaryIO,
    format: str,
    *,
    form: Json = None,
    raw_cells: bool = False,
    bom: bool = False,
) -> None:
    """Write the export of ``answers`` to ``stream``, as `encode` makes it. To count them, count what the
    iterable yields."""
    check_binary(stream, "wb")
    for piece in encode(answers, format, form=form, raw_cells=raw_cells, bom=bom):
        stream.write(piece)


def _array(shapes: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    before = b"[\n"
    for shape in shapes:
        yield before + compact_json(shape).encode()
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _workbook(shapes: Iterable[dict[str, Any]], columns: Columns) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as spool:
        names = _spool_rows(shapes, columns, spool)
        rows = (flat(json.loads(record), lambda value: value) for record in with_checkpoints(spool))
        yield from workbook(names, rows)


def _table(
    shapes: Iterable[dict[str, Any]], columns: Columns, delimiter: str, options: _Options
) -> Iterator[bytes]:
    text_of = raw_cell if options.raw_cells else cell
    with tempfile.TemporaryFile() as spool:
        names = _spool_rows(shapes, columns, spool)
        buffer = io.StringIO()
        # CRLF as in RFC 4180; with it the csv module quotes a cell that contains either character.
        writer = csv.DictWriter(buffer, names, restval="", delimiter=delimiter, lineterminator="\r\n")
        writer.writerow({name: text_of(name) for name in names})
        yield (BOM if options.bom else b"") + buffer.getvalue().encode()
        for record in with_checkpoints(spool):
            buffer.seek(0)
            buffer.truncate()
            writer.writerow(flat(json.loads(record), text_of))
            yield buffer.getvalue().encode()


def _spool_rows(shapes: Iterable[dict[str, Any]], columns: Columns, spool: IO[bytes]) -> list[str]:
    """Write every row to ``spool``, rewind it, and return the names of all columns."""
    for shape in with_checkpoints(shapes):
        columns.gather(shape)
        if len(columns) > MAX_COLUMNS:
            raise Invalid(
                "format",
                f"at most {MAX_COLUMNS:,} columns in a table",
                f"these rows have more than {MAX_COLUMNS:,} different fields: export them as jsonl",
            )
        spool.write(compact_json(shape).encode() + b"\n")
    spool.seek(0)
    return columns.names()

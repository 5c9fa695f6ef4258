"""Writes answers or items to a stream in any of the formats, in constant memory."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, BinaryIO

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Answer, Item
from leaseq.transfer.cells import Columns, cell, compact_json, flat
from leaseq.transfer.formats import FORMATS
from leaseq.transfer.lines import check_binary
from leaseq.transfer.shapes import ANSWER_FIELDS, ITEM_FIELDS, KNOWN_FIELDS, answer_shape, item_shape

MAX_COLUMNS = 16_384  # the limit of common spreadsheets; it also bounds the memory for a table


def encode(answers: Iterable[Answer], format: str) -> Iterator[bytes]:
    """Return the export of ``answers`` in pieces of one row, for a streamed web response.

    JSON is one array with one element per line. Its closing bracket is in the last piece, so a truncated
    export is never well-formed. A table has the columns of all its rows: the answers are kept in a temporary
    file until the last one is read, so the first piece comes late.
    """
    return _encode(map(answer_shape, answers), ANSWER_FIELDS, format)


def encode_items(items: Iterable[Item], format: str, *, max_attempts: int) -> Iterator[bytes]:
    """The same for items; the rows are made by `item_shape`. From JSON and JSONL, `read` with ``envelope``
    creates equal new items. ``max_attempts`` is the policy's."""
    shapes = (item_shape(item, max_attempts) for item in items)
    if format in ("csv", "tsv"):  # as an import reads skills from a column
        shapes = ({**shape, "requires": " ".join(shape["requires"])} for shape in shapes)
    return _encode(shapes, (*ITEM_FIELDS, *KNOWN_FIELDS), format)


def _encode(shapes: Iterable[dict[str, Any]], fields: Sequence[str], format: str) -> Iterator[bytes]:
    file_format = validation.one_of(format, FORMATS, "format")
    if file_format == "jsonl":
        return (compact_json(shape).encode() + b"\n" for shape in shapes)
    if file_format == "json":
        return _array(shapes)
    return _table(shapes, fields, "," if file_format == "csv" else "\t")


def write(answers: Iterable[Answer], stream: BinaryIO, format: str) -> None:
    """Write the export of ``answers`` to ``stream``. To count them, count what the iterable yields."""
    check_binary(stream, "wb")
    for piece in encode(answers, format):
        stream.write(piece)


def _array(shapes: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    before = b"[\n"
    for shape in shapes:
        yield before + compact_json(shape).encode()
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _table(shapes: Iterable[dict[str, Any]], fields: Sequence[str], delimiter: str) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as spool:
        names = _spool_rows(shapes, fields, spool)
        buffer = io.StringIO()
        # CRLF as in RFC 4180; with it the csv module quotes a cell that contains either character.
        writer = csv.DictWriter(buffer, names, restval="", delimiter=delimiter, lineterminator="\r\n")
        writer.writerow({name: cell(name) for name in names})
        yield buffer.getvalue().encode()
        for record in spool:
            buffer.seek(0)
            buffer.truncate()
            writer.writerow(flat(json.loads(record)))
            yield buffer.getvalue().encode()


def _spool_rows(shapes: Iterable[dict[str, Any]], fields: Sequence[str], spool: IO[bytes]) -> list[str]:
    """Write every row to ``spool``, rewind it, and return the names of all columns."""
    columns = Columns(fields)
    for shape in shapes:
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

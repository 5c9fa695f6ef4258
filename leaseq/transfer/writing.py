"""Writes answers to a stream in any of the formats, in constant memory."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Answer
from leaseq.transfer.cells import Columns, cell, compact_json, flat
from leaseq.transfer.formats import FORMATS
from leaseq.transfer.shapes import answer_shape

MAX_COLUMNS = 16_384  # what the common spreadsheets hold; it bounds the memory of a table, too


def encode(answers: Iterable[Answer], format: str) -> Iterator[bytes]:
    """The export of ``answers`` in pieces, a row each: what a web response streams.

    JSON is one array with an element a line; its last bracket comes with the last piece, so that half an
    export is never well-formed. A table's columns are those of all its rows: the answers are kept in a
    temporary file until the last is known, so the first piece comes late.
    """
    known = validation.one_of(format, FORMATS, "format")
    shapes = map(answer_shape, answers)
    if known == "jsonl":
        return (compact_json(shape).encode() + b"\n" for shape in shapes)
    if known == "json":
        return _array(shapes)
    return _table(shapes, "," if known == "csv" else "\t")


def write(answers: Iterable[Answer], stream: BinaryIO, format: str) -> None:
    """Write the export of ``answers`` to ``stream``. To count them, count what ``answers`` yields."""
    for piece in encode(answers, format):
        stream.write(piece)


def _array(shapes: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    before = b"[\n"
    for shape in shapes:
        yield before + compact_json(shape).encode()
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _table(shapes: Iterable[dict[str, Any]], delimiter: str) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as spool:
        names = _keep(shapes, spool)
        line = io.StringIO()
        # CRLF as in RFC 4180; with it the module quotes a cell that has either of the two characters.
        writer = csv.DictWriter(line, names, restval="", delimiter=delimiter, lineterminator="\r\n")
        writer.writerow({name: cell(name) for name in names})
        yield line.getvalue().encode()
        for kept in spool:
            line.seek(0)
            line.truncate()
            writer.writerow(flat(json.loads(kept)))
            yield line.getvalue().encode()


def _keep(shapes: Iterable[dict[str, Any]], spool: IO[bytes]) -> list[str]:
    """Write every row to a temporary file and gather the columns; the file is rewound."""
    columns = Columns()
    for shape in shapes:
        columns.gather(shape)
        if len(columns) > MAX_COLUMNS:
            raise Invalid(
                "format",
                f"at most {MAX_COLUMNS:,} columns in a table",
                f"these answers have more than {MAX_COLUMNS:,} different fields: export them as jsonl",
            )
        spool.write(compact_json(shape).encode() + b"\n")
    spool.seek(0)
    return columns.names()

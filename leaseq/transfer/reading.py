"""Reads the rows of a stream in any of the formats as new items, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from leaseq import validation
from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid, TooLarge
from leaseq.models import Json, NewItem
from leaseq.transfer.arrays import elements
from leaseq.transfer.column_mapping import ColumnMapping
from leaseq.transfer.delimiters import NAMES
from leaseq.transfer.formats import FORMATS
from leaseq.transfer.lines import TOO_LONG, check_binary, lines
from leaseq.transfer.quotes import QUOTES, Quotes
from leaseq.transfer.rejects import original_row
from leaseq.transfer.rows import BadRow, Remedy, Row, from_export, from_row
from leaseq.transfer.sheets import sheet_csv
from leaseq.transfer.tables import Table, TableSummary


class Rows(Iterator[NewItem | BadRow]):
    """The rows of a file: each a new item, or a bad row with its line and what is wrong."""

    def __init__(
        self, rows: Iterator[Row | BadRow], convert: Callable[[Json], NewItem], table: Table | None = None
    ) -> None:
        self._rows = rows
        self._convert = convert
        self._table = table

    @property
    def summary(self) -> TableSummary | None:
        """How the quotes and lines of a table have been read so far; None for JSON."""
        return self._table.summary if self._table else None

    @property
    def head(self) -> tuple[bytes, str] | None:
        """A table's header as it is in the file, and the delimiter; None for JSON, and before it is read."""
        return self._table.head if self._table else None

    def __next__(self) -> NewItem | BadRow:
        checkpoint()
        row = next(self._rows)
        if isinstance(row, BadRow):
            return row
        try:
            item = self._convert(row.value)
        except Invalid as error:
            too_large = isinstance(error, TooLarge)
            return BadRow(
                row.line, str(error), row.value, left_out=row.span, too_large=too_large, raw=row.raw
            )
        if self._table and row.span:
            self._table.count_joined(*row.span)
        return item


def read(
    stream: BinaryIO,
    format: str,
    *,
    id_field: str | None = None,
    envelope: bool = False,
    mapping: ColumnMapping | None = None,
    delimiter: str | None = None,
    quotes: Quotes = "auto",
) -> Rows:
    """Read each row of ``stream`` as a new item, or as a bad row with its line and what is wrong.

    A row is a payload: a dict of strings for CSV and TSV, any value for JSON (one array) and JSONL.
    ``id_field`` names the field that contains the item's id. With ``envelope``, for JSON and JSONL only, a
    row is a whole new item: ``{payload, id?, priority?, delay?, at?, requires?, due?, max_attempts?}``, or a
    row written by `encode_items`. ``mapping`` maps columns to the parts of an item. ``delimiter`` is the
    column separator of CSV and TSV: a comma, semicolon, tab or pipe. The default is a tab for TSV, and for
    CSV the one in the header. If the delimiter is ambiguous, the header is a bad row.

    ``quotes`` is for CSV and TSV. With ``double``, double quotes enclose a field, as in RFC 4180; with
    ``none`` they are ordinary characters. ``auto`` is ``double`` for CSV. For TSV it is ``none`` for the
    whole file if any field begins with a quote and does not close it before the tab or the end of the line,
    else ``double``; the ``summary`` of the returned rows shows which.

    From ``xlsx``, which needs the extra of that name, the first sheet is read as a CSV file would be.

    One row is in memory at a time, however long the stream is. A row that can't be read is a bad row, not an
    exception; only a stream from ``decoded`` raises Invalid, for damaged data. Invalid is raised immediately
    if the arguments can't be combined.
    """
    check_binary(stream, "rb")
    if format == "xlsx" and quotes == "auto" and delimiter is None:
        stream, format, quotes, delimiter = sheet_csv(stream), "csv", "double", ","
    file_format = validation.one_of(format, FORMATS, "format")
    table = file_format in ("csv", "tsv")
    if delimiter is not None and (not table or delimiter not in NAMES):
        raise Invalid("delimiter", "a comma, a semicolon, a tab or a pipe, for csv and tsv")
    if quotes not in QUOTES or (quotes != "auto" and not table):
        raise Invalid("quotes", "auto, double or none, for csv and tsv")
    if envelope and table:
        raise Invalid(
            "envelope",
            "json or jsonl",
            f"envelope requires json or jsonl, not {file_format}",
        )
    if mapping is not None and (envelope or id_field is not None):
        raise Invalid("mapping", "used alone", "mapping can't be combined with id_field or envelope")
    if envelope and id_field is not None:
        raise Invalid(
            "id_field",
            "used without envelope",
            "id_field can't be combined with envelope, whose items have their own id",
        )
    needs = mapping.needs() if mapping else (id_field,) if id_field is not None else ()
    convert = _converter(id_field, envelope, mapping)
    if table:
        source = Table(stream, file_format, quotes, delimiter)
        return Rows(source.rows(needs), convert, source)
    return Rows(_from_array(stream) if file_format == "json" else _from_lines(stream), convert)


def _converter(
    id_field: str | None, envelope: bool, mapping: ColumnMapping | None
) -> Callable[[Json], NewItem]:
    if envelope:
        return from_export
    if mapping is not None:
        return mapping.item
    return lambda row: from_row(row, id_field)


def _from_lines(stream: BinaryIO) -> Iterator[Row | BadRow]:
    for line in lines(stream):
        if line.too_long:
            yield BadRow(line.number, TOO_LONG, too_large=True)
        elif line.data.strip():
            yield _decoded(line.number, line.data)


def _from_array(stream: BinaryIO) -> Iterator[Row | BadRow]:
    for element in elements(stream):
        yield element if isinstance(element, BadRow) else _decoded(element.line, element.text)


def _decoded(line: int, text: bytes) -> Row | BadRow:
    try:
        value = validation.load_json(text, "row")
    except Invalid as error:
        content = text.decode(errors="replace")
        remedy: Remedy | None = None if content.encode() == text else "encoding"
        return BadRow(line, str(error), content, remedy, raw=text)
    original = original_row(value)
    if original is None:
        return Row(line, value)
    return _decoded(line, original) if isinstance(original, bytes) else Row(line, original[0])

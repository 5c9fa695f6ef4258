"""A reader of a stream in any of the formats: its rows as new items, one at a time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import BinaryIO

from leaseq import validation
from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid
from leaseq.models import Json, NewItem
from leaseq.transfer.arrays import elements
from leaseq.transfer.delimited import NAMES, QUOTES, Delimited, Quotes
from leaseq.transfer.encodings import BOM, MAX_ROW_BYTES, TOO_LONG, check_binary, decoded, lines, rejoined
from leaseq.transfer.formats import FORMATS, TABLES, TEXT_TABLES
from leaseq.transfer.importing import original_row
from leaseq.transfer.rows import BadRow, ColumnMapping, FileItem, Remedy, Row, from_export, from_row
from leaseq.transfer.tables import Source, Table, TableSummary
from leaseq.transfer.values import DETECTED, CellChoice
from leaseq.transfer.workbooks import Sheet, SheetRows

_NEW_ITEM_FIELDS = tuple(field.name for field in fields(NewItem))


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
        """The way in which quotes and lines of a table have been read so far; None for JSON."""
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
            return BadRow(row.line, error, row.value, left_out=row.span, raw=row.raw)
        if self._table and row.span:
            self._table.count_joined(*row.span)
        return FileItem(**{name: getattr(item, name) for name in _NEW_ITEM_FIELDS}, row=row)


def read(
    stream: BinaryIO | SheetRows,
    format: str,
    *,
    id_field: str | None = None,
    envelope: bool = False,
    mapping: ColumnMapping | None = None,
    delimiter: str | None = None,
    quotes: Quotes = "auto",
    encoding: str | None = None,
    header_line: int | None = None,
    cells: CellChoice = DETECTED,
) -> Rows:
    """Read each row of ``stream`` as a new item, or as a bad row with its line and what is wrong.

    A row is a payload: a dict for CSV and TSV, any value for JSON (one array, or a row per line) and JSONL.
    ``id_field`` names the field that contains the item's id. With ``envelope``, for JSON and JSONL only, a
    row is a whole new item: ``{payload, id?, priority?, delay?, at?, requires?, due?, max_attempts?}``, or a
    row written by `encode_items`. ``mapping`` maps columns to the parts of an item. ``encoding`` is that of
    the text; None: UTF-8, or UTF-16 if its first bytes show it. The other arguments are for tables:

    - ``delimiter`` is the column separator: a comma, semicolon, tab or pipe. The default is a tab for TSV,
      and for CSV the one in the header. If the delimiter is ambiguous, the header is a bad row.
    - With ``quotes="double"``, double quotes enclose a field, as in RFC 4180; with ``none`` they are ordinary
      characters. ``auto`` is ``double`` for CSV. For TSV it is ``none`` for the whole file if any field
      begins with a quote and does not close it before the tab or the end of the line, else ``double``; the
      ``summary`` of the returned rows shows which.
    - ``header_line`` is the line of the header, where a title is above it. 0: the file has no header, and the
      columns are ``column_1``, ``column_2`` and so on.
    - A column whose cells are all numbers, all booleans or all JSON has values, and others have text: see
      `leaseq.transfer.values`. To find that out, the rows are read ahead into a temporary file. Ids are text.
      ``cells`` chooses the columns that are text, and those that are values; or all cells are text.

    From ``xlsx``, which needs the extra of that name, the first sheet is read; the ``summary`` has its name.
    Its cells have types: a column has values if all its cells are numbers, all are booleans, or all are JSON.
    ``stream`` may then also be the `first_rows` of a workbook.

    Rows whose cells are all empty are skipped, and so are cells at the right that are empty and have no name
    in the header. One row is in memory at a time, however long the stream is. A row that can't be read is a
    bad row, not an exception; only damaged or wrongly encoded data raises Invalid while it is read. Invalid
    is raised immediately if the arguments can't be combined.
    """
    if not isinstance(stream, SheetRows):
        check_binary(stream, "rb")
    file_format = validation.one_of(format, FORMATS, "format")
    table, text_table = file_format in TABLES, file_format in TEXT_TABLES
    if delimiter is not None and (not text_table or delimiter not in NAMES):
        raise Invalid("delimiter", "delimiter", value=delimiter)
    if quotes not in QUOTES or (quotes != "auto" and not text_table):
        raise Invalid("quotes", "quotes", value=quotes)
    if envelope and table:
        raise Invalid("envelope", "for_formats", formats=("json", "jsonl"), format=file_format)
    if mapping is not None and (envelope or id_field is not None):
        raise Invalid("mapping", "not_together", other="envelope" if envelope else "id_field")
    if envelope and id_field is not None:
        raise Invalid("id_field", "not_together", other="envelope")
    needs = mapping.needs() if mapping else (id_field,) if id_field is not None else ()
    convert = _converter(id_field, envelope, mapping)
    if not table:
        return Rows(_json_rows(decoded(_bytes_of(stream), encoding), file_format), convert)
    if header_line is not None and header_line < 0:
        raise Invalid("header_line", "header_line", value=header_line)
    source: Source
    if text_table:
        text = decoded(_bytes_of(stream), encoding)
        source = Delimited(text, file_format, quotes, delimiter, header_line)
    else:
        source = Sheet(stream, header_line)
    reader = Table(source, header_line, cells)
    roles = mapping.roles() if mapping else needs
    return Rows(reader.rows((*needs, *cells.text, *cells.value), roles), convert, reader)


def _bytes_of(stream: BinaryIO | SheetRows) -> BinaryIO:
    if isinstance(stream, SheetRows):
        raise Invalid("format", "sheet_format")
    return stream


def array_values(stream: BinaryIO, field: str) -> Iterator[Json]:
    """The elements of the JSON array in ``stream``, with one element in memory at a time. Raises Invalid."""
    for number, element in enumerate(elements(stream), 1):
        if isinstance(element, BadRow):
            raise element.error.at(f"{field}.{number - 1}")
        try:
            value = validation.load_json(element.text, field)
        except Invalid as error:
            raise error.at(f"{field}.{number - 1}") from None
        yield value


def _converter(
    id_field: str | None, envelope: bool, mapping: ColumnMapping | None
) -> Callable[[Json], NewItem]:
    if envelope:
        return from_export
    if mapping is not None:
        return mapping.item
    return lambda row: from_row(row, id_field)


def _json_rows(stream: io.BufferedReader, format: str) -> Iterator[Row | BadRow]:
    """The rows of JSON text, an array or a row per line: if the beginning shows that the file is not what the
    format says, as it shows."""
    begins_array = stream.peek().removeprefix(BOM).lstrip().startswith(b"[")
    if begins_array == (format == "json"):
        yield from _from_array(stream) if begins_array else _from_lines(stream)
        return
    read_bytes, first, has_second = b"", b"", False
    while not has_second and len(read_bytes) < MAX_ROW_BYTES and (line := stream.readline(MAX_ROW_BYTES)):
        read_bytes += line
        text = line.removeprefix(BOM).strip()
        first, has_second = first or text, bool(first and text)
    whole = rejoined(read_bytes, stream)
    yield from _from_array(whole) if _is_array(format, first, has_second) else _from_lines(whole)


def _is_array(format: str, first: bytes, has_second: bool) -> bool:
    """Whether a file is an array, judging by its format and its first line with text."""
    if first.startswith(b"["):
        return format == "json" or not _is_json(first)
    return format == "json" and not (has_second and _is_json(first))


def _is_json(text: bytes) -> bool:
    try:
        validation.load_json(text)
    except Invalid:
        return False
    return True


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
        value = validation.load_json(text, "row")
    except Invalid as error:
        content = text.decode(errors="replace")
        remedy: Remedy | None = None if content.encode() == text else "encoding"
        return BadRow(line, error, content, remedy, raw=text)
    original = original_row(value)
    if original is None:
        return Row(line, value)
    return _decoded(line, original) if isinstance(original, bytes) else Row(line, original[0])

"""Files in any of the formats, read as new items, imported into a queue; and the rows that are rejected."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import BinaryIO, Protocol

from leaseq import validation
from leaseq.checkpoints import checkpoint
from leaseq.errors import Invalid
from leaseq.models import Conflict, EnqueuedMany, Json, NewItem
from leaseq.transfer.arrays import elements
from leaseq.transfer.delimited import NAMES, QUOTES, Delimited, Quotes, Source, splits_of
from leaseq.transfer.encodings import BOM, MAX_ROW_BYTES, TOO_LONG, check_binary, decoded, lines, rejoined
from leaseq.transfer.rows import (
    FORMATS,
    REJECTED,
    TABLES,
    TEXT_TABLES,
    BadRow,
    ColumnMapping,
    FileItem,
    Format,
    Remedy,
    Row,
    compact_json,
    from_export,
    from_row,
)
from leaseq.transfer.tables import DETECTED, CellChoice, Table, TableSummary
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
    row is a whole new item: ``{payload, id?, priority?, …}``, with the fields of `NewItem`, or a row written
    by `encode_items`. ``mapping`` maps columns to the parts of an item. ``encoding`` is that of
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
      `leaseq.transfer.tables`. To find that out, the rows are read ahead into a temporary file. Ids are text.
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
        raise Invalid("delimiter", "format", what="delimiter", value=delimiter)
    if quotes not in QUOTES or (quotes != "auto" and not text_table):
        raise Invalid("quotes", "format", what="quotes", value=quotes)
    if envelope and table:
        raise Invalid("envelope", "file_format", what="option", formats=("json", "jsonl"), format=file_format)
    if mapping is not None and (envelope or id_field is not None):
        raise Invalid("mapping", "not_together", other="envelope" if envelope else "id_field")
    if envelope and id_field is not None:
        raise Invalid("id_field", "not_together", other="envelope")
    needs = mapping.needs() if mapping else (id_field,) if id_field is not None else ()
    convert = _converter(id_field, envelope, mapping)
    if not table:
        return Rows(_json_rows(decoded(_bytes_of(stream), encoding), file_format), convert)
    if header_line is not None and header_line < 0:
        raise Invalid("header_line", "format", what="header_line", value=header_line)
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
        raise Invalid("format", "format", what="sheet_format")
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
        reason = Invalid("row", "row", what="nul") if b"\0" in text else error
        content = text.decode(errors="replace")
        remedy: Remedy | None = None if content.encode() == text else "encoding"
        return BadRow(line, reason, content, remedy, raw=text)
    original = original_row(value)
    if original is None:
        return Row(line, value)
    return _decoded(line, original) if isinstance(original, bytes) else Row(line, original[0])


_GROUPED = re.compile(r"(?<=\d),(?=\d{3})")  # the commas of 1,000,000


class Rejects:
    """The writer of a file of bad rows. `add` writes a row; pass it `Rows.head`. `close` ends the file.
    ``count`` is the number of rows written."""

    def __init__(self, stream: BinaryIO, format: Format) -> None:
        self._stream = stream
        self._format = format
        self._delimiter: str | None = None
        self.count = 0

    def add(self, row: BadRow, head: tuple[bytes, str] | None) -> None:
        if self._format in ("csv", "tsv"):
            if head is None:  # the header could not be read, so there are no rows
                return
            self._add_to_table(row, *head)
        else:
            separator = b"" if self._format == "jsonl" else b",\n" if self.count else b"[\n"
            end = b"\n" if self._format == "jsonl" else b""
            self._stream.write(separator + compact_json(_reject_shape(row)).encode(errors="replace") + end)
        self.count += 1

    def close(self) -> None:
        if self._format == "json":
            self._stream.write(b"\n]\n" if self.count else b"[]\n")

    def _add_to_table(self, row: BadRow, header: bytes, delimiter: str) -> None:
        if self._delimiter is None:
            self._delimiter = delimiter
            first_line = delimiter.join((*REJECTED, "")).encode() + _line(header)
            if splits_of(first_line, self._format) != (delimiter,):
                self._stream.write(f"sep={delimiter}\r\n".encode())
            self._stream.write(first_line)
        # The reason isn't quoted, since an import may read quotes as text: it must not contain the delimiter.
        reason = _GROUPED.sub("", row.message) if delimiter == "," else row.message
        reason = reason.replace(delimiter, ";" if delimiter != ";" else ",").replace('"', "'")
        start = delimiter.join((str(row.line), " ".join(reason.split()), ""))
        self._stream.write(start.encode(errors="replace") + _line(row.raw or b""))


def original_row(value: Json) -> tuple[Json] | bytes | None:
    """The original of a JSON row that `Rejects` wrote: the row in a tuple, or its text if that was not JSON.
    None if `Rejects` did not write this row."""
    if not isinstance(value, dict) or len(value) != len(REJECTED) + 1 or list(value)[:2] != REJECTED:
        return None
    if "row" in value:
        return (value["row"],)
    text = value.get("text")
    return text.encode(errors="surrogatepass") if isinstance(text, str) else None


def _reject_shape(row: BadRow) -> dict[str, Json]:
    # Nothing was kept of a row that is too long, or if the array itself is broken: the text is then empty.
    is_json = row.raw is None and row.value is not None
    row_fields: dict[str, Json] = {"row": row.value} if is_json else {"text": _text(row.raw)}
    return {**dict(zip(REJECTED, (row.line, row.message), strict=True)), **row_fields}


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace").strip()


def _line(raw: bytes) -> bytes:
    return raw if raw.endswith(b"\n") else raw + b"\r\n"


BATCH = 1_000  # rows between two calls of progress
SHOWN = 100
"""The number of bad rows that a `CheckResult` contains."""

OnBad = Callable[[BadRow], None]


class ImportTarget(Protocol):
    """The methods of a queue that an import needs."""

    def enqueue_many(
        self, items: Iterable[NewItem], /, *, on_conflict: Callable[[Conflict], object] | None
    ) -> EnqueuedMany: ...


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import."""

    added: int = 0
    duplicates: int = 0  # rows that are in the queue: with the same id, or an equal payload (dedupe_seconds)
    rejected: int = 0  # lines of the file that were left out with bad rows
    conflicts: int = 0  # rows whose id belongs to an item with another payload: nothing changed

    @property
    def rows(self) -> int:
        """The sum of the four counts."""
        return self.added + self.duplicates + self.rejected + self.conflicts


def addressed(
    rows: Iterable[NewItem | BadRow], stored_name: Callable[[str], str]
) -> Iterator[NewItem | BadRow]:
    """The rows, with the stored names of the people to whom rows of a file are addressed. ``stored_name`` is
    called about once for each name, and raises Invalid if nothing may be addressed to it: then the row is
    bad."""
    known_name = cache(stored_name)
    for row in rows:
        if isinstance(row, FileItem) and row.to is not None:
            try:
                yield replace(row, to=known_name(row.to))
            except Invalid as error:
                yield row.refused(error)
        else:
            yield row


def import_items(
    queue: ImportTarget,
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: OnBad | None = None,
    on_conflict: OnBad | None = None,
    progress: Callable[[ImportResult], None] | None = None,
) -> ImportResult:
    """Enqueue the good rows in order, and count the bad ones.

    ``on_bad`` is called with each bad row, and ``on_conflict`` with each row of a file whose id belongs to an
    item with another payload. ``progress`` is called about every 1,000 rows with the result so far. If the
    server becomes unavailable, this raises the error; the last result passed to ``progress`` shows how far
    the import came.
    """
    total = ImportResult()
    batch: list[NewItem] = []
    rejected_lines = 0

    def report_conflict(conflict: Conflict) -> None:
        item = batch[conflict.place]
        if on_conflict and isinstance(item, FileItem):
            on_conflict(item.conflict())

    def send() -> None:
        nonlocal total, rejected_lines
        counts = queue.enqueue_many(batch, on_conflict=report_conflict) if batch else EnqueuedMany(0, 0)
        total = ImportResult(
            total.added + counts.added,
            total.duplicates + counts.duplicates,
            total.rejected + rejected_lines,
            total.conflicts + counts.conflicts,
        )
        rejected_lines = 0
        batch.clear()
        if progress:
            progress(total)

    for row in rows:
        if isinstance(row, BadRow):
            rejected_lines += row.lines
            if on_bad:
                on_bad(row)
        else:
            batch.append(row)
        if len(batch) + rejected_lines >= BATCH:
            send()
    send()
    return total


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of `check`."""

    readable: int = 0  # rows that would become items
    bad: int = 0  # rows that would not
    rejected: int = 0  # lines of the file that would be left out with the bad rows
    first: tuple[BadRow, ...] = ()  # the first hundred bad rows, without their content


def check(
    rows: Iterable[NewItem | BadRow],
    *,
    on_bad: OnBad | None = None,
    progress: Callable[[CheckResult], None] | None = None,
) -> CheckResult:
    """Read all rows as `import_items` would, without importing them.

    ``on_bad`` is called with each bad row; ``progress`` every 1,000 rows, with the result so far. Ids that
    are already in the queue, or twice in the file, are not detected. One row is in memory at a time.
    """
    readable_rows = bad_rows = rejected_lines = 0
    first_bad_rows: list[BadRow] = []
    for row in rows:
        if isinstance(row, BadRow):
            bad_rows, rejected_lines = bad_rows + 1, rejected_lines + row.lines
            if len(first_bad_rows) < SHOWN:
                first_bad_rows.append(replace(row, value=None, raw=None))
            if on_bad:
                on_bad(row)
        else:
            readable_rows += 1
        if progress and (readable_rows + bad_rows) % BATCH == 0:
            progress(CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows)))
    return CheckResult(readable_rows, bad_rows, rejected_lines, tuple(first_bad_rows))

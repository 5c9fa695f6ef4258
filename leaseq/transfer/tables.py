"""The rows of a table: its header, its columns, the values of its cells.

The records come from a `Source`: a CSV or TSV file (`Delimited`), or the sheet of a workbook (`Sheet`).
"""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, TypeAlias, cast

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Json
from leaseq.transfer.delimited import Quotes, Source
from leaseq.transfer.rows import REJECTED, BadRow, Remedy, Row, column_letter, has_content

Kind: TypeAlias = Literal["boolean", "number", "json"]

_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TYPES: dict[Kind | None, tuple[type, ...]] = {
    "boolean": (bool,),
    "number": (int, float),
    "json": (list, dict),
    None: (bool, int, float, list, dict),
}
_FORMATS: dict[Kind | None, str] = {
    "boolean": "cell_boolean",
    "number": "cell_number",
    "json": "cell_json",
    None: "cell_value",
}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_ID = re.compile(r"(?i:(?:^|[_\W])id)$|[a-z]I[dD]$", re.ASCII)
SPOOL_BYTES = 268_435_456
"""Of the rows that are read ahead. A column that has had only values until then has values: a later row with
another cell there is a bad row, and says that the column can be read as text."""
_MAX_EXACT = 2**53 - 1  # larger whole numbers are rounded by programs that read JSON numbers as doubles


@dataclass(frozen=True, slots=True)
class CellChoice:
    """The way in which the cells of a table are read. ``text`` and ``value`` name columns. Of the others,
    those whose cells are all values of one kind have values; with ``raw``, they are text."""

    text: Collection[str] = ()
    value: Collection[str] = ()
    raw: bool = False


DETECTED = CellChoice()


class ColumnKinds:
    """The kinds of a table's columns, judging by the rows seen so far."""

    def __init__(self, columns: Iterable[str], choice: CellChoice, *, is_text: bool = True) -> None:
        """``is_text``: all cells are text, also those that mean a value."""
        self._is_text = is_text
        self._chosen = set(choice.value)
        self._columns = tuple(columns)
        self._detected: dict[str, Kind] = {}
        known = {*choice.text, *choice.value}
        self.undecided = (
            set() if choice.raw else {name for name in self._columns if name not in known and not is_id(name)}
        )

    def see(self, row: Mapping[str, Json]) -> None:
        """Take a row into account: a column with a cell of another kind has text."""
        for name in tuple(self.undecided):
            cell = row[name]
            if not has_content(cell):
                continue
            kind = kind_of(cell, is_text=self._is_text)
            if kind is None or self._detected.setdefault(name, kind) != kind:
                self.undecided.discard(name)
                self._detected.pop(name, None)

    @property
    def detected(self) -> dict[str, Kind]:
        """The columns that have values, in the table's order, without those that were chosen."""
        return {name: self._detected[name] for name in self._columns if name in self._detected}

    def convert(self, row: Row) -> Row | BadRow:
        """The row with values instead of text."""
        cells = dict(cast("dict[str, Json]", row.value))
        if not self._is_text:
            for name in cells.keys() - self._chosen - self._detected.keys():
                cells[name] = text_of(cells[name])
        try:
            for name in self._columns:
                if name in self._chosen:
                    cells[name] = value_of(cells[name], name)
            for name, kind in self._detected.items():
                cells[name] = value_of(cells[name], name, kind)
        except Invalid as error:
            return BadRow(row.line, error, row.value, "cells", row.span, raw=row.raw)
        return Row(row.line, cells, row.span, row.raw)


def with_values(rows: Iterator[Row | BadRow], kinds: ColumnKinds) -> Iterator[Row | BadRow]:
    """The rows with values instead of text, in the columns where ``kinds`` finds them.

    To decide, it reads rows ahead into a temporary file, as long as any column may have values: to the end of
    the table if one has, but at most `SPOOL_BYTES`. If no column may, nothing is read ahead.
    """
    with tempfile.TemporaryFile() as spool:
        count = 0
        while kinds.undecided and spool.tell() < SPOOL_BYTES:
            row = next(rows, None)
            if row is None:
                break
            pickle.dump(row, spool)
            count += 1
            if isinstance(row, Row):
                kinds.see(cast("dict[str, Json]", row.value))
        spool.seek(0)
        spooled = (cast("Row | BadRow", pickle.load(spool)) for _ in range(count))  # noqa: S301
        for row in chain(spooled, rows):
            yield row if isinstance(row, BadRow) else kinds.convert(row)


def kind_of(cell: Json, *, is_text: bool = True) -> Kind | None:
    """The kind of value that a cell is; None for text. With ``is_text``, text may mean a value."""
    if isinstance(cell, bool):
        return "boolean"
    if isinstance(cell, int | float):
        return "number" if abs(cell) <= _MAX_EXACT else None
    if not isinstance(cell, str):
        return None
    if is_text and cell in _BOOLEANS:
        return "boolean"
    if is_text and _NUMBER.fullmatch(cell):
        return "number" if _number_of(cell) is not None else None
    return "json" if _json_of(cell) is not None else None


def text_of(cell: Json) -> str:
    """The text of a cell that may be a value."""
    return cell if isinstance(cell, str) else json.dumps(cell)


def value_of(cell: Json, column: str, kind: Kind | None = None) -> Json:
    """The value of a cell; an empty one is None. Raises Invalid if the cell is not a value, of this kind."""
    value = _value_of_text(cell) if isinstance(cell, str) else cell
    if type(value) in _TYPES[kind]:
        return value
    if value is None and (cell is None or not str(cell).strip()):
        return None
    raise Invalid(column, "format", what=_FORMATS[kind], value=cell)


def _value_of_text(cell: str) -> Json:
    if cell in _BOOLEANS:
        return _BOOLEANS[cell]
    return _number_of(cell) if _NUMBER.fullmatch(cell) else _json_of(cell)


def is_id(column: str) -> bool:
    """Whether a column's name says that it has ids, which stay text."""
    return _ID.search(column) is not None


def _number_of(cell: str) -> int | float | None:
    """The number that is written as the cell is; None if there is none."""
    if len(cell) > 400:  # no double is written with as many digits
        return None
    number: int | float = json.loads(cell)
    return number if abs(number) <= _MAX_EXACT and json.dumps(number) == cell else None


def _json_of(cell: str) -> list[Any] | dict[str, Any] | None:
    """The JSON list or object in a cell; None for other text."""
    text = cell.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return None
    try:
        value = validation.load_json(text, "cell")
        validation.dump_json([value], "cell")  # a payload can contain it
    except Invalid:
        return None
    return cast("list[Any] | dict[str, Any]", value)


_ROWS_AHEAD = 5  # rows that are compared with the first one, which may be a title


@dataclass(frozen=True, slots=True)
class TableSummary:
    """The way in which a table has been read so far."""

    quotes: Quotes  # "auto" as long as no field has begun with a quote
    unquoted: int = 0  # fields whose quotes "auto" removed
    open_quote_line: int | None = (
        None  # line of the unclosed quote because of which "auto" reads all quotes as text
    )
    joined_rows: int = 0  # good rows that span several lines, inside quotes
    joined_lines: int = 0  # the lines of these rows
    joined_first: tuple[int, int] | None = None  # the first and last line of the first of these rows
    empty_lines: int = 0  # blank lines, and lines of rows whose cells are all empty, which are skipped
    header_line: int | None = None  # the header's line, or where it seems to be below a title
    values: tuple[str, ...] = ()  # columns whose cells were found to be values
    sheet: str | None = None  # of a workbook: the name of the sheet that is read, the first one
    sheets: int = 0  # of a workbook


class Table:
    """A table, read once from beginning to end."""

    def __init__(self, source: Source, header_line: int | None = None, cells: CellChoice = DETECTED) -> None:
        """``header_line``: the line of the header, as it was chosen; 0: there is none, and the columns are
        ``column_1``, ``column_2`` and so on."""
        self._source = source
        self._chosen_line = header_line
        self._has_header = header_line != 0
        self._choice = cells
        self._columns: list[str] = []
        self._width = 0  # the header's cells, also those without a name
        self._is_rejects = False  # whether these are the rejected rows of an earlier import
        self._summary = TableSummary("auto")
        self._kinds: ColumnKinds | None = None  # once the header has been read

    @property
    def summary(self) -> TableSummary:
        """The summary of the rows read so far."""
        mode = self._source.quotes
        return replace(
            self._summary,
            quotes=mode.quotes,
            unquoted=mode.unquoted,
            open_quote_line=mode.open_quote_line,
            empty_lines=self._summary.empty_lines + self._source.blank_lines,
            values=tuple(self._kinds.detected) if self._kinds else (),
            sheet=self._source.sheet,
            sheets=self._source.sheets,
        )

    def rows(self, needs: Sequence[str] = (), text: Sequence[str] = ()) -> Iterator[Row | BadRow]:
        """Yield each row as a dict. If the header is bad, only the header is reported.

        ``needs`` names the required columns; those in ``text`` are not read as values.
        """
        records = self._filled(self._source.records())
        first = next(records, None)
        if first is None:
            line = self._chosen_line or 1
            yield BadRow(line, Invalid("row", "row", what="empty"))
            return
        if isinstance(first, BadRow):
            yield replace(first, is_header=first.remedy != "delimiter", value=None)
            return
        ahead: list[Row | BadRow] = [] if self._has_header else [first]
        problem = self._read_header(first, needs)
        if problem is None and self._chosen_line is None:
            ahead = list(_rows_ahead(records))
            problem = self._title_problem(first, [row for row in ahead if isinstance(row, Row)])
        if problem:
            yield problem
            return
        if first.span and self._has_header:
            self.count_joined(*first.span)
        rows = map(self._row, chain(ahead, records))
        choice = replace(self._choice, text=(*self._choice.text, *text))
        self._kinds = ColumnKinds(self._columns, choice, is_text=self._source.is_text)
        yield from with_values(rows, self._kinds)

    @property
    def head(self) -> tuple[bytes, str] | None:
        """The header as it is in the file, or as CSV if that is not a text, and the delimiter; None if no
        header has been read."""
        if self._kinds is None:
            return None
        delimiter = self._source.delimiter
        if delimiter is None:
            return _csv_line(self._columns), ","
        if not self._has_header:
            return delimiter.join(self._columns).encode(), delimiter
        return self._text(self._source.header), delimiter

    def count_joined(self, first: int, last: int) -> None:
        """Count a good row that spans several lines."""
        summary = self._summary
        self._summary = replace(
            summary,
            joined_rows=summary.joined_rows + 1,
            joined_lines=summary.joined_lines + last - first + 1,
            joined_first=summary.joined_first or (first, last),
        )

    def _filled(self, records: Iterator[Row | BadRow]) -> Iterator[Row | BadRow]:
        """The records, without those whose cells are all empty."""
        for record in records:
            if isinstance(record, Row) and not any(map(has_content, record.value)):
                first, last = record.span or (record.line, record.line)
                count = self._summary.empty_lines + last - first + 1
                self._summary = replace(self._summary, empty_lines=count)
            else:
                yield record

    def _read_header(self, first: Row, needs: Sequence[str]) -> BadRow | None:
        """Take the columns' names from the first record, and return what is wrong with them."""
        self._summary = replace(self._summary, header_line=first.line if self._has_header else None)
        self._is_rejects = self._has_header and first.value[: len(REJECTED)] == REJECTED
        cells = self._cells(first.value)
        self._width = len(cells)
        if self._has_header:
            named = [number for number, cell in enumerate(cells, 1) if has_content(cell)]
            cells = [text_of(cell) for cell in cells[: named[-1] if named else 0]]
            self._columns = [
                name if name.strip() else f"column_{number}" for number, name in enumerate(cells, 1)
            ]
        else:
            self._columns = [f"column_{number}" for number in range(1, len(cells) + 1)]
        return _header_problem(first.line, self._columns, needs)

    def _title_problem(self, first: Row, following: Sequence[Row]) -> BadRow | None:
        """The problem if the first record looks like a title above the header: only its first cell is filled,
        and a record below it has more."""
        if self._is_rejects or not has_content(first.value[0]) or any(map(has_content, first.value[1:])):
            return None
        wider = [row for row in following if sum(map(has_content, row.value)) > 1]
        # A spreadsheet writes all records with the same number of cells; others may write the title alone.
        is_padded = len(first.value) > 1 or not self._source.is_text
        if not wider or not (is_padded or (len(wider) > 1 and len({len(row.value) for row in wider}) == 1)):
            return None
        self._summary = replace(self._summary, header_line=wider[0].line)
        count = sum(map(has_content, wider[0].value))
        return BadRow(first.line, Invalid("row", "title", line=wider[0].line, count=count), remedy="header")

    def _row(self, record: Row | BadRow) -> Row | BadRow:
        """The record as a dict by its columns' names."""
        if isinstance(record, BadRow):
            value = self._cells(record.value) if isinstance(record.value, list) else record.value
            return replace(record, value=value, raw=record.raw and self._text(record.raw))
        cells = self._cells(record.value)
        raw = self._text(record.raw) if record.raw is not None else _csv_line(cells)
        names = self._columns
        extra = [number for number, cell in enumerate(cells, 1) if number > len(names) and has_content(cell)]
        if len(cells) >= len(names) and not extra:
            return Row(record.line, dict(zip(names, cells, strict=False)), record.span, raw)
        remedy: Remedy | None = "quotes" if record.span else None
        if extra and (len(cells) <= self._width or (self._has_header and not self._source.is_text)):
            error = Invalid(
                "row",
                "row",
                what="unnamed_column",
                column=extra[0],
                letter=column_letter(extra[0]),
                cell=_short(cells[extra[0] - 1]),
                line=self._summary.header_line,
            )
        else:
            separators: dict[str, Any] = {"marks": marks} if (marks := self._source.marks) else {}
            error = Invalid(
                "row",
                "width",
                what="header" if self._has_header else "first",
                columns=self._width,
                count=len(cells),
                **separators,
            )
        return BadRow(record.line, error, cells, remedy, record.span, raw=raw)

    def _cells(self, cells: list[Any]) -> list[Any]:
        """The cells without the two that an earlier import added when it rejected the row."""
        return cells[len(REJECTED) :] if self._is_rejects else cells

    def _text(self, raw: bytes) -> bytes:
        """A row's text without those two cells."""
        if not self._is_rejects or self._source.delimiter is None:
            return raw
        return raw.split(self._source.delimiter.encode(), len(REJECTED))[-1]


def _csv_line(cells: Sequence[Json]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(map(text_of, cells))
    return text.getvalue().encode(errors="replace")


def _rows_ahead(records: Iterator[Row | BadRow]) -> Iterator[Row | BadRow]:
    """The next rows, a few, with the bad ones among them."""
    for _ in range(_ROWS_AHEAD):
        record = next(records, None)
        if record is None:
            return
        yield record


def _short(cell: Json) -> str:
    text = repr(cell)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _header_problem(line: int, names: Sequence[str], needs: Sequence[str]) -> BadRow | None:
    columns: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if name in columns:
            first, second = (f"{n} ({column_letter(n)})" for n in (columns[name], number))
            error = Invalid("row", "row", what="column_twice", name=name, first=first, second=second)
            return BadRow(line, error, remedy="header")
        columns[name] = number
    for name in needs:
        if name not in columns:
            return BadRow(line, Invalid("row", "row", what="no_column", name=name, names=list(names)))
    return None

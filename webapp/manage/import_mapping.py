"""The mapping of an import: the file's format, and which column becomes what."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Json, transfer, validation
from leaseq.transfer import BadRow, CheckResult, ColumnMapping, NewItem, TableSummary
from leaseq.webapp.forms.choices import find_named
from leaseq.webapp.manage.remarks import bad_row_message
from leaseq.webapp.serving.numbers import whole_number
from leaseq.webapp.site_time import site_zone

ROWS_SHOWN = 5
ROWS_READ = 200
FINDINGS_SHOWN = 5
ENVELOPE = {"payload", "id", "priority", "delay", "at", "requires", "due", "max_attempts"}
ROLES = ("id", "priority", "due", "requires")


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """How a file is read, and which of its columns become which part of an item."""

    file: str
    format: str
    envelope: bool = False
    columns: tuple[str, ...] | None = None  # columns of the payload; None: all
    id: str | None = None
    priority: str | None = None
    due: str | None = None
    requires: str | None = None
    delimiter: str | None = None  # by name; None: detected from the header
    quotes: transfer.Quotes = "auto"

    @classmethod
    def from_form(cls, form: MultiDict[str, str], file: str) -> ImportMapping:
        """The mapping in a page's form. Raises Invalid."""
        mapping = cls(
            file[:200],
            form.get("format") or transfer.format_of(file),
            envelope=form.get("envelope") == "yes",
            columns=tuple(form.getlist("column")) if form.get("columns_chosen") else None,
            delimiter=form.get("delimiter") or None,
            quotes=validation.one_of(form.get("quotes") or "auto", transfer.QUOTES, "quotes"),
            **{role: form.get(role) or None for role in ROLES},
        )
        if mapping.delimiter is not None:
            validation.one_of(mapping.delimiter, tuple(transfer.DELIMITERS), "delimiter")
        mapping.rows(io.BytesIO())  # raises Invalid now if the settings don't fit together
        return mapping

    @classmethod
    def from_record(cls, data: dict[str, Any]) -> ImportMapping:
        columns = data.pop("columns")
        return cls(**data, columns=None if columns is None else tuple(columns))

    def to_record(self) -> dict[str, Any]:
        return asdict(self)

    def rows(self, stream: BinaryIO) -> transfer.Rows:
        if self.envelope:
            return transfer.read(stream, self.format, envelope=True)
        mark = transfer.DELIMITERS[self.delimiter] if self.table and self.delimiter else None
        quotes = self.quotes if self.table else "auto"
        return transfer.read(stream, self.format, mapping=self._columns(), delimiter=mark, quotes=quotes)

    @property
    def table(self) -> bool:
        return self.format in ("csv", "tsv")

    @property
    def layout(self) -> str:
        """The settings that the column names depend on: after a change, the chosen columns are void."""
        return f"{self.format} {self.delimiter if self.table else None}"

    def used_columns(self) -> set[str]:
        """The columns that the mapping uses."""
        mapping = self._columns()
        return set(mapping.needs()) if mapping else set()

    def _columns(self) -> ColumnMapping | None:
        fields = (self.columns, self.id, self.priority, self.due, self.requires)
        return ColumnMapping(*fields, site_zone()) if any(one is not None for one in fields) else None


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A preview of a file's first rows, with their errors under a mapping."""

    mapping: ImportMapping
    columns: tuple[str, ...]
    rows: tuple[Json, ...]  # the part of ``read_rows`` that is shown
    start: int  # number of rows before these
    read_rows: tuple[Json, ...]
    findings: tuple[tuple[int, str], ...]  # (line, error)
    check_result: CheckResult | None  # of the whole file; None: only a piece is here, or its separator open
    is_table: bool  # whether it is CSV or TSV, whose rows can only be payloads
    summary: TableSummary | None  # how quotes and lines were read so far; None: JSON
    is_whole: bool  # whether the piece was the whole file
    rows_shown: int = ROWS_SHOWN  # at most


def preview_of(piece: bytes, is_whole: bool, form: MultiDict[str, str], file: str) -> FilePreview:
    """Preview the first piece of a file, and check it if it is the whole file. Without a choice of columns,
    the mapping is guessed from their names."""
    mapping, layout = ImportMapping.from_form(form, file), form.get("layout", "")
    if layout.partition(" ")[0] not in ("", mapping.format):
        mapping = replace(mapping, delimiter=None)  # it was chosen for another format
    data = piece if is_whole else _whole_lines(piece, mapping.format)
    splits = _splits(mapping, data)
    if len(splits) == 1 and mapping.table:
        mapping = replace(mapping, delimiter=splits[0])
    plain_mapping = ImportMapping(
        mapping.file, mapping.format, delimiter=mapping.delimiter, quotes=mapping.quotes
    )
    rows = [
        row.payload
        for row in _first_rows(plain_mapping.rows(io.BytesIO(data)), is_whole)
        if isinstance(row, NewItem)
    ]
    columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    if layout != mapping.layout or not mapping.used_columns() <= set(columns):
        mapping = _guess_mapping(plain_mapping, columns, rows, mapping.table)
    mapped_rows = mapping.rows(io.BytesIO(data))
    bad_rows = [row for row in _first_rows(mapped_rows, is_whole) if isinstance(row, BadRow)]
    findings = [(row.line, finding_of(row, data)) for row in bad_rows[:FINDINGS_SHOWN]]
    if len(splits) > 1:
        findings = [(1, str(_("The first line can be split in more than one way. Choose the separator.")))]
    result = transfer.check(mapping.rows(io.BytesIO(data))) if is_whole and len(splits) < 2 else None
    start = min(whole_number(form.get("start")) or 0, max(len(rows) - 1, 0)) // ROWS_SHOWN * ROWS_SHOWN
    return FilePreview(
        mapping,
        columns,
        tuple(rows[start : start + ROWS_SHOWN]),
        start,
        tuple(rows),
        tuple(findings),
        result,
        mapping.table,
        mapped_rows.summary,
        is_whole,
    )


def _splits(mapping: ImportMapping, data: bytes) -> tuple[str, ...]:
    """Names of the possible separators: the chosen one, else those that split the header."""
    if mapping.delimiter or not mapping.table:
        return (mapping.delimiter,) if mapping.delimiter else ()
    names = {mark: name for name, mark in transfer.DELIMITERS.items()}
    return tuple(names[mark] for mark in transfer.splits(io.BytesIO(data), mapping.format, mapping.quotes))


def _first_rows(rows: Iterable[NewItem | BadRow], is_whole: bool) -> list[NewItem | BadRow]:
    """The first rows, without one that is cut off by the end of the piece."""
    first = list(itertools.islice(rows, ROWS_READ))
    if not is_whole and first and isinstance(first[-1], BadRow) and len(first) < ROWS_READ:
        first.pop()
    return first


def _whole_lines(piece: bytes, format: str) -> bytes:
    return piece if format == "json" else piece[: piece.rfind(b"\n") + 1]


def _guess_mapping(
    mapping: ImportMapping, columns: tuple[str, ...], rows: list[Json], table: bool
) -> ImportMapping:
    whole_items = bool(rows) and all(isinstance(row, dict) and "payload" in row for row in rows)
    if whole_items and not table and set(columns) <= ENVELOPE:
        return replace(mapping, envelope=True)
    roles: dict[str, Any] = {role: find_named(role, columns, str) for role in ROLES}
    return replace(mapping, **roles)


def finding_of(row: BadRow, data: bytes = b"") -> str:
    """What is wrong with a row, and the remedy. ``data``: the beginning of the file."""
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if "UTF-16" in row.message or ("UTF-8" not in row.message and not utf16):
        return bad_row_message(row)
    return f"{bad_row_message(row)} " + str(
        _("Save the file as UTF-8 (in a spreadsheet: “CSV UTF-8”) and choose it again.")
    )

"""A preview of the first rows of a file, and a guess which columns become which part of an item."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import IO, Any, BinaryIO, cast

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Invalid, Json, transfer
from leaseq.transfer import BadRow, CheckResult, ColumnMapping, NewItem, TableSummary
from leaseq.webapp.forms.choices import find_named
from leaseq.webapp.manage.importing.mapping import (
    LAST_HEADER_LINE,
    ROLES,
    ImportMapping,
    bad_row_message,
    noted_skills,
    skills_remark,
)
from leaseq.webapp.serving.bodies import whole_number
from leaseq.webapp.site_time import site_zone

ROWS_SHOWN = 5
ROWS_READ = 200
PIECE_BYTES = 262_144  # of a text that is previewed; the import page sends as many
FINDINGS_SHOWN = 5
ENVELOPE = {"payload", "id", "priority", "delay", "at", "requires", "due", "max_attempts"}
_NUMBER = re.compile(r"(?!(19|20)\d\d$)[+-]?\d+([.,]\d+)*")  # but no year


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A preview of a file's first rows, with their errors under a mapping."""

    mapping: ImportMapping
    columns: tuple[str, ...]
    start: int  # number of rows before those that are shown
    read_rows: tuple[Json, ...]
    findings: tuple[tuple[int, str], ...]  # (line, error)
    check_result: CheckResult | None  # of the whole file; None: only a piece is here, or its separator open
    summary: TableSummary | None  # how quotes and lines were read so far; None: JSON
    is_whole: bool  # whether the piece was the whole file
    notes: tuple[str, ...]  # what was taken for what, and why not
    asks_dates: bool  # whether the order of day and month must be chosen
    skills_remark: tuple[str, ...]  # that nobody has skills which rows need
    title_line: int | None = None  # of the header, if it was found below a title; None: chosen, or line 1
    rows_shown: int = ROWS_SHOWN  # at most

    @property
    def rows(self) -> tuple[Json, ...]:
        """The rows that are shown."""
        return self.read_rows[self.start : self.start + self.rows_shown]


class _Piece:
    """The first rows of a file, which can be read several times."""

    def __init__(self, stream: IO[bytes], mapping: ImportMapping, is_whole: bool) -> None:
        """``is_whole``: the stream is the whole file, as it always is of a workbook."""
        self._data: bytes | transfer.SheetRows
        if mapping.format == "xlsx":
            self._data = transfer.first_rows(cast("BinaryIO", stream), ROWS_READ + LAST_HEADER_LINE)
            self.is_whole = self._data.is_whole
            return
        data = stream.read(PIECE_BYTES + 1)
        self.is_whole = is_whole and len(data) <= PIECE_BYTES
        piece = io.BytesIO(data[:PIECE_BYTES])
        text = transfer.decoded(piece, mapping.encoding, is_whole=self.is_whole).read()
        self._data = text if self.is_whole else _whole_lines(text, mapping.format)

    def stream(self) -> BinaryIO | transfer.SheetRows:
        """The piece as UTF-8, or the rows of the sheet."""
        return io.BytesIO(self._data) if isinstance(self._data, bytes) else self._data


def preview_of(
    stream: IO[bytes],
    is_whole: bool,
    form: MultiDict[str, str],
    file: str,
    skill_sets: Collection[frozenset[str]] = (),
) -> FilePreview:
    """Preview the beginning of a file, and check it if it is the whole file. Without a choice of columns, the
    mapping is guessed from their names and values. ``is_whole``: the stream has the whole file, as it must if
    that is a workbook. ``skill_sets``: the skills of each person who may work."""
    mapping, layout = ImportMapping.from_form(form, file), form.get("layout", "")
    encoding, notes = mapping.encoding, list[str]()
    if not form.get("header_line"):
        mapping = replace(mapping, header_line=None)  # an earlier preview found it, and this one does again
    piece = _Piece(stream, mapping, is_whole)
    is_whole = piece.is_whole
    mapping = replace(mapping, encoding="utf-8")  # of what is read from now on
    if layout.partition(" ")[0] not in ("", mapping.format):
        mapping = replace(mapping, delimiter=None)  # it was chosen for another format
    if (title_line := _line_below_title(mapping, piece)) is not None:
        mapping = replace(mapping, header_line=title_line)
        notes.append(_("Line 1 seems to be a title: the header is taken from line %(n)s.", n=title_line))
    splits = _splits(mapping, piece)
    if len(splits) == 1 and mapping.text_table:
        mapping = replace(mapping, delimiter=splits[0])
    plain_mapping = mapping.without_choices()
    rows = _payloads(plain_mapping, piece, is_whole)
    columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    guessed_mapping, reasons = _guess_mapping(
        plain_mapping, columns, rows, frozenset[str]().union(*skill_sets)
    )
    if layout != mapping.layout or not mapping.used_columns() <= set(columns):
        mapping = guessed_mapping
    if mapping.text or mapping.value:
        rows = _payloads(replace(plain_mapping, text=mapping.text, value=mapping.value), piece, is_whole)
    notes += [reason for role, reason in reasons.items() if getattr(mapping, role) is None]
    mapped_rows, requires = mapping.rows(piece.stream()), set[frozenset[str]]()
    read_rows = noted_skills(mapped_rows, requires)
    bad_rows = [row for row in _first_rows(read_rows, is_whole) if isinstance(row, BadRow)]
    findings = [(row.line, bad_row_message(row)) for row in bad_rows[:FINDINGS_SHOWN]]
    if len(splits) > 1:
        findings = [(1, str(_("The first line can be split in more than one way. Choose the separator.")))]
    all_rows = noted_skills(mapping.rows(piece.stream()), requires)
    result = transfer.check(all_rows) if is_whole and len(splits) < 2 else None
    dates = [row[mapping.due] for row in rows if isinstance(row, dict) and mapping.due in row]
    asks_dates = any(isinstance(date, str) and transfer.date_orders(date) for date in dates)
    if asks_dates and mapping.dates is None:
        notes.append(_("Choose how due dates such as 3/4/2026 are read."))
    if mapping.table and mapping.header_line is None and (value := next(filter(_is_number, columns), None)):
        notes.append(
            _(
                "The first line is taken for the names of the columns, and one of them is “%(value)s”."
                " If the file has no header, choose “There is none”.",
                value=value,
            )
        )
    start = min(whole_number(form.get("start")) or 0, max(len(rows) - 1, 0)) // ROWS_SHOWN * ROWS_SHOWN
    return FilePreview(
        replace(mapping, encoding=encoding),
        columns,
        start,
        tuple(rows),
        tuple(findings),
        result,
        mapped_rows.summary,
        is_whole,
        tuple(notes),
        asks_dates,
        tuple(skills_remark(requires, skill_sets)),
        title_line,
    )


def _is_number(name: str) -> bool:
    """Whether the name of a column is a number, but no year: few headers have one."""
    return bool(_NUMBER.fullmatch(name.strip()))


def _line_below_title(mapping: ImportMapping, piece: _Piece) -> int | None:
    """The line of the header, if the first line of a table seems to be a title and no line was chosen."""
    if not mapping.table or mapping.header_line is not None:
        return None
    rows = mapping.without_choices().rows(piece.stream())
    first, summary = next(rows, None), rows.summary
    if not isinstance(first, BadRow) or first.remedy != "header" or summary is None:
        return None
    return summary.header_line if summary.header_line not in (1, first.line) else None


def _splits(mapping: ImportMapping, piece: _Piece) -> tuple[str, ...]:
    """Names of the possible separators: the chosen one, else those that split the header."""
    if mapping.delimiter or not mapping.text_table:
        return (mapping.delimiter,) if mapping.delimiter else ()
    names = {mark: name for name, mark in transfer.DELIMITERS.items()}
    return tuple(
        names[mark]
        for mark in transfer.splits(
            cast("BinaryIO", piece.stream()), mapping.format, mapping.quotes, mapping.header_line
        )
    )


def _first_rows(rows: Iterable[NewItem | BadRow], is_whole: bool) -> list[NewItem | BadRow]:
    """The first rows, without one that is cut off by the end of the piece."""
    first = list(itertools.islice(rows, ROWS_READ))
    if not is_whole and first and isinstance(first[-1], BadRow) and len(first) < ROWS_READ:
        first.pop()
    return first


def _payloads(mapping: ImportMapping, piece: _Piece, is_whole: bool) -> list[Json]:
    """The first rows. A row with a cell that is not the chosen value is there as text."""
    return [
        row.payload if isinstance(row, NewItem) else row.value
        for row in _first_rows(mapping.rows(piece.stream()), is_whole)
        if isinstance(row, NewItem) or row.remedy == "cells"
    ]


def _whole_lines(piece: bytes, format: str) -> bytes:
    return piece if format == "json" else piece[: piece.rfind(b"\n") + 1]


def _guess_mapping(
    mapping: ImportMapping, columns: tuple[str, ...], rows: list[Json], skills: Collection[str]
) -> tuple[ImportMapping, dict[str, str]]:
    """A mapping that takes a column for a part of the item if it has its name and its values fit; and why
    others with such a name were not taken, by part."""
    whole_items = bool(rows) and all(isinstance(row, dict) and "payload" in row for row in rows)
    if whole_items and not mapping.table and set(columns) <= ENVELOPE:
        return replace(mapping, envelope=True), {}
    reasons: dict[str, str] = {}
    for role in ROLES:
        if (name := find_named(role, columns, str)) is None:
            continue
        cells = [row.get(name) for row in rows if isinstance(row, dict)]
        reason, dates = _misfit(role, cells, rows, skills)
        if reason:
            reasons[role] = reason
        else:
            parts: dict[str, Any] = {role: name} | ({"dates": dates} if dates else {})
            mapping = replace(mapping, **parts)
    return mapping, reasons


def _misfit(
    role: str, cells: list[Json], rows: list[Json], skills: Collection[str]
) -> tuple[str, transfer.Dates | None]:
    """The reason why a column is not taken for a part of the item, or ""; and the order of its dates, if
    any."""
    filled = [cell for cell in cells if cell is not None and str(cell).strip()]
    if role == "id":
        return _misfit_of_ids(cells, rows), None
    if role == "requires":
        names = [part for cell in filled if isinstance(cell, str) for part in cell.replace(",", " ").split()]
        unknown = next((name for name in names if name not in skills), None)
        text = _(
            "The column requires is not taken for skills: nobody has “%(skill)s”."
            " Choose it to take it anyway.",
            skill=unknown,
        )
        return "" if unknown is None else text, None
    if role == "priority":
        cell = _misfit_cell(ColumnMapping(priority=role), filled)
        text = _(
            "The column priority is not taken for the priority: “%(cell)s” is not a whole number."
            " Choose it to take it anyway: such rows are skipped.",
            cell=cell,
        )
        return "" if cell is None else text, None
    orders = [transfer.date_orders(cell) if isinstance(cell, str) else () for cell in filled]
    possible = [
        order for order in transfer.DATES if all(order in readable for readable in orders if readable)
    ]
    for order in (*possible, None):
        cell = _misfit_cell(ColumnMapping(due=role, dates=order, zone=site_zone()), filled)
        if cell is None:
            return "", order if len(possible) == 1 and any(orders) else None
    return _(
        "The column due is not taken for due dates: “%(cell)s” is not a date that fits the others."
        " Choose it to take it anyway: such rows are skipped.",
        cell=cell,
    ), None


def _misfit_of_ids(cells: list[Json], rows: list[Json]) -> str:
    content: dict[str, Json] = {}
    for cell, row in zip(cells, rows, strict=False):
        id = "" if cell is None else str(cell)
        if not id.strip():
            return str(_("The column id is not taken for the id: a row has none."))
        if content.setdefault(id, row) != row:
            return str(
                _(
                    "The column id is not taken for the id: two rows with different content have “%(id)s”."
                    " If you choose it, only the first of them becomes an item.",
                    id=id,
                )
            )
    return ""


def _misfit_cell(mapping: ColumnMapping, cells: list[Json]) -> str | None:
    """The first cell that can't be the part of an item to which the column is mapped."""
    for cell in cells:
        try:
            mapping.item(dict.fromkeys(mapping.roles(), cell))
        except Invalid:
            return str(cell)[:60]
    return None

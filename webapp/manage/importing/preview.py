"""A preview of the first rows of a file, and what is wrong with them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, BinaryIO, cast

from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from leaseq import Json, transfer
from leaseq.transfer import BadRow, CheckResult, NewItem, TableSummary
from leaseq.webapp.manage.importing.guesses import (
    Note,
    cells_of,
    guess_mapping,
    number_of,
    priority_words,
    proposals,
    repeated_id,
    value_in_header,
)
from leaseq.webapp.manage.importing.mapping import (
    LAST_HEADER_LINE,
    ROLES,
    WORD_PREFIX,
    ImportMapping,
    bad_row_message,
    noted_skills,
    skills_remark,
    words_of,
)
from leaseq.webapp.serving.bodies import whole_number

ROWS_SHOWN = 5
ROWS_READ = 200
PIECE_BYTES = 262_144  # of a text that is previewed; the import page sends as many
FINDINGS_SHOWN = 5


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
    notes: tuple[Note, ...]  # what was taken for what, and why not
    asks_dates: bool  # whether the order of day and month must be chosen
    skills_remark: tuple[str, ...]  # that nobody has skills which rows need
    word_numbers: tuple[
        tuple[str, str], ...
    ]  # the words of the column for the priority, and their numbers as typed
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
    chosen_mapping = ImportMapping.from_form(form, file)
    mapping, piece, splits, title_line = _layout_of(chosen_mapping, stream, is_whole, form)
    notes = list[Note]()
    if title_line is not None:
        text = _("Line 1 seems to be a title: the header is taken from line %(n)s.", n=title_line)
        notes.append(Note(text))
    plain_mapping = mapping.without_choices()
    rows = _payloads(plain_mapping, piece)
    columns = tuple(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))
    guessed_mapping, reasons = guess_mapping(
        plain_mapping, columns, rows, frozenset[str]().union(*skill_sets)
    )
    if form.get("layout", "") != mapping.layout or not mapping.used_columns() <= set(columns):
        mapping = replace(guessed_mapping, raw=mapping.raw)
    word_numbers = _word_numbers(mapping, rows, form)
    mapping = replace(mapping, words=words_of(word_numbers))
    if mapping.text or mapping.value or mapping.raw:
        chosen_cells = replace(plain_mapping, text=mapping.text, value=mapping.value, raw=mapping.raw)
        rows = _payloads(chosen_cells, piece)
    notes += _column_notes(mapping, columns, rows, reasons)
    mapped_rows, requires = mapping.rows(piece.stream()), set[frozenset[str]]()
    read_rows = noted_skills(mapped_rows, requires)
    bad_rows = [row for row in _first_rows(read_rows, piece.is_whole) if isinstance(row, BadRow)]
    findings = [(row.line, bad_row_message(row)) for row in bad_rows[:FINDINGS_SHOWN]]
    if len(splits) > 1:
        findings = [(1, str(_("The first line can be split in more than one way. Choose the separator.")))]
    all_rows = noted_skills(mapping.rows(piece.stream()), requires)
    result = transfer.check(all_rows) if piece.is_whole and len(splits) < 2 else None
    start = min(whole_number(form.get("start")) or 0, max(len(rows) - 1, 0)) // ROWS_SHOWN * ROWS_SHOWN
    return FilePreview(
        replace(mapping, encoding=chosen_mapping.encoding),
        columns,
        start,
        tuple(rows),
        tuple(findings),
        result,
        mapped_rows.summary,
        piece.is_whole,
        tuple(notes),
        _asks_dates(mapping, rows),
        tuple(skills_remark(requires, skill_sets)),
        word_numbers,
        title_line,
    )


def _layout_of(
    mapping: ImportMapping, stream: IO[bytes], is_whole: bool, form: MultiDict[str, str]
) -> tuple[ImportMapping, _Piece, tuple[str, ...], int | None]:
    """The mapping with the layout by which the piece is read, the piece, the names of the separators that are
    possible, and the line of the header if it was found below a title."""
    if not form.get("header_line"):
        mapping = replace(mapping, header_line=None)  # an earlier preview found it, and this one does again
    piece = _Piece(stream, mapping, is_whole)
    mapping = replace(mapping, encoding="utf-8")  # of what is read from now on
    if form.get("layout", "").partition(" ")[0] not in ("", mapping.format):
        mapping = replace(mapping, delimiter=None)  # it was chosen for another format
    title_line = _line_below_title(mapping, piece)
    if title_line is not None:
        mapping = replace(mapping, header_line=title_line)
    splits = _splits(mapping, piece)
    if len(splits) == 1 and mapping.text_table:
        mapping = replace(mapping, delimiter=splits[0])
    return mapping, piece, splits, title_line


def _word_numbers(
    mapping: ImportMapping, rows: Sequence[Json], form: MultiDict[str, str]
) -> tuple[tuple[str, str], ...]:
    """The words of the column for the priority, each with the number that was typed for it, else a guess."""
    words = priority_words(cells_of(mapping.priority, rows)) if mapping.priority else ()
    numbers = {word: number_of(word) for word in words}
    return tuple(
        (word, form.get(WORD_PREFIX + word, "" if number is None else str(number)))
        for word, number in numbers.items()
    )


def _column_notes(
    mapping: ImportMapping, columns: Sequence[str], rows: Sequence[Json], reasons: Sequence[Note]
) -> Iterator[Note]:
    """What should be looked at before the import. ``reasons``: why columns were not taken for a part."""
    yield from (note for note in reasons if getattr(mapping, note.role) is None)
    if not mapping.envelope:
        open_roles = {role for role in ROLES if getattr(mapping, role) is None}
        yield from proposals(columns, rows, open_roles - {note.role for note in reasons})
    if mapping.id and (id := repeated_id(cells_of(mapping.id, rows), rows)):
        text = _(
            "Two rows with different content have the id “%(id)s”: only the first becomes an item.", id=id
        )
        yield Note(text)
    if mapping.dates is None and _asks_dates(mapping, rows):
        yield Note(_("Choose how dates such as 3/4/2026 are read."))
    if mapping.table and mapping.header_line is None and (value := value_in_header(columns, rows)):
        text = _(
            "The first line is taken for the names of the columns, and one of them is “%(value)s”."
            " If the file has no header, choose “None: the first row is data”.",
            value=value,
        )
        yield Note(text)


def _asks_dates(mapping: ImportMapping, rows: Sequence[Json]) -> bool:
    """Whether a date is written in a way in which the day may come first or the month."""
    cells = [cell for name in (mapping.due, mapping.expires) if name for cell in cells_of(name, rows)]
    return any(isinstance(cell, str) and transfer.date_orders(cell) for cell in cells)


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


def _payloads(mapping: ImportMapping, piece: _Piece) -> list[Json]:
    """The first rows. A row with a cell that is not the chosen value is there as text."""
    return [
        row.payload if isinstance(row, NewItem) else row.value
        for row in _first_rows(mapping.rows(piece.stream()), piece.is_whole)
        if isinstance(row, NewItem) or row.remedy == "cells"
    ]


def _whole_lines(piece: bytes, format: str) -> bytes:
    return piece if format == "json" else piece[: piece.rfind(b"\n") + 1]

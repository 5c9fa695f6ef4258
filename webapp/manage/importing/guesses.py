"""Guesses from the names and values of a file's columns: their parts of an item, the numbers of words for
priorities, and a missing header."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from flask_babel import gettext as _

from leaseq import Invalid, Json, transfer
from leaseq.transfer import ColumnMapping
from leaseq.webapp.forms.choices import find_named, folded
from leaseq.webapp.manage.importing.mapping import ImportMapping
from leaseq.webapp.serving.time_slices import in_slices
from leaseq.webapp.site_time import site_zone

ENVELOPE = {*transfer.ENVELOPE_FIELDS}
NAMES = {  # of columns for a part, in the order in which they are looked for
    "id": ("id",),
    "priority": ("priority", "prio", "priorität"),
    "due": ("due", "due date", "due at", "deadline", "fällig", "frist"),
    "requires": ("requires", "skills", "skill", "fähigkeiten"),
}
MAX_WORDS = 12  # for priorities: more than these are another kind of text
_NUMBERS = {  # of words for priorities: a queue's bands are by default 0 to 50, 150, and above
    10: "urgent critical blocker immediate highest p0 dringend kritisch sofort höchste",
    30: "high important p1 hoch wichtig",
    100: "medium normal moderate p2 mittel",
    200: "low minor p3 niedrig gering",
    300: "lowest trivial p4 niedrigste",
}
_NUMBER_OF_WORD = {word: number for number, words in _NUMBERS.items() for word in words.split()}
_WHOLE_NUMBER = re.compile(r"\s*-?\d+\s*")
_NUMBER = re.compile(r"(?!(19|20)\d\d$)[+-]?\d+([.,]\d+)*")  # but no year
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}([./-])\d{1,2}\2\d{4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Note:
    """A text to read before the import; the part of an item and the column that it proposes, if any."""

    text: str
    role: str = ""
    column: str = ""


def guess_mapping(
    mapping: ImportMapping, columns: Sequence[str], rows: Sequence[Json], skills: Collection[str]
) -> tuple[ImportMapping, list[Note]]:
    """A mapping that takes a column for a part of the item if it has its name and its values fit; and why
    others with such a name were not taken."""
    whole_items = bool(rows) and all(isinstance(row, dict) and "payload" in row for row in rows)
    if whole_items and not mapping.table and set(columns) <= ENVELOPE:
        return replace(mapping, envelope=True), []
    reasons: list[Note] = []
    for role, names in NAMES.items():
        named = (find_named(name, columns, str, _plain) for name in names)
        if (column := next(filter(None, named), None)) is None:
            continue
        reason, dates = _misfit(role, column, cells_of(column, rows), rows, skills)
        if reason:
            reasons.append(Note(reason, role, column))
        else:
            parts: dict[str, Any] = {role: column} | ({"dates": dates} if dates else {})
            mapping = replace(mapping, **parts)
    return mapping, reasons


def _plain(column: str) -> str:
    return re.sub(r"[_-]+", " ", column)


def cells_of(column: str, rows: Iterable[Json]) -> list[Json]:
    """The cells of a column, also empty ones."""
    return [row.get(column) for row in rows if isinstance(row, dict)]


def _filled(cells: Iterable[Json]) -> list[Json]:
    return list(filter(_is_filled, cells))


def _is_filled(cell: Json) -> bool:
    return cell is not None and str(cell).strip() != ""


def priority_words(cells: Iterable[Json]) -> tuple[str, ...]:
    """The different words of a column, which need a number each; none if they are too many."""
    words: dict[str, str] = {}
    for cell in _filled(cells):
        if isinstance(cell, str) and not _WHOLE_NUMBER.fullmatch(cell):
            words.setdefault(cell.strip().casefold(), cell.strip())
    return tuple(words.values()) if len(words) <= MAX_WORDS else ()


def number_of(word: str) -> int | None:
    """The number that a word for a priority most likely means; None if it is not known."""
    return _NUMBER_OF_WORD.get(folded(word))


def repeated_id(cells: Sequence[Json], rows: Sequence[Json]) -> str | None:
    """An id that two rows with different content have."""
    content: dict[str, Json] = {}
    for cell, row in zip(cells, rows, strict=False):
        if _filled([cell]) and content.setdefault(str(cell), row) != row:
            return str(cell)
    return None


def proposals(columns: Sequence[str], rows: Sequence[Json], roles: Collection[str]) -> Iterator[Note]:
    """Columns that could be one of these parts of the item by their values, although their names don't say
    so."""
    cells = _cells_by_column(columns, rows)
    ids = (column for column, filled in in_slices(cells.items()) if _are_ids(column, filled, rows))
    if "id" in roles and (column := next(ids, None)) is not None:
        text = _(
            "The column %(name)s is different in each row. As the id, it lets you import the file again"
            " without adding its rows twice.",
            name=column,
        )
        yield Note(text, "id", column)
    ranks = (column for column, filled in in_slices(cells.items()) if _rank(filled))
    if "priority" in roles and (column := next(ranks, None)) is not None:
        text = _("The column %(name)s has words for priorities.", name=column)
        yield Note(text, "priority", column)
    dates = [column for column, filled in in_slices(cells.items()) if _are_due(column, filled)]
    if "due" in roles and len(dates) == 1:
        yield Note(_("The column %(name)s has dates in the future.", name=dates[0]), "due", dates[0])


def _cells_by_column(columns: Iterable[str], rows: Iterable[Json]) -> dict[str, list[Json]]:
    """The cells of each column that are not empty. A row may have only few of many columns."""
    cells: dict[str, list[Json]] = {column: [] for column in columns}
    for row in rows:
        for column, cell in in_slices(row.items() if isinstance(row, dict) else ()):
            if column in cells and _is_filled(cell):
                cells[column].append(cell)
    return cells


def _are_ids(column: str, cells: Sequence[Json], rows: Sequence[Json]) -> bool:
    return transfer.is_id(column) and len(set(map(str, cells))) == len(rows) > 1


def _rank(cells: Sequence[Json]) -> bool:
    """Whether the cells are different words for priorities."""
    words = priority_words(cells)
    return len(words) > 1 and all(number_of(word) is not None for word in words)


def _are_due(column: str, cells: Sequence[Json]) -> bool:
    """Whether the cells are dates, one of them in the future."""
    if not cells or not all(isinstance(cell, str) for cell in cells):
        return False
    reason, dates = _misfit_of_dates(column, cells)
    if reason:
        return False
    mapping = ColumnMapping(due=column, dates=dates or "day-first", zone=site_zone())  # if both orders fit
    due = [mapping.item({column: cell}).due for cell in cells]
    return any(moment is not None and moment > datetime.now(UTC) for moment in due)


def value_in_header(columns: Iterable[str], rows: Sequence[Json]) -> str | None:
    """A column's name that looks like a value: a number, a date, or the value of a row below."""
    for column, cells in in_slices(_cells_by_column(columns, rows).items()):
        name = column.strip()
        if _NUMBER.fullmatch(name) or _DATE.fullmatch(name) or name in cells:
            return column
    return None


def _misfit(
    role: str, column: str, cells: list[Json], rows: Sequence[Json], skills: Collection[str]
) -> tuple[str, transfer.Dates | None]:
    """The reason why a column is not taken for a part of the item, or ""; and the order of its dates, if
    any."""
    if role == "id":
        return _misfit_of_ids(column, cells, rows), None
    if role == "requires":
        return _misfit_of_skills(column, cells, skills), None
    if role == "priority":
        return _misfit_of_priorities(column, cells), None
    return _misfit_of_dates(column, _filled(cells))


def _misfit_of_ids(column: str, cells: list[Json], rows: Sequence[Json]) -> str:
    if len(_filled(cells)) < len(cells):
        return str(_("The column %(name)s is not taken for the id: a row has none.", name=column))
    id = repeated_id(cells, rows)
    if id is None:
        return ""
    return str(
        _(
            "The column %(name)s is not taken for the id: two rows with different content have “%(id)s”."
            " If you choose it, only the first of them becomes an item.",
            name=column,
            id=id,
        )
    )


def _misfit_of_skills(column: str, cells: list[Json], skills: Collection[str]) -> str:
    texts = [cell for cell in cells if isinstance(cell, str)]
    names = [part for text in texts for part in text.replace(",", " ").split()]
    unknown = next((name for name in names if name not in skills), None)
    if unknown is None:
        return ""
    return str(
        _(
            "The column %(name)s is not taken for skills: nobody has “%(skill)s”."
            " Choose it to take it anyway.",
            name=column,
            skill=unknown,
        )
    )


def _misfit_of_priorities(column: str, cells: list[Json]) -> str:
    cell = _misfit_cell(ColumnMapping(priority=column), _filled(cells))
    if cell is None:
        return ""
    if words := priority_words(cells):
        return str(
            _(
                "The column %(name)s is not taken for the priority: it has words such as “%(cell)s”."
                " Choose it to give each word a number.",
                name=column,
                cell=words[0],
            )
        )
    return str(
        _(
            "The column %(name)s is not taken for the priority: “%(cell)s” is not a whole number."
            " Choose it to take it anyway: such rows are skipped.",
            name=column,
            cell=cell,
        )
    )


def _misfit_of_dates(column: str, cells: Sequence[Json]) -> tuple[str, transfer.Dates | None]:
    orders = [transfer.date_orders(cell) if isinstance(cell, str) else () for cell in cells]
    possible = [
        order for order in transfer.DATES if all(order in readable for readable in orders if readable)
    ]
    for order in (*possible, None):
        cell = _misfit_cell(ColumnMapping(due=column, dates=order, zone=site_zone()), cells)
        if cell is None:
            return "", order if len(possible) == 1 and any(orders) else None
    return _(
        "The column %(name)s is not taken for due dates: “%(cell)s” is not a date that fits the others."
        " Choose it to take it anyway: such rows are skipped.",
        name=column,
        cell=cell,
    ), None


def _misfit_cell(mapping: ColumnMapping, cells: Iterable[Json]) -> str | None:
    """The first cell that can't be the part of an item to which the column is mapped."""
    for cell in cells:
        try:
            mapping.item(dict.fromkeys(mapping.roles(), cell))
        except Invalid:
            return str(cell)[:60]
    return None

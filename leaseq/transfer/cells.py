"""Flattens an answer or an item into a table row: its columns, and the text of each cell.

Objects are flattened by one level: ``payload.x``, ``result.y``. Deeper values are JSON in their cell, so a
column name always has one meaning. A payload or result that is not an object is in the column ``payload``
or ``result``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from json import JSONEncoder
from typing import Any, TypeVar

from leaseq.models import Json

NESTED = ("payload", "result")
Cell = TypeVar("Cell")

# A spreadsheet takes a cell that begins with one of these for a formula; the last four are full-width signs.
_RUNS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
# With the apostrophes before it: so that one more marks the cell, and one less gives the text again.
_FORMULA = re.compile(f"'*[{_RUNS}]")
_GUARDED = re.compile(f"''*[{_RUNS}]")

compact_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Columns:
    """The columns of a table, gathered from its rows. They are in the order of ``fields``; the columns of a
    flattened object are in its field's place: first the questions of ``form``, then others in the order in
    which the rows have them."""

    def __init__(self, fields: Sequence[str], form: Json = None) -> None:
        self._columns_by_field: dict[str, dict[str, None]] = {
            name: {} if name in NESTED else {name: None} for name in fields
        }
        if "result" in self._columns_by_field:
            self._columns_by_field["result"].update(
                dict.fromkeys(f"result.{question}" for question in _questions(form))
            )

    def gather(self, shape: Mapping[str, Any]) -> None:
        for name in NESTED:
            if name in shape:
                self._columns_by_field[name].update(dict.fromkeys(_nested_names(name, shape[name])))

    def __len__(self) -> int:
        return sum(map(len, self._columns_by_field.values()))

    def names(self) -> list[str]:
        return [column for columns in self._columns_by_field.values() for column in columns]


def _questions(form: Json) -> Iterable[str]:
    """The names of a form's questions, in its order."""
    ask = form.get("ask") if isinstance(form, dict) else None
    properties = ask.get("properties") if isinstance(ask, dict) else None
    return properties if isinstance(properties, dict) else ()


def flat(shape: Mapping[str, Any], cell: Callable[[Json], Cell]) -> dict[str, Cell]:
    """The row as a mapping from column names to cells."""
    cells = {name: cell(value) for name, value in shape.items() if name not in NESTED}
    for name in NESTED:
        if name not in shape:
            continue
        value = shape[name]
        values = value.values() if isinstance(value, dict) else (value,)
        cells.update(zip(_nested_names(name, value), map(cell, values), strict=True))
    return cells


def raw_cell(value: Json) -> str:
    """The text of one cell: nothing for null, a text itself, and JSON for all other values."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)


def cell(value: Json) -> str:
    """The text of one cell, guarded: an apostrophe is put before a text that begins with what a spreadsheet
    runs. A number such as -5 stays as it is. `unguarded` returns the text as it was."""
    text = raw_cell(value)
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """The text of a cell that `cell` wrote, without the apostrophe of the guard."""
    return text[1:] if _GUARDED.match(text) else text


def _nested_names(name: str, value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{name}.{key}" for key in value]
    return [name]

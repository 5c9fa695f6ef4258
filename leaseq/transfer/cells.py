"""Flattens an answer or an item into a table row: its columns, and the text of each cell.

Objects are flattened by one level: ``payload.x``, ``result.y``. Deeper values are JSON in their cell, so a
column name always has one meaning. A payload or result that is not an object is in the column ``payload``
or ``result``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from json import JSONEncoder
from typing import Any

from leaseq.models import Json

NESTED = ("payload", "result")

# A spreadsheet takes a cell that begins with one of these for a formula; the last four are full-width signs.
_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_RUNS = (*_SIGNS, "\t", "\r", "\n")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
# A sign after any delimiter: with that delimiter a new cell would begin there. Numbers up to the next such
# delimiter are excepted.
_SIGN = f"[{re.escape(''.join(_SIGNS))}]"
_SPLIT = re.compile(rf"([;,|\t])(?={_SIGN})(?!{_NUMBER.pattern}(?:\1|\Z))")
_SIGN_BEHIND = re.compile(rf"(?<=[;,|\t]){_SIGN}")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')

compact_json = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Columns:
    """The columns of a table, gathered from its rows. They are in the order of ``fields``; the columns of a
    flattened object are in its field's place, in the order in which the rows have them."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._columns_by_field: dict[str, dict[str, None]] = {
            name: {} if name in NESTED else {name: None} for name in fields
        }

    def gather(self, shape: Mapping[str, Any]) -> None:
        for name in NESTED:
            if name in shape:
                self._columns_by_field[name].update(dict.fromkeys(_nested_names(name, shape[name])))

    def __len__(self) -> int:
        return sum(map(len, self._columns_by_field.values()))

    def names(self) -> list[str]:
        return [column for columns in self._columns_by_field.values() for column in columns]


def flat(shape: Mapping[str, Any]) -> dict[str, str]:
    """The row as a mapping from column names to cells."""
    cells = {name: cell(value) for name, value in shape.items() if name not in NESTED}
    for name in NESTED:
        if name not in shape:
            continue
        value = shape[name]
        values = value.values() if isinstance(value, dict) else (value,)
        cells.update(zip(_nested_names(name, value), map(cell, values), strict=True))
    return cells


def cell(value: Json) -> str:
    """The text of one cell. Text that a spreadsheet would run as a formula is prefixed with an apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return _STRING.sub(_escaped, compact_json(value))
    text = _SPLIT.sub(r"\1'", value)  # guard: cell-formula-behind
    if value.startswith(_RUNS) and not _NUMBER.fullmatch(value):  # guard: cell-formula
        return "'" + text
    return text


def _escaped(string: re.Match[str]) -> str:
    """A JSON string with signs after a delimiter as ``\\u003d``: an apostrophe would change the value."""
    return _SIGN_BEHIND.sub(lambda sign: f"\\u{ord(sign[0]):04x}", string[0])


def _nested_names(name: str, value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{name}.{key}" for key in value]
    return [name]

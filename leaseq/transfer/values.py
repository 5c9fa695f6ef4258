"""The values of cells: numbers, JSON, text."""

from __future__ import annotations

import json
import pickle
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from json import JSONEncoder
from typing import Any, Literal, TypeAlias, TypeVar, cast

from leaseq import validation
from leaseq.errors import Invalid
from leaseq.models import Json
from leaseq.transfer.rows import BadRow, Row

Kind: TypeAlias = Literal["boolean", "number", "json"]

_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TYPES: dict[Kind | None, tuple[type, ...]] = {
    "boolean": (bool,),
    "number": (int, float),
    "json": (list, dict),
    None: (bool, int, float, list, dict),
}
_RULES: dict[Kind | None, str] = {
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
            if cell is None or (isinstance(cell, str) and not cell.strip()):
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
    raise Invalid(column, _RULES[kind], value=cell)


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


NESTED = ("payload", "result")
Cell = TypeVar("Cell")

# A spreadsheet takes a cell that begins with one of these for a formula; the last four are full-width signs.
_RUNS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_JSON_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
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
    if _FORMULA.match(text) and not _JSON_NUMBER.fullmatch(text):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """The text of a cell that `cell` wrote, without the apostrophe of the guard."""
    return text[1:] if _GUARDED.match(text) else text


def _nested_names(name: str, value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{name}.{key}" for key in value]
    return [name]

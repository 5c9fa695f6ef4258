"""The inputs of a form's fields: one or several by a field's name, or one for each cell of a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from werkzeug.datastructures import MultiDict

from leaseq.webapp.forms.fields import Field
from leaseq.webapp.serving.time_slices import in_slices

Inputs: TypeAlias = Mapping[str, list[str]]
"""The texts of each field: one, none, the ticked ones, or the cells of a table, row by row."""

MORE_ROWS = "more_rows"
"""The name of the button that adds empty rows to a table, for browsers without script. Its value is the
field."""
UPLOAD = "upload"
"""The name of the button that sends the chosen files of a question, for browsers without script. Its value is
the field."""
CHOSEN = "file."
"""The prefix of the names of inputs in which files are chosen."""
_NO_NAMES = ("", "[object File]")  # of an input without a file, whose script has not begun yet
_ADDED_ROWS = 5
_ROW = re.compile("[0-9]{1,4}")


def read_inputs(fields: Iterable[Field], form: MultiDict[str, str]) -> dict[str, list[str]]:
    """The input of each field, with normalized line ends."""
    return {
        field.name: _cells_in(form, field) if field.columns else lines_in(form, field.input_name)
        for field in fields
    }


def lines_in(form: MultiDict[str, str], name: str) -> list[str]:
    """The texts of an input, with the line ends of the page."""
    return [text.replace("\r\n", "\n") for text in form.getlist(name)]


def _cells_in(form: MultiDict[str, str], field: Field) -> list[str]:
    """The cells of a table, row by row. An input's name is that of the field, the row's number, and the
    column: ``answer.orders.0.article``."""
    place_of = cell_finder([field])
    rows = sorted({place[0] for name in in_slices(form) if (place := place_of(name))})
    cells = [
        (lines_in(form, f"{field.input_name}.{row}.{column.path[-1]}") or [""])[0]
        for row in in_slices(rows)
        for column in field.columns
    ]
    if form.get(MORE_ROWS) == field.name:
        more = max(min(_ADDED_ROWS, field.max_rows - len(rows)), 0)
        cells += [""] * (len(field.columns) * more)
    return cells


def cell_finder(fields: Iterable[Field]) -> Callable[[str], tuple[int, Field] | None]:
    """A function that returns the row and the column of an input's name, if it is a cell of a table."""
    tables = [
        (f"{field.input_name}.", {column.path[-1]: column for column in field.columns})
        for field in fields
        if field.columns
    ]

    def place_of(name: str) -> tuple[int, Field] | None:
        for prefix, columns in tables:
            if name.startswith(prefix):
                row, _dot, member = name.removeprefix(prefix).partition(".")
                if member in columns and _ROW.fullmatch(row):
                    return int(row), columns[member]
        return None

    return place_of


def unsent_files(fields: Iterable[Field], form: MultiDict[str, str]) -> dict[str, str]:
    """The names of files that were chosen but not sent, without script, by field."""
    names = {field.name: form.get(CHOSEN + field.name, "") for field in fields if field.kind == "file"}
    return {field: name for field, name in names.items() if name not in _NO_NAMES}


def rows_of(field: Field, cells: list[str]) -> list[list[str]]:
    """The rows of a table, each with the texts of its cells, without the empty ones at its end."""
    width = len(field.columns)
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    while rows and not any(text.strip() for text in rows[-1]):
        rows.pop()
    return rows

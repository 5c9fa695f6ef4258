"""An answer as a row of a table: which columns it has, and what stands in each cell.

Objects are flattened by one level: ``payload.x``, ``result.y``. What lies deeper stands in its cell as JSON,
so that a column's name always means one thing. A payload or result that is no object has a column of its own,
``payload`` or ``result``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from json import JSONEncoder
from typing import Any

from leaseq.model import Json

PLAIN = ("person", "token", "attempt", "finished_at", "late")
NESTED = ("payload", "result")

# What a spreadsheet takes for a formula when a cell begins with it.
_RUNS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")

_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Columns:
    """The columns of a table, gathered from its rows: payload first, then result, each in the order met."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, None]] = {name: {} for name in NESTED}

    def gather(self, shape: Mapping[str, Any]) -> None:
        for name in NESTED:
            self._seen[name].update(dict.fromkeys(_nested_names(name, shape[name])))

    def __len__(self) -> int:
        return 1 + sum(map(len, self._seen.values())) + len(PLAIN)

    def names(self) -> list[str]:
        return ["id", *self._seen["payload"], *self._seen["result"], *PLAIN]


def flat(shape: Mapping[str, Any]) -> dict[str, str]:
    """Column name to cell, ready to be written."""
    found = {name: cell(shape[name]) for name in ("id", *PLAIN)}
    for name in NESTED:
        value = shape[name]
        values = value.values() if isinstance(value, dict) else (value,)
        found.update(zip(_nested_names(name, value), map(cell, values), strict=True))
    return found


def cell(value: Json) -> str:
    """The text of one cell. Text that a spreadsheet would run gets a leading apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return _encode(value)
    if value.startswith(_RUNS) and not _NUMBER.fullmatch(value):
        return "'" + value
    return value


def _nested_names(name: str, value: Json) -> Iterable[str]:
    if isinstance(value, dict):
        return [f"{name}.{key}" for key in value]
    return [name]

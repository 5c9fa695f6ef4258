"""Keyboard shortcuts for choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaseq import Json

ROWS = ("123456789", "qweryip", "sdfj", "zxcvm")
"""Keys for the first field with choices, the second and so on. They exclude the letters that the page itself
uses: A B G H K L N T U on the work page, O to open a picture."""


class Shortcuts:
    """The keys that the form binds; by default, a keyboard row for each field with choices."""

    def __init__(self, bindings: Json) -> None:
        self._bindings: Mapping[str, Json] = bindings if isinstance(bindings, dict) else {}
        self._rows = iter(ROWS)

    def assign(self, field: str, values: Sequence[Json]) -> list[str | None]:
        """The key of each choice of a field."""
        if self._bindings:
            return [self._key(field, value) for value in values]
        row = next(self._rows, "")
        if row == ROWS[0] and all(type(value) is int and 0 <= value <= 9 for value in values):
            return [str(value) for value in values]  # the key 3 selects 3
        keys: list[str | None] = list(row[: len(values)])
        return keys + [None] * (len(values) - len(keys))

    def _key(self, field: str, value: Json) -> str | None:
        for key, choice in self._bindings.items():
            if is_same_value(choice, value) or (isinstance(choice, dict) and _is_of(choice, field, value)):
                return key
        return None


def _is_of(choice: Mapping[str, Json], field: str, value: Json) -> bool:
    return field in choice and is_same_value(choice[field], value)


def is_same_value(one: Json, other: Json) -> bool:
    return type(one) is type(other) and bool(one == other)

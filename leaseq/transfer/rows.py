"""Rows of a file, and the new items made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from leaseq import validation
from leaseq.engine import arguments
from leaseq.errors import Invalid
from leaseq.models import Json, NewItem
from leaseq.suggestions import did_you_mean
from leaseq.transfer.shapes import ITEM_FIELDS, KNOWN_FIELDS

ENVELOPE_FIELDS = ("payload", "id", "priority", "delay", "at", "requires", "due", "max_attempts")
_ENVELOPE = f"{{{', '.join(name if name == 'payload' else f'{name}?' for name in ENVELOPE_FIELDS)}}}"


Remedy: TypeAlias = Literal["quotes", "delimiter", "encoding", "header", "cells"]

REMEDIES: dict[Remedy, str] = {
    "quotes": "to read quotes as text, use --quotes none",
    "delimiter": "name the separator with --delimiter comma, semicolon, tab or pipe",
    "encoding": "name the file's encoding with --encoding, such as cp1252 or utf-16",
    "header": "name the header's line with --header-line, or use --no-header if the file has none",
    "cells": "to keep the cells of a column as text, name it with --text-field",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A valid row; ``line`` is its line, or the first if it spans several."""

    line: int
    value: Json
    span: tuple[int, int] | None = None  # its first and last line; None if it has only one
    raw: bytes | None = None  # for tables, its text, with the line end


@dataclass(frozen=True, slots=True)
class BadRow:
    """A rejected row, and the reason."""

    line: int
    fault: str
    value: Json = None  # its content, as far as it could be read: a row, its cells, or a line's text
    remedy: Remedy | None = None  # the option with which it may be readable
    left_out: tuple[int, int] | None = None  # the first and last line left out; None if it is only one
    too_large: bool = False  # its payload, or the row itself, exceeds the limit
    raw: bytes | None = None  # its text in the file as UTF-8, if kept: for tables, and if it is not JSON
    id: str | None = None  # of a conflict: the id, which an item with another payload has

    @property
    def message(self) -> str:
        """The reason, what to do about it, and which lines are left out if there are several."""
        return self.message_with(REMEDIES)

    def message_with(self, remedies: Mapping[Remedy, str]) -> str:
        """The same message, with other texts for what to do about it."""
        remedy = f": {remedies[self.remedy]}" if self.remedy else ""
        if self.left_out is None:
            return self.fault + remedy
        first, last = self.left_out
        return f"{self.fault}{remedy} (lines {first:,} to {last:,} are left out)"

    @property
    def lines(self) -> int:
        """The number of lines of the file that are left out with it."""
        return self.left_out[1] - self.left_out[0] + 1 if self.left_out else 1


@dataclass(frozen=True, slots=True, eq=False)
class FileItem(NewItem):
    """A new item with the row that it was read from."""

    row: Row = Row(0, None)

    def conflict(self) -> BadRow:
        """The row as a bad one, because an item with its id and another payload exists."""
        fault = (
            f"the id {self.id!r} belongs to an item with other content, and nothing was changed: "
            "give the row another id, or remove that item first"
        )
        row = self.row
        return BadRow(row.line, fault, row.value, left_out=row.span, raw=row.raw, id=self.id)


def from_row(value: Json, id_field: str | None) -> NewItem:
    """The item whose payload is the row itself. If ``id_field`` is given, that field contains its id."""
    if id_field is None:
        return checked_item(NewItem(value))
    if not isinstance(value, dict):
        raise Invalid("id", f"an object with a field {id_field!r}")
    return checked_item(NewItem(value, id=identity(value, id_field)))


def identity(row: dict[str, Json], id_field: str) -> str:
    """The id in a row's field; an integer is converted to text."""
    if id_field not in row:
        raise Invalid("id", f"a field {id_field!r}, which this row does not have")
    id = row[id_field]
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str):
        raise validation.refusal(id_field, "text or a whole number", id)
    return validation.new_item_id(id, id_field)


def from_export(value: Json) -> NewItem:
    """A new item from a row of an export of items, or from an envelope."""
    if isinstance(value, dict) and value.keys() == {*ITEM_FIELDS, *KNOWN_FIELDS}:
        return from_envelope({name: value[name] for name in ITEM_FIELDS})
    return from_envelope(value)


def from_envelope(value: Json) -> NewItem:
    """A new item in the form that REST accepts: an object with payload, id, priority and so on."""
    if not isinstance(value, dict):
        raise validation.refusal("item", f"an object {_ENVELOPE}", value)
    unknown_names = sorted(set(value) - set(ENVELOPE_FIELDS))
    if "payload" not in value:
        raise Invalid("payload", _no_payload(unknown_names))
    if unknown_names:
        suggestion = did_you_mean(unknown_names[0], ENVELOPE_FIELDS)
        limit = f"a field of a new item: {', '.join(ENVELOPE_FIELDS)}"
        raise Invalid(unknown_names[0], f"{limit}; {suggestion}" if suggestion else limit)
    fields = {name: part for name, part in value.items() if part is not None or name == "payload"}
    for name in {"due", "at"} & set(fields):
        fields[name] = utc_time(fields[name], name)
    if "requires" in fields:
        fields["requires"] = validation.skills(fields["requires"], "requires")
    for name in {"priority", "max_attempts"} & set(fields):
        fields[name] = validation.as_integer(fields[name])
    return checked_item(NewItem(**fields))


def _no_payload(unknown_names: list[str]) -> str:
    """What is wrong with an item without a payload: most often, the payload itself was sent as the item."""
    if not unknown_names:
        return "is required"
    near = did_you_mean(unknown_names[0], ("payload",))
    if near:
        return f"is required; {unknown_names[0]!r} is not a field of a new item, {near}"
    are = "is not a field" if len(unknown_names) == 1 else "are not fields"
    shown = ", ".join(map(repr, unknown_names[:5])) + (" and others" if len(unknown_names) > 5 else "")
    wrapped = ", ".join(f'"{name}": …' for name in unknown_names[:5])
    return f'is required, and {shown} {are} of a new item: wrap the payload, {{"payload": {{{wrapped}}}}}'


def checked_item(item: NewItem) -> NewItem:
    """Return the item if the queue will accept it; else raise Invalid. One refused item fails its batch."""
    arguments.new_row(item, "made-later" if item.id is None else item.id)
    return item


def utc_time(value: object, field: str) -> datetime:
    """Parse an RFC 3339 time with an offset, and return it in UTC."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise validation.refusal(field, "a time like 2026-11-21T10:05:00.123Z", value)

"""Rows as they were read, and new items made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq import strict
from leaseq.errors import Invalid
from leaseq.model import Json, NewItem

MAX_DELAY = 315_360_000
ENVELOPE_FIELDS = ("payload", "id", "priority", "delay", "requires", "due", "max_attempts")


@dataclass(frozen=True, slots=True)
class Row:
    """A row that was read well: what stood on this line (the first, where it spans several)."""

    line: int
    value: Json


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of which nothing enters the queue, and why."""

    line: int
    message: str


def from_row(value: Json, id_field: str | None) -> NewItem:
    """The row itself is the payload; its id comes from one of its fields where asked for."""
    strict.dump_json(value, "payload")
    if id_field is None:
        return NewItem(value)
    if not isinstance(value, dict):
        raise Invalid("id", f"an object with a field {id_field!r}")
    if id_field not in value:
        raise Invalid("id", f"a field {id_field!r}, which this row hasn't")
    found = value[id_field]
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    return NewItem(value, id=strict.item_id(found, id_field))


def from_envelope(value: Json) -> NewItem:
    """A new item as REST takes it: the payload beside its id, priority and so on."""
    if not isinstance(value, dict):
        raise Invalid("item", "an object {payload, id?, priority?, delay?, requires?, due?, max_attempts?}")
    unknown = sorted(set(value) - set(ENVELOPE_FIELDS))
    if unknown:
        raise Invalid(unknown[0], "a field of a new item: " + ", ".join(ENVELOPE_FIELDS))
    if "payload" not in value:
        raise Invalid("payload", "is required")
    strict.dump_json(value["payload"], "payload")
    given = {name: found for name, found in value.items() if found is not None or name == "payload"}
    return NewItem(**_checked(given))


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    checked = dict(given)
    if "id" in given:
        strict.item_id(given["id"])
    if "priority" in given:
        strict.integer(given["priority"], "priority", 0, strict.MAX_PRIORITY)
    if "delay" in given:
        strict.number(given["delay"], "delay", 0, MAX_DELAY)
    if "requires" in given:
        if not isinstance(given["requires"], list):
            raise Invalid("requires", "a list of skills")
        checked["requires"] = strict.skills(given["requires"], "requires")
    if "due" in given:
        checked["due"] = due(given["due"])
    if "max_attempts" in given:
        strict.integer(given["max_attempts"], "max_attempts", 1, 1_000)
    return checked


def due(value: object) -> datetime:
    """An RFC 3339 time with its offset, as UTC."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            if found.tzinfo is not None:
                return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Invalid("due", "a time like 2026-11-21T10:05:00.123Z")

"""The fields of a form, one for each property of the queue's ``ask``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from leaseq import Json

Kind = Literal["choice", "choices", "text", "long-text", "number", "integer", "lines", "json"]

PREFIX = "answer."
"""Before the name of every input, so that no property can pass for a field of the page's own."""

ONE_LINE = 120  # a longer text gets a text area
INPUT_TYPES = {"date": "date", "time": "time", "email": "email", "uri": "url"}

WITHOUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Your answer"}},
    "required": ["answer"],
}


EMPTY: Json = object()
"""Nothing stands in a field: null would be a value, which a choice may have."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One member of an enum, and how it stands in the page."""

    value: Json
    text: str  # what the page sends back
    label: str
    key: str | None = None  # the key that picks it


@dataclass(frozen=True, slots=True)
class Field:
    name: str  # the property
    id: str  # in the page
    kind: Kind
    label: str
    help: str
    required: bool
    choices: tuple[Choice, ...] = ()
    input_type: str = "text"
    max_length: int | None = None
    default: Json = EMPTY

    @property
    def input_name(self) -> str:
        return PREFIX + self.name


def fields_of(form: Json) -> tuple[Field, ...]:
    """The fields that a queue's form asks for; one text box where it asks for nothing in particular."""
    ask = form.get("ask") if isinstance(form, dict) else None
    schema = ask if isinstance(ask, dict) else WITHOUT_SCHEMA
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    bound = Keys(form.get("keys") if isinstance(form, dict) else None)
    return tuple(
        _field(number, name, found, name in required, bound)
        for number, (name, found) in enumerate(properties.items(), 1)
    )


class Keys:
    """Which key picks which choice: as the form binds them, else 1 to 9 for the first field with choices."""

    def __init__(self, bound: Json) -> None:
        self._bound: Mapping[str, Json] = bound if isinstance(bound, dict) else {}
        self._numbered: str | None = None

    def of(self, field: str, number: int, value: Json) -> str | None:
        for key, choice in self._bound.items():
            if _same(choice, value) or (isinstance(choice, dict) and _same(choice.get(field), value)):
                return key
        if self._bound or number > 9:
            return None
        self._numbered = self._numbered or field
        return str(number) if self._numbered == field else None


def _field(number: int, name: str, found: Json, required: bool, keys: Keys) -> Field:
    schema: dict[str, Any] = found if isinstance(found, dict) else {}
    members = _members(schema)
    kind: Kind
    if members:
        kind = "choice"
    elif schema.get("type") == "array":
        items: dict[str, Any] = schema["items"] if isinstance(schema.get("items"), dict) else {}
        members = _members(items)
        kind = "choices" if members else "lines" if items.get("type") == "string" else "json"
    else:
        kind = _plain_kind(schema)
    return Field(
        name=name,
        id=f"field-{number}",
        kind=kind,
        label=str(schema.get("title") or name.replace("_", " ").strip().capitalize()),
        help=str(schema.get("description") or ""),
        required=required,
        choices=_choices(name, members, keys),
        input_type=INPUT_TYPES.get(str(schema.get("format")), "text"),
        max_length=schema.get("maxLength") if isinstance(schema.get("maxLength"), int) else None,
        default=schema.get("default", EMPTY),
    )


def _plain_kind(schema: Mapping[str, Any]) -> Kind:
    match schema.get("type"):
        case "string":
            longest = schema.get("maxLength")
            short = schema.get("format") in INPUT_TYPES or (isinstance(longest, int) and longest <= ONE_LINE)
            return "text" if short else "long-text"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case _:
            return "json"


def _members(schema: Mapping[str, Any]) -> list[tuple[Json, str]]:
    """The values to choose from with their labels: of enum, of oneOf with const, of a boolean."""
    if isinstance(schema.get("enum"), list):
        return [(value, _label(value)) for value in schema["enum"]]
    for word in ("oneOf", "anyOf"):
        found = schema.get(word)
        if (
            isinstance(found, list)
            and found
            and all(isinstance(one, dict) and "const" in one for one in found)
        ):
            return [(one["const"], str(one.get("title") or _label(one["const"]))) for one in found]
    if schema.get("type") == "boolean":
        return [(True, "Yes"), (False, "No")]
    return []


def _choices(field: str, members: list[tuple[Json, str]], keys: Keys) -> tuple[Choice, ...]:
    texts = [value if isinstance(value, str) else _json(value) for value, _ in members]
    if len(set(texts)) < len(texts):  # such as 1 beside "1"
        texts = [_json(value) for value, _ in members]
    return tuple(
        Choice(value, text, label, keys.of(field, number, value))
        for number, ((value, label), text) in enumerate(zip(members, texts, strict=True), 1)
    )


def _label(value: Json) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and bool(one == other)

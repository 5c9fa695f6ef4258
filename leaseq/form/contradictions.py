"""Forms that nobody can answer: contradictions that show without trying answers."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Final, TypeAlias

import jsonschema_rs

from leaseq.checkpoints import checkpoint
from leaseq.models import Json

Place: TypeAlias = tuple[str, ...]
"""The names of the members around a subschema, from the outermost."""

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_NUMBER_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_SIZES: Final = {
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
    "string": ("minLength", "maxLength"),
}
_ANY_OF: Final = ("anyOf", "oneOf")
_OF_A_CHOICE: Final = ("type", "minLength", "maxLength", "enum", "const", *_NUMBER_BOUNDS)


def contradiction(schema: Json, place: Place = ()) -> Place | None:
    """The place in a valid schema that no value fits, although every answer needs one there; None if no such
    place shows."""
    checkpoint()
    if not isinstance(schema, dict):
        return place if schema is False else None
    if schema.get("not") in (True, {}):
        return place
    if "enum" in schema or "const" in schema:
        choices = schema["enum"] if "enum" in schema else [schema["const"]]
        rules = {word: schema[word] for word in _OF_A_CHOICE if word in schema}
        if not any(map(jsonschema_rs.Draft202012Validator(rules).is_valid, choices)):
            return place
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", TYPES)
    parts = [
        *(contradiction(part, place) for part in schema.get("allOf", ())),
        *(_of_all(contradiction(part, place) for part in schema[word]) for word in _ANY_OF if word in schema),
        _of_all(_in_type(schema, type, place) for type in types),
    ]
    return next((part for part in parts if part is not None), None)


def _of_all(places: Iterator[Place | None]) -> Place | None:
    """The first place if there is no way without one."""
    found = list(places)
    return None if None in found else found[0]


def _in_type(schema: dict[str, Any], type: str, place: Place) -> Place | None:
    if type in _SIZES:
        low, high = _SIZES[type]
        if schema.get(low, 0) > schema.get(high, inf):
            return place
    if type in ("integer", "number"):
        low, high, above, below = (
            schema.get(word, sign * inf) for word, sign in zip(_NUMBER_BOUNDS, (-1, 1, -1, 1), strict=True)
        )
        if low > high or max(low, above) >= below or above >= high:
            return place
    if type == "object":
        return _in_members(schema, place)
    return _in_entries(schema, place) if type == "array" else None


def _in_members(schema: dict[str, Any], place: Place) -> Place | None:
    required, properties = schema.get("required", ()), schema.get("properties", {})
    if len(required) > schema.get("maxProperties", inf):
        return place
    others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    places = (contradiction(properties.get(name, others), (*place, name)) for name in required)
    return next((found for found in places if found is not None), None)


def _in_entries(schema: dict[str, Any], place: Place) -> Place | None:
    count, first, others = schema.get("minItems", 0), schema.get("prefixItems", []), schema.get("items", True)
    has_choices = schema.get("uniqueItems") and not first and isinstance(others, dict) and "enum" in others
    if has_choices and count > len(others["enum"]):
        return place
    places = (contradiction(entry, place) for entry in [*first, others][: int(count)])
    return next((found for found in places if found is not None), None)

"""Resolves the JSON Schema of one value: follows references, separates null, lists choices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from flask_babel import gettext as _

from leaseq import Json

SCALE = 11  # values, at most, of a range shown as buttons, such as 0 to 10
_DEEPEST = 16

Schema = Mapping[str, Any]


def resolve(schema: Json, root: Schema) -> tuple[dict[str, Any], bool]:
    """The schema with its references followed, and whether null is valid."""
    result: dict[str, Any] = dict(schema) if isinstance(schema, dict) else {}
    nullable = False
    for _step in range(_DEEPEST):
        inner = _follow(result, root)
        if inner is None:
            break
        result, null = inner
        nullable = nullable or null
    kinds = result.get("type")
    if isinstance(kinds, list):
        nullable = nullable or "null" in kinds
        others = [kind for kind in kinds if kind != "null"]
        result["type"] = others[0] if len(others) == 1 else None
    return result, nullable


def _follow(schema: dict[str, Any], root: Schema) -> tuple[dict[str, Any], bool] | None:
    """Follow one step: a reference, an allOf of one, or a choice between one schema and null."""
    if isinstance(schema.get("$ref"), str):
        rest = {word: value for word, value in schema.items() if word != "$ref"}
        return {**_reference_target(schema["$ref"], root), **rest}, False
    for word in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(word)
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            continue
        others = parts if word == "allOf" else [part for part in parts if part.get("type") != "null"]
        if len(others) == 1 and (word == "allOf" or "const" not in others[0]):
            rest = {name: value for name, value in schema.items() if name != word}
            return {**others[0], **rest}, len(others) < len(parts)
    return None


def _reference_target(reference: str, root: Schema) -> dict[str, Any]:
    target: Any = root
    for name in reference.removeprefix("#").split("/")[1:]:
        step = name.replace("~1", "/").replace("~0", "~")
        target = target.get(step) if isinstance(target, dict) else None
    return dict(target) if isinstance(target, dict) and reference.startswith("#") else {}


def members(schema: Schema) -> list[tuple[Json, str]]:
    """The choices with their labels; empty if the value is typed."""
    if isinstance(schema.get("enum"), list):
        return _without_repeats((value, label(value)) for value in schema["enum"])
    if "const" in schema:
        return [(schema["const"], label(schema["const"]))]
    for word in ("oneOf", "anyOf"):
        options = schema.get(word)
        if (
            isinstance(options, list)
            and options
            and all(isinstance(one, dict) and "const" in one for one in options)
        ):
            return _without_repeats(
                (one["const"], str(one.get("title") or label(one["const"]))) for one in options
            )
    if schema.get("type") == "boolean":
        return [(True, label(True)), (False, label(False))]
    return _scale(schema)


def _without_repeats(members: Iterable[tuple[Json, str]]) -> list[tuple[Json, str]]:
    by_value: dict[str, tuple[Json, str]] = {}
    for value, text in members:
        by_value.setdefault(json.dumps(value), (value, text))
    return list(by_value.values())


def _scale(schema: Schema) -> list[tuple[Json, str]]:
    """The choices of a short range of whole numbers, such as a rating from 1 to 5."""
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    if schema.get("type") != "integer" or "multipleOf" in schema:
        return []
    if not isinstance(minimum, int) or not isinstance(maximum, int) or not 0 < maximum - minimum < SCALE:
        return []
    return [(value, str(value)) for value in range(minimum, maximum + 1)]


def label(value: Json) -> str:
    """The text of a value without a title of its own."""
    if isinstance(value, bool):
        return str(_("Yes")) if value else str(_("No"))
    if value is None:
        return str(_("None"))
    if value == "":
        return str(_("(empty)"))
    return value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False)

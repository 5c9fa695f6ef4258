"""A form's schema, read from text, and its limits for a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs
from flask_babel import gettext as _
from flask_babel import ngettext

from leaseq import Json
from leaseq.webapp.i18n import shown_number

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
            and all(isinstance(option, dict) and "const" in option for option in options)
        ):
            return _without_repeats(
                (option["const"], str(option.get("title") or label(option["const"]))) for option in options
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


@dataclass(frozen=True, slots=True)
class Limits:
    """The constraints of a schema that pages show and check."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None  # more than this
    below: float | None = None
    step: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    format: str | None = None


_WORDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "above": "exclusiveMinimum",
    "below": "exclusiveMaximum",
    "step": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
}


def limits_of(schema: Mapping[str, Any]) -> Limits:
    numbers = {name: schema.get(word) for name, word in _WORDS.items()}
    limits: dict[str, Any] = {
        name: value
        for name, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return Limits(**limits, format=schema["format"] if isinstance(schema.get("format"), str) else None)


def limits_text(limits: Limits) -> str:
    """A number's range, as shown next to its field; '' if there is none."""
    least, most, above, below = (
        None if limit is None else shown_number(limit)
        for limit in (limits.minimum, limits.maximum, limits.above, limits.below)
    )
    text = ""
    if least is not None and most is not None:
        text = _("From %(least)s to %(most)s.", least=least, most=most)
    elif least is not None:
        text = _("%(least)s or more.", least=least)
    elif most is not None:
        text = _("%(most)s or less.", most=most)
    if above is not None:
        text += " " + _("More than %(above)s.", above=above)
    if below is not None:
        text += " " + _("Less than %(below)s.", below=below)
    if limits.step is not None and limits.step != 1:
        text += " " + _("In steps of %(step)s.", step=shown_number(limits.step))
    return str(text).strip()


_FORMATS = {
    "date": lambda: str(_("A date, such as 2026-11-21.")),
    "time": lambda: str(_("A time, such as 10:05.")),
    "date-time": lambda: str(_("A date and time, such as 2026-11-21T10:05.")),
    "email": lambda: str(_("An e-mail address, such as ann@example.org.")),
    "uri": lambda: str(_("An address, such as https://example.org/page.")),
}
_TEXTS: dict[str, Callable[[Limits, Any], str]] = {
    "maxLength": lambda limits, text: ngettext(
        "At most %(most)s characters: this is %(num)s too long.",
        "At most %(most)s characters: this is %(num)s too long.",
        len(text) - (limits.max_length or 0),
        most=shown_number(limits.max_length or 0),
    ),
    "minLength": lambda limits, _text: ngettext(
        "At least %(num)s character.", "At least %(num)s characters.", limits.min_length
    ),
    "minItems": lambda limits, _list: ngettext(
        "At least %(num)s of these.", "At least %(num)s of these.", limits.min_items
    ),
    "maxItems": lambda limits, _list: ngettext(
        "At most %(num)s of these.", "At most %(num)s of these.", limits.max_items
    ),
    "format": lambda limits, _text: _FORMATS[limits.format or ""](),
}
"""The text for a limit that a value exceeds, by its word in the schema; `limits_text` for numbers."""


def problem(limits: Limits, value: Json) -> str | None:
    """The problem of a value, in plain words; None if it is within the limits."""
    error = next(_validator(limits).iter_errors(value), None)
    if error is None:
        return None
    text = _TEXTS.get(str(error.schema_path[-1]))
    return str(text(limits, value)) if text else limits_text(limits)


@lru_cache(maxsize=256)
def _validator(limits: Limits) -> jsonschema_rs.Draft202012Validator:
    words = {word: getattr(limits, name) for name, word in _WORDS.items()}
    words["format"] = limits.format if limits.format in _FORMATS else None
    schema = {word: limit for word, limit in words.items() if limit is not None}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)

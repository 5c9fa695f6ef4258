"""Describes a JSON Schema in words: its fields as rows, and their limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

Schema = dict[str, Any]

_VARIANTS = ("anyOf", "oneOf", "allOf")
_SHOWN_ELSEWHERE = {
    "$ref", "additionalProperties", "const", "description", "enum", "format", "items", "properties",
    "required", "title", "type", *_VARIANTS,
}  # fmt: skip
"""Keywords that are shown as separate rows, or with the type. The title repeats the name."""

_RANGES = (
    ("minimum", "maximum", "", ""),
    ("minLength", "maxLength", " character", " characters"),
    ("minItems", "maxItems", " entry", " entries"),
)
_markdown = MarkdownIt("commonmark", {"html": False})


@dataclass(frozen=True, slots=True)
class Field:
    """One row: a field by its path, such as ``form.show[].kind``."""

    name: str
    required: bool
    schema: Schema


def fields_of(schema: Schema) -> list[Field]:
    """The fields, with those of nested objects. A referenced schema has a separate table."""
    return list(_within(schema, ""))


def _within(schema: Schema, name: str) -> Iterator[Field]:
    items = schema.get("items")
    if items:
        if limits(items) or "description" in items:
            yield Field(f"{name}[]", False, items)
        yield from _within(items, f"{name}[]")
    for variant in _variants(schema):
        yield from _within(variant, name)
    start = f"{name}." if name else ""
    for key, value in schema.get("properties", {}).items():
        yield Field(start + key, key in schema.get("required", ()), value)
        yield from _within(value, start + key)
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        yield Field(f"{start}*", False, others)
        yield from _within(others, f"{start}*")


def _variants(schema: Schema) -> Iterator[Schema]:
    for key in _VARIANTS:
        yield from schema.get(key, ())


def limits(schema: Schema) -> list[Markup]:
    """The constraints on a value except its type, each in a few words; other keywords are shown unchanged."""
    parts: list[Markup] = []
    keywords = {key: value for key, value in schema.items() if key not in _SHOWN_ELSEWHERE}
    for minimum, maximum, singular, plural in _RANGES:
        span = _range(keywords.pop(minimum, None), keywords.pop(maximum, None), singular, plural)
        parts += [Markup(span)] if span else []  # noqa: S704 - numbers and our own words
    if schema.get("additionalProperties") is False:
        parts.append(Markup("no other fields"))
    for key, value in keywords.items():
        words = {"pattern": "like", "examples": "such as"}.get(key, key)
        values = value if key == "examples" else [value]
        parts.append(Markup(" or ").join(_code(value, key) for value in values).join((f"{words} ", "")))
    return list(dict.fromkeys(parts + [limit for variant in _variants(schema) for limit in limits(variant)]))


def _range(minimum: float | None, maximum: float | None, singular: str, plural: str) -> str:
    if minimum is None:
        return "" if maximum is None else f"at most {_number(maximum)}{singular if maximum == 1 else plural}"
    if maximum is None:
        return f"at least {_number(minimum)}{singular if minimum == 1 else plural}"
    if minimum == maximum:
        return f"{_number(maximum)}{singular if maximum == 1 else plural}"
    return f"{_number(minimum)} to {_number(maximum)}{plural}"


def _number(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


def _code(value: object, key: str) -> Markup:
    text = value if key in ("pattern", "examples") else json.dumps(value, ensure_ascii=False)
    return Markup("<code>") + escape(text) + Markup("</code>")


def inline(text: str | None) -> Markup:
    """Render a sentence of Markdown."""
    return Markup(nh3.clean(_markdown.renderInline(text or "")))  # noqa: S704 - nh3 sanitizes it

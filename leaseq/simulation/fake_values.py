"""Generates random values for a JSON Schema: the answers of simulated people.

It follows types, choices, bounds, lengths, formats and local references. A schema may require more (a
pattern, a condition); the caller checks the value and reports it if it doesn't fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from leaseq.models import Json

WORDS = "the parcel came late but all of it was there and in good order".split()  # noqa: SIM905 - a sentence
MAX_DEPTH = 8  # levels of recursive references

_FORMATS: dict[str, Callable[[Random], str]] = {
    "date": lambda rng: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "time": lambda rng: f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:00Z",
    "date-time": lambda rng: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T10:00:00Z",
    "email": lambda rng: f"person{rng.randint(1, 99)}@example.org",
    "uri": lambda rng: f"https://example.org/{rng.randint(1, 9_999)}",
    "uuid": lambda rng: f"{rng.getrandbits(32):08x}-0000-4000-8000-{rng.getrandbits(48):012x}",
}


def value_for(schema: Json, rng: Random) -> Json:
    """A value for ``schema``, whose local references point into ``schema`` itself."""
    return _ValueGenerator(schema, rng).make(schema, 0)


class _ValueGenerator:
    def __init__(self, root: Json, rng: Random) -> None:
        self._root = root
        self._rng = rng

    def make(self, schema: Json, depth: int) -> Json:
        if not isinstance(schema, dict):
            return self._text({})
        schema = self._resolve(schema, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._rng.choice(schema["enum"])
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = self._rng.choice(kind)
        return self._of_type(kind, schema, depth)

    def _of_type(self, kind: str, schema: Mapping[str, Any], depth: int) -> Json:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "boolean":
                return self._rng.random() < 0.5
            case "integer" | "number":
                return self._number(kind, schema)
            case "null":
                return None
            case _:
                return self._text(schema)

    def _resolve(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """``schema`` with its reference followed, one branch of each choice taken, and its parts merged."""
        result = dict(schema)
        if depth > MAX_DEPTH:
            return result
        parts = [self._referenced_schema(result.pop("$ref"))] if "$ref" in result else []
        parts += result.pop("allOf", [])
        parts += [self._rng.choice(result.pop(name)) for name in ("anyOf", "oneOf") if result.get(name)]
        for part in parts:
            if isinstance(part, dict):
                result = _merge(result, self._resolve(part, depth + 1))
        return result

    def _referenced_schema(self, reference: str) -> Json:
        schema = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            if not isinstance(schema, dict):
                return {}
            schema = schema.get(step.replace("~1", "/").replace("~0", "~"), {}) if step else schema
        return schema

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Json]:
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {})
        # Optional properties are sometimes left out, as by people, and always beyond the greatest depth.
        names = [
            name
            for name in properties
            if name in required or (depth < MAX_DEPTH and self._rng.random() < 0.8)
        ]
        values = {name: self.make(properties[name], depth + 1) for name in names}
        return values | {name: self._text({}) for name in required - set(properties)}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Json]:
        minimum = schema.get("minItems", 0)
        maximum = schema.get("maxItems", max(minimum, 3))
        items: list[Json] = []
        for _ in range(20 * self._rng.randint(minimum, maximum)):
            item = self.make(schema.get("items", {}), depth + 1)
            if not (schema.get("uniqueItems") and item in items):
                items.append(item)
            if (len(items) >= minimum and self._rng.random() < 0.5) or len(items) >= maximum:
                break
        return items

    def _number(self, kind: str, schema: Mapping[str, Any]) -> float:
        step = schema.get("multipleOf", 1 if kind == "integer" else 0.5)
        low = schema.get("minimum", schema.get("exclusiveMinimum", min(0, schema.get("maximum", 0))))
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low + 10 * step, 10)))
        first, last = math.ceil(low / step), math.floor(high / step)
        first += first * step == schema.get("exclusiveMinimum")
        last -= last * step == schema.get("exclusiveMaximum")
        if first > last:  # no multiple fits; a number between the bounds does if no multiple is required
            return float(low + (high - low) / 2)
        value: float = self._rng.randint(first, last) * step
        return int(value) if kind == "integer" else round(value, 9)  # 3 * 0.1 is not 0.3

    def _text(self, schema: Mapping[str, Any]) -> str:
        minimum, maximum = schema.get("minLength", 0), schema.get("maxLength")
        generate = _FORMATS.get(schema.get("format", ""))
        if generate:
            return generate(self._rng)
        words = self._rng.choices(WORDS, k=self._rng.randint(2, 9))
        text = " ".join(words)
        while len(text) < minimum:
            text += " " + self._rng.choice(WORDS)
        return text if maximum is None else text[:maximum]


def _merge(schema: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    result = {**other, **schema}
    for name in ("properties", "$defs"):
        if name in schema and name in other:
            result[name] = {**other[name], **schema[name]}
    if "required" in schema and "required" in other:
        result["required"] = [*schema["required"], *other["required"]]
    return result

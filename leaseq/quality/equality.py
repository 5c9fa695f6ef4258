"""When two answers are the same, by what a form asks: not character by character."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any
from unicodedata import normalize

from leaseq.models import Json
from leaseq.validation import is_same_json

_MIN_OVERLAP = 0.5  # of two passages or boxes: what both cover, as a share of what either covers
_MAX_REFERENCES = 8


def is_equal(schema: Json, one: Json, other: Json, root: Json = None) -> bool:
    """Whether two answers to a question are the same. ``schema``: the question's; ``root``: the schema in
    which its references point, if that is another one. Both absent (None) are the same.

    Choices and booleans are the same if they are equal; numbers within ``x-tolerance``; texts without
    regard to case, surrounding space and Unicode form; several choices in any order; a ranking in its
    order. Passages, and boxes (``x``, ``y``, ``width``, ``height``), are the same if each overlaps one of
    the other's with the same label: at least half of what either covers is covered by both. Rows of a table
    are the same in any order.
    """
    return _Comparison(schema if root is None else root).is_equal(schema, one, other)


class _Comparison:
    def __init__(self, root: Json) -> None:
        self._root = root

    def is_equal(self, schema: Json, one: Json, other: Json) -> bool:
        if one is None or other is None:
            return one is other
        rules = self._resolved(schema)
        if isinstance(one, str) and isinstance(other, str):
            return _plain(one) == _plain(other)
        if _is_number(one) and _is_number(other):
            tolerance = rules.get("x-tolerance", 0)
            return bool(abs(one - other) <= (tolerance if _is_number(tolerance) else 0))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return self._are_members_equal(rules, one, other)
        if isinstance(one, list) and isinstance(other, list):
            return self._are_lists_equal(rules, one, other)
        return is_same_json(one, other)

    def _resolved(self, schema: Json) -> Mapping[str, Any]:
        """The schema, or the one in ``$defs`` to which it refers."""
        for _ in range(_MAX_REFERENCES):
            reference = schema.get("$ref") if isinstance(schema, Mapping) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            schema = self._root
            for name in reference[2:].split("/"):
                schema = schema.get(name) if isinstance(schema, Mapping) else None
        return schema if isinstance(schema, Mapping) else {}

    def _are_members_equal(
        self, rules: Mapping[str, Any], one: Mapping[str, Json], other: Mapping[str, Json]
    ) -> bool:
        properties = rules.get("properties", {})
        return all(
            self.is_equal(properties.get(name), one.get(name), other.get(name)) for name in {**one, **other}
        )

    def _are_lists_equal(self, rules: Mapping[str, Any], one: list[Json], other: list[Json]) -> bool:
        parts, everything = self._resolved(rules.get("items")), [*one, *other]
        if all(_area(value) for value in everything):
            return _are_paired(one, other, lambda a, b: self._do_overlap(parts, a, b))
        is_table = all(isinstance(value, Mapping) for value in everything)
        if is_table or (("enum" in parts or "oneOf" in parts) and not _is_ranking(rules, parts)):
            return _are_paired(one, other, lambda a, b: self.is_equal(parts, a, b))
        return len(one) == len(other) and all(
            self.is_equal(parts, a, b) for a, b in zip(one, other, strict=True)
        )

    def _do_overlap(self, parts: Mapping[str, Any], one: Any, other: Any) -> bool:
        label = parts.get("properties", {}).get("label")
        if not self.is_equal(label, one.get("label"), other.get("label")):
            return False
        shared = 1.0
        sides, other_sides = _sides(one), _sides(other)
        if sides.keys() != other_sides.keys():
            return False
        for name, (start, end) in sides.items():
            other_start, other_end = other_sides[name]
            shared *= max(0, min(end, other_end) - max(start, other_start))
        union = _area(one) + _area(other) - shared
        return shared >= _MIN_OVERLAP * union


def _sides(value: Any) -> dict[str, tuple[float, float]]:
    """Where a passage or a box begins and ends, in each direction; nothing for other values."""
    if not isinstance(value, Mapping):
        return {}
    names = ("start", "end", "x", "y", "width", "height")
    numbers = {name: value[name] for name in names if _is_number(value.get(name))}
    if numbers.keys() >= {"x", "y", "width", "height"}:
        x, y = numbers["x"], numbers["y"]
        return {"x": (x, x + numbers["width"]), "y": (y, y + numbers["height"])}
    return {"text": (numbers["start"], numbers["end"])} if numbers.keys() >= {"start", "end"} else {}


def _area(value: Any) -> float:
    sides = _sides(value)
    return prod(end - start for start, end in sides.values()) if sides else 0


def _plain(text: str) -> str:
    return normalize("NFC", normalize("NFC", text).strip().casefold())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_ranking(rules: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:
    """Whether a list of choices asks for their order: it has each of them once."""
    values = parts.get("enum", parts.get("oneOf"))
    sizes = {rules.get("minItems"), rules.get("maxItems")}
    return rules.get("uniqueItems") is True and isinstance(values, list) and sizes == {len(values)}


def _are_paired(one: Sequence[Any], other: Sequence[Any], is_pair: Callable[[Any, Any], bool]) -> bool:
    """Whether each of the one can be paired with one of the other, and none is left."""
    left = list(other)
    for value in one:
        place = next((n for n, candidate in enumerate(left) if is_pair(value, candidate)), None)
        if place is None:
            return False
        del left[place]
    return not left

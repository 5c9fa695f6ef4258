"""When two answers are the same, by what a form asks."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq.quality import is_equal

TEXT: dict[str, Any] = {"type": "string"}
CHOICE = {"enum": ["a", "b", 3]}
CHOICES = {"type": "array", "items": {"enum": ["a", "b", "c"]}}
RANKING = {**CHOICES, "uniqueItems": True, "minItems": 3, "maxItems": 3}
LINES = {"type": "array", "items": {"type": "string"}}
ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["article"],
        "properties": {"article": {"type": "string"}, "price": {"type": "number", "x-tolerance": 0.5}},
    },
}
PASSAGES = {"type": "array", "x-widget": "passages", "items": {"type": "object"}}
GROUP = {"type": "object", "properties": {"note": TEXT, "size": {"type": "number", "x-tolerance": 2}}}
ROOT = {"$defs": {"size": {"type": "number", "x-tolerance": 1}}}


def passage(start: int, end: int, label: str | None = None) -> dict[str, Any]:
    return {"start": start, "end": end, "text": "…"} | ({"label": label} if label else {})


def box(x: float, y: float, width: float, height: float) -> dict[str, float]:
    return {"x": x, "y": y, "width": width, "height": height}


@pytest.mark.parametrize(
    ("schema", "one", "other", "equal"),
    [
        (CHOICE, "a", "a", True),
        (CHOICE, "a", "b", False),
        (CHOICE, 3, 3.0, True),
        ({"type": "boolean"}, True, True, True),
        ({"type": "boolean"}, True, 1, False),
        ({"type": "integer"}, 4, 5, False),
        ({"type": "number", "x-tolerance": 0.5}, 4, 4.5, True),
        ({"type": "number", "x-tolerance": 0.5}, 4, 4.6, False),
        ({"type": "number", "x-tolerance": "much"}, 4, 4.1, False),
        (TEXT, " Straße\n", "STRASSE", True),
        (TEXT, "é", "e\u0301", True),
        (TEXT, "yes", "yes.", False),
        (CHOICES, ["a", "b"], ["b", "a"], True),
        (CHOICES, ["a"], ["a", "b"], False),
        (CHOICES, [], [], True),
        (RANKING, ["a", "b", "c"], ["b", "a", "c"], False),
        (RANKING, ["a", "b", "c"], ["a", "b", "c"], True),
        (LINES, ["A ", "b"], ["a", "B"], True),
        (LINES, ["a", "b"], ["b", "a"], False),
        (
            ROWS,
            [{"article": "Cup", "price": 3}, {"article": "Mug"}],
            [{"article": "mug"}, {"article": "cup", "price": 3.4}],
            True,
        ),
        (ROWS, [{"article": "cup", "price": 3}], [{"article": "cup", "price": 4}], False),
        (ROWS, [{"article": "cup"}, {"article": "cup"}], [{"article": "cup"}], False),
        (PASSAGES, [passage(0, 10, "name")], [passage(2, 12, "name")], True),
        (PASSAGES, [passage(0, 10)], [passage(6, 16)], False),
        (PASSAGES, [passage(0, 10, "name")], [passage(0, 10, "place")], False),
        (PASSAGES, [passage(0, 5), passage(20, 30)], [passage(20, 30), passage(0, 5)], True),
        (PASSAGES, [passage(0, 5)], [], False),
        (PASSAGES, [], [], True),
        (PASSAGES, [box(0, 0, 10, 10)], [box(1, 1, 10, 10)], True),
        (PASSAGES, [box(0, 0, 10, 10)], [box(4, 4, 10, 10)], False),
        (PASSAGES, [box(0, 0, 10, 10)], [passage(0, 10)], False),
        (GROUP, {"note": "A", "size": 1}, {"note": "a", "size": 3}, True),
        (GROUP, {"note": "A", "size": 1}, {"note": "a"}, False),
        (GROUP, {"note": "A", "more": [1, {"x": 1}]}, {"note": "a", "more": [1, {"x": 1}]}, True),
        (TEXT, None, None, True),
        (TEXT, None, "", False),
        ({"$ref": "#/$defs/size"}, 1, 2, True),
        ({"$ref": "#/$defs/none"}, 1, 2, False),
        ({"$ref": "https://example.org/size"}, 1, 2, False),
        (True, 1, 1, True),
        (None, {"a": 1}, [1], False),
    ],
)
def test_answers_are_compared_by_what_is_asked(schema: Any, one: Any, other: Any, equal: bool) -> None:
    assert is_equal(schema, one, other, ROOT) is equal
    assert is_equal(schema, other, one, ROOT) is equal
    assert is_equal(schema, one, one, ROOT)

"""Options of `ask` that every entrance refuses, each with the field that the refusal names."""

from __future__ import annotations

import math
from typing import Any


def _question(schema: Any) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {"x": schema}, "required": ["x"]}}


IMPOSSIBLE_FORM = _question({"type": "string", "minLength": 2, "maxLength": 1})
BAD_FORMS: list[Any] = ["text", 7, [], {"asks": {}}, {"ask": {"type": "string"}}, IMPOSSIBLE_FORM]
BAD_SCHEMAS: list[Any] = [
    False,
    {"enum": []},
    {"pattern": "("},
    *({"$ref": url} for url in ("http://localhost/x", "file:///x")),
]
BAD_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    *[({"timeout": value}, "timeout") for value in (0, -1, "1", None, math.nan, math.inf, 4e8, True)],
    *[({"wait": value}, "wait") for value in (-1, "1", 3_601, math.nan, math.inf, True)],
    ({"timeout": 5, "wait": 6}, "wait"),
    *[({"id": value}, "id") for value in ("", "a\nb", "..", 7, "x" * 300)],
    *[({"to": value}, "to") for value in ("", 7, "a\tb")],
    *[({"requires": value}, "requires") for value in (["a,b"], "fr", 7)],
    *[({"priority": value}, "priority") for value in (-1, "1")],
    *[({"form": form}, "form") for form in (*BAD_FORMS, *map(_question, BAD_SCHEMAS))],
    ({"form": {"ask": {"type": "object", "description": "x" * 65_536}}}, "form"),
]

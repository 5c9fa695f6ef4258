"""An answer that does not fit the form: the rule of each keyword, and its limit."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq import Json
from leaseq.form import check_result
from tests.support.refused import refused


@pytest.mark.parametrize(
    ("schema", "answer", "what", "limit"),
    [
        ({"type": ["string", "null"]}, 3, "type", ["null", "string"]),
        ({"enum": ["a", "b"]}, "c", "enum", ["a", "b"]),
        ({"const": 1}, 2, "const", 1),
        ({"minLength": 3}, "ab", "minLength", 3),
        ({"maxLength": 1}, "ab", "maxLength", 1),
        ({"pattern": "^a"}, "b", "pattern", "^a"),
        ({"format": "date"}, "b", "format", "date"),
        ({"minimum": 2}, 1, "minimum", 2),
        ({"maximum": 2}, 3, "maximum", 2),
        ({"exclusiveMinimum": 2}, 2, "exclusiveMinimum", 2),
        ({"exclusiveMaximum": 2}, 2, "exclusiveMaximum", 2),
        ({"multipleOf": 2}, 3, "multipleOf", 2),
        ({"minItems": 1}, [], "minItems", 1),
        ({"maxItems": 1}, [1, 2], "maxItems", 1),
        ({"uniqueItems": True}, [1, 1], "uniqueItems", None),
        ({"minProperties": 1}, {}, "minProperties", 1),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "maxProperties", 1),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, "additionalProperties", ["b"]),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, "unevaluatedProperties", ["b"]),
    ],
)
def test_misfit_has_rule_and_limit_of_keyword(
    schema: dict[str, Any], answer: Json, what: str, limit: Json
) -> None:
    form = {"ask": {"type": "object", "properties": {"q": schema}}}
    with refused("form", "result", question="q") as error:
        check_result(form, {"q": answer})
    refusal = error.value.refusals["q"]
    assert (refusal.rule, refusal.values["what"], refusal.values["limit"]) == ("answer", what, limit)
    assert ("value" in refusal.values) == (not isinstance(answer, dict | list))
    assert error.value.errors == {"q": str(refusal.args[0])}


def test_missing_answer_is_reported_under_its_name() -> None:
    with refused("form", "result", question="q") as error:
        check_result({"ask": {"type": "object", "required": ["q"]}}, {})
    assert error.value.refusals["q"].values["what"] == "required"


@pytest.mark.parametrize(
    "schema", [{"anyOf": [{"type": "string"}]}, {"oneOf": [{}, {}]}, {"not": {}}, {"contains": {"const": 1}}]
)
def test_misfit_of_other_keyword_names_it(schema: dict[str, Any]) -> None:
    with refused("form", "result") as error:
        check_result({"ask": {"type": "object", "properties": {"q": schema}}}, {"q": [2]})
    assert error.value.refusals["q"].values["keyword"] == next(iter(schema))

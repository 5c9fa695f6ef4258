"""Forms that nobody can answer are refused, and no others."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from leaseq.form import check_form
from leaseq.form.contradictions import contradiction
from tests.support.refused import refused

NAME = "x"
IMPOSSIBLE: list[Any] = [
    False,
    {"not": {}},
    {"enum": []},
    {"type": "string", "enum": [1, 2]},
    {"enum": [5], "maximum": 4},
    {"const": "ab", "maxLength": 1},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": ["integer", "number"], "minimum": 1, "maximum": 0},
    {"type": "number", "exclusiveMinimum": 1, "maximum": 1},
    {"type": "number", "minimum": 1, "exclusiveMaximum": 1},
    {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1},
    {"type": "array", "minItems": 1, "maxItems": 0},
    {"type": "array", "minItems": 1, "items": {"enum": []}},
    {"type": "array", "minItems": 2, "prefixItems": [{}, False]},
    {"type": "array", "minItems": 3, "items": {"enum": ["a", "b"]}, "uniqueItems": True},
    {"type": "object", "required": ["a"], "additionalProperties": False},
    {"type": "object", "required": ["a", "b"], "maxProperties": 1},
    {"type": "object", "minProperties": 2, "maxProperties": 1},
    {"allOf": [{}, {"enum": []}]},
    {"anyOf": [False, {"not": True}]},
    {"oneOf": [{"enum": []}]},
]
POSSIBLE: list[Any] = [
    True,
    {},
    {"not": {"type": "string"}},
    {"minLength": 3, "maxLength": 2},  # a number
    {"type": ["string", "null"], "minLength": 3, "maxLength": 2},
    {"type": "number", "minimum": 1, "maximum": 1},
    {"type": "array", "items": False},
    {"type": "array", "minItems": 1, "prefixItems": [{}, False]},
    {"type": "array", "minItems": 3, "items": {"enum": ["a", "b"]}},
    {"type": "object", "properties": {"a": False}},
    {"type": "object", "required": ["a"], "additionalProperties": False, "patternProperties": {"a": {}}},
    {"anyOf": [False, {}]},
    {"$ref": "#/properties/other"},
]


def form(schema: Any, **parts: Any) -> Any:
    properties = {"other": {"type": "string"}, NAME: schema}
    return {"ask": {"type": "object", "properties": properties, "required": [NAME]}, **parts}


def test_question_that_nobody_can_answer_is_refused() -> None:
    for schema in IMPOSSIBLE:
        with refused("form_schema", "form", what="contradiction"):
            check_form(form(schema))
        optional = form(schema)
        del optional["ask"]["required"]
        check_form(optional)
        check_form(form(schema, when={NAME: {"other": "never"}}))  # who answers otherwise is not asked
    for schema in POSSIBLE:
        check_form(form(schema))
    with refused("form_schema", "form", what="contradiction", place=""):
        check_form({"ask": {"type": "object", "minProperties": 1, "maxProperties": 0}})


VALUES: list[Any] = [
    None,
    True,
    False,
    "",
    "a",
    "ab",
    "abc",
    *range(-1, 5),
    0.5,
    1.5,
    [],
    [1],
    ["a"],
    ["a", "b"],
]
VALUES += [["a", "a"], [1, 2, 3], {}, {"a": 1}, {"a": "a", "b": None}, {"b": [1]}, {"a": {"a": 1}}]
SMALL = st.integers(0, 3)


def keywords(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    words: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(["array", "integer", "number", "object", "string", ["string", "null"]]),
        **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], SMALL),
        **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems", "minProperties"], SMALL),
        "enum": st.lists(st.sampled_from(VALUES), max_size=3),
        "const": st.sampled_from(VALUES),
        **dict.fromkeys(["items", "additionalProperties", "not"], children),
        **dict.fromkeys(
            ["allOf", "anyOf", "oneOf", "prefixItems"], st.lists(children, min_size=1, max_size=2)
        ),
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), children),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "uniqueItems": st.booleans(),
    }
    return st.fixed_dictionaries({}, optional=words)


@settings(max_examples=300, deadline=None, database=None)
@given(st.recursive(st.booleans(), keywords, max_leaves=6))
def test_what_somebody_can_answer_is_not_refused(schema: Any) -> None:
    if contradiction(schema) is not None:
        is_valid = jsonschema_rs.Draft202012Validator(schema).is_valid
        assert not [value for value in VALUES if is_valid(value)]

"""Fields from a schema; results from what was typed; and what was typed from a draft."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from webapp.forms import draft_of, fields_of, read_result, typed_in, typed_of

from .conftest import FORM


def asked(schema: Any, name: str = "x", required: bool = True) -> Any:
    return {"ask": {"type": "object", "properties": {name: schema}, "required": [name] if required else []}}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"enum": ["a", "b"]}, "choice"),
        ({"type": "boolean"}, "choice"),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, "choice"),
        ({"type": "string"}, "long-text"),
        ({"type": "string", "maxLength": 50}, "text"),
        ({"type": "string", "format": "date"}, "text"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "array", "items": {"enum": ["a"]}}, "choices"),
        ({"type": "array", "items": {"type": "string"}}, "lines"),
        ({"type": "array"}, "json"),
        ({"type": "object"}, "json"),
        (True, "json"),
        ({}, "json"),
    ],
)
def test_each_kind_of_schema_has_its_widget(schema: Any, kind: str) -> None:
    (field,) = fields_of(asked(schema))
    assert field.kind == kind


def test_without_a_schema_there_is_one_text_box() -> None:
    for form in (None, {}, {"show": ["text"]}):
        (field,) = fields_of(form)
        assert (field.kind, field.name, field.required) == ("long-text", "answer", True)


@pytest.mark.parametrize(
    ("schema", "texts", "value"),
    [
        ({"enum": ["a", 1, None, True]}, ["a"], "a"),
        ({"enum": ["a", 1, None, True]}, ["1"], 1),
        ({"enum": ["a", 1, None, True]}, ["null"], None),
        ({"enum": [1, "1"]}, ['"1"'], "1"),
        ({"enum": [1, "1"]}, ["1"], 1),
        ({"type": "boolean"}, ["false"], False),
        ({"type": "string"}, [" as typed\r\nline "], " as typed\nline "),
        ({"type": "integer"}, [" 42 "], 42),
        ({"type": "integer"}, ["4.0"], 4),
        ({"type": "number"}, ["-3.5e2"], -350.0),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, ["c", "a"], ["a", "c"]),
        ({"type": "array", "items": {"type": "string"}}, ["one\r\n\r\ntwo\r\n"], ["one", "two"]),
        ({"type": "object"}, ['{"a": [1]}'], {"a": [1]}),
    ],
)
def test_what_was_typed_becomes_a_value_and_a_draft_again(schema: Any, texts: list[str], value: Any) -> None:
    fields = fields_of(asked(schema))
    typed = typed_in(fields, MultiDict([("answer.x", text) for text in texts]))
    result, errors = read_result(fields, typed)
    assert (result, errors) == ({"x": value}, {})
    assert type(result["x"]) is type(value)
    again, _ = read_result(fields, typed_of(fields, draft_of(fields, typed)))
    assert again == result


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"enum": ["a"]}, "b"),
        ({"type": "integer"}, "4.5"),
        ({"type": "integer"}, "four"),
        ({"type": "integer"}, "9" * 5_000),
        ({"type": "integer"}, "true"),
        ({"type": "number"}, "1,5"),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "object"}, "{"),
        ({"type": "object"}, "[" * 3_000),
    ],
)
def test_what_is_no_value_is_told_and_kept(schema: Any, text: str) -> None:
    fields = fields_of(asked(schema))
    typed = typed_in(fields, MultiDict({"answer.x": text}))
    result, errors = read_result(fields, typed)
    assert result == {}
    assert errors["x"]
    if not fields[0].choices:
        assert typed_of(fields, draft_of(fields, typed)) == typed


@pytest.mark.parametrize("text", ["", "   ", "\r\n"])
def test_an_empty_field_is_left_out_or_asked_for(text: str) -> None:
    typed = MultiDict({"answer.x": text})
    for schema in ({"type": "string"}, {"type": "integer"}, {"type": "object"}):
        must, may = fields_of(asked(schema)), fields_of(asked(schema, required=False))
        assert read_result(must, typed_in(must, typed))[1] == {"x": "Please answer this."}
        assert read_result(may, typed_in(may, typed)) == ({}, {})


def test_keys_are_one_to_nine_for_the_first_choices_or_as_the_form_binds_them() -> None:
    fields = {field.name: field for field in fields_of(FORM)}
    assert [choice.key for choice in fields["about"].choices] == ["1", "2", "3"]
    assert {choice.key for choice in fields["urgent"].choices} == {None}
    bound = fields_of({**FORM, "keys": {"d": "delivery", "y": {"urgent": True}}})
    assert [choice.key for field in bound[:2] for choice in field.choices] == ["d", None, None, "y", None]


def test_a_default_stands_in_the_field_unless_there_is_a_draft() -> None:
    fields = fields_of(asked({"type": "integer", "default": 3}))
    assert typed_of(fields, None) == {"x": ["3"]}
    assert typed_of(fields, {}) == {"x": []}
    assert typed_of(fields, "a draft of another program") == {"x": ["3"]}

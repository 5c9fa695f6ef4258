"""Fields from a schema, results from typed text, and typed text from a draft."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from leaseq.webapp.forms.choices import ROWS
from leaseq.webapp.forms.fields import fields_of, layout_of
from leaseq.webapp.forms.inputs import read_inputs
from leaseq.webapp.forms.parsing import draft_of, errors_at, inputs_of, read_result
from leaseq.webapp.work.view import PAGE_KEYS
from tests.web.conftest import FORM


@pytest.fixture(autouse=True)
def _request_context(app: Any) -> Any:
    """Run in a request, whose language is that of labels and errors."""
    with app.test_request_context():
        yield


def form_of(schema: Any, required: bool = True) -> Any:
    return {
        "ask": {
            "type": "object",
            "properties": {"x": schema},
            "required": ["x"] if required else [],
            "$defs": {"mark": {"enum": ["good", "bad"]}, "round": {"$ref": "#/$defs/round"}},
        }
    }


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
        ({"type": "array", "items": {"type": "number"}}, "lines"),
        ({"type": "object"}, "json"),
        ({"const": True}, "choice"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "choice"),
        ({"type": "integer", "minimum": 1, "maximum": 50}, "integer"),
        ({"type": "integer", "minimum": 3, "maximum": 3}, "integer"),
        ({"type": "integer", "minimum": 0, "maximum": 1}, "choice"),
        ({"type": "integer", "minimum": 0, "maximum": 10, "multipleOf": 5}, "integer"),
        ({"type": "number", "minimum": 1, "maximum": 5}, "number"),
        ({"type": ["integer", "null"]}, "integer"),
        ({"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"$ref": "#/$defs/mark"}, "choice"),
        ({"$ref": "#/$defs/round"}, "json"),
        (True, "json"),
        ({}, "json"),
    ],
)
def test_each_kind_of_schema_has_its_widget(schema: Any, kind: str) -> None:
    (field,) = fields_of(form_of(schema))
    assert field.kind == kind


@pytest.mark.parametrize(
    ("format", "input_type"),
    [
        ("date", "date"),
        ("time", "time"),
        ("date-time", "datetime-local"),
        ("email", "email"),
        ("uri", "url"),
    ],
)
def test_string_format_selects_browser_input_type(format: str, input_type: str) -> None:
    (field,) = fields_of(form_of({"type": "string", "format": format}))
    assert (field.kind, field.input_type) == ("text", input_type)


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_choice_between_one_schema_and_nothing_else_does_not_allow_null(word: str) -> None:
    (field,) = fields_of(form_of({word: [{"type": "string", "maxLength": 9}]}))
    assert (field.kind, field.nullable) == ("text", False)


def test_form_without_schema_has_single_text_box() -> None:
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
        ({"type": "integer", "minimum": 1, "maximum": 5}, ["3"], 3),
        ({"type": "array", "items": {"type": "number"}}, ["1\r\n2.5\r\n"], [1, 2.5]),
        ({"type": "number", "minimum": 0.5}, ["0.5"], 0.5),
        ({"type": "number", "maximum": 2.5}, ["2.5"], 2.5),
        ({"type": "string", "minLength": 3, "maxLength": 3}, ["yes"], "yes"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            ["a\r\nb"],
            ["a", "b"],
        ),
        ({"type": "string", "format": "time"}, ["10:05"], "10:05:00Z"),
        ({"type": "string", "format": "date-time"}, ["2026-11-21T10:05:30"], "2026-11-21T10:05:30Z"),
        ({"type": ["string", "null"]}, [""], None),
        ({"anyOf": [{"$ref": "#/$defs/mark"}, {"type": "null"}]}, [], None),
        ({"enum": [f"land {n}" for n in range(40)]}, ["LAND 7 "], "land 7"),
        ({"oneOf": [{"const": n, "title": f"Land {n}"} for n in range(40)]}, ["Land 7"], 7),
    ],
)
def test_typed_text_becomes_value_and_survives_draft(schema: Any, texts: list[str], value: Any) -> None:
    fields = fields_of(form_of(schema))
    typed_texts = read_inputs(fields, MultiDict([("answer.x", text) for text in texts]))
    result, errors = read_result(fields, typed_texts)
    assert (result, errors) == ({"x": value}, {})
    assert type(result["x"]) is type(value)
    second_result, _ = read_result(fields, inputs_of(fields, draft_of(fields, typed_texts)))
    assert second_result == result


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"enum": ["a"]}, "b"),
        ({"type": "integer"}, "4.5"),
        ({"type": "integer"}, "four"),
        ({"type": "integer"}, "9" * 5_000),
        ({"type": "integer"}, "true"),
        ({"type": "number"}, "1,5,5"),
        ({"type": "number"}, "1,234"),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "object"}, "{"),
        ({"type": "object"}, "[" * 3_000),
        ({"enum": [f"land {n}" for n in range(40)]}, "land"),
        ({"type": "integer", "minimum": 0}, "-1"),
        ({"type": "number", "exclusiveMinimum": 0}, "0"),
        ({"type": "number", "exclusiveMaximum": 1}, "1"),
        ({"type": "string", "maxLength": 3}, "four"),
        ({"type": "string", "minLength": 3}, "no"),
        ({"type": "string", "format": "email"}, "ann"),
        ({"type": "string", "format": "uri"}, "example"),
        ({"type": "string", "format": "time"}, "noon"),
        ({"type": "string", "format": "date-time"}, "noon"),
        ({"type": "string", "format": "date-time"}, "0001-01-01T00:00:00+14:00"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "one"),
        ({"type": "array", "items": {"type": "integer"}}, "1\ntwo"),
    ],
)
def test_invalid_text_is_reported_and_kept_in_draft(schema: Any, text: str) -> None:
    fields = fields_of(form_of(schema))
    typed_texts = read_inputs(fields, MultiDict({"answer.x": text}))
    result, errors = read_result(fields, typed_texts)
    assert result == {}
    assert errors["x"]
    if not fields[0].choices:
        assert inputs_of(fields, draft_of(fields, typed_texts)) == typed_texts


@pytest.mark.parametrize("text", ["", "   ", "\r\n"])
def test_empty_field_is_omitted_if_optional_and_refused_if_required(text: str) -> None:
    form_data = MultiDict({"answer.x": text})
    for schema in ({"type": "string"}, {"type": "integer"}, {"type": "object"}):
        required_fields, optional_fields = (
            fields_of(form_of(schema)),
            fields_of(form_of(schema, required=False)),
        )
        assert read_result(required_fields, read_inputs(required_fields, form_data))[1] == {
            "x": "Please answer this."
        }
        assert read_result(optional_fields, read_inputs(optional_fields, form_data)) == ({}, {})


def test_choices_get_default_key_rows_or_keys_bound_by_form() -> None:
    fields = {field.name: field for field in fields_of(FORM)}
    assert [choice.key for choice in fields["about"].choices] == ["1", "2", "3"]
    assert [choice.key for choice in fields["urgent"].choices] == ["q", "w"]
    assert [choice.key for choice in fields["tags"].choices] == ["s", "d", "f"]
    (marks_field,) = fields_of(form_of({"type": "integer", "minimum": 0, "maximum": 3}))
    assert [choice.key for choice in marks_field.choices] == ["0", "1", "2", "3"]
    # The focused scale owns the digits: a second one needs no keys of its own, and takes none from others.
    scales = {"a": {"enum": [1, 2, 3]}, "b": {"enum": [1, 2]}, "c": {"enum": [0, 10]}, "d": {"enum": ["x"]}}
    ranking = {
        "items": {"enum": ["y", "z"]},
        "minItems": 2,
        "maxItems": 2,
        "uniqueItems": True,
        "type": "array",
    }
    form = {"ask": {"type": "object", "properties": {**scales, "e": ranking, "f": {"enum": ["v"]}}}}
    assert ["".join(choice.key or "-" for choice in field.choices) for field in fields_of(form)] == [
        "123", "--", "--", "q", "--", "s",
    ]  # fmt: skip
    keys_of_ranking = fields_of({**form, "keys": {"m": "z"}})[4]
    assert [choice.key for choice in keys_of_ranking.choices] == [None, "m"]
    bound_fields = fields_of({**FORM, "keys": {"d": "delivery", "y": {"urgent": True}}})
    assert [choice.key for field in bound_fields[:2] for choice in field.choices] == [
        "d",
        None,
        None,
        "y",
        None,
    ]
    # A question without a key of its own has its row still, without the keys that others have.
    keys = {"2": {"b": 1}, "q": {"d": "x"}}
    fields_with_keys = fields_of({**form, "keys": keys})
    assert ["".join(choice.key or "-" for choice in field.choices) for field in fields_with_keys] == [
        "---", "2-", "--", "q", "--", "1",
    ]  # fmt: skip


def test_choice_keys_do_not_overlap_page_keys() -> None:
    assert set("".join(ROWS)).isdisjoint({*PAGE_KEYS, "o"})


def test_default_fills_field_unless_draft_exists() -> None:
    fields = fields_of(form_of({"type": "integer", "default": 3}))
    assert inputs_of(fields, None) == {"x": ["3"]}
    assert inputs_of(fields, {}) == {"x": []}
    assert inputs_of(fields, "a draft of another program") == {"x": ["3"]}


RECORD = {
    "ask": {
        "type": "object",
        "required": ["name", "place"],
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "place": {
                "type": "object",
                "required": ["right"],
                "properties": {
                    "right": {"type": "boolean"},
                    "correction": {"type": "string", "maxLength": 20},
                    "where": {"type": "object", "required": ["x"], "properties": {"x": {"type": "number"}}},
                },
            },
            "more": {"type": "object", "properties": {"note": {"type": "string"}}},
        },
    }
}


def test_nested_object_becomes_fieldset() -> None:
    fields = fields_of(RECORD)
    assert [field.name for field in fields] == [
        "name",
        "place.right",
        "place.correction",
        "place.where.x",
        "more.note",
    ]
    layout: list[Any] = list(layout_of(fields))
    assert [getattr(entry, "group", None) and entry.group.label for entry in layout] == [
        None,
        "Place",
        "More",
    ]
    assert len(layout[1].members) == 3
    assert layout[1].members[2].group.path == ("place", "where")


def test_object_with_ambiguous_dotted_field_name_is_typed_as_json() -> None:
    inner_schema = {"type": "object", "properties": {"right": {"type": "boolean"}}}
    members = {"place": inner_schema, "place.right": {"type": "string"}, "more": inner_schema}
    fields = fields_of({"ask": {"type": "object", "properties": members}})
    assert [(field.path, field.kind) for field in fields] == [
        (("place",), "json"),
        (("place.right",), "long-text"),
        (("more", "right"), "choice"),
    ]


def test_nested_object_is_in_result_if_required_or_filled() -> None:
    fields = fields_of(RECORD)

    def read(**texts: str) -> Any:
        form_data = MultiDict({"answer." + name.replace("__", "."): text for name, text in texts.items()})
        return read_result(fields, read_inputs(fields, form_data))

    assert read(name="Ann", place__right="true") == ({"name": "Ann", "place": {"right": True}}, {})
    assert read(name="Ann")[1] == {"place.right": "Please answer this."}
    outcome = read(name="Ann", place__right="false", place__where__x="1.5", more__note="so")
    assert outcome == (
        {"name": "Ann", "place": {"right": False, "where": {"x": 1.5}}, "more": {"note": "so"}},
        {},
    )
    typed_texts = inputs_of(fields, outcome[0])
    assert typed_texts["place.where.x"] == ["1.5"]
    assert inputs_of(fields, {"place.where.x": "1.", "place.right": "false"})["place.where.x"] == ["1."]
    assert draft_of(fields, typed_texts) == outcome[0]


def test_nested_error_is_shown_at_its_field() -> None:
    fields = fields_of(RECORD)
    errors = errors_at(fields, {"place.where.x": "a", "name.0": "b", "other": "c"})
    assert errors == {"place.where.x": "a", "name": "b", "other": "c"}


def test_null_choice_has_label(app: Any) -> None:
    with app.test_request_context():
        (field,) = fields_of(form_of({"enum": [None, True, "a", 3]}))
        assert [choice.label for choice in field.choices] == ["None", "Yes", "a", "3"]


def test_rating_is_a_choice_of_few_whole_numbers() -> None:
    stars = {"type": "integer", "minimum": 1, "maximum": 5}
    for schema, widget in (
        ({**stars, "x-widget": "rating"}, "rating"),
        ({"enum": [1, 2, 3], "x-widget": "rating"}, "rating"),
        (stars, ""),
        ({**stars, "maximum": 50, "x-widget": "rating"}, ""),
        ({"enum": ["good", "bad"], "x-widget": "rating"}, ""),
        ({"enum": list(range(12)), "x-widget": "rating"}, ""),
        ({"type": "boolean", "x-widget": "rating"}, ""),
        ({"type": "string", "x-widget": ["rating"]}, ""),
    ):
        (field,) = fields_of(form_of(schema))
        assert field.widget == widget
    (field,) = fields_of(form_of({**stars, "x-widget": "rating"}))
    assert [choice.key for choice in field.choices] == ["1", "2", "3", "4", "5"]
    assert read_result([field], {"x": ["4"]}) == ({"x": 4}, {})
    assert "x" in read_result([field], {"x": ["6"]})[1]

"""Tables: a list of objects with single values, asked as rows of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from leaseq import Invalid, Json
from leaseq.form import check_result
from leaseq.webapp.forms.changes import gone_in_draft, gone_in_form, with_gone
from leaseq.webapp.forms.fields import Field, fields_of
from leaseq.webapp.forms.inputs import read_inputs
from leaseq.webapp.forms.parsing import draft_of, errors_at, inputs_of, read_result
from leaseq.webapp.refusals import reasons_by_field

COLUMNS: dict[str, Any] = {
    "article": {"type": "string", "maxLength": 20},
    "pieces": {"title": "Number of pieces", "type": "integer", "minimum": 1},
    "size": {"enum": ["small", "large"]},
    "gift": {"type": "boolean"},
}


@pytest.fixture(autouse=True)
def _request_context(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def form_of(columns: Json = None, **rules: Any) -> dict[str, Any]:
    item = {"type": "object", "properties": columns or COLUMNS, "required": ["article"]}
    orders = {"type": "array", "items": item, **rules}
    return {"ask": {"type": "object", "properties": {"orders": orders}, "required": ["orders"]}}


def sent(*rows: dict[str, str]) -> MultiDict[str, str]:
    cells = ((row, name, text) for row, texts in enumerate(rows) for name, text in texts.items())
    return MultiDict([(f"answer.orders.{row}.{name}", text) for row, name, text in cells])


def read(form: Json, *rows: dict[str, str]) -> tuple[Any, dict[str, str]]:
    fields = fields_of(form)
    result, errors = read_result(fields, read_inputs(fields, sent(*rows)))
    return result.get("orders"), errors


def only_field(form: Json) -> Field:
    (field,) = fields_of(form)
    return field


def test_which_lists_are_tables() -> None:
    nested = {**COLUMNS, "more": {"type": "object"}}
    many = {f"c{n}": {"type": "string"} for n in range(21)}
    sibling = form_of()
    sibling["ask"]["properties"]["orders.0.article"] = {"type": "string"}
    for form, kind in (
        (form_of(), "rows"),
        (form_of({"a": {"type": ["number", "null"]}}), "rows"),
        (form_of({"a": {"type": "string", "format": "date"}}), "rows"),
        (form_of(nested), "json"),
        (form_of(many), "json"),
        (form_of({"a": {"type": "array", "items": {"type": "string"}}}), "json"),
        (sibling, "json"),
    ):
        assert fields_of(form)[0].kind == kind


def test_rows_become_objects_without_empty_cells_and_empty_rows() -> None:
    rows = (
        {"article": "Filter", "pieces": "1,200", "size": "small", "gift": "false"},
        {"article": " ", "pieces": "", "size": "", "gift": ""},
        {"article": "=1+1", "pieces": "", "size": "", "gift": ""},
        {"article": "", "pieces": "", "size": "", "gift": ""},
    )
    result, errors = read(form_of(), *rows)
    assert errors == {}
    assert result == [
        {"article": "Filter", "pieces": 1200, "size": "small", "gift": False},
        {"article": "=1+1"},
    ]
    check_result(form_of(), {"orders": result})


def test_rows_that_are_refused_name_the_row_and_the_column() -> None:
    filter = {"article": "Filter"}
    for rows, rules, words in (
        ([filter, {"article": "", "pieces": "2"}], {}, ("2", "Article")),
        ([filter, {"article": ""}, {"article": "Mug", "pieces": "two"}], {}, ("3", "Number of pieces")),
        ([filter, {"article": "Mug", "pieces": "0"}], {}, ("2", "Number of pieces")),
        ([{"article": "x" * 21}], {}, ("1", "Article")),
        ([{"article": "Mug", "size": "huge"}], {}, ("1", "Size")),
        ([filter] * 201, {"maxItems": 200}, ("200",)),
        ([filter], {"minItems": 2}, ("2",)),
    ):
        result, errors = read(form_of(**rules), *rows)
        assert result is None
        assert all(word in errors["orders"] for word in words), errors
    assert read(form_of(maxItems=200), *[filter] * 200) == ([filter] * 200, {})
    assert read(form_of()) == ([], {})  # a table may have no rows, unless minItems says otherwise
    assert read(form_of(minItems=1))[1].keys() == {"orders"}


def test_results_of_programs_are_checked_by_the_schema_and_errors_name_the_row() -> None:
    form = form_of(uniqueItems=True, maxItems=200)
    fields = fields_of(form)
    good = [{"article": f"a{n}", "pieces": n} for n in range(1, 201)]
    check_result(form, {"orders": good})
    for orders, words in (
        ([*good, {"article": "one more"}], ("200",)),
        ([{"article": "a"}, {"article": "a"}], ()),
        ([{"article": "a"}, {"pieces": 2}], ()),
        ([{"article": "a"}, {"article": 7}], ("2", "Article")),
        ([{"article": "a"}, "a"], ("2",)),
        ({"article": "a"}, ()),
    ):
        with pytest.raises(Invalid) as caught:
            check_result(form, {"orders": orders})
        (text,) = errors_at(fields, reasons_by_field(caught.value)).values()
        assert all(word in text for word in words), (orders, text)


def test_draft_keeps_what_was_typed_also_what_is_not_valid() -> None:
    fields = fields_of(form_of())
    rows = [
        {"article": "", "pieces": "", "size": "", "gift": ""},
        {"article": "", "pieces": "some", "size": "large", "gift": "true"},
        {"article": "", "pieces": "1,000", "size": "", "gift": ""},
        {"article": "", "pieces": "", "size": "", "gift": ""},
    ]
    inputs = read_inputs(fields, sent(*rows))
    draft = draft_of(fields, inputs)
    typed = {"pieces": "some", "size": "large", "gift": True}
    assert draft == {"orders": [{}, typed, {"pieces": "1,000"}]}
    assert inputs_of(fields, draft)["orders"] == inputs["orders"][:12]
    assert draft_of(fields, inputs_of(fields, draft)) == draft
    assert draft_of(fields, read_inputs(fields, sent({"article": ""}))) == {}


def test_rows_come_from_the_payload() -> None:
    fields = fields_of(form_of())
    guess = [{"article": "Filter", "pieces": 2}, {"article": "Mug", "gift": True}]
    texts = inputs_of(fields, None, {"orders": guess})["orders"]
    assert texts == ["Filter", "2", "", "", "Mug", "", "", "true"]
    assert inputs_of(fields, None, {"orders": 7}) == {"orders": [""] * 4}


def test_cells_that_the_new_questions_can_not_show_are_kept() -> None:
    typed = [{"article": "Filter", "pieces": "2", "size": "small"}, {"article": "Mug", "size": "large"}]
    old_fields = fields_of(form_of())
    old_draft = draft_of(old_fields, read_inputs(old_fields, sent(*typed)))
    without_size = {name: column for name, column in COLUMNS.items() if name != "size"}
    other_sizes = {**COLUMNS, "size": {"enum": ["large", "giant"]}}
    for columns, in_page, in_draft in (
        (without_size, {"orders.0.size": ["small"], "orders.1.size": ["large"]}, ["small", "large"]),
        (other_sizes, {"orders.0.size": ["small"]}, ["small"]),
    ):
        fields = fields_of(form_of(columns))
        assert gone_in_form(fields, sent(*typed)) == in_page
        kept = gone_in_draft(fields, old_draft)["orders"]
        assert all(any(text in line for line in kept) for text in in_draft)
        assert len(kept) == len(in_draft)
        assert inputs_of(fields, old_draft)["orders"].count("Filter") == 1

    other_fields = fields_of({"ask": {"type": "object", "properties": {"note": {"type": "string"}}}})
    gone = gone_in_draft(other_fields, old_draft)
    draft = with_gone({"note": "a note"}, gone)
    assert inputs_of(old_fields, draft) == inputs_of(
        old_fields, old_draft
    )  # the question is back, and its rows
    assert gone_in_draft(old_fields, draft) == {"note": ["a note"]}


def test_page_shows_an_empty_row_until_the_table_is_full() -> None:
    field, full = only_field(form_of()), only_field(form_of(maxItems=2))
    empty = ["", "", "", ""]
    row = ["Mug", "", "", ""]
    assert field.shown_rows([]) == [empty] * 3
    assert field.shown_rows(row * 3) == [row, row, row, empty]
    assert field.shown_rows(row * 3 + empty) == [row, row, row, empty]
    assert full.shown_rows(row) == [row, empty]
    assert full.shown_rows(row * 2) == [row, row]
    assert full.shown_rows(row * 3) == [row, row, row]


def test_more_empty_rows_without_script() -> None:
    fields = fields_of(form_of(maxItems=7))
    form = sent({"article": "Mug"})
    form.add("more_rows", "orders")
    assert len(read_inputs(fields, form)["orders"]) == 4 * 6
    form = sent(*[{"article": "Mug"}] * 7)
    form.add("more_rows", "orders")
    assert len(read_inputs(fields, form)["orders"]) == 4 * 7


def test_names_that_are_no_cells() -> None:
    fields = fields_of(form_of())
    form = MultiDict([(f"answer.orders.{name}", "x") for name in ("-1.article", "²", "0", "99999.article")])
    form.add("answer.orders", "text")
    assert read_inputs(fields, form) == {"orders": []}
    assert gone_in_form(fields, form).keys() == {
        "orders", "orders.-1.article", "orders.²", "orders.0", "orders.99999.article"
    }  # fmt: skip

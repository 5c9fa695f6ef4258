"""Questions with conditions, and rankings, on the work page."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from leaseq.form import KINDS
from leaseq.webapp.forms.fields import QUESTION_KINDS, SHOWN_KINDS, fields_of
from leaseq.webapp.forms.linter import check_text
from leaseq.webapp.forms.parsing import draft_of, inputs_of, read_result
from tests.unit.test_conditions import FORM

RANKING_FORM: dict[str, Any] = {
    "ask": {
        "type": "object",
        "properties": {
            "order": {
                "type": "array",
                "uniqueItems": True,
                "minItems": 3,
                "maxItems": 3,
                "items": {"enum": ["speed", "price", 3]},
            }
        },
    }
}


def texts_by_field(**texts: list[str]) -> dict[str, list[str]]:
    return {field.name: texts.get(field.name, []) for field in fields_of(FORM)}


@pytest.mark.parametrize(
    ("texts", "result", "error_names"),
    [
        ({"about": ["delivery"], "why": ["kept in the page"]}, {"about": "delivery"}, []),
        ({"about": ["refund"]}, {"about": "refund"}, ["why"]),
        ({"about": ["refund"], "why": ["late"]}, {"about": "refund", "why": "late"}, []),
        ({}, {}, ["about"]),
    ],
)
def test_result_contains_only_questions_that_are_asked(
    app: Flask, texts: dict[str, list[str]], result: dict[str, Any], error_names: list[str]
) -> None:
    with app.test_request_context():
        actual, errors = read_result(fields_of(FORM), texts_by_field(**texts))
    assert (actual, sorted(errors)) == (result, error_names)


def test_draft_keeps_answers_to_hidden_questions(app: Flask) -> None:
    with app.test_request_context():
        draft = draft_of(fields_of(FORM), texts_by_field(about=["delivery"], why=["half a reason"]))
    assert draft == {"about": "delivery", "why": "half a reason"}


def test_shown_condition_has_input_name_label_and_texts() -> None:
    why = next(field for field in fields_of(FORM) if field.name == "why")
    (condition,) = why.shown_conditions
    assert (condition.input_name, condition.label, condition.texts) == (
        "answer.about",
        "About",
        ("refund", "abuse"),
    )


@pytest.mark.parametrize(
    ("texts", "result", "is_wrong"),
    [
        (["price", "3", "speed"], {"order": ["price", 3, "speed"]}, False),
        (["", "", ""], {}, False),
        ([], {}, False),
        (["price", "", "speed"], {}, True),
        (["price", "price", "speed"], {}, True),
        (["price", "speed"], {}, True),
        (["price", "speed", "else"], {}, True),
    ],
)
def test_ranking_requires_each_choice_exactly_once(
    app: Flask, texts: list[str], result: dict[str, Any], is_wrong: bool
) -> None:
    fields = fields_of(RANKING_FORM)
    with app.test_request_context():
        actual, errors = read_result(fields, {"order": texts})
        assert (actual, "order" in errors) == (result, is_wrong)
        draft = draft_of(fields, {"order": texts})
    if any(texts) and "else" not in texts:
        assert inputs_of(fields, draft)["order"] == texts


def test_ranking_choices_have_no_keys() -> None:
    (field,) = fields_of(RANKING_FORM)
    assert field.kind == "ranking"
    assert [choice.key for choice in field.choices] == [None, None, None]


@pytest.mark.parametrize("changes", [{"uniqueItems": False}, {"maxItems": 4}, {"minItems": 0}])
def test_list_that_need_not_contain_each_choice_once_is_no_ranking(changes: dict[str, Any]) -> None:
    order = {**RANKING_FORM["ask"]["properties"]["order"], **changes}
    (field,) = fields_of({"ask": {"type": "object", "properties": {"order": order}}})
    assert field.kind == "choices"


def test_a_condition_that_no_choice_meets_is_a_warning(app: Flask) -> None:
    text = """{"ask": {"type": "object", "properties": {"a": {"enum": ["x"]}, "b": {"type": "string"}}},
"when": {"b": {"a": "y"}}}"""
    with app.test_request_context():
        (finding,) = check_text(text).findings
    assert (finding.line, finding.is_error) == (2, False)
    assert "never asked" in finding.text


@pytest.mark.parametrize("schema", ['{"enum": []}', '{"type": "array", "items": {"enum": []}}'])
def test_a_question_without_options_is_a_warning(app: Flask, schema: str) -> None:
    with app.test_request_context():
        (finding,) = check_text('{"ask": {"type": "object", "properties": {\n"a": ' + schema + "}}}").findings
    assert (finding.line, finding.is_error) == (2, False)
    assert "no options" in finding.text


def test_the_builder_offers_every_kind() -> None:
    assert tuple(SHOWN_KINDS) == KINDS
    assert "ranking" in QUESTION_KINDS

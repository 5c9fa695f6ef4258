"""Questions of a form that depend on the answers to others."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import leaseq
from leaseq.form import check_form, check_result, is_asked, only_asked
from leaseq.simulation.people import answer_to
from tests.support.refused import refused

ASK = {
    "type": "object",
    "required": ["about", "why"],
    "additionalProperties": False,
    "properties": {
        "about": {"enum": ["delivery", "refund", "abuse"]},
        "why": {"type": "string"},
        "tags": {"type": "array", "uniqueItems": True, "items": {"enum": ["angry", "polite"]}},
        "who": {"type": "string"},
        "order": {
            "type": "array",
            "uniqueItems": True,
            "minItems": 3,
            "maxItems": 3,
            "items": {"enum": ["a", "b", "c"]},
        },
    },
}
FORM = {
    "ask": ASK,
    "when": {"why": {"about": ["refund", "abuse"]}, "who": {"tags": "angry", "why": "somebody"}},
}


@pytest.mark.parametrize(
    ("result", "question"),
    [
        ({"about": "delivery"}, None),
        ({"about": "delivery", "why": "no reason"}, "why"),
        ({"about": "refund"}, "why"),
        ({"about": "refund", "why": "late"}, None),
        ({"about": "abuse", "why": "somebody", "tags": ["polite", "angry"], "who": "ann"}, None),
        ({"about": "abuse", "why": "somebody", "tags": ["polite"], "who": "ann"}, "who"),
        ({"about": "abuse", "why": "else", "tags": ["angry"], "who": "ann"}, "who"),
        ({"why": "late"}, "about"),
    ],
)
def test_answer_must_contain_exactly_the_questions_asked(
    result: dict[str, Any], question: str | None
) -> None:
    check_form(FORM)
    if question is None:
        check_result(FORM, result)
        return
    with pytest.raises(leaseq.Invalid) as error:
        check_result(FORM, result)
    assert question in error.value.errors


@pytest.mark.parametrize(
    ("result", "name", "values"),
    [
        (
            {"about": "delivery", "why": "no reason"},
            "why",
            {"what": "hidden", "condition": 'about: "refund", "abuse"'},
        ),
        (
            {"about": "refund", "why": "late", "who": "ann"},
            "who",
            {"what": "hidden", "condition": 'tags: "angry"; why: "somebody"'},
        ),
        ({"about": "delivery", "never": 1}, "never", {"what": "none"}),
    ],
)
def test_answer_to_a_question_not_asked_is_refused_with_reason(
    result: dict[str, Any], name: str, values: dict[str, str]
) -> None:
    properties: Any = ASK["properties"]
    form = {**FORM, "ask": {**ASK, "properties": {**properties, "never": False}}}
    with pytest.raises(leaseq.Invalid) as error:
        check_result(form, result)
    assert error.value.refusals[name].values == values


@pytest.mark.parametrize(
    "when",
    [
        [],
        {"why": []},
        {"why": {}},
        {"why": {"about": []}},
        {"why": {"nobody": "asks"}},
        {"nobody": {"about": "refund"}},
        {"why": {"why": "late"}},
        {"about": {"why": "late"}},  # depends on a later question
    ],
)
def test_invalid_condition_is_refused(when: Any) -> None:
    with refused("form_when", "form") as error:
        check_form({"ask": ASK, "when": when})
    assert error.value.field == "form"


def test_condition_without_questions_is_refused() -> None:
    with refused("form_when", what="unknown"):
        check_form({"when": {"why": {"about": "refund"}}})


def test_condition_distinguishes_true_from_1_and_missing_from_null() -> None:
    assert is_asked({"a": [1]}, {"a": 1.0})
    assert not is_asked({"a": [1]}, {"a": True})
    assert is_asked({"a": [None]}, {"a": None})
    assert not is_asked({"a": [None]}, {})


def test_question_depending_on_a_question_not_asked_is_not_asked() -> None:
    answers = {"about": "delivery", "why": "somebody", "tags": ["angry"], "who": "ann", "more": 1}
    assert only_asked(FORM, answers) == {"about": "delivery", "tags": ["angry"], "more": 1}


def test_answers_in_another_order_than_the_questions_meet_their_conditions() -> None:
    answers = {"who": "ann", "tags": ["angry"], "why": "somebody", "about": "refund"}
    assert only_asked(FORM, answers) == answers


def test_simulated_answers_are_valid() -> None:
    dice = Random(7)
    answers = [answer_to(FORM, dice) for _ in range(200)]
    for answer in answers:
        check_result(FORM, answer)
    assert {"why" in answer for answer in answers} == {True, False}

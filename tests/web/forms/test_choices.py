"""Choices: what is matched exactly and what tolerantly, and what browsers submit unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.datastructures import MultiDict

from leaseq import Json
from leaseq.webapp.forms.fields import fields_of
from leaseq.webapp.forms.inputs import read_inputs
from leaseq.webapp.forms.parsing import draft_of, inputs_of, read_result

UNITS = ["m", "M", "mg", "Mg", "MG", "s", "S", "kg", "g", "G", "l", "L", "h", "H", "Pa", "pA"]
BANKS = [
    {"const": "bank-river", "title": "Bank"},
    {"const": "bank-money", "title": "Bank"},
    *({"const": f"s{n}", "title": f"Sense {n}"} for n in range(15)),
]


@pytest.fixture(autouse=True)
def _request_context(app: Flask) -> Iterator[None]:
    with app.test_request_context():
        yield


def form_of(schema: dict[str, Any], required: bool = True) -> Json:
    return {"ask": {"type": "object", "properties": {"x": schema}, "required": ["x"] if required else []}}


def submit(schema: dict[str, Any], *texts: str, required: bool = True) -> tuple[Json, dict[str, str]]:
    """The result and the errors of what a browser submits for these texts."""
    fields = fields_of(form_of(schema, required))
    sent = [text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n") for text in texts]
    return read_result(fields, read_inputs(fields, MultiDict([("answer.x", text) for text in sent])))


@pytest.mark.parametrize("unit", UNITS)
def test_choice_that_is_typed_exactly_is_stored(unit: str) -> None:
    assert submit({"enum": UNITS}, unit) == ({"x": unit}, {})


def test_choice_that_is_typed_tolerantly_is_stored_only_if_a_single_one_fits() -> None:
    assert submit({"enum": UNITS}, " KG ") == ({"x": "kg"}, {})
    assert submit({"enum": UNITS}, "ｋｇ") == ({"x": "kg"}, {})
    result, errors = submit({"enum": UNITS}, "mG")
    assert result == {}
    assert all(unit in errors["x"] for unit in ("mg", "Mg", "MG"))
    fields = fields_of(form_of({"enum": UNITS}))
    assert inputs_of(fields, draft_of(fields, {"x": ["mG"]})) == {"x": ["mG"]}


@pytest.mark.parametrize("choices", [BANKS, BANKS[:3]])
def test_choices_with_the_same_title_are_told_apart_and_others_keep_theirs(choices: list[Json]) -> None:
    (field,) = fields_of(form_of({"oneOf": choices}))
    labels = [choice.label for choice in field.choices]
    assert labels[:3] == ["Bank (bank-river)", "Bank (bank-money)", "Sense 0"]
    for choice in field.choices:
        assert submit({"oneOf": choices}, choice.text) == ({"x": choice.value}, {})


def test_typed_title_of_two_choices_is_asked() -> None:
    result, errors = submit({"oneOf": BANKS}, "Bank")
    assert result == {}
    assert "Bank (bank-money)" in errors["x"]
    assert submit({"oneOf": BANKS}, "bank-money")[0] == {"x": "bank-money"}


STRANGE: list[Json] = [
    "", " ", "\n", "two\r\nlines", "two\nlines", "two\rlines", "\ttab", "a\u2028b", "\u00a0",
    '""', "null", None,
    "1", 1, "true", True, "\x00", [], {}, "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("extra", [0, 20])
@pytest.mark.parametrize("kind", ["one", "several"])
def test_every_choice_can_be_chosen_and_is_stored_exactly(extra: int, kind: str) -> None:
    values = [*STRANGE, *(f"more {n}" for n in range(extra))]
    schema: dict[str, Any] = {"enum": values}
    if kind == "several":
        schema = {"type": "array", "items": schema}
    (field,) = fields_of(form_of(schema))
    assert len({choice.label for choice in field.choices}) == len(values)
    for choice, value in zip(field.choices, values, strict=True):
        result, errors = submit(schema, choice.text)
        expected = [value] if kind == "several" else value
        assert errors == {}
        assert json.dumps(result) == json.dumps({"x": expected})
        assert choice.text in inputs_of([field], result)["x"]


def test_empty_text_is_an_answer_only_if_it_is_chosen() -> None:
    schema = {"enum": ["", "good", "bad"]}
    assert submit(schema)[1] == {"x": "Please answer this."}
    assert submit(schema, "")[1] == {"x": "Please answer this."}
    assert submit(schema, required=False) == ({}, {})
    (field,) = fields_of(form_of(schema))
    assert submit(schema, field.choices[0].text) == ({"x": ""}, {})
    assert field.choices[0].label.strip()

"""Questions of a form that are filled in from the payload."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq.form import check_form, prefilled
from tests.support.refused import refused

FORM = {"prefill": {"label": "guess.label", "score": "guess.score", "plain": "text", "dotted": "a.b"}}


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (
            {"guess": {"label": "cat", "score": 0.5}, "text": "x"},
            {"label": "cat", "score": 0.5, "plain": "x"},
        ),
        ({"guess": {"label": "cat"}}, {"label": "cat"}),
        ({"guess": {"label": None}}, {}),
        ({"guess": "cat"}, {}),
        ({"a.b": 1}, {"dotted": 1}),
        ({"text": False}, {"plain": False}),
        ({"text": ["a"]}, {"plain": ["a"]}),
        ({}, {}),
        ("text", {}),
        (None, {}),
    ],
)
def test_questions_are_prefilled_from_the_payload(payload: Any, found: dict[str, Any]) -> None:
    assert prefilled(FORM, payload) == found


def test_form_without_prefill_fills_nothing_in() -> None:
    assert prefilled(None, {"a": 1}) == {}
    assert prefilled({"show": ["a"]}, {"a": 1}) == {}


@pytest.mark.parametrize("prefill", [[], "label", {"label": 1}, {"label": ""}, {"label": {"a": "b"}}, None])
def test_invalid_prefill_is_refused(prefill: Any) -> None:
    with refused("format", "form", what="form_prefill"):
        check_form({"prefill": prefill})

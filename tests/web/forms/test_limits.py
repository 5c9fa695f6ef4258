"""The texts for limits next to a field, in the singular and the plural."""

from __future__ import annotations

import pytest
from flask import Flask

from leaseq.webapp.forms.schema import limits_of, limits_text, problem
from leaseq.webapp.search.criteria import description_of, search_of


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, ""),
        ({"minimum": 1, "maximum": 5_000}, "From 1 to 5,000."),
        ({"minimum": 1}, "1 or more."),
        ({"maximum": 5}, "5 or less."),
        ({"exclusiveMinimum": 0}, "More than 0."),
        ({"exclusiveMaximum": 1}, "Less than 1."),
        ({"minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}, "1 or more. Less than 9. In steps of 2."),
        ({"multipleOf": 1}, ""),
    ],
)
def test_limits_of_number_are_described(app: Flask, schema: dict[str, float], text: str) -> None:
    with app.test_request_context():
        assert limits_text(limits_of(schema)) == text


@pytest.mark.parametrize(
    ("number", "characters", "people"),
    [
        (1, "At least 1 character.", "given back by 1 person or more"),
        (2, "At least 2 characters.", "given back by 2 people or more"),
    ],
)
def test_limit_texts_use_singular_and_plural(app: Flask, number: int, characters: str, people: str) -> None:
    with app.test_request_context():
        assert problem(limits_of({"minLength": number}), "") == characters
        assert people in description_of(search_of({"state": "inbound", "back": str(number)}))

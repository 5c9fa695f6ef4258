"""Values are compared as JSON, and not as Python compares them."""

from __future__ import annotations

import pytest

from leaseq.models import Json
from leaseq.validation import is_same_json


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}), ([], ()), (None, None), ("é", "é")],
)
def test_same_json(one: Json, other: Json) -> None:
    assert is_same_json(one, other)
    assert is_same_json(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (0.0, False),
        ([1], [True]),
        ({"a": {"b": 0}}, {"a": {"b": False}}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ([1], [1, 1]),
        ([], {}),
        ("1", 1),
        (2**53 + 1, float(2**53)),
    ],
)
def test_other_json(one: Json, other: Json) -> None:
    assert not is_same_json(one, other)
    assert not is_same_json(other, one)

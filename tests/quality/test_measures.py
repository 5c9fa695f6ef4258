"""Figures of agreement: equal to those of other implementations, and none where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leaseq
from leaseq.quality import Agreement, agreement

CASES = json.loads((Path(__file__).parent / "agreement.json").read_text())  # by tools/agreement_fixtures.py


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_figures_equal_those_of_other_implementations(case: dict[str, Any]) -> None:
    for level, alpha in case["alpha"].items():
        found = agreement(case["rows"], level)
        assert found.alpha == close(alpha), level
        for name in ("cohen", "fleiss"):
            if name in case:
                assert getattr(found, name) == close(case[name])
            else:
                assert found.undefined[name] == "unequal-counts"


def test_published_table_has_its_published_alphas() -> None:
    rows = CASES[0]["rows"]
    alphas = [agreement(rows, level).alpha or 0 for level in ("nominal", "ordinal", "interval")]
    assert [round(alpha, 3) for alpha in alphas] == [0.743, 0.815, 0.849]


def test_ac1_is_not_misled_where_one_answer_dominates() -> None:
    """K. L. Gwet's point: alpha calls two people bad who agree on what is nearly always fine."""
    rows = [["fine", "fine"]] * 946 + [["fine", "bad"]] * 18 + [["bad", "fine"]] * 18 + [["bad", "bad"]] * 18
    found = agreement(rows)
    assert found.percent == close(0.964)
    assert found.alpha is not None
    assert found.ac1 is not None
    assert (round(found.alpha, 3), round(found.ac1, 3)) == (0.482, 0.961)
    # 1 - 2 p (1 - p) by hand, with p = .036: (0.964 - 0.069408) / (1 - 0.069408)
    assert found.ac1 == close((0.964 - 2 * 0.036 * 0.964) / (1 - 2 * 0.036 * 0.964))


@pytest.mark.parametrize(
    ("rows", "n", "undefined"),
    [
        ([], 0, dict.fromkeys(("percent", "alpha", "ac1", "cohen", "fleiss"), "too-few")),
        ([[], [1], [2]], 0, dict.fromkeys(("percent", "alpha", "ac1", "cohen", "fleiss"), "too-few")),
        ([["a", "a"], ["a", "a"]], 2, dict.fromkeys(("alpha", "ac1", "cohen", "fleiss"), "one-value")),
        ([["a", "b"], ["a", "b", "b"]], 2, {"cohen": "unequal-counts", "fleiss": "unequal-counts"}),
        ([["a", "b"], ["a"]], 1, {"cohen": "unequal-counts"}),
    ],
)
def test_undefined_figures_have_a_reason(rows: list[list[Any]], n: int, undefined: dict[str, str]) -> None:
    found = agreement(rows)
    assert (found.n, found.undefined) == (n, undefined)
    for name in ("percent", "alpha", "ac1", "cohen", "fleiss"):
        assert (getattr(found, name) is None) == (name in undefined)


def test_values_of_any_json_are_compared() -> None:
    rows: list[list[Any]] = [[["a", "b"], ["a", "b"]], [{"x": [1]}, {"x": [1]}], [True, 1], [None, None]]
    found = agreement(rows)
    assert found.percent == close(0.75), "true is not 1"


@pytest.mark.parametrize(
    ("values", "level", "field"),
    [
        ([[1, 2]], "ratio", "level"),
        ([["1", "2"]], "interval", "values"),
        ([[True, False]], "ordinal", "values"),
        ([[1, float("nan")]], "interval", "values"),
    ],
)
def test_bad_values_are_refused(values: Any, level: Any, field: str) -> None:
    with pytest.raises(leaseq.Invalid) as refused:
        agreement(values, level)
    assert refused.value.field == field


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=20))
def test_figures_are_bounded_and_do_not_depend_on_the_order_of_items(rows: list[list[int]]) -> None:
    found, other = agreement(rows, "interval"), agreement(rows[::-1], "interval")
    for name in ("percent", "alpha", "ac1", "cohen", "fleiss"):
        value, other_value = getattr(found, name), getattr(other, name)
        assert (value is None) == (other_value is None)
        assert value is None or (-1e9 < value <= 1 + 1e-12 and other_value == close(value))
    assert found.percent is None or found.percent >= 0
    assert isinstance(found, Agreement)

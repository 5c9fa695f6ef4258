"""A form's patterns run in linear time and are limited in size, so no answer blocks a thread."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from leaseq import Invalid
from leaseq.form import check_form, check_result
from leaseq.form.schema_size import OPTIONS


def form_with(pattern: str) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}}


@pytest.mark.parametrize("pattern", ["(?=a)a", "(a)\\1", "(?<!a)b"])
def test_unsupported_pattern_is_refused_when_form_is_set(pattern: str) -> None:
    with pytest.raises(Invalid) as error:
        check_form(form_with(pattern))
    assert error.value.field == "form"


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "^([a-z]+)*b$"])
def test_backtracking_pattern_runs_in_linear_time(pattern: str) -> None:
    check_form(form_with(pattern))
    with pytest.raises(Invalid):
        check_result(form_with(pattern), {"a": "a" * 50_000 + "!"})


HUGE = ["(a{100}){99}b", "a{9999}b", "[a-z]{1,2000}[0-9]"]


@pytest.mark.parametrize("pattern", HUGE)
@pytest.mark.parametrize(
    "schema_of",
    [
        lambda pattern: {"type": "string", "pattern": pattern},
        lambda pattern: {"type": "object", "patternProperties": {pattern: {"type": "string"}}},
        lambda pattern: {"type": "object", "propertyNames": {"pattern": pattern}},
        lambda pattern: {"type": "array", "items": {"anyOf": [{"pattern": pattern}, {"type": "null"}]}},
        lambda pattern: {"$defs": {"x": {"pattern": pattern}}, "$ref": "#/properties/code/$defs/x"},
    ],
    ids=["pattern", "patternProperties", "propertyNames", "nested", "reference"],
)
def test_huge_pattern_is_refused_with_its_question(pattern: str, schema_of: Any) -> None:
    ask = {"type": "object", "properties": {"note": {"type": "string"}, "code": schema_of(pattern)}}
    with pytest.raises(Invalid) as error:
        check_form({"ask": ask})
    assert error.value.field == "form"
    assert pattern in str(error.value)
    assert "code" in str(error.value)
    assert "note" not in str(error.value)


@pytest.mark.parametrize("pattern", HUGE)
@pytest.mark.guard("pattern-time")
def test_compiled_size_is_limited_in_validator(pattern: str) -> None:
    with pytest.raises((ValueError, jsonschema_rs.ValidationError)):
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=OPTIONS)


@pytest.mark.parametrize(
    "pattern",
    [r"^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}$", r"^\+?[0-9 ()/-]{5,30}$", r"^\w+([.-]\w+)*@\w+([.-]\w+)+$"],
)
def test_usual_pattern_is_accepted(pattern: str) -> None:
    check_form(form_with(pattern))


@pytest.mark.guard("pattern-text")
def test_text_for_expensive_pattern_is_limited() -> None:
    form = form_with("^(a|b)*a(a|b){300}c")
    form["ask"]["properties"]["note"] = {"type": "string"}
    check_form(form)
    check_result(form, {"a": "a" * 400 + "c", "note": "x" * 200_000})
    with pytest.raises(Invalid) as error:
        check_result(form, {"a": "a" * 20_000 + "c"})  # it would fit
    assert list(error.value.errors) == ["a"]


def test_text_is_limited_by_how_often_patterns_are_matched_on_it() -> None:
    patterns = [{"pattern": f"a{number}"} for number in range(300)]
    form = {"ask": {"type": "object", "properties": {"a": {"anyOf": [*patterns, {"type": "string"}]}}}}
    check_form(form)
    check_result(form, {"a": "b" * 1_000})
    with pytest.raises(Invalid):
        check_result(form, {"a": "b" * 100_000})


@pytest.mark.guard("patterns-total")
def test_patterns_are_limited_together() -> None:
    questions = {
        f"q{number}": {"type": "string", "pattern": f"(a|b)*a(a|b){{700}}{number}"} for number in range(30)
    }
    with pytest.raises(Invalid) as error:
        check_form({"ask": {"type": "object", "properties": questions}})
    assert error.value.field == "form"

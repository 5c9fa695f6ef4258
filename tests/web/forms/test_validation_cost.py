"""The cost of validating an answer is limited when the form is set, not when answers arrive."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from leaseq import Invalid
from leaseq.form import check_form, check_result
from tests.support.refused import refused

MEGABYTE = 1_048_576
CHECK_PROGRAM = """
import json, resource, sys
from leaseq import Invalid
from leaseq.form import check_result
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
try:
    check_result(*json.load(sys.stdin))
except Invalid as error:
    print(json.dumps([error.field, str(error), error.errors]))
"""


def form_of(schema: dict[str, Any], **defs: Any) -> dict[str, Any]:
    return {"ask": {"type": "object", "properties": {"a": schema}, "$defs": defs}}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def doubling_form(times: int, word: str = "allOf") -> dict[str, Any]:
    """A form in which each definition refers twice to the one before."""
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for step in range(1, times + 1):
        defs[f"d{step}"] = {word: [ref(f"d{step - 1}"), ref(f"d{step - 1}")]}
    return form_of(ref(f"d{times}"), **defs)


def check_in_small_process(form: Any, result: Any, megabytes: int = 512) -> tuple[str, str, dict[str, str]]:
    """Check a form in a process with limited memory; return field, text and errors of the refusal."""
    completed = subprocess.run(
        [sys.executable, "-c", CHECK_PROGRAM, str(megabytes * MEGABYTE)],
        input=json.dumps([form, result]),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert completed.returncode == 0, completed.stderr[-2_000:]
    field, text, errors = json.loads(completed.stdout)
    return field, text, errors


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_exponential_references_are_refused_when_form_is_set(word: str) -> None:
    form = doubling_form(14, word)
    assert len(json.dumps(form)) < 1_100
    with refused("form_too_large", "form", what="checks"):
        check_form(form)


@pytest.mark.parametrize(
    "word",
    [
        "not",
        "if",
        "then",
        "else",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "propertyNames",
        "additionalProperties",
        "unevaluatedProperties",
    ],
)
def test_costly_schema_is_found_under_each_keyword(word: str) -> None:
    form = doubling_form(14)
    form["ask"]["properties"]["a"] = {word: form["ask"]["properties"]["a"]}
    with refused("form_too_large", "form"):
        check_form(form)


@pytest.mark.parametrize("word", ["dependentSchemas", "dependencies", "patternProperties"])
def test_costly_schema_is_found_under_each_keyword_with_names(word: str) -> None:
    form = doubling_form(14)
    form["ask"]["properties"]["a"] = {word: {"x": form["ask"]["properties"]["a"]}}
    with refused("form_too_large", "form"):
        check_form(form)


@pytest.mark.guard("checks-limit")
def test_a_recursion_that_doubles_at_each_level_of_an_answer_is_refused() -> None:
    schema = {"allOf": [{"properties": {"x": ref("t")}}, {"properties": {"x": ref("t")}}]}
    with refused("form_too_large", "form"):
        check_form(form_of(ref("t"), t=schema))


@pytest.mark.guard("subschemas-limit")
def test_definitions_that_multiply_the_fields_of_a_page_are_refused() -> None:
    """100 fields of 100 fields of 100 fields, in 10 kB."""
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for step in (1, 2):
        fields = {f"field{number}": ref(f"d{step - 1}") for number in range(100)}
        defs[f"d{step}"] = {"type": "object", "properties": fields}
    form = form_of(ref("d2"), **defs)
    form["ask"]["properties"] = {f"field{number}": ref("d2") for number in range(100)}
    with refused("form_too_large", "form"):
        check_form(form)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"label": {"type": "string"}, "parts": {"items": ref("node")}}},
        {"type": "object", "properties": {"left": ref("node"), "right": ref("node")}},
        {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": ref("node")}]},
    ],
)
def test_recursive_tree_schema_is_accepted(schema: dict[str, Any]) -> None:
    form = form_of(ref("node"), node=schema)
    check_form(form)
    check_result(form, {"a": {"left": {"right": {}}}})


def test_references_by_anchor_and_by_id_count_towards_limit() -> None:
    anchor_schema = {"$anchor": "t", "allOf": [{"properties": {"x": {"$ref": "#t"}}}] * 2}
    with refused("form_too_large", "form"):
        check_form(form_of({"$ref": "#t"}, t=anchor_schema))
    id_schema = {"$id": "https://example.org/t", "allOf": [{"properties": {"x": {"$ref": "t"}}}] * 2}
    with refused("form_too_large", "form"):
        check_form(form_of({"$ref": "https://example.org/t"}, t=id_schema))
    dynamic_schema = {"$dynamicAnchor": "t", "allOf": [{"properties": {"x": {"$dynamicRef": "#t"}}}] * 2}
    with refused("form_too_large", "form"):
        check_form(form_of({"$ref": "#t"}, t=dynamic_schema))


def test_form_with_many_fields_and_rules_is_accepted() -> None:
    fields = {f"field{number}": {"type": "string", "maxLength": 100} for number in range(300)}
    rules = [{"if": {"required": [name]}, "then": {"minProperties": 2}} for name in list(fields)[:100]]
    check_form({"ask": {"type": "object", "properties": fields, "allOf": rules}})


def test_form_stored_before_limit_is_refused_when_answer_is_checked() -> None:
    field, text, _errors = check_in_small_process(doubling_form(18), {"a": 5})
    assert field == "form"
    assert "references" in text


@pytest.mark.guard("result-values")
def test_answer_with_many_errors_reports_only_first_error() -> None:
    form = form_of({"type": "array", "items": {"type": "string"}})
    field, text, errors = check_in_small_process(form, {"a": [1] * 125_000}, megabytes=200)
    assert field == "result"
    assert errors == {"a.0": "expected a value of the type string, got the number 1"}
    assert "a.0" in text


@pytest.mark.guard("result-bytes")
def test_error_does_not_repeat_large_answer() -> None:
    form = {"ask": {"type": "object", "anyOf": [{"maxProperties": 0}] * 900}}
    field, text, errors = check_in_small_process(form, {"a": "x" * 260_000})
    assert field == "result"
    assert list(errors) == ["result"]
    assert len(text) < 1_000


def test_error_names_place_only_in_answers_up_to_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaseq.form._MAX_COPIED_BYTES", len('"four"'))
    reasons = []
    for result in ("four", "fives"):
        with refused("form", "result") as error:
            check_result({"ask": {"type": "object"}}, result)
        reasons.append(error.value.values["why"])
    assert "four" in reasons[0]
    assert "fives" not in reasons[1]


@pytest.mark.guard("error-count", "error-length")
def test_errors_of_answer_are_limited_in_number_and_length() -> None:
    fields = {f"field{number:03}{'x' * 300}": {"enum": ["long " * 100]} for number in range(300)}
    form = {"ask": {"type": "object", "properties": fields}}
    with pytest.raises(Invalid) as error:
        check_result(form, dict.fromkeys(fields, "short"))
    assert len(error.value.errors) == 100
    assert max(len(path) for path in error.value.errors) <= 300
    assert max(map(len, error.value.errors.values())) <= 300
    assert len(str(error.value)) < 700


@pytest.mark.guard("unevaluated-times")
def test_nested_unevaluated_properties_rules_are_refused() -> None:
    """Twenty nested rules took a minute to validate an answer."""
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": False}
    for _ in range(20):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    with refused("form_too_large", "form", what="checks"):
        check_form({"ask": {"type": "object", **schema}})


def test_reference_cycle_on_same_value_is_refused() -> None:
    with refused("form_schema", "form", what="cycle"):
        check_form(form_of(ref("a"), a={"allOf": [ref("b")]}, b={"anyOf": [ref("a"), {"type": "string"}]}))


@pytest.mark.parametrize(
    "reference", ["https://example.org/s", "https://json-schema.org/draft/2020-12/schema", "#/nowhere", "#no"]
)
@pytest.mark.guard("remote-ref")
def test_reference_outside_form_is_refused(reference: str) -> None:
    with refused("form_schema", "form", what="reference"):
        check_form(form_of({"$ref": reference}))

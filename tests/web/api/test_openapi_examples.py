"""The description of REST is valid OpenAPI, and each of its examples matches its schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from leaseq.sentences import RULES
from leaseq.webapp.api.enqueue import LINES


def media(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every described body: its place, and the schema and examples of its media type."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
            for name, body in bodies.items():
                for kind, content in (body.get("content") or {}).items():
                    yield f"{method} {path} {name} {kind}", content


def test_description_matches_openapi_3_1_schema(document: dict[str, Any]) -> None:
    from schemathesis.specs.openapi.definitions import OPENAPI_31  # it imports much, so not in every worker

    schema = jsonschema_rs.Draft202012Validator(OPENAPI_31)
    assert [error.message for error in schema.iter_errors(document)] == []


def test_every_body_has_examples_matching_its_schema(filled_document: dict[str, Any]) -> None:
    count = 0
    for where, content in media(filled_document):
        schema = {**content["schema"], "components": filled_document["components"]}
        validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        if where.endswith("/items request application/x-ndjson"):
            assert content["schema"]["description"].endswith(LINES), "clients of one body use the other"
            continue
        assert content.get("examples"), where
        for name, example in content["examples"].items():
            errors = [error.message for error in validator.iter_errors(example["value"])]
            assert errors == [], f"{where} {name}"
            count += 1
    assert count > 400


def rules_in(value: Any) -> Iterator[tuple[str, str, str]]:
    """Each rule in a value, with its code, if it has one, and the kind of the rule."""
    if isinstance(value, list):
        for element in value:
            yield from rules_in(element)
    elif isinstance(value, dict):
        if isinstance(value.get("rule"), str):
            yield value["rule"], value.get("code", ""), value["values"].get("what", "")
        for element in value.values():
            yield from rules_in(element)


def test_rules_in_examples_exist(filled_document: dict[str, Any]) -> None:
    rules = set(rules_in([content.get("examples") for _, content in media(filled_document)]))
    assert len(rules) > 10
    for rule, code, what in rules:
        group = RULES.get(rule)
        assert group or rule == code, rule
        assert not isinstance(group, dict) or what in group, (rule, what)


def check_fields_shown(document: dict[str, Any], schema: dict[str, Any], value: Any, where: str) -> None:
    """Fail if an object in the value lacks a field of its schema."""
    for choice in schema.get("anyOf", ()):
        if (value is None) == (choice.get("type") == "null"):
            check_fields_shown(document, choice, value, where)
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        for one in value:
            check_fields_shown(document, schema.get("items", {}), one, where)
    elif isinstance(value, dict) and "properties" in schema:
        assert set(value) == set(schema["properties"]), where
        if {"how", "ended_at"} <= set(value):
            assert (value["how"] == "held") == (value["ended_at"] is None), f"{where}: a grant"
        for name, one in value.items():
            if name == "form":  # shown as its author wrote it
                continue
            check_fields_shown(document, schema["properties"][name], one, f"{where} {name}")


def test_response_examples_show_every_field(document: dict[str, Any]) -> None:
    """Absent values are null, not left out, so an example without a field misleads."""
    for where, content in media(document):
        ref = content["schema"].get("$ref")
        if ref is None or " request " in where or "problem" in ref.lower():
            continue
        for example in content["examples"].values():
            check_fields_shown(document, content["schema"], example["value"], where)


def test_each_path_parameter_has_example(document: dict[str, Any]) -> None:
    missing = [
        (path, parameter["name"])
        for path, item in document["paths"].items()
        for operation in item.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "path" and "example" not in parameter
    ]
    assert missing == []


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """A value's objects, including itself."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(one)


def test_example_payloads_results_and_drafts_are_not_empty(filled_document: dict[str, Any]) -> None:
    """Their schema allows any object, and an empty one would not help a reader."""
    bodies = [body.get("examples") for _, body in media(filled_document)]
    members = [
        (name, one[name]) for one in objects(bodies) for name in ("payload", "result", "draft") if name in one
    ]
    assert [name for name, value in members if value in ({}, [], "")] == []
    assert {name for name, value in members if value is not None} == {"payload", "result", "draft"}

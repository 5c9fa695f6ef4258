"""Bad bodies and headers: each gives its documented error and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from pydantic import TypeAdapter, ValidationError

import leaseq
from leaseq.webapp.api.models.base import RequestModel
from tests.web.api_calls import CALLS, assert_problem, assert_unchanged

DEEP = "[" * 3_000 + "]" * 3_000
HUGE = "9" * 5_000

# Faults of a body: the raw text, and the field that the error names.
BODIES = {
    "malformed": ('{"token": 1,', "body"),
    "not utf-8": (b'{"token": "\xff"}', "body"),
    "NaN": ('{"token": NaN}', "body"),
    "infinity": ('{"token": -Infinity}', "body"),
    "overflow": ('{"token": 1e999}', "body"),
    "duplicate key": ('{"token": 1, "token": 2}', "body"),
    "huge number": (f'{{"token": {HUGE}}}', "body"),
    "deep": (f'{{"token": {DEEP}}}', "body"),
    "not an object": ("[]", "body"),
    "JSON in a string": (json.dumps('{"token": 1}'), "body"),
    "null": ("null", "body"),
    "unknown field": ('{"token": 1, "person": "eve"}', "person"),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.guard("json-depth", "json-finite", "json-twice")
def test_rest_refuses_invalid_body(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str, body: str
) -> None:
    role, method, path, _ = CALLS[name]
    data, field = BODIES[body]
    if name == "put item" and body == "not an object":
        data = "3"
    with assert_unchanged(form_queue):
        response = call(
            role, method, path.format(q=form_queue.name), data=data, content_type="application/json"
        )
        refusal = assert_problem(response, 400, "invalid")
    assert refusal["limit"]
    if field == "body" and name != "put item":
        assert refusal["field"] == "body"


@pytest.mark.parametrize("name", CALLS)
def test_unsupported_content_type_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str
) -> None:
    role, method, path, valid_body = CALLS[name]
    with assert_unchanged(form_queue):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            response = call(
                role, method, path.format(q=form_queue.name), data=json.dumps(valid_body), content_type=kind
            )
            assert_problem(response, 415, "unsupported-media-type")


@pytest.mark.parametrize("token", ["1", 1.5, True, None, -1, 2**53 + 1, [1], {}])
def test_token_of_wrong_type_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], token: Any
) -> None:
    form_queue.reserve("table worker")
    with assert_unchanged(form_queue):
        response = call("worker", "POST", f"/queues/{form_queue.name}/items/one/renew", json={"token": token})
        assert assert_problem(response, 400, "invalid")["field"] == "token"


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("put queue", {"lease_seconds": 0}, "lease_seconds"),
        ("put queue", {"lease_seconds": "60"}, "lease_seconds"),
        ("put queue", {"lease_seconds": 10**200}, "lease_seconds"),
        ("put queue", {"bands": [3, 2]}, "bands"),
        ("put queue", {"bands": [1]}, "bands"),
        ("put queue", {"title": "x" * 201}, "title"),
        ("put queue", {"title": None}, "title"),
        ("put queue", {"form": {"ask": {"type": "string"}}}, "form"),
        ("put queue", {"form": {"ask": {"type": "object", "$ref": "http://127.0.0.1:1/x"}}}, "form"),
        ("put queue", {"form": {"ask": {"type": "object", "$ref": "file:///etc/passwd"}}}, "form"),
        ("put queue", {"form": {"show": "text"}}, "form"),
        ("put item", {"id": ""}, "id"),
        ("put item", {"id": "x" * 201}, "id"),
        ("put item", {"id": "a\nb"}, "id"),
        ("put item", {"id": "\ud800"}, "id"),
        ("put item", {"id": 7}, "id"),
        ("put item", {"id": ".."}, "id"),
        ("put item", {"priority": 1.5}, "priority"),
        ("put item", {"priority": -1}, "priority"),
        ("put item", {"delay": -1}, "delay"),
        ("put item", {"delay": 10**400}, "body"),
        ("put item", {"due": "tomorrow"}, "due"),
        ("put item", {"due": "2026-11-21T10:05:00"}, "due"),
        ("put item", {"at": "2026-11-21T10:05:00"}, "at"),
        ("put item", {"at": "2030-11-21T10:05:00Z", "delay": 5}, "at"),
        ("put item", {"requires": "fr"}, "requires"),
        ("put item", {"requires": ["Not A Skill"]}, "requires"),
        ("put item", {"max_attempts": 0}, "max_attempts"),
        ("put item", {"form": {"ask": {"type": "string"}}}, "form"),
        ("put item", {"form": {"ask": {"type": "object", "$ref": "http://127.0.0.1:1/x"}}}, "form"),
        ("put item", {"form": [1]}, "form"),
        ("put item", {"expires": 0}, "expires"),
        ("put item", {"expires": True}, "expires"),
        ("put item", {"expires": [5]}, "expires"),
        ("put item", {"expires": 10**12}, "expires"),
        ("put item", {"expires": "2030-11-21T10:05:00"}, "expires"),
        ("put item", {"to": "nobody of this name"}, "to"),
        ("put item", {"to": 7}, "to"),
        ("cancel", {"reason": "x" * 2_001}, "reason"),
        ("cancel", {"reason": 7}, "reason"),
        ("finish", {"then_reserve": "yes"}, "then_reserve"),
        ("abandon", {"reason": "x" * 2_001}, "reason"),
        ("abandon", {"reason": 7}, "reason"),
        ("fail", {"error": "x" * 2_001}, "error"),
        ("fail", {"error": "\ud800"}, "error"),
        ("fail", {"retry": "no"}, "retry"),
        ("pause", {"reason": "x" * 2_001}, "reason"),
        ("put person", {"role": "boss"}, "role"),
        ("put person", {"skills": ["Not A Skill"]}, "skills"),
        ("put person", {"skills": "fr"}, "skills"),
        ("put person", {"disabled": "yes"}, "disabled"),
    ],
)
def test_invalid_field_value_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], accounts: Any, name: str, change: Any, field: str
) -> None:
    role, method, path, valid_body = CALLS[name]
    lease = form_queue.reserve("table worker")
    assert lease
    if "token" in valid_body:
        valid_body = {**valid_body, "token": lease.token}
    with assert_unchanged(form_queue):
        response = call(role, method, path.format(q=form_queue.name), json={**valid_body, **change})
        assert assert_problem(response, 400, "invalid")["field"] == field
    assert accounts.find("somebody new") is None


@pytest.mark.parametrize(
    ("name", "change", "rule", "values"),
    [
        ("put queue", {"lease_second": 60}, "one_of", {"near": "lease_seconds"}),
        ("put queue", {"lease_seconds": "60"}, "number", {"minimum": 0.1, "maximum": 604_800, "value": "60"}),
        ("put queue", {"title": None}, "format", {"what": "string", "value": None}),
        ("put queue", {"share_drafts": "yes"}, "format", {"what": "boolean", "value": "yes"}),
        ("put queue", {"bands": 7}, "format", {"what": "array", "value": 7}),
        ("put queue", {"durable": "disk"}, "one_of", {"choices": ["server", "fsync", "replica", "majority"]}),
        ("put item", {"prio": 1}, "one_of", {"near": "priority"}),
        ("finish", {"token": 0}, "number", {"minimum": 1, "maximum": 2**53, "value": 0}),
        ("finish", {"tokens": 1}, "one_of", {"near": "token"}),
        ("pause", {"xyz": 1}, "one_of", {"choices": ["reason"], "near": None}),
        ("put person", {"role": "boss"}, "one_of", {"choices": ["worker", "manager", "admin"]}),
    ],
)
def test_refusal_of_body_field_has_rule_and_values(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str, change: Any, rule: str, values: Any
) -> None:
    role, method, path, valid_body = CALLS[name]
    response = call(role, method, path.format(q=form_queue.name), json={**valid_body, **change})
    refusal = assert_problem(response, 400, "invalid")
    assert (refusal["rule"], {**refusal["values"], **values}) == (rule, refusal["values"])
    assert refusal["detail"].startswith(f"{refusal['field']}: expected {refusal['limit']}")
    assert refusal["field"].split(".")[0] in change


@pytest.mark.parametrize(
    ("name", "change", "shown"),
    [
        ("put queue", {"lease_seconds": "60"}, "'60'"),
        ("put queue", {"title": None}, "null"),
        ("put queue", {"share_drafts": 1}, "the number 1"),
        ("put queue", {"bands": {"a": 1}}, "the object {'a': 1}"),
        ("put item", {"id": 42}, "the number 42"),
        ("put item", {"id": 1.0}, "the number 1.0"),
        ("put item", {"id": True}, "true"),
        ("put item", {"id": ["a"]}, "the array ['a']"),
        ("put item", {"id": "r-1\u00a0"}, "U+00A0 (NO-BREAK SPACE)"),
        ("put item", {"id": "r\u200b1"}, "U+200B (ZERO WIDTH SPACE)"),
        ("put item", {"priority": "soon"}, "'soon'"),
        ("put item", {"due": 1795255392}, "the number 1795255392"),
        ("put item", {"requires": "fr"}, "'fr'"),
        ("put item", {"requires": [1]}, "the array [1]"),
        ("finish", {"token": 0}, "the number 0"),
        ("fail", {"error": 7}, "the number 7"),
        ("assign", {"person": None}, "null"),
    ],
)
def test_refusal_shows_the_value_and_its_type(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str, change: Any, shown: str
) -> None:
    role, method, path, valid_body = CALLS[name]
    response = call(role, method, path.format(q=form_queue.name), json={**valid_body, **change})
    refusal = assert_problem(response, 400, "invalid")
    assert refusal["field"] == next(iter(change))
    assert refusal["detail"].endswith(f"got {shown}") or f", with {shown}" in refusal["detail"]


@pytest.mark.parametrize(
    ("name", "body", "missing", "unknown"),
    [
        (
            "put item",
            {"text": "Great", "n": 1},
            "payload",
            ["n, text", '{"payload": {"n": …, "text": …}}'],
        ),
        ("put item", {"payloads": 1}, "payload", ["payloads", "did you mean payload?"]),
        ("finish", {"tokn": 1, "result": {}}, "token", ["tokn", "did you mean token?"]),
        ("fail", {"token": 1, "eror": "x"}, "error", ["eror", "did you mean error?"]),
    ],
)
def test_unknown_field_is_named_with_the_missing_one(
    form_queue: leaseq.Queue, call: Callable[..., Any], name: str, body: Any, missing: str, unknown: list[str]
) -> None:
    role, method, path, _ = CALLS[name]
    with assert_unchanged(form_queue):
        response = call(role, method, path.format(q=form_queue.name), json=body)
    refusal = assert_problem(response, 400, "invalid")
    assert refusal["field"] == missing
    assert refusal["rule"] in ("payload_unwrapped", "required")
    assert [part for part in unknown if part not in refusal["detail"]] == []


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("limit=none", "a whole number from 1 to 1,000"),
        ("limit=1001", "a number from 1 to 1,000"),
        ("state=gone", "one of inbound, reserved, scheduled, finished, dead"),
        ("limits=5", "one of state, after, limit"),
        ("", "a value"),
    ],
)
def test_refusal_states_limit_of_query_parameter(
    form_queue: leaseq.Queue, call: Callable[..., Any], query: str, limit: str
) -> None:
    path = (
        f"/queues/{form_queue.name}/items?{query if 'state' in query or not query else 'state=dead&' + query}"
    )
    assert assert_problem(call("manager", "GET", path), 400, "invalid")["limit"] == limit


def test_refusal_states_limit_of_cursor(call: Callable[..., Any]) -> None:
    refusal = assert_problem(call("admin", "GET", "/log?after=zzz"), 400, "invalid")
    assert (refusal["field"], refusal["limit"]) == ("after", "a cursor from an earlier page of this list")


@pytest.mark.parametrize(
    "name", ["put item", "finish", "abandon", "fail", "renew", "draft", "adopt", "reopen", "correct"]
)
def test_missing_field_is_refused(form_queue: leaseq.Queue, call: Callable[..., Any], name: str) -> None:
    role, method, path, valid_body = CALLS[name]
    for field in valid_body:
        body = {key: value for key, value in valid_body.items() if key != field}
        with assert_unchanged(form_queue):
            response = call(role, method, path.format(q=form_queue.name), json=body)
            assert assert_problem(response, 400, "invalid")["field"] == field


@pytest.mark.guard("body-size")
def test_rest_refuses_too_large_body(form_queue: leaseq.Queue, call: Callable[..., Any]) -> None:
    body = b'{"payload": "' + b"x" * 9_000_000 + b'"}'
    with assert_unchanged(form_queue):
        for name, (role, method, path, _) in CALLS.items():
            response = call(
                role, method, path.format(q=form_queue.name), data=body, content_type="application/json"
            )
            refusal = assert_problem(response, 413, "too-large")
            assert refusal["detail"].startswith(
                "body: expected at most 8,388,608 bytes (LEASEQ_MAX_BODY_BYTES)"
            ), name
            assert (refusal["field"], "application/x-ndjson" in refusal["detail"]) == ("body", True)


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_invalid_idempotency_key_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], key: str
) -> None:
    for name in ("put item", "reserve"):
        role, method, path, valid_body = CALLS[name]
        with assert_unchanged(form_queue):
            headers = {"Idempotency-Key": key}
            response = call(role, method, path.format(q=form_queue.name), json=valid_body, headers=headers)
            assert assert_problem(response, 400, "invalid")["field"] == "Idempotency-Key"


def test_every_call_refuses_an_unknown_query_parameter(
    form_queue: leaseq.Queue, call: Callable[..., Any], app: Any
) -> None:
    paths = call("worker", "GET", "/openapi.json").json["paths"]
    operations = [
        (method, path) for path, item in paths.items() for method in ("get", "put", "post", "patch", "delete")
        if method in item
    ]  # fmt: skip
    assert len(operations) > 60
    with assert_unchanged(form_queue):
        for method, path in operations:
            url = path.removeprefix("/api/v1").format(
                q=form_queue.name,
                id="one",
                name="table worker",
                token="t",
                webhook="w",
                invitation="i",
                team="t",
                file="f",
            )
            response = call("admin", method.upper(), f"{url}?nonsense=1", json={})
            refusal = assert_problem(response, 400, "invalid")
            assert (path, refusal["field"]) == (path, "nonsense")


def test_fault_without_a_rule_has_the_words_of_the_parser() -> None:
    class Example(RequestModel):
        value: UUID

    with pytest.raises(leaseq.Invalid) as error:
        Example.model_validate({"value": 1})
    assert (error.value.field, error.value.rule) == ("value", "request")
    with pytest.raises(ValidationError) as plain:
        TypeAdapter(UUID).validate_python(1)
    why = error.value.values["why"]
    assert why[0].islower()
    assert why[1:] == plain.value.errors()[0]["msg"][1:]

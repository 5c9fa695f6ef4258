"""The OpenAPI description, and the health checks."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, get_type_hints

import pytest
from openapi_spec_validator import validate

import leaseq
from leaseq.form import PARTS, SHOW_MEMBERS
from leaseq.webapp.api.models.base import RequestModel
from leaseq.webapp.security.authorization import need_of
from tests.web.api_calls import CALLS
from tests.web.conftest import Caller


def test_description_is_openapi_3_1_and_has_every_route(app: Any, document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.endpoint.startswith("api.")
    }
    described_routes = {(path, method) for path, item in document["paths"].items() for method in item}
    assert described_routes == routes
    for item in document["paths"].values():
        for operation in item.values():
            assert operation["summary"]
            assert "<" not in operation.get("description", ""), "it is Markdown"
            assert "401" in operation["responses"]


def test_each_request_model_refuses_as_leaseq_does(app: Any) -> None:
    """With a field and a limit. A plain model's error would be the framework's."""
    views = {name: view for name, view in app.view_functions.items() if name.startswith("api.")}
    models = {
        (name, part): hints[part]
        for name, view in views.items()
        for hints in [get_type_hints(inspect.unwrap(view))]
        for part in ("path", "query", "body")
        if part in hints
    }
    assert len(models) > 60
    assert [place for place, model in models.items() if not issubclass(model, RequestModel)] == []


def test_description_is_valid_openapi(document: dict[str, Any]) -> None:
    validate(document)


def test_description_names_required_role_of_each_call(app: Any, document: dict[str, Any]) -> None:
    for rule in app.url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in rule.methods - {"HEAD", "OPTIONS"} if rule.endpoint.startswith("api.") else ():
            role = need_of(app, rule.endpoint)
            security = document["paths"][path][method.lower()]["security"]
            assert security == [{"token": [role]}, {"session": [role]}], path


def operation_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The description of one of the calls that have a body."""
    _, method, path, _ = CALLS[name]
    path = path.replace("/items/one", "/items/{id}").replace("somebody new", "{name}")
    operation: dict[str, Any] = document["paths"][f"/api/v1{path}"][method.lower()]
    return operation


@pytest.fixture
def make_call(
    form_queue: leaseq.Queue, call: Callable[..., Any], new_name: Callable[[str], str]
) -> Callable[..., Any]:
    """Make one of the calls that have a body, by its name."""

    def make(name: str, **options: Any) -> Any:
        role, method, path, _ = CALLS[name]
        return call(
            role, method, path.replace("somebody new", new_name("put")).format(q=form_queue.name), **options
        )

    return make


@pytest.mark.parametrize("name", CALLS)
def test_description_says_which_calls_read_idempotency_key(
    document: dict[str, Any], make_call: Callable[..., Any], name: str
) -> None:
    method, valid_body = CALLS[name][1], CALLS[name][3]
    response = make_call(name, json=valid_body, headers={"Idempotency-Key": "x" * 201})
    is_read = response.status_code == 400 and response.json["field"] == "Idempotency-Key"
    header_names = [
        one["name"] for one in operation_of(document, name)["parameters"] if one["in"] == "header"
    ]
    assert ("Idempotency-Key" in header_names) is is_read
    assert is_read is (method in ("POST", "PATCH"))


@pytest.mark.parametrize("name", CALLS)
def test_description_says_which_bodies_are_required(
    document: dict[str, Any], make_call: Callable[..., Any], name: str
) -> None:
    response = make_call(name)
    assert operation_of(document, name)["requestBody"]["required"] is (response.status_code >= 400)


def test_described_bounds_match_validation(
    document: dict[str, Any], manager: Caller, queue: leaseq.Queue
) -> None:
    policy = document["components"]["schemas"]["PolicyChanges"]["properties"]
    for name, field, value, is_valid in edges(policy):
        response = manager("PUT", f"/queues/{queue.name}", json={name: value})
        assert (response.status_code < 300) == is_valid, (field, value)
    item = document["components"]["schemas"]["NewItem"]["properties"]
    assert item.pop("to")["maxLength"] == leaseq.validation.MAX_PERSON, "only of names that are in use"
    for name, field, value, is_valid in edges(item):
        response = manager("POST", f"/queues/{queue.name}/items", json={"payload": 1, name: value})
        assert (response.status_code < 300) == is_valid, (field, value)


def edges(properties: dict[str, Any]) -> list[tuple[str, Any, Any, bool]]:
    """For each bound of a field, the value just inside and one just outside."""
    values: list[tuple[str, Any, Any, bool]] = []
    for name, field in properties.items():
        if "minimum" in field:
            least, most = (int(n) if n == int(n) else n for n in (field["minimum"], field["maximum"]))
            values += [(name, field, least, True), (name, field, least - 1, False)]
            values += [(name, field, most, True), (name, field, most + 1, False)]
        if "maxLength" in field:
            text = "x" * field["maxLength"]
            values += [(name, field, text, True), (name, field, text + "x", False)]
    assert len(values) > 6
    return values


def test_person_in_query_is_described_as_printable(
    document: dict[str, Any], admin: Caller, form_queue: leaseq.Queue
) -> None:
    schemas = {
        path: json.dumps(parameter["schema"])
        for path, operations in document["paths"].items()
        for parameter in operations.get("get", {}).get("parameters", ())
        if parameter["name"] == "person"
    }
    assert len(schemas) > 3
    for path, schema in schemas.items():
        (pattern,) = re.findall(r'"pattern": "(.*?)"[,}]', schema)
        names = [name for name in ("Ann Lee", "Ann\nLee") if re.search(json.loads(f'"{pattern}"'), name)]
        assert names == ["Ann Lee"], path
        address = re.sub(r"{.*?}", form_queue.name, path.removeprefix("/api/v1"))
        assert admin("GET", address, query_string={"person": "Ann\nLee"}).status_code in (400, 404), path


def test_health_checks_need_no_sign_in(app: Any) -> None:
    client = app.test_client()
    assert client.get("/healthz").json == {"status": "alive"}
    assert client.get("/readyz").json == {"status": "ready"}


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method.upper()} {path.removeprefix('/api/v1')}", operation


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a part of the description, without examples."""
    if isinstance(node, dict):
        yield node
        for name, one in node.items():
            if name not in ("example", "examples"):
                yield from schemas(one)
    elif isinstance(node, list):
        for one in node:
            yield from schemas(one)


def test_schemas_have_no_default_values(document: dict[str, Any]) -> None:
    assert [one for one in schemas(document) if "default" in one] == []


def test_policy_requires_all_fields_and_policy_changes_none(document: dict[str, Any]) -> None:
    shapes, fields = document["components"]["schemas"], set(asdict(leaseq.Policy()))
    assert set(shapes["PolicyChanges"]["properties"]) == set(shapes["Policy"]["properties"]) == fields
    assert "required" not in shapes["PolicyChanges"]
    assert set(shapes["Policy"]["required"]) == fields
    assert shapes["Queue"]["properties"]["policy"] == {"$ref": "#/components/schemas/Policy"}


def test_time_fields_have_format_date_time(document: dict[str, Any]) -> None:
    shapes = document["components"]["schemas"]
    times = {
        f"{name}.{field}": one
        for name, shape in shapes.items()
        for field, one in shape.get("properties", {}).items()
        if field.endswith("_at") or field in ("at", "due")
    }
    assert {"Lease.expires_at", "Item.due", "Grant.ended_at", "Failed.retry_at", "Event.at"} <= set(times)
    for name, one in times.items():
        kinds = [kind.get("format") for kind in one.get("anyOf", [one]) if kind.get("type") != "null"]
        assert kinds == ["date-time"], name


def test_schema_names_have_no_model_or_body_suffix(document: dict[str, Any]) -> None:
    names = set(document["components"]["schemas"])
    assert names >= {"NewItem", "Enqueued", "EnqueuedMany", "Lease", "Finished", "Item", "Policy", "Problem"}
    assert [name for name in names if name.endswith(("Model", "Body"))] == []


def test_servers_entry_is_requested_host(app: Any) -> None:
    client = app.test_client()
    description = client.get("/api/v1/openapi.json", base_url="https://queue.example.org").json
    assert [one["url"] for one in description["servers"]] == ["https://queue.example.org"]


def test_description_lists_request_and_response_headers(document: dict[str, Any]) -> None:
    operation_by_call = dict(operations(document))
    headers_by_call = {
        call: {one["name"] for one in operation.get("parameters", ()) if one["in"] == "header"}
        for call, operation in operation_by_call.items()
    }
    assert headers_by_call["PUT /queues/{q}"] == {"If-Match", "If-None-Match"}
    assert headers_by_call["DELETE /queues/{q}"] == {"If-Match"}
    assert headers_by_call["GET /queues/{q}/events"] == {"Last-Event-ID"}
    limits = {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
    for call in ("GET /queues/{q}", "PUT /queues/{q}"):
        assert set(operation_by_call[call]["responses"]["200"]["headers"]) == {"ETag", *limits}
    assert set(operation_by_call["PUT /queues/{q}"]["responses"]["201"]["headers"]) == {"ETag", *limits}
    reserve_responses = operation_by_call["POST /queues/{q}/reserve"]["responses"]
    assert set(reserve_responses["200"]["headers"]) == {"Idempotency-Replayed", *limits}
    assert set(reserve_responses["204"]["headers"]) == {
        *("Idempotency-Replayed", "Retry-After", "X-Leaseq-Reason"),
        *limits,
    }
    for call, operation in operation_by_call.items():
        responses = operation["responses"]
        assert set(responses["405"]["headers"]) == {"Allow"}, call
        assert set(responses["503"]["headers"]) == {"Retry-After"}, call
        assert set(responses["429"]["headers"]) == {"Retry-After", *limits}, call


def test_form_schema_describes_every_form_member(document: dict[str, Any]) -> None:
    """A generated client drops members that are not in the description."""
    members = document["components"]["schemas"]["Form"]["properties"]
    assert sorted(members) == sorted(PARTS)
    assert sorted(document["components"]["schemas"]["ShownField"]["properties"]) == sorted(SHOW_MEMBERS)

"""Adds to the OpenAPI document what the models don't contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Flask
from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.example import Example
from flask_openapi.models.header import Header
from flask_openapi.models.media_type import MediaType
from flask_openapi.models.operation import Operation
from flask_openapi.models.parameter import Parameter
from flask_openapi.models.path_item import PathItem
from flask_openapi.models.reference import Reference
from flask_openapi.models.request_body import RequestBody
from flask_openapi.models.response import Response
from flask_openapi.models.schema import Schema
from flask_openapi.openapi import OpenAPI

from leaseq.webapp.api import examples, headers
from leaseq.webapp.api.idempotency import KEYED_METHODS
from leaseq.webapp.api.models_in import NewItem
from leaseq.webapp.api.models_out import Enqueued, EnqueuedMany
from leaseq.webapp.api.negotiation import template
from leaseq.webapp.api.problem_examples import codes, problems
from leaseq.webapp.security.authorization import need_of
from leaseq.webapp.serving.json_request import JSON

PROBLEM = "application/problem+json"
CHANGE_STATUSES = ("409", "413", "415", "422")
"""Error statuses of calls that change something."""


def complete(bp: APIBlueprint) -> None:
    for model in (NewItem, Enqueued, EnqueuedMany):  # of a call that parses its body itself
        bp.components_schemas[model.__name__] = Schema(**model.model_json_schema())
    for path, method, operation in _operations(bp.paths):
        if operation.description:
            operation.description = operation.description.replace("<br/>", "\n")  # it is Markdown
        call = f"{method.upper()} {path.removeprefix(str(bp.url_prefix))}"
        answers = operation.responses or {}
        _show_headers(call, method, operation, answers)
        if method == "get":
            operation.responses = answers = {
                status: one for status, one in answers.items() if status not in CHANGE_STATUSES
            }
        if isinstance(operation.requestBody, RequestBody):
            if method in ("put", "post", "patch"):
                operation.requestBody.required = _has_required_field(bp, operation.requestBody)
            _show_requests(call, operation.requestBody)
        _show_paths(operation)
        _show_responses(call, answers)


def share_problems(app: OpenAPI) -> None:
    """Add the examples of problems as components, to which most calls refer."""
    app.components.examples = {code: Example.model_validate(one) for code, one in problems().items()}


def show_roles(app: Flask, bp: APIBlueprint) -> None:
    """List the security schemes of each call, with the role that it requires."""
    for rule in app.url_map.iter_rules():
        path_item = bp.paths.get(template(rule))
        for _, method, operation in _operations({rule.rule: path_item} if path_item else {}):
            if method.upper() in (rule.methods or ()):
                role = need_of(app, rule.endpoint)
                operation.security = [
                    {scheme: [str(role)]} for schemes in bp.abp_security or () for scheme in schemes
                ]


def _operations(paths: dict[str, PathItem]) -> Iterator[tuple[str, str, Operation]]:
    for path, item in paths.items():
        for method in ("get", "put", "post", "patch", "delete"):
            operation = getattr(item, method)
            if operation is not None:
                yield path, method, operation


def _has_required_field(bp: APIBlueprint, body: RequestBody) -> bool:
    """Whether a field of the body is required; if none is, neither is the body."""
    for kind in body.content.values():
        ref = getattr(kind.media_type_schema, "ref", None)
        if ref is not None and not bp.components_schemas[ref.rpartition("/")[2]].required:
            return False
    return True


def _show_headers(call: str, method: str, operation: Operation, answers: dict[str, Response]) -> None:
    is_keyed = method.upper() in KEYED_METHODS
    request_headers = {
        **headers.REQUEST_HEADERS.get(call, {}),
        **(headers.KEYED_REQUEST_HEADERS if is_keyed else {}),
    }
    parameters = [
        Parameter.model_validate({"name": name, "in": "header", **one})
        for name, one in request_headers.items()
    ]
    operation.parameters = [*(operation.parameters or ()), *parameters]
    response_headers = {**headers.RESPONSE_HEADERS.get(call, {}), **(headers.REPLAYED if is_keyed else {})}
    for status, answer in answers.items():
        is_success = status < "300"
        fields = {**(response_headers if is_success else {}), **headers.RATE_LIMIT}
        if is_success or status == "429":
            new_headers = {name: Header.model_validate(one) for name, one in fields.items()}
            answer.headers = {**(answer.headers or {}), **new_headers}


def _show_requests(call: str, body: RequestBody) -> None:
    _show(body.content[JSON], examples.REQUESTS[call])


def _show_paths(operation: Operation) -> None:
    for parameter in operation.parameters or ():
        if parameter.name in examples.PATHS and parameter.required:
            parameter.example = examples.PATHS[parameter.name]


def _show_responses(call: str, answers: dict[str, Response]) -> None:
    for status, answer in answers.items():
        for kind, media in (answer.content or {}).items():
            if kind == PROBLEM:
                media.examples = {
                    code: Reference(ref=f"#/components/examples/{code}") for code in codes(status)
                }
            elif call in examples.STREAMS:
                _show(media, {"answer": examples.STREAMS[call][kind]})
            else:
                _show(media, {"answer": examples.RESPONSES[call]})


def _show(media: MediaType, values: dict[str, Any]) -> None:
    media.examples = {name: Example(value=value) for name, value in values.items()}

"""The OpenAPI document, completed: its problems, headers, roles and examples."""

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

from leaseq.webapp.api.description import examples
from leaseq.webapp.api.idempotency import HEADER, KEYED_METHODS, MAX_KEY, REPLAYED_HEADER
from leaseq.webapp.api.models.requests import EVENT, PRINTABLE, NewItem
from leaseq.webapp.api.models.responses import Enqueued, EnqueuedMany, Waiting
from leaseq.webapp.api.negotiation import template
from leaseq.webapp.security.authorization import need_of
from leaseq.webapp.serving.bodies import JSON
from leaseq.webapp.serving.problem import Problem, body_of

LAST_EVENT_ID = "Last-Event-ID"
ERASED_AS = "X-Leaseq-Erased-As"
UNASSIGNED = "X-Leaseq-Unassigned"
UNMATCHED = "X-Leaseq-Unmatched"
Headers = dict[str, Any]

TAGS_PATTERN = r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
"""The pattern of `If-Match`: an asterisk, or tags in quotes."""


def _text(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string", **schema}}


def _number(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "integer"}}


ETAG: Headers = {"ETag": _text("Identifies the policy, for `If-Match`")}
UNASSIGNED_COUNT: Headers = {
    UNASSIGNED: _number(
        "How many items that were assigned to people who may no longer work on their queue anybody may "
        "have now"
    ),
}
UNMATCHED_COUNT: Headers = {
    UNMATCHED: _number("How many of the teams and skills match nobody: they may be misspelt"),
}
LINK: Headers = {"Link": _text('`<...>; rel="next"`: the address of the next page, if there is one')}
ALLOW: Headers = {"Allow": {"schema": {"type": "string"}}}
RATE_LIMIT: Headers = {
    "RateLimit-Limit": _number(
        "How many requests this token may send in each period, if LEASEQ_RATE_LIMIT is set"
    ),
    "RateLimit-Remaining": _number("How many of them are left"),
    "RateLimit-Reset": _number("Seconds until the next period"),
}
RETRY_AFTER: Headers = {"Retry-After": _number("Seconds")}
REPLAYED: Headers = {
    REPLAYED_HEADER: {
        "description": "Only if this is the stored response to an earlier request with the same key",
        "schema": {"enum": ["true"]},
    },
}

KEYED_REQUEST_HEADERS: Headers = {
    HEADER: _text(
        "Makes the request safe to repeat: it takes effect once, with the same response. Use a new key for "
        "each body",
        minLength=1,
        maxLength=MAX_KEY,
        pattern=PRINTABLE,
    ),
}
IF_MATCH: Headers = {
    "If-Match": _text(
        "The `ETag` that the policy must still have, with its quotes, otherwise 412; *: any existing queue",
        pattern=TAGS_PATTERN,
    ),
}
REQUEST_HEADERS: dict[str, Headers] = {
    "DELETE /queues/{q}": IF_MATCH,
    "PUT /queues/{q}": {
        **IF_MATCH,
        "If-None-Match": _text("*: only if there is no queue yet, otherwise 412", enum=["*"]),
    },
    "GET /queues/{q}/events": {
        LAST_EVENT_ID: _text("The id of the last event seen, to continue after it", **EVENT),
    },
}
"""Request headers of single calls, in addition to those of every call."""

RESPONSE_HEADERS: dict[str, Headers] = {
    "DELETE /people/{name}": {
        ERASED_AS: _text("The random name that replaces theirs, in this response only"),
    },
    "PUT /people/{name}": UNASSIGNED_COUNT,
    "PUT /queues/{q}/access": {**UNASSIGNED_COUNT, **UNMATCHED_COUNT},
    "GET /queues/{q}": ETAG,
    "PUT /queues/{q}": ETAG,
}
"""Headers of successful responses, in addition to those of every list."""

_STARS = "expected at most 5, got the number 9"
_PROBLEMS = (
    Problem.of(400, "invalid", "number", field="wait", minimum=0, maximum=30, value=99),
    Problem.of(401, "unauthorized", "unauthorized", what="nobody"),
    Problem.of(403, "forbidden", "role", needed="manager", yours="worker"),
    Problem.of(404, "not-found", "not_found", what="queue_or_access", name="reviews"),
    Problem.of(405, "method-not-allowed", "method", methods="GET, HEAD, OPTIONS", method="POST"),
    Problem.of(406, "not-acceptable", "accept", kinds=[JSON]),
    Problem(
        409,
        "lease-lost",
        "this lease of item 'r-1' is over: somebody else is on it now",
        id="r-1",
        state="reserved",
        answer_kept=True,
    ),
    Problem.of(409, "in-progress", "key", what="in_progress", header="Idempotency-Key"),
    Problem.of(409, "conflict", "conflict", what="item", members={"id": "r-1"}, id="r-1"),
    Problem(
        409,
        "item-finished",
        "item 'r-1' of queue 'reviews' has an answer (1 in all), and was not removed",
        rule="item_finished",
        values={"queue": "reviews", "id": "r-1", "count": 1},
        id="r-1",
        state="finished",
    ),
    Problem.of(409, "answer-not-kept", "key", what="not_kept", header="Idempotency-Key", status=201),
    Problem(
        410,
        "not-answered",
        "nobody answered 'r-1' in time",
        rule="not_answered",
        values={"what": "expired", "id": "r-1"},
        id="r-1",
        reason="expired",
    ),
    Problem.of(412, "policy-changed", "policy_not_matched", queue="reviews"),
    Problem.of(412, "queue-exists", "taken", what="queue", name="reviews"),
    Problem.of(413, "too-large", "maximum", what="request_bytes", field="body", maximum=8_388_608),
    Problem.of(415, "unsupported-media-type", "media_type", kinds=[JSON]),
    Problem.of(422, "form", "form", question="stars", why=_STARS, members={"errors": {"stars": _STARS}}),
    Problem.of(422, "key-reused", "key", what="reused", field="Idempotency-Key", header="Idempotency-Key"),
    Problem.of(429, "too-many-requests", "too_many", what="open", maximum=4, kind="waits"),
    Problem.of(500, "internal", "internal"),
    Problem.of(503, "server-unavailable", "unavailable", what="server"),
    Problem.of(503, "server-refused", "server_refused", what="error", why="OOM command not allowed"),
    Problem.of(503, "queue-unreadable", "newer", what="schema", name="3"),
)


def problems() -> dict[str, Any]:
    """All examples, by code."""
    return {problem.code: {"value": body_of(problem, "0f3a9c51")} for problem in _PROBLEMS}


def codes(status: str) -> list[str]:
    """The codes that a problem of this status may have."""
    like = "413" if status == "414" else status  # both are too large
    return [problem.code for problem in _PROBLEMS if str(problem.status) == like]


PROBLEM = "application/problem+json"
CHANGE_STATUSES = ("409", "413", "415", "422")
"""Error statuses of calls that change something."""


def complete(bp: APIBlueprint) -> None:
    for model in (NewItem, Enqueued, EnqueuedMany, Waiting):  # no call declares them as its own
        bp.components_schemas[model.__name__] = Schema(**model.model_json_schema())
    models = examples.Models({name: _plain(schema) for name, schema in bp.components_schemas.items()})
    changes = examples.responses(models)
    for path, method, operation in _operations(bp.paths):
        if operation.description:
            operation.description = operation.description.replace("<br/>", "\n")  # it is Markdown
        call = f"{method.upper()} {path.removeprefix(str(bp.url_prefix))}"
        answers = operation.responses or {}
        _show_headers(call, method, operation, answers)
        if method == "get":
            operation.responses = answers = {
                status: answer for status, answer in answers.items() if status not in CHANGE_STATUSES
            }
        if isinstance(operation.requestBody, RequestBody):
            if method in ("put", "post", "patch"):
                operation.requestBody.required = _has_required_field(bp, operation.requestBody)
            _show_requests(call, operation.requestBody)
        _show_paths(operation)
        _show_responses(call, answers, models, changes)


def share_problems(app: OpenAPI) -> None:
    """Add the examples of problems as components, to which most calls refer."""
    app.components.examples = {code: Example.model_validate(example) for code, example in problems().items()}


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
    is_paged = {"after", "limit"} <= {parameter.name for parameter in operation.parameters or ()}
    request_headers = {
        **REQUEST_HEADERS.get(call, {}),
        **(KEYED_REQUEST_HEADERS if is_keyed else {}),
    }
    parameters = [
        Parameter.model_validate({"name": name, "in": "header", **header})
        for name, header in request_headers.items()
    ]
    operation.parameters = [*(operation.parameters or ()), *parameters]
    response_headers = {
        **RESPONSE_HEADERS.get(call, {}),
        **(REPLAYED if is_keyed else {}),
        **(LINK if is_paged else {}),
    }
    for status, answer in answers.items():
        is_success = status < "300"
        fields = {**(response_headers if is_success else {}), **RATE_LIMIT}
        if is_success or status == "429":
            new_headers = {name: Header.model_validate(field) for name, field in fields.items()}
            answer.headers = {**(answer.headers or {}), **new_headers}


def _show_requests(call: str, body: RequestBody) -> None:
    if JSON in body.content:
        _show(body.content[JSON], examples.REQUESTS.get(call, {"empty": {}}))


def _show_paths(operation: Operation) -> None:
    for parameter in operation.parameters or ():
        if parameter.name in examples.PATHS and parameter.required:
            parameter.example = examples.PATHS[parameter.name]


def _show_responses(
    call: str, answers: dict[str, Response], models: examples.Models, changes: dict[str, Any]
) -> None:
    for status, answer in answers.items():
        for kind, media in (answer.content or {}).items():
            if kind == PROBLEM:
                media.examples = {
                    code: Reference(ref=f"#/components/examples/{code}") for code in codes(status)
                }
            elif call in examples.STREAMS:
                _show(media, {"answer": examples.STREAMS[call][kind]})
            else:
                example = models.of(_plain(media.media_type_schema))
                _show(media, {"answer": {**example, **changes.get(call, {})}})


def _plain(schema: Any) -> dict[str, Any]:
    plain: dict[str, Any] = schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


def _show(media: MediaType, values: dict[str, Any]) -> None:
    media.examples = {name: Example(value=value) for name, value in values.items()}

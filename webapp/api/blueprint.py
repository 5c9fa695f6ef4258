"""The blueprint of REST: its description, and the checks that each request passes."""

from __future__ import annotations

from typing import Any

from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.response import Response

from leaseq.webapp.api.description.openapi import ALLOW, PROBLEM, RETRY_AFTER
from leaseq.webapp.api.models.base import check_call, complete_response, end_call

VERSION = "1"
ABOUT = """A work queue for people. Each item is handed out under a lease. If you neither finish it in time
nor give it back, it returns to the queue and somebody else gets it.

Send `Authorization: Bearer <token>`, or the page's session cookie with its CSRF token in `X-CSRFToken`. Ids
and names in a path are percent-encoded, including their slashes. Times are RFC 3339 in UTC, durations are
seconds. Errors are `application/problem+json` with a stable `code`.
With an `Idempotency-Key`, any POST or PATCH is safe to send again."""

SECURITY: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": "leaseq"},
}


def schema_ref(name: str) -> dict[str, Any]:
    """A reference to a named schema of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def problem_reply(text: str, headers: dict[str, Any] | None = None) -> Response:
    """An error response of the OpenAPI document, which all calls share."""
    content = {PROBLEM: {"schema": schema_ref("Problem")}}
    return Response.model_validate({"description": text, "content": content, "headers": headers})


bp = APIBlueprint(
    "api",
    __name__,
    url_prefix="/api/v1",
    operation_id_callback=lambda name, **_: name,
    abp_security=[{"token": []}, {"session": []}],
    abp_responses={
        "400": problem_reply("`invalid`: a field was refused, and nothing changed"),
        "401": problem_reply("`unauthorized`: no valid token or session"),
        "403": problem_reply(
            "`forbidden`: another role, scope or access is required, or the CSRF token is missing"
        ),
        "404": problem_reply("`not-found`"),
        "405": problem_reply("`method-not-allowed`: `Allow` names the methods of this path", ALLOW),
        "406": problem_reply("`not-acceptable`: this call returns no type that the Accept header accepts"),
        "409": problem_reply(
            "`lease-lost`: the caller no longer holds this lease; `conflict`: the id of a new item exists "
            "with a different payload; `item-finished`: `unless` kept an item that has an answer; or, with "
            "an Idempotency-Key, `in-progress` or `answer-not-kept`",
            RETRY_AFTER,
        ),
        "413": problem_reply("`too-large`: the body, or a payload, result or draft in it, is over its limit"),
        "414": problem_reply("`too-large`: the address, with its query, is over 4,094 bytes"),
        "415": problem_reply("`unsupported-media-type`"),
        "429": problem_reply(
            "`too-many-requests`: this token or person sends too many requests, or has too many open",
            RETRY_AFTER,
        ),
        "422": problem_reply(
            "`form`: the result does not fit the form, and the lease stays valid; or `key-reused`"
        ),
        "500": problem_reply("`internal`: the error was logged"),
        "503": problem_reply(
            "`server-unavailable`, `server-refused`: try again after `Retry-After` seconds; or "
            "`queue-unreadable`: the queue needs a newer version of leaseq",
            RETRY_AFTER,
        ),
    },
)

bp.before_request(check_call)
bp.after_request(complete_response)
bp.teardown_request(end_call)

"""Problems (RFC 9457): the errors that are sent, also for requests that no application sees."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Self

from flask import Flask, Response
from gunicorn import util
from gunicorn.http.errors import (
    ExpectationFailed,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)

from leaseq.sentences import expected, plain, sentence


class Problem(Exception):
    """An error response: its status, its stable code, its detail, the rule and values that the detail is made
    of, and further members. If its detail has no rule, the code stands for it."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        rule: str = "",
        values: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.rule = rule or code
        self.values = dict(values or {})
        self.members = members
        self.headers: dict[str, str] = {}

    def __str__(self) -> str:
        return self.detail

    def tell(self, rule: str, **values: Any) -> None:
        """Take the detail from a rule."""
        self.detail, self.rule, self.values = sentence(rule, values), rule, values

    @classmethod
    def of(
        cls,
        status: int,
        code: str,
        rule: str,
        /,
        *,
        field: str | None = None,
        members: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> Self:
        """A problem whose detail is the sentence of a rule."""
        extra = dict(members or {})
        if field is not None:
            extra |= {"field": field, "limit": expected(rule, values)}
        detail = sentence(rule, values, field=field or "")
        return cls(
            status,
            code,
            detail,
            rule=rule,
            values={name: plain(value) for name, value in values.items()},
            **extra,
        )


MEANINGS = {
    "invalid": "A field was refused before anything changed; `field` names it, `limit` what is allowed, and "
    "`rule` and `values` say the same to a program. Correct it.",
    "unauthorized": "There is no valid token or session. Send `Authorization: Bearer <token>`; replace an "
    "expired token with a new one.",
    "forbidden": "Another role, scope or access is required, which `detail` names, or the CSRF token is "
    "missing. Use a token that has it, or ask an admin.",
    "not-found": "There is no such queue, item, person or path, or you have no access to the queue, or "
    "never had a lease of the item. Check the path; create a queue with `PUT`.",
    "method-not-allowed": "`Allow` lists the methods of this path. Use one of them.",
    "not-acceptable": "The call returns no type that the `Accept` header accepts; `detail` lists its types.",
    "request-timeout": "The rest of the body did not arrive in time. Nothing was done, except that earlier "
    "rows of a stream may have been added. Send it again.",
    "lease-lost": "The caller no longer holds this lease; `state` is the item's state now, `answer_kept` "
    "whether the answer was kept as a late answer. Don't send it again: reserve the next item.",
    "conflict": "An item with this id and a different payload exists. Use another id; to change an "
    "item that waits, `PATCH` it.",
    "item-finished": "The item has an answer, and the request has `unless`; nothing changed. `state` is the "
    "item's state now. Read the answer, then delete the item without `unless`.",
    "not-answered": "Nobody will answer the question: `reason` is `expired`, `cancelled` or `dead`. Go on "
    "without an answer; an answer that comes late may still be read.",
    "in-progress": "The first request with this `Idempotency-Key` is still being processed. Send it again "
    "after `Retry-After` seconds.",
    "answer-not-kept": "The request with this key succeeded; its response was too large to be stored, or "
    "contains a secret. Read what it changed; replace a lost secret with `rotate`.",
    "policy-changed": "The policy is not the one that `If-Match` names; nothing changed. GET the queue, and "
    "send the `ETag` that it has now.",
    "queue-exists": "The request has `If-None-Match: *`, but the queue exists; nothing changed. To change "
    "the queue, leave the header out.",
    "too-large": "The body, or a payload, result or draft in it, is over its limit, which is in `limit`. "
    "Send items in several requests or as `application/x-ndjson`; store large files elsewhere, and put "
    "their addresses into the payload.",
    "unsupported-media-type": "Send JSON as `application/json`.",
    "form": "The result does not fit the queue's form: `errors` has the reasons, by field. The lease stays "
    "valid: correct the result and finish again.",
    "key-reused": "This `Idempotency-Key` was used for another body. Use a new key for each body.",
    "too-many-requests": "This token or person sends too many requests, or has too many open. Wait for "
    "`Retry-After` seconds.",
    "internal": "The error was logged; the request may or may not have taken effect. Read the state before "
    "you send it again, and give `request_id` to the operator.",
    "server-unavailable": "The queue's server can't be reached, or the web app is overloaded. Send it again "
    "after `Retry-After` seconds.",
    "server-refused": "The server refused the call: out of memory, read-only, or not permitted. Tell the "
    "operator, and send it again after `Retry-After` seconds.",
    "queue-unreadable": "Another version of leaseq wrote this queue; other queues are not affected. The "
    "operator has to update leaseq.",
}
"""What each problem code means, and what to do, for the description of REST."""

_TITLES = {413: "Content too large", 414: "URI too long", 422: "Unprocessable content"}
"""Titles that HTTPStatus lacks in sentence case: Python 3.11 has older phrases, and URI is an acronym."""


def title_of(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase.capitalize()


def type_of(code: str) -> str:
    """The type's URI, at which the description of REST explains the code."""
    return f"/api/v1/docs#problem-{code}" if code in MEANINGS else "about:blank"


def body_of(problem: Problem, request_id: str | None) -> dict[str, Any]:
    return {
        "type": type_of(problem.code),
        "title": title_of(problem.status),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
        "rule": problem.rule,
        "values": problem.values,
        **problem.members,
    }


_STATUSES = (
    (LimitRequestLine, 414),
    (LimitRequestHeaders, 431),
    (ExpectationFailed, 417),
    (UnsupportedTransferCoding, 501),
)


def is_unreadable(error: BaseException) -> bool:
    """Whether the client's bytes are not valid HTTP. A bad header in a response is our own error."""
    is_own = isinstance(error, InvalidResponseHeader | InvalidResponseHeaderName)
    return isinstance(error, ParseException) and not is_own


def init_unreadable(app: Flask, respond: Callable[[Problem], Response]) -> None:
    """Handle broken chunks of a body, which are detected while the app reads it."""
    app.register_error_handler(ParseException, lambda error: respond(problem_of(error)))


def problem_of(error: Exception) -> Problem:
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 400)
    code = "too-large" if status in (414, 431) else "invalid"
    return Problem.of(status, code, "http", field="request", why=str(error))


def write(client: Any, problem: Problem) -> None:
    """Write the response to a client's socket; errors are ignored, since the client may be gone."""
    body = json.dumps(body_of(problem, None)).encode()
    head = (
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    )
    with suppress(OSError):
        util.write_nonblock(client, "\r\n".join((*head, "", "")).encode() + body)

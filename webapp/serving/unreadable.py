"""Responses to requests that gunicorn cannot parse, as problem+json."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

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

from leaseq.webapp.serving.problem import Problem, body_of

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
    limit = f"valid HTTP/1.1 ({error})"
    code = "too-large" if status in (414, 431) else "invalid"
    return Problem(status, code, f"request: {limit}", field="request", limit=limit)


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

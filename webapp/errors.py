"""Error handlers: problem+json under /api, a page elsewhere. None shows a traceback."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from flask import Flask, Response, g, render_template, request
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, NotFound

import leaseq
import leaseq.webhooks
from leaseq.webapp.context import state, this_app
from leaseq.webapp.form_input import input_fields, resendable_fields
from leaseq.webapp.refusals import in_words
from leaseq.webapp.security.authorization import may_manage, needs_of
from leaseq.webapp.security.headers import with_policy
from leaseq.webapp.serving.logs import REQUEST_ID
from leaseq.webapp.serving.middleware import in_api
from leaseq.webapp.serving.problem import Problem, body_of
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.open_calls import TooManyOpen
from leaseq.webapp.store.person_data import UnreadableQueues

log = logging.getLogger(__name__)

RETRY_SECONDS = 5

CODES = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    408: "request-timeout",
    413: "too-large",
    415: "unsupported-media-type",
    429: "too-many-requests",
}
"""The codes of errors that Flask itself raises, by status."""


_BY_TYPE: dict[type[leaseq.LeaseqError], tuple[int, str]] = {
    leaseq.ItemNotFound: (404, "not-found"),
    leaseq.QueueNotFound: (404, "not-found"),
    NoSuchPerson: (404, "not-found"),
    leaseq.webhooks.EndpointNotFound: (404, "not-found"),
    leaseq.PolicyChanged: (412, "policy-changed"),
    leaseq.QueueExists: (412, "queue-exists"),
    leaseq.QueueUnreadable: (503, "queue-unreadable"),
    UnreadableQueues: (503, "queue-unreadable"),
}
"""The status and code of the library's errors that have only a message."""


def problem_of(error: leaseq.LeaseqError) -> Problem:
    """The problem for an error of the library."""
    if isinstance(error, leaseq.LeaseLost | leaseq.ItemFinished):
        return _problem_of_state(error)
    if isinstance(error, leaseq.QueueNotFound) and not error.deleted:  # the same text as without access
        return Problem.of(404, "not-found", "not_found", what="queue_or_access", name=error.queue)
    for kind, (status, code) in _BY_TYPE.items():
        if isinstance(error, kind):
            return _problem(status, code, error)
    if isinstance(error, leaseq.Invalid) and error.errors:
        return _problem(422, "form", error, errors=error.errors)
    if isinstance(error, leaseq.Invalid):
        status, code = (413, "too-large") if isinstance(error, leaseq.TooLarge) else (400, "invalid")
        return _problem(status, code, error, field=error.field, limit=error.limit)
    if isinstance(error, leaseq.ServerRefused):
        return _retry_later(_problem(503, "server-refused", error))
    if isinstance(error, leaseq.ServerUnavailable) and error.taken:
        return _retry_later(_problem(503, "server-unavailable", error))
    log.warning("%s", error)  # has the server's address: not for clients
    return _retry_later(Problem.of(503, "server-unavailable", "unavailable", what="server"))


def _problem(status: int, code: str, error: leaseq.LeaseqError, **members: Any) -> Problem:
    return Problem(status, code, str(error), rule=error.rule, values=error.values, **members)


def _problem_of_state(error: leaseq.LeaseLost | leaseq.ItemFinished) -> Problem:
    """The problem of a call that the item's state did not allow."""
    members: dict[str, Any] = {"id": error.item.id, "state": error.item.state}
    if isinstance(error, leaseq.ItemFinished):
        return _problem(409, "item-finished", error, **members)
    hint = ": reserve to get an item again" if error.item.state == "inbound" and in_api() else ""
    problem = _problem(409, "lease-lost", error, **members, answer_kept=error.answer_kept)
    problem.detail += hint
    return problem


def _hide_from_stranger(error: leaseq.LeaseqError) -> leaseq.LeaseqError:
    """Return ItemNotFound, whether or not the item exists, if the person was never granted it."""
    if not isinstance(error, leaseq.LeaseLost):
        return error
    caller = g.get("person")
    if error.answer_kept or any(caller and grant.person == caller.name for grant in error.item.history):
        return error
    queue, id = (request.view_args or {}).get("q", ""), error.item.id
    not_found = leaseq.ItemNotFound(queue, id)
    if in_api() and caller is not None and may_manage(queue):  # may read it anyway
        not_found.tell("not_found", what="lease", queue=queue, id=id)
    return not_found


def _retry_later(problem: Problem) -> Problem:
    problem.headers["Retry-After"] = str(RETRY_SECONDS)
    return problem


def problem_of_http(error: HTTPException) -> Problem:
    status = error.code or 500
    problem = Problem.of(
        status, CODES.get(status, "http-error"), "http_error", why=error.description or error.name
    )
    for name, value in error.get_headers():
        if name not in ("Content-Type", "Content-Length"):
            problem.headers[name] = value
    if status == 429:
        problem.headers.setdefault("Retry-After", "60")
        problem.tell("too_many", what="any")
    if status == 404 and error.description == NotFound.description:
        problem.tell("not_found", what="page")
    if status == 400:
        problem.members = {"field": "request", "limit": problem.detail}
    if status == 413 and in_api():
        return Problem.of(
            413,
            "too-large",
            "maximum",
            what="request_bytes",
            field="body",
            maximum=request.max_content_length or 0,
        )
    return problem


def as_json(problem: Problem) -> Response:
    body = body_of(problem, request.environ.get(REQUEST_ID))
    response = Response(json.dumps(body), problem.status, mimetype="application/problem+json")
    response.headers.extend(problem.headers)
    if problem.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def as_page(problem: Problem) -> Response:
    fields = resendable_fields() if problem.status in (403, 503) else []  # may succeed later, unchanged
    request_id = request.environ.get(REQUEST_ID) if problem.status >= 500 else None
    inputs = [] if problem.status == 503 else input_fields()
    detail = in_words(problem)
    page = render_template(
        "shared/error.html",
        problem=problem,
        detail=detail,
        is_english=detail == problem.detail,
        again=fields,
        inputs=inputs,
        request_id=request_id,
    )
    response = Response(page, problem.status)
    response.headers.extend(problem.headers)
    return response


_REQUEST_STATUSES = frozenset({400, 406, 413, 415})  # found before the queue is looked up


def _prefer_queue_not_found(error: Exception, problem: Problem) -> Problem:
    """Return 404 instead of the request's own error if its queue does not exist. Any request for a queue
    without access gets 404, and a different response would tell the two cases apart."""
    queue = (request.view_args or {}).get("q")
    precedes_access_check = problem.status in _REQUEST_STATUSES or isinstance(error, CSRFError)
    needs = needs_of(this_app(), request.endpoint)
    if queue is None or not precedes_access_check or (needs is not None and needs.makes_queue):
        return problem
    with suppress(leaseq.LeaseqError):
        if not leaseq.Queue(state().client, queue).exists():
            return problem_of(leaseq.QueueNotFound(queue))
    return problem


def problem_response(problem: Problem) -> Response:
    return as_json(problem) if in_api() else as_page(problem)


def init_errors(app: Flask) -> None:
    def handle(kind: type[Any], to_problem: Callable[[Any], Problem]) -> None:
        app.register_error_handler(
            kind, lambda error: problem_response(_prefer_queue_not_found(error, to_problem(error)))
        )

    def unexpected(error: Exception) -> Problem:
        log.error("%s %s failed", request.method, request.path, exc_info=error)
        return Problem.of(500, "internal", "internal")

    handle(Problem, lambda problem: problem)
    handle(leaseq.LeaseqError, lambda error: problem_of(_hide_from_stranger(error)))
    handle(TooManyOpen, lambda error: _retry_later(_problem(429, "too-many-requests", error)))
    handle(CSRFError, lambda error: Problem.of(403, "forbidden", "csrf", why=error.description))
    handle(HTTPException, problem_of_http)
    handle(Exception, unexpected)


def too_busy(seconds: int) -> Response:
    """The response to a request that was shed, not processed; the client may send it again later."""
    if in_api():
        response = as_json(
            Problem.of(503, "server-unavailable", "unavailable", what="overloaded", seconds=seconds)
        )
    else:
        g.person = None  # the person is not looked up
        page = render_template("shared/overloaded.html", seconds=seconds, again=resendable_fields())
        response = Response(page, 503)
    response.headers["Retry-After"] = str(seconds)
    return with_policy(response)

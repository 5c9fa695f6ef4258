"""Access log: the request id, the log line of each request, and its part in the metrics."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g
from werkzeug.wsgi import ClosingIterator

from leaseq.webapp.serving.http_metrics import HttpMetrics
from leaseq.webapp.serving.json_request import strict_request
from leaseq.webapp.serving.logging import ACCESS, REQUEST_ID
from leaseq.webapp.serving.proxy import came_by_proxy

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

HEADER = "X-Request-Id"
NO_ROUTE = "none"  # all unknown paths are one route in the metrics
_PERSON, _ROUTE = "leaseq.person", "leaseq.route"
_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

log = logging.getLogger(ACCESS)


def request_id(environ: WSGIEnvironment) -> str:
    """The request's id from our own proxy, else a new one: clients must not choose what is in the log."""
    header = environ.get("HTTP_X_REQUEST_ID", "")
    if came_by_proxy(environ) and _ID.fullmatch(header):
        return str(header)
    return secrets.token_hex(8)


class AccessLog:
    """Middleware that measures each request until its last byte, and logs it."""

    def __init__(self, app: WSGIApplication, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_time = time.perf_counter()
        id = environ[REQUEST_ID] = request_id(environ)
        statuses: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[..., Any]:
            statuses.append(status)
            return start_response(status, [*headers, (HEADER, id)], exc_info)

        def log_request() -> None:
            self._note(environ, int(statuses[-1][:3]) if statuses else 500, time.perf_counter() - start_time)

        return ClosingIterator(self._app(environ, start), log_request)

    def _note(self, environ: WSGIEnvironment, status: int, seconds: float) -> None:
        route, method = environ.get(_ROUTE, NO_ROUTE), environ["REQUEST_METHOD"]
        self._metrics.count(route, method, status, seconds)
        if log.isEnabledFor(logging.INFO):
            # Without the query, since links that set a password contain their secret there.
            path = environ.get("PATH_INFO", "").encode("latin-1", "replace").decode("utf-8", "replace")
            fields = {
                "method": method,
                "path": path,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 1),
                "person": environ.get(_PERSON),
                "address": environ.get("REMOTE_ADDR"),
                "request_id": environ[REQUEST_ID],
            }
            # Not log.info, which first searches for the line of code that called it.
            log.handle(
                log.makeRecord(ACCESS, logging.INFO, "", 0, "answered", (), None, extra={"fields": fields})
            )


def as_route(environ: WSGIEnvironment, route: str) -> None:
    """Count a request under this route, if the app does not handle it."""
    environ[_ROUTE] = route


def _pass_on(response: Response) -> Response:
    """Pass the route and the person, which are known only in the app, to the middleware."""
    this_request, person = strict_request(), g.get("person")
    rule, environ = this_request.url_rule, this_request.environ
    environ[_ROUTE] = rule.rule if rule else NO_ROUTE
    environ[_PERSON] = person.name if person else None
    return response


def init_access_log(app: Flask, metrics: HttpMetrics) -> None:
    app.after_request(_pass_on)
    app.wsgi_app = AccessLog(app.wsgi_app, metrics)  # type: ignore[method-assign]

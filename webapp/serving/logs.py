"""Logs and metrics of requests."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from flask import Flask, Response, g, has_request_context, request
from gunicorn.glogging import Logger
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector
from werkzeug.wsgi import ClosingIterator

from leaseq.transfer import rfc3339
from leaseq.webapp.serving.bodies import strict_request
from leaseq.webapp.serving.hosts import came_by_proxy

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Kind = Literal["text", "json"]

VARIABLE = "LEASEQ_LOG"
ACCESS = "leaseq.access"
REQUEST_ID = "leaseq.request_id"
"""The key of a request's id in its WSGI environment."""
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def escaped(text: str) -> str:
    """The text in one line of printable characters: line ends, escape sequences and the like as ``\\n``."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode() for one in text
    )


def _time(record: logging.LogRecord) -> str:
    return rfc3339(datetime.fromtimestamp(record.created, UTC))


def _request_id(record: logging.LogRecord) -> str | None:
    """The id of the request that the line is about, or during which it was written."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    id = fields.get("request_id") or (request.environ.get(REQUEST_ID) if has_request_context() else None)
    return str(id) if id else None


class TextFormatter(logging.Formatter):
    """For people: time, level, logger, message, then ``name=value``. Traceback lines begin with a bar."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {**getattr(record, "fields", {}), "request_id": _request_id(record)}
        words = [_time(record), record.levelname.lower(), f"{record.name}:", escaped(record.getMessage())]
        words += [f"{name}={_format_value(value)}" for name, value in fields.items() if value is not None]
        lines = [" ".join(words)]
        if record.exc_info:
            lines += [f"  | {escaped(line)}" for line in self.formatException(record.exc_info).split("\n")]
        return "\n".join(lines)


def _format_value(value: object) -> str:
    return _quoted(escaped(value)) if isinstance(value, str) else str(value)


class JsonFormatter(logging.Formatter):
    """For programs: one JSON object per line, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
            "request_id": _request_id(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None})


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}


def log_to_stderr(kind: str, level: int) -> None:
    """Send all logs of this process to standard error. An unknown kind means text."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FORMATTERS.get(kind, TextFormatter)())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


class ServerLogger(Logger):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's log, in the app's format. The app writes the access log, since it knows the person."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        log_to_stderr(os.environ.get(VARIABLE, "text"), self.loglevel)

    def exception(self, msg: object, *args: Any, **kwargs: Any) -> None:
        """Log an exception. A client that was too slow (webapp/serving/capacity.py) is not an error, and
        gets no traceback."""
        if isinstance(sys.exc_info()[1], TimeoutError):
            self.debug("closed the connection of a client that was too slow")
        else:
            super().exception(msg, *args, **kwargs)


DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's name for it
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class HttpMetrics:
    """Counts requests by route. All unknown paths count as one, and so do all unknown methods."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts = Counter(
            "leaseq_http_requests",
            "Requests that were answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "leaseq_http_request_seconds",
            "From a request's head to the last byte of its response, including any wait for an item.",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self._registry,
        )

        self._wait_seconds = Histogram(
            "leaseq_http_wait_seconds",
            "From reading a request's head to the start of its handling.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._shed_counter = Counter(
            "leaseq_http_shed",
            "Requests that waited too long in line, and were refused.",
            registry=self._registry,
        )
        # By method, route and status, since a lookup by labels is slow.
        self._cache: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe_wait(self, seconds: float) -> None:
        self._wait_seconds.observe(seconds)

    def count_shed(self) -> None:
        self._shed_counter.inc()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        method = method if method in _METHODS else "other"
        metrics = self._cache.get((method, route, status))
        if metrics is None:
            counter = self._counts.labels(method, route, str(status))
            metrics = self._cache[method, route, status] = counter, self._seconds.labels(method, route)
        metrics[0].inc()
        metrics[1].observe(seconds)

    def all_processes(self) -> CollectorRegistry:
        """The metrics of all processes that share the directory."""
        if DIRECTORY not in os.environ:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry


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

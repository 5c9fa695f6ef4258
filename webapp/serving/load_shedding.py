"""Refusals of requests that would wait too long, and the end of a process."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from flask import Flask, Response

from leaseq.webapp.serving.capacity import HOLDS_SLOT, QueueTimeLimit, RequestSlots
from leaseq.webapp.serving.logs import HttpMetrics, as_route

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

VARIABLE = "LEASEQ_DRAIN_SECONDS"
_stop = threading.Event()
_callbacks: list[Callable[[], object]] = []


def drain_seconds() -> int:
    """How long requests are accepted after a stop began; webapp/settings.py refuses a wrong value."""
    text = os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() else 0


def has_begun() -> bool:
    return _stop.is_set()


def begin() -> None:
    _stop.set()


def on_shutdown(callback: Callable[[], object]) -> None:
    """Register a function to call when the process no longer accepts connections: waiting requests then get a
    response, instead of being cut off after the grace period, and event streams reconnect to another
    process."""
    _callbacks.append(callback)


def end_waits() -> None:
    for callback in _callbacks:
        callback()


RETRY_AFTER = (2, 6)  # seconds: not all come back together
ROUTE = "shed"
NEVER_SHED = frozenset({"/healthz", "/readyz", "/metrics"})  # for operators: these wait for no slot
STATIC = "/static/"  # for pages that were served


class LoadShedding:
    """WSGI middleware that gives each request a slot, and 503 to one that waited too long for it."""

    def __init__(
        self,
        app: Flask,
        inner: WSGIApplication,
        slots: RequestSlots,
        seconds: float,
        metrics: HttpMetrics,
        respond: Callable[[int], Response],
    ) -> None:
        self._app, self._inner, self._respond = app, inner, respond
        self._slots = slots
        self._limit = QueueTimeLimit(seconds)
        self._metrics = metrics

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path in NEVER_SHED:
            return self._inner(environ, start_response)
        seconds = self._slots.acquire()
        environ[HOLDS_SLOT] = True
        try:
            self._metrics.observe_wait(seconds)
            is_over = self._limit.is_over(seconds, time.monotonic())
            if not is_over or has_begun() or path.startswith(STATIC):
                return self._inner(environ, start_response)
            return self._refuse(environ, start_response)
        finally:
            environ[HOLDS_SLOT] = False
            self._slots.release()

    def _refuse(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self._metrics.count_shed()
        as_route(environ, ROUTE)
        with self._app.request_context(environ):
            response = self._respond(random.randint(*RETRY_AFTER))  # noqa: S311 - nothing secret
        return response(environ, start_response)


def init_load_shedding(
    app: Flask,
    slots: RequestSlots,
    seconds: float,
    metrics: HttpMetrics,
    respond: Callable[[int], Response],
) -> None:
    """Shed requests that waited longer than ``seconds`` for a slot; 0: none.

    ``respond`` returns the response to a shed request, which may be sent again in the given number of
    seconds.
    """
    app.wsgi_app = LoadShedding(app, app.wsgi_app, slots, seconds, metrics, respond)  # type: ignore[method-assign]

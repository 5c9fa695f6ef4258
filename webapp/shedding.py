"""More requests than can be served: those that waited too long are turned away, and nothing of them is done.

So the others are answered as fast as ever. Whoever is turned away is told when to send it again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Flask, Response, g, render_template
from werkzeug.exceptions import HTTPException

from webapp.errors import Problem, as_json, sent
from webapp.gate import in_api
from webapp.headers import secured
from webapp.observing import as_route
from webapp.patience import WAITED, Patience
from webapp.traffic import Traffic

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

AGAIN = (2, 6)  # seconds: not all come back at once
ROUTE = "shed"
ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})  # whoever looks after the place has to see
PARTS = "/static/"  # of pages that were served


class Shedding:
    """The app, behind a door that closes while there are too many."""

    def __init__(self, app: Flask, inner: WSGIApplication, seconds: float, traffic: Traffic) -> None:
        self._app, self._inner = app, inner
        self._patience = Patience(seconds)
        self._traffic = traffic

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        waited = WAITED.get()
        self._traffic.waited(waited)
        is_over = self._patience.is_over(waited, time.monotonic())
        path = environ.get("PATH_INFO", "")
        if not is_over or path in ALWAYS or path.startswith(PARTS):
            return self._inner(environ, start_response)
        self._traffic.shed()
        as_route(environ, ROUTE)
        with self._app.request_context(environ):
            response = secured(_busy(random.randint(*AGAIN)))  # noqa: S311 - nothing secret
        return response(environ, start_response)


def _busy(seconds: int) -> Response:
    if in_api():
        detail = f"more is asked than can be answered now; nothing of this was done: ask again in {seconds} s"
        response = as_json(Problem(503, "server-unavailable", detail, title="Too busy at this moment"))
    else:
        g.person = None  # nobody asks the server who this is
        page = render_template("busy.html", seconds=seconds, again=_typed())
        response = Response(page, 503)
    response.headers["Retry-After"] = str(seconds)
    return response


def _typed() -> list[tuple[str, str]]:
    try:
        return sent()
    except HTTPException:  # more than a form may have
        return []


def init_shedding(app: Flask, seconds: float, traffic: Traffic) -> None:
    """Shed what waited longer than ``seconds`` for a thread of gunicorn's; 0: nothing."""
    app.wsgi_app = Shedding(app, app.wsgi_app, seconds, traffic)  # type: ignore[method-assign]

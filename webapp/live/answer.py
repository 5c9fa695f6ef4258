"""A request to watch, answered: the head by gunicorn as any other, the rest by the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flask import Response, current_app, request

from webapp.errors import Problem
from webapp.gate import still_lets
from webapp.live import Live, handover
from webapp.live.feed import RETRY_MS, Vouch
from webapp.live.hub import Stream
from webapp.state import state

RETRY_SECONDS = 10


def streamed(begin: Callable[[Live, Stream, Vouch], None]) -> Response:
    """A stream that ``begin`` hands to the feed, or 503 where there is no place for one."""
    live, environ = state().live, request.environ
    if not handover.can_take(environ) or not live.hub.take_place():
        raise busy()
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001  # as its docs say
    place = [live.hub]  # ours until the stream has it

    def give_back() -> None:
        if place:
            place.pop().give_back_place()

    def body() -> Iterator[bytes]:
        yield b"retry: %d\n\n" % RETRY_MS  # the head goes ahead of it
        sock = handover.take(environ)
        stream = place.pop().add(sock, chunked=handover.is_chunked(environ))
        begin(live, stream, lambda: still_lets(app, environ))

    response = Response(body(), mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # nginx would keep it back
    response.call_on_close(give_back)
    return response


def busy() -> Problem:
    detail = "as many as this web process takes are watching: ask for the figures themselves now and then"
    problem = Problem(503, "busy", detail)
    problem.headers["Retry-After"] = str(RETRY_SECONDS)
    return problem

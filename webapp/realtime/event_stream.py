"""Starts an event stream: gunicorn sends the response's head, the hub sends the events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flask import Response, request

from leaseq.webapp.realtime import LiveUpdates, socket_handover
from leaseq.webapp.realtime.poller import RETRY_MS, Vouch
from leaseq.webapp.realtime.sse_hub import Stream
from leaseq.webapp.serving.problem import Problem

RETRY_SECONDS = 10


def streamed(
    live: LiveUpdates, vouch: Vouch, begin: Callable[[LiveUpdates, Stream, Vouch], None]
) -> Response:
    """A stream that ``begin`` adds to the feed, open while ``vouch`` holds; 503 where no place is free."""
    environ = request.environ
    if not socket_handover.can_take(environ) or not live.hub.take_place():
        raise busy()
    place = [live.hub]  # ours until the stream has it

    def give_back() -> None:
        if place:
            place.pop().give_back_place()

    def body() -> Iterator[bytes]:
        yield b"retry: %d\n\n" % RETRY_MS  # sent after the head
        sock = socket_handover.take(environ)
        stream = place.pop().add(sock, chunked=socket_handover.is_chunked(environ))
        begin(live, stream, vouch)

    response = Response(body(), mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # nginx would keep it back
    response.call_on_close(give_back)
    return response


def busy() -> Problem:
    detail = "this web process has reached its limit of event streams: poll stats and journal instead"
    problem = Problem(503, "busy", detail)
    problem.headers["Retry-After"] = str(RETRY_SECONDS)
    return problem

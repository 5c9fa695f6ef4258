"""The response with an event stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from flask import Response, request

from leaseq.transfer import rfc3339
from leaseq.webapp.context import person, state
from leaseq.webapp.realtime.poller import RETRY_MS, Channel, Watcher
from leaseq.webapp.realtime.stream import AccessCheck, Stream
from leaseq.webapp.security.authorization import request_check
from leaseq.webapp.serving.capacity import on_disconnect


def stream_events(channel: Channel, watch: Callable[[Stream, AccessCheck], Watcher]) -> Response:
    """A stream of the channel's messages to the watcher that ``watch`` creates, open while the caller has
    access. Raises TooManyOpen."""
    if request.method == "HEAD":
        return _response(())
    live, environ = state().live, request.environ
    call = state().open_calls.begin("streams", person().name)
    stream, check = Stream(), request_check(call.confirm)

    def body() -> Iterator[bytes]:
        yield b"retry: %d\n\n" % RETRY_MS
        live.poller.watch(channel, watch(stream, check))
        with on_disconnect(environ, stream.end):
            yield from stream.events()

    def close() -> None:
        stream.end()
        call.end()

    response = _response(body())
    response.call_on_close(close)
    return response


def with_time(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures with the server's time, so that browsers can correct for their own clock."""
    return {"now": rfc3339(datetime.now(UTC)), **figures}


def _response(body: Iterator[bytes] | tuple[()]) -> Response:
    response = Response(body, mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # otherwise nginx would buffer it
    return response

"""Limits on clients that send or read slowly, by accident or as an attack.

gunicorn's keepalive limits the time for the headers of a request.
"""

from __future__ import annotations

import io
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import gevent
from werkzeug.exceptions import RequestTimeout

from leaseq.webapp.serving.request_slots import RequestSlots

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PIECE = 16_384  # bytes
SECONDS = 10.0
"""The time for each piece of a body, and for each write of an answer: at least 1.6 kB/s."""

TOO_SLOW = "the rest of the body did not arrive in time, and nothing was done: send the request again"


class TimedBody(io.RawIOBase):
    """A request's body, each piece of which has to arrive in time; meanwhile its slot is lent to others.
    Raises RequestTimeout where it does not arrive."""

    def __init__(self, body: Any, slots: RequestSlots, seconds: float) -> None:
        self._body, self._slots, self._seconds = body, slots, seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._slots.lent(), gevent.Timeout(self._seconds, RequestTimeout(TOO_SLOW)):
            data = self._body.read(min(len(buffer), PIECE))
        buffer[: len(data)] = data
        return len(data)


class SlowClients:
    """WSGI middleware under gunicorn's gevent worker."""

    def __init__(self, inner: WSGIApplication, slots: RequestSlots, seconds: float = SECONDS) -> None:
        self._inner, self._slots, self._seconds = inner, slots, seconds

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        client = environ["gunicorn.socket"]
        client.settimeout(self._seconds)
        if client.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            # The kernel gives up on what it was to send after that long, too.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._seconds * 1_000))
        environ["wsgi.input"] = TimedBody(environ["wsgi.input"], self._slots, self._seconds)
        return self._inner(environ, start_response)

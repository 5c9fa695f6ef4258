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

    def read(self, size: int = -1) -> bytes:
        if 0 <= size <= PIECE:
            return self._piece(size)
        return super().read(size)

    def readinto(self, buffer: Any) -> int:
        data = self._piece(min(len(buffer), PIECE))
        buffer[: len(data)] = data
        return len(data)

    def _piece(self, size: int) -> bytes:
        self._slots.release()
        try:
            with gevent.Timeout(self._seconds, RequestTimeout(TOO_SLOW)):
                data: bytes = self._body.read(size)
        finally:
            self._slots.acquire()
        return data


class SlowClients:
    """WSGI middleware under gunicorn's gevent worker."""

    def __init__(self, inner: WSGIApplication, slots: RequestSlots, seconds: float = SECONDS) -> None:
        self._inner, self._slots, self._seconds = inner, slots, seconds

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        client = environ["gunicorn.socket"]
        if client.gettimeout() != self._seconds:
            self._limit(client)
        environ["wsgi.input"] = TimedBody(environ["wsgi.input"], self._slots, self._seconds)
        return self._inner(environ, start_response)

    def _limit(self, client: socket.socket) -> None:
        client.settimeout(self._seconds)
        if client.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            # The kernel gives up on what it was to send after that long, too.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._seconds * 1_000))

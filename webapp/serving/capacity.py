"""Requests that wait, and clients that send or read slowly: neither holds a slot of the process."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import gevent
from gevent.socket import socket as gevent_socket
from gevent.socket import wait_read
from werkzeug.exceptions import RequestTimeout
from werkzeug.wsgi import ClosingIterator

from leaseq.webapp.serving.middleware import HOLDS_SLOT, RequestSlots
from leaseq.webapp.serving.time_slices import end_slice_when_over, in_slices

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


@contextmanager
def on_disconnect(environ: Mapping[str, Any], callback: Callable[[], object]) -> Iterator[None]:
    """Call ``callback`` if the client closes its connection in the ``with`` block. This works only under
    gunicorn, and not with gunicorn's own TLS."""
    client = environ.get("gunicorn.socket")
    if type(client) is not gevent_socket:
        yield
        return
    watcher = gevent.spawn(_watch, client, callback)
    try:
        yield
    finally:
        watcher.kill(block=False)


def _watch(client: socket.socket, callback: Callable[[], object]) -> None:
    with suppress(OSError):
        wait_read(client.fileno())
        if client.recv(1, socket.MSG_PEEK):
            return  # the next request came early: it is read after this one's response
    callback()


class Waits:
    """Ends a wait early if its client closes the connection, and all waits when the process stops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: set[threading.Event] = set()
        self._is_closed = False

    @contextmanager
    def track(self, environ: Mapping[str, Any]) -> Iterator[threading.Event]:
        """An event that is set when this request must stop waiting."""
        stop = threading.Event()
        with self._lock:
            self._events.add(stop)
            if self._is_closed:
                stop.set()
        try:
            with on_disconnect(environ, stop.set):
                yield stop
        finally:
            with self._lock:
                self._events.remove(stop)

    def close(self) -> None:
        """End all waits, including later ones."""
        with self._lock:
            self._is_closed = True
            for stop in self._events:
                stop.set()


PIECE = 16_384  # bytes of a body
WRITE = 65_536  # bytes of a response
SECONDS = 10.0
"""The time for each piece of a body, and for each write of a response: at least 1.6 and 6.5 kB/s."""

TOO_SLOW = (
    "the rest of the body did not arrive in time: send the request again; nothing was done, but rows of "
    "a stream that came before may have been added"
)


class TimedBody(io.RawIOBase):
    """A request's body, each piece of which must arrive in time; its slot is released until then.
    Raises RequestTimeout if a piece does not arrive."""

    def __init__(self, environ: WSGIEnvironment, slots: RequestSlots, seconds: float) -> None:
        self._body, self._environ = environ["wsgi.input"], environ
        self._slots, self._seconds = slots, seconds

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
        slot_release = self._slots.release_temporarily() if self._environ.get(HOLDS_SLOT) else nullcontext()
        with slot_release, gevent.Timeout(self._seconds, RequestTimeout(TOO_SLOW)):
            data: bytes = self._body.read(size)
        end_slice_when_over()  # even if all of a large body has arrived
        return data


class SlowClients:
    """WSGI middleware for gunicorn's gevent worker that limits slow clients."""

    def __init__(self, inner: WSGIApplication, slots: RequestSlots, seconds: float = SECONDS) -> None:
        self._inner, self._slots, self._seconds = inner, slots, seconds

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        client = environ["gunicorn.socket"]
        if client.gettimeout() != self._seconds:
            self._limit(client)
        environ["wsgi.input"] = TimedBody(environ, self._slots, self._seconds)
        response = self._inner(environ, start_response)
        return ClosingIterator(_in_pieces(response), getattr(response, "close", None))

    def _limit(self, client: socket.socket) -> None:
        client.settimeout(self._seconds)
        if client.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
            # The kernel stops trying to send after that time, too.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(self._seconds * 1_000))


def _in_pieces(response: Iterable[bytes]) -> Iterator[bytes]:
    """The response in pieces that a slow client can read in time, since the limit is on a whole write."""
    for piece in in_slices(response):
        if len(piece) <= WRITE:
            yield piece
        else:
            for start in range(0, len(piece), WRITE):
                yield piece[start : start + WRITE]

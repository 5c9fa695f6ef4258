"""Sends one request to a checked address, within its time limits."""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import monotonic

from leaseq.errors import Invalid
from leaseq.webhooks.addresses import AddressRefused, Networks, Target, check, resolve, target_of

CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 10.0
_READ = 1_024  # bytes read of a response's body
_EXCERPT = 400  # characters of it that are kept
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\ufffd]+")
GONE = 410


@dataclass(frozen=True, slots=True)
class Response:
    """The outcome of a request: the response's status and beginning, or why there was no response."""

    status: int | None
    seconds: float
    excerpt: str = ""
    error: str | None = None

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class _Deadline:
    """Ends a connection at a fixed time. A receiver that sends single bytes never exceeds a socket
    timeout."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds
        self.is_over = False

    def seconds_left(self) -> float:
        return max(0.001, self._until - monotonic())

    @contextmanager
    def enforced(self, connection: socket.socket) -> Iterator[None]:
        # A separate descriptor: TLS takes over the other one.
        line = socket.socket(fileno=os.dup(connection.fileno()))

        def shut_down() -> None:
            self.is_over = True
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.seconds_left(), shut_down)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            line.close()


def post(
    url: str, headers: Mapping[str, str], body: bytes, allow: Networks, *, seconds: float = TOTAL_SECONDS
) -> Response:
    """POST a body to a URL whose addresses are all allowed. Redirects are not followed, and a proxy set in
    the environment is not used. ``seconds``: the limit for the whole request."""
    start = monotonic()
    deadline = _Deadline(seconds)
    try:
        target = target_of(url)
        addresses = resolve(target)
        check(target, addresses, allow)
        with _connected(addresses, target, min(CONNECT_SECONDS, seconds)) as line, deadline.enforced(line):
            status, excerpt = _exchange(line, target, headers, body, deadline)
    except (AddressRefused, Invalid, OSError, HTTPException) as error:
        is_late = deadline.is_over or isinstance(error, TimeoutError)
        reason = f"no answer within {seconds:g} s" if is_late else _error_text(error)
        return Response(None, monotonic() - start, error=reason)
    return Response(status, monotonic() - start, excerpt)


@contextmanager
def _connected(addresses: list[str], target: Target, seconds: float) -> Iterator[socket.socket]:
    """Connect to the first address that accepts a connection; no name is looked up here. An address that does
    not answer leaves the others their share of the time."""
    until = monotonic() + seconds
    failure = OSError(f"{target.host!r} has no address")
    for index, address in enumerate(addresses):
        line = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        with line:
            line.settimeout(max(0.001, (until - monotonic()) / (len(addresses) - index)))
            try:
                line.connect((address, target.port))
            except TimeoutError:
                failure = OSError(f"no connection to {address} port {target.port} within {seconds:g} s")
                continue
            except OSError as error:
                failure = OSError(f"no connection to {address} port {target.port}: {error.strerror or error}")
                continue
            yield line
            return
    raise failure


def _exchange(
    line: socket.socket, target: Target, headers: Mapping[str, str], body: bytes, deadline: _Deadline
) -> tuple[int, str]:
    line.settimeout(deadline.seconds_left())
    if target.https:
        line = _tls().wrap_socket(line, server_hostname=target.host)
    with line:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = line
        connection.request("POST", target.path, body, {"Host": target.authority, **headers})
        response = connection.getresponse()
        if deadline.is_over:  # truncated headers look like complete ones
            raise TimeoutError
        return response.status, _excerpt(response)


def _excerpt(response: HTTPResponse) -> str:
    """The beginning of the response's body, in one line. A body that breaks off doesn't fail the request."""
    data = b""
    with suppress(OSError, HTTPException):
        while len(data) < _READ and (chunk := response.read1(_READ - len(data))):
            data += chunk
    return _UNPRINTABLE.sub(" ", data.decode("utf-8", "replace")).strip()[:_EXCERPT]


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """The TLS context: certificates are checked against the system's, or those in SSL_CERT_FILE."""
    return ssl.create_default_context()


def _error_text(error: Exception) -> str:
    text = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)
    return _UNPRINTABLE.sub(" ", text)[:_EXCERPT] or type(error).__name__

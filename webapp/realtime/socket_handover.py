"""Takes a client's socket over from gunicorn, so that a stream of hours needs no thread.

gunicorn keeps its socket object, but from then on the file descriptor is another socket, whose other end is
closed: gunicorn sees a client that has disconnected, closes it, and counts one connection less
(docs/decisions/0007-events.md).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

_UNACKNOWLEDGED = 30_000  # ms after which the kernel gives up on a client that says nothing any more


def can_take(environ: Mapping[str, Any]) -> bool:
    """Whether the client has a plain connection of its own: HTTP/1 without TLS, under gunicorn."""
    plain = type(environ.get("gunicorn.socket")) is socket.socket
    return plain and "gunicorn.http2.send_trailers" not in environ


def is_chunked(environ: Mapping[str, Any]) -> bool:
    """Whether gunicorn sends this response, having no length, in chunks."""
    return bool(environ["SERVER_PROTOCOL"] != "HTTP/1.0")


def take(environ: Mapping[str, Any]) -> socket.socket:
    """Take the client's connection from gunicorn. Call it once the response's head is sent."""
    theirs: socket.socket = environ["gunicorn.socket"]
    taken = theirs.dup()
    ours, other = socket.socketpair()
    with ours, other:
        os.dup2(ours.fileno(), theirs.fileno(), inheritable=False)
    taken.setblocking(False)
    if taken.family != socket.AF_UNIX and hasattr(socket, "TCP_USER_TIMEOUT"):
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED)
    return taken

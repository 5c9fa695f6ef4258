"""Detects that a client closed its connection while its request waits.

Otherwise an item would be leased to a client that is gone, and a stream kept until the next write to it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import gevent
from gevent.socket import socket as gevent_socket
from gevent.socket import wait_read


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

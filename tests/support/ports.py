"""Ports on which servers of the tests listen."""

from __future__ import annotations

import secrets
import socket

_FIRST, _COUNT, _BUS = 10_000, 10_000, 10_000
_given: set[int] = set()  # in this process, to servers that may not listen yet


def free_port() -> int:
    """One at which nobody listens, nor 10,000 above it, where a cluster's node has its bus. Both lie below
    what the kernel takes for the near end of connections: one of those could be there before the server."""
    while True:
        port = _FIRST + secrets.randbelow(_COUNT)
        if port not in _given and _is_free(port) and _is_free(port + _BUS):
            _given.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

"""Ports for the tests' servers."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

_FIRST, _COUNT, _BUS = 10_000, 10_000, 10_000
_used_ports: set[int] = set()  # given in this process to servers that may not listen yet


def free_port() -> int:
    """A port that is free, as is the one 10,000 above it, which a cluster node uses as its bus. Both are
    below the kernel's ephemeral ports, one of which a connection could take before the server starts."""
    while True:
        port = _FIRST + secrets.randbelow(_COUNT)
        if port not in _used_ports and _is_free(port) and _is_free(port + _BUS):
            _used_ports.add(port)
            return port


def is_accepted(connection: socket.socket) -> bool:
    """Whether the process at the other end, on this machine, has accepted the connection: until then Linux
    lists that end without an inode."""
    near, far = connection.getsockname()[1], connection.getpeername()[1]
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    inodes = {(_port(row[1]), _port(row[2])): row[9] for row in rows}
    return inodes.get((far, near), "0") != "0"


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

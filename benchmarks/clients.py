"""Clients of the load tests: one JSON call on its own connection, and statistics of many."""

from __future__ import annotations

import asyncio
import json
import resource
import time
from math import ceil
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
_LISTEN_STATE = "0A"  # in /proc/net/tcp


def allow_files(count: int) -> None:
    """Raise this process's limit of connections to the count, or to the maximum allowed."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard_limit), hard_limit))


def quantile(values: list[float], share: float) -> float:
    """The value that this share of all values do not exceed."""
    return sorted(values)[min(ceil(len(values) * share), len(values)) - 1]


def workers_of(master: int) -> list[int]:
    """The process ids of gunicorn's workers."""
    return [int(pid) for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split()]


def open_connections_to(port: int) -> int:
    """The connections to a port of this machine that the listening process has not closed, as Linux lists
    them: a socket that no process holds any longer is listed without an inode."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(
        int(local.rpartition(":")[2], 16) == port and state != _LISTEN_STATE and inode != "0"
        for _, local, _, state, _, _, _, _, _, inode, *_ in rows
    )


def megabytes_of(pid: int) -> float:
    """The resident memory of a process, private and shared."""
    (line,) = (row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("VmRSS"))
    return int(line.split()[1]) / 1_024


def request_bytes(method: str, path: str, token: str, body: Any = None, **headers: str) -> bytes:
    body_bytes = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body_bytes)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body_bytes


async def call(port: int, request: bytes) -> tuple[int, Any, float]:
    """Return the status, the JSON of the answer, and the seconds from the connect to its last byte."""
    started_at = time.monotonic()
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = dict(line.lower().partition(": ")[::2] for line in head.split("\r\n"))
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return int(head.split(" ")[1]), json.loads(body or b"null"), time.monotonic() - started_at
    finally:
        writer.close()

"""What the doctor says of a server, and proxies through which a server seems to be another."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

import leaseq
from leaseq.doctor import Report, examine
from tests.conformance.topology.servers import port_of
from tests.engine.proxy import CuttingProxy
from tests.support.waiting import eventually

SAFE_OPTIONS = (
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
)


def url_of(server: redis.Redis, user: str = "") -> str:
    login = f"{user}:pw@" if user else ""
    return f"redis://{login}127.0.0.1:{port_of(server)}/0"


def report_of(url: str, clock: Callable[[], float] = time.time) -> Report:
    client = leaseq.connect(url)
    try:
        return examine(client, clock=clock)
    finally:
        client.close()


def findings_of(url: str, clock: Callable[[], float] = time.time) -> dict[str, str]:
    """What is wrong there, by check: the level, and what it says with the cure."""
    report = report_of(url, clock)
    return {finding.check: f"{finding.level}: {finding.says}. {finding.cure}" for finding in report.findings}


def wait_for_report(url: str, *checks: str) -> Report:
    """The first report that finds exactly these: sentinels and replicas that get no time for a second or two
    see each other as gone, replace a primary, copy everything anew: all of that is rightly found."""
    reports: list[Report] = []

    def finds_exactly_these() -> bool:
        reports.append(report_of(url))
        return sorted(finding.check for finding in reports[-1].findings) == sorted(checks)

    try:
        eventually(finds_exactly_these)
    except TimeoutError:
        pytest.fail(f"found in the end: {reports[-1].findings if reports else 'nothing'}")
    return reports[-1]


class RewritingProxy(CuttingProxy):
    """Replaces what a server says of itself."""

    def __init__(self, server: str, folder: Path, change: Callable[[bytes], bytes]) -> None:
        super().__init__(server, folder)
        self._change = change

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        return super()._answer(client, command, self._change(data))


def as_valkey(version: str) -> Callable[[bytes], bytes]:
    """To be a Valkey of this version, as long as 9.1.2."""
    return lambda data: re.sub(rb"valkey_version:[\d.]+", b"valkey_version:" + version.encode(), data)


def as_redis(version: str) -> Callable[[bytes], bytes]:
    """To be a Redis of this version, as long as 7.2.4."""

    def change(data: bytes) -> bytes:
        data = data.replace(b"valkey_version", b"nobody_version").replace(b"$6\r\nvalkey", b"$5\r\nredis")
        return re.sub(rb"redis_version:[\d.]+", b"redis_version:" + version.encode(), data)

    return change


def as_machine_with(size: int) -> Callable[[bytes], bytes]:
    """To be on a machine of so much memory."""

    def change(data: bytes) -> bytes:
        def digits(match: re.Match[bytes]) -> bytes:
            return match[1] + b"%0*d" % (len(match[2]), size)

        return re.sub(rb"(total_system_memory:)(\d+)", digits, data)

    return change

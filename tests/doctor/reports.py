"""Reports of the doctor, and proxies that make a server look like another one."""

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
    """Return the findings by check: level, problem and fix."""
    report = report_of(url, clock)
    return {
        finding.check: f"{finding.level}: {finding.problem}. {finding.fix}" for finding in report.findings
    }


def wait_for_report(url: str, *checks: str) -> Report:
    """Return the first report with exactly these findings. Sentinels and replicas without CPU time for a
    second or two consider each other unavailable, fail over and copy everything again, and the doctor
    reports that correctly."""
    reports: list[Report] = []

    def finds_exactly_these() -> bool:
        reports.append(report_of(url))
        return sorted(finding.check for finding in reports[-1].findings) == sorted(checks)

    try:
        eventually(finds_exactly_these)
    except TimeoutError:
        pytest.fail(f"last findings: {reports[-1].findings if reports else 'nothing'}")
    return reports[-1]


class RewritingProxy(CuttingProxy):
    """Rewrites what a server reports about itself."""

    def __init__(self, server: str, folder: Path, change: Callable[[bytes], bytes]) -> None:
        super().__init__(server, folder)
        self._change = change

    def _answer(self, client: socket.socket, command: bytes, data: bytes) -> bool:
        return super()._answer(client, command, self._change(data))


def as_valkey(version: str) -> Callable[[bytes], bytes]:
    """Pretend to be this version of Valkey; the version must be as long as 9.1.2."""
    return lambda data: re.sub(rb"valkey_version:[\d.]+", b"valkey_version:" + version.encode(), data)


def as_redis(version: str) -> Callable[[bytes], bytes]:
    """Pretend to be this version of Redis; the version must be as long as 7.2.4."""

    def change(data: bytes) -> bytes:
        data = data.replace(b"valkey_version", b"nobody_version").replace(b"$6\r\nvalkey", b"$5\r\nredis")
        return re.sub(rb"redis_version:[\d.]+", b"redis_version:" + version.encode(), data)

    return change


def as_machine_with(size: int) -> Callable[[bytes], bytes]:
    """Pretend to be on a machine with this much memory."""

    def change(data: bytes) -> bytes:
        def digits(match: re.Match[bytes]) -> bytes:
            return match[1] + b"%0*d" % (len(match[2]), size)

        return re.sub(rb"(total_system_memory:)(\d+)", digits, data)

    return change

"""Checks of the server itself: its version, role, clock and connection settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from redis import exceptions as rx

from leaseq.doctor.checks import Check, Finding, Node, send_command

TOO_OLD = Check(
    "too-old",
    "error",
    "is {name} {version}: leaseq needs {least} or newer",
    "install Valkey 7.2 or newer, or Redis 7.0 or newer",
)
READ_ONLY = Check(
    "read-only",
    "error",
    "is a replica: it does not accept writes",
    "use the URL of its primary ({primary}), or a Sentinel URL, which follows the primary",
)
CLOCK = Check(
    "clock",
    "error",
    "has a clock {seconds:.0f} seconds {way} that of this machine: leases, delays and due dates are off by "
    "as much",
    "synchronize both clocks with NTP (chrony, systemd-timesyncd); leaseq uses the server's clock",
)
DRIFT = Check(
    "clock-drift",
    "warning",
    "has a clock {seconds:.1f} seconds {way} that of this machine",
    "synchronize both clocks with NTP (chrony, systemd-timesyncd); leaseq uses the server's clock",
)
TIMEOUT = Check(
    "timeout",
    "warning",
    "has timeout {seconds}: it closes connections that are idle that long, which delays the next call",
    "CONFIG SET timeout 0, then CONFIG REWRITE",
)
KEEPALIVE = Check(
    "tcp-keepalive",
    "warning",
    "has tcp-keepalive 0: connections of vanished clients stay open until the limit of connections is "
    "reached",
    "CONFIG SET tcp-keepalive 300, then CONFIG REWRITE",
)
PASSED = "new enough, accepts writes, its clock agrees with that of this machine"

_MIN_VERSIONS = {"valkey": (7, 2), "redis": (7, 0)}
_CLOCK_SECONDS, _DRIFT_SECONDS = 60, 1
_SHORT_SECONDS = 60  # people at work pause for this long

Clock = Callable[[], float]


def find_problems(node: Node, clock: Clock = time.time) -> Iterator[Finding]:
    name, version = identity(node)
    minimum = _MIN_VERSIONS.get(name)
    if minimum is not None and _numbers(version) < minimum:
        needed_version = f"{name.capitalize()} {minimum[0]}.{minimum[1]}"
        yield TOO_OLD.finding(node.where, name=name.capitalize(), version=version, least=needed_version)
    if not node.replica and node.hello.get("role") in ("replica", "slave"):
        info = node.info
        primary = (
            f"{info['master_host']}:{info['master_port']}" if "master_host" in info else "not shown to us"
        )
        yield READ_ONLY.finding(node.where, primary=primary)
    yield from _clocks(node, clock)
    timeout = node.config("timeout")
    if timeout is not None and 0 < int(timeout) < _SHORT_SECONDS:
        yield TIMEOUT.finding(node.where, seconds=timeout)
    if node.config("tcp-keepalive") == "0":
        yield KEEPALIVE.finding(node.where)


def identity(node: Node) -> tuple[str, str]:
    """The server's name and version. Valkey reports a Redis version to old programs; INFO has both."""
    name = str(node.hello.get("server", "redis"))
    if "valkey_version" in node.info:
        return "valkey", str(node.info["valkey_version"])
    return name, str(node.info.get("redis_version") or node.hello.get("version", "0"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _clocks(node: Node, clock: Clock) -> Iterator[Finding]:
    """Compare the clocks. The quickest of a few tries counts: a slow one may only show the wait for its
    reply."""
    measurements = []
    with node.connection() as connection:
        for _ in range(3):
            before = clock()
            try:
                seconds, microseconds = send_command(connection, "TIME")
            except rx.ResponseError:  # missing rights are reported by the checks of rights
                return
            after = clock()
            server_time = int(seconds) + int(microseconds) / 1e6
            measurements.append((after - before, server_time - (before + after) / 2))
    duration, offset = min(measurements)
    direction = "ahead of" if offset > 0 else "behind"
    certain_offset = abs(offset) - duration / 2
    if certain_offset > _CLOCK_SECONDS:
        yield CLOCK.finding(node.where, seconds=abs(offset), way=direction)
    elif certain_offset > _DRIFT_SECONDS:
        yield DRIFT.finding(node.where, seconds=abs(offset), way=direction)

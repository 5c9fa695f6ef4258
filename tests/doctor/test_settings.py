"""Server settings that may lose data or give others access."""

from __future__ import annotations

import itertools
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.doctor.reports import (
    RewritingProxy,
    as_machine_with,
    as_redis,
    as_valkey,
    findings_of,
    report_of,
    url_of,
)

Change = Callable[[bytes], bytes]
UNROUTABLE_BIND = "127.0.0.1 -192.0.2.1"  # no machine has this address; the dash makes it optional


def test_safe_server_has_no_findings(tcp_server: redis.Redis) -> None:
    report = report_of(url_of(tcp_server))
    assert report.findings == ()
    assert report.ok
    assert len(report.passed) == 8


@pytest.mark.parametrize(
    ("settings", "check", "pattern"),
    [
        ({"maxmemory-policy": "allkeys-lru"}, "eviction", "error: .*allkeys-lru.*noeviction"),
        ({"maxmemory-policy": "volatile-ttl"}, "eviction", "error: .*volatile-ttl"),
        ({"appendfsync": "everysec"}, "appendfsync", "error: .*everysec.* a second of acknowledged work"),
        ({"appendfsync": "no"}, "appendfsync", "error: .*fsync no.* half a minute .*appendfsync always"),
        ({"appendonly": "no"}, "no-append-only-file", "error: .*loses all data.*appendonly yes"),
        ({"appendonly": "no", "save": "3600 1"}, "snapshots-only", "error: .*save 3600 1"),
        ({"no-appendfsync-on-rewrite": "yes"}, "no-fsync-on-rewrite", "error: "),
        ({"aof-load-truncated": "no"}, "aof-load-truncated", "warning: "),
        ({"timeout": "59"}, "timeout", "warning: has timeout 59"),
        ({"tcp-keepalive": "0"}, "tcp-keepalive", "warning: "),
    ],
)
def test_unsafe_setting_is_reported(
    scratch_server: redis.Redis, settings: dict[str, str], check: str, pattern: str
) -> None:
    for name, value in settings.items():
        scratch_server.config_set(name, value)
    findings = findings_of(url_of(scratch_server))
    assert list(findings) == [check]
    assert_says(findings[check], pattern)


def assert_says(text: str, pattern: str) -> None:
    assert re.match(pattern, text), text


def test_idle_timeout_of_60_seconds_is_accepted(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("timeout", 60)
    assert not findings_of(url_of(scratch_server))


def test_nearly_full_maxmemory_is_warning(scratch_server: redis.Redis) -> None:
    used_bytes = scratch_server.info("memory")["used_memory"]
    scratch_server.config_set("maxmemory", used_bytes * 100 // 93)
    assert_says(findings_of(url_of(scratch_server))["memory-nearly-full"], "warning: uses 9[0-9] %")
    scratch_server.config_set("maxmemory", used_bytes * 2)
    assert not findings_of(url_of(scratch_server))


def test_memory_warning_starts_at_90_percent(scratch_server: redis.Redis) -> None:
    # Large compared with a connection's buffer, and not sent through it.
    scratch_server.setrange("big", 50_000_000, "x")
    used_bytes = scratch_server.info("memory")["used_memory"]
    for percent, is_full in ((89, False), (91, True)):
        scratch_server.config_set("maxmemory", round(used_bytes * 100 / percent))
        assert ("memory-nearly-full" in findings_of(url_of(scratch_server))) == is_full, percent


def test_nearly_full_machine_without_maxmemory_is_warning(
    embedded_server: EmbeddedServer, tmp_path: Path
) -> None:
    used_bytes = leaseq.connect(embedded_server.url).redis.info("memory")["used_memory"]
    with RewritingProxy(embedded_server.url, tmp_path, as_machine_with(used_bytes * 100 // 80)) as proxy:
        assert_says(
            findings_of(proxy.url)["memory-no-limit"], r"warning: has no maxmemory, and uses (7|8)\d %"
        )


def test_reachable_server_without_password_is_error(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("bind", UNROUTABLE_BIND)
    scratch_server.config_set("protected-mode", "no")
    findings = findings_of(url_of(scratch_server))
    assert list(findings) == ["no-password", "plain-port"]
    assert_says(findings["no-password"], r"error: .*192\.0\.2\.1.*without a password.*ACL SETUSER")
    assert_says(findings["plain-port"], "warning: ")


def test_reachable_server_with_only_protected_mode_is_warning(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("bind", UNROUTABLE_BIND)
    assert_says(findings_of(url_of(scratch_server))["protected-mode-only"], "warning: ")


def test_reachable_server_with_password_has_only_plain_port_finding(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("bind", UNROUTABLE_BIND)
    scratch_server.config_set("protected-mode", "no")
    all_rights = {"enabled": True, "keys": ["*"], "channels": ["*"], "categories": ["+@all"]}
    scratch_server.acl_setuser("boss", passwords=["+pw"], **all_rights)  # type: ignore[arg-type]
    scratch_server.execute_command(
        "ACL", "SETUSER", "default", "-@all", "+acl", "+auth", "+config", "+info", "+flushall"
    )
    try:
        assert list(findings_of(url_of(scratch_server, "boss"))) == ["plain-port"], (
            "without a password, commands are refused"
        )
    finally:
        scratch_server.execute_command("ACL", "SETUSER", "default", "+@all")
        scratch_server.acl_deluser("boss")


def test_remote_server_without_tls_is_error(tcp_server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name resolves to this machine for redis-py, and to another one for the doctor."""
    monkeypatch.setattr("leaseq.doctor.checks.addresses_of", lambda _: ["192.0.2.1"])
    findings = findings_of(url_of(tcp_server).replace("127.0.0.1", "localhost"))
    assert list(findings) == ["no-tls"]
    assert_says(findings["no-tls"], "error: is used without TLS at localhost.*rediss://")


def test_unresolvable_host_is_treated_as_remote(
    tcp_server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver answered redis-py, and fails for the doctor."""

    def fail(_: str) -> list[str]:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr("leaseq.doctor.checks.addresses_of", fail)
    assert list(findings_of(url_of(tcp_server).replace("127.0.0.1", "localhost"))) == ["no-tls"]


def test_world_accessible_socket_is_error(embedded_server: EmbeddedServer) -> None:
    embedded_server.socket.chmod(0o777)
    assert_says(findings_of(embedded_server.url)["socket-mode"], "error: .*server.sock has mode 777.*770")
    embedded_server.socket.chmod(0o770)
    assert not findings_of(embedded_server.url)


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_world_writable_socket_directory_is_error(embedded_server: EmbeddedServer, mode: int) -> None:
    embedded_server.data_dir.chmod(mode)
    assert_says(
        findings_of(embedded_server.url)["socket-directory-writable"], f"error: .*mode {mode:o}.*chmod 700"
    )


def test_world_readable_socket_directory_is_warning(embedded_server: EmbeddedServer) -> None:
    embedded_server.data_dir.chmod(0o755)
    assert_says(findings_of(embedded_server.url)["socket-directory-open"], "warning: ")
    embedded_server.data_dir.chmod(0o750)
    assert not findings_of(embedded_server.url)


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (as_valkey("7.1.9"), "error: is Valkey 7.1.9: leaseq needs Valkey 7.2 or newer"),
        (as_redis("6.2.9"), "error: is Redis 6.2.9: leaseq needs Redis 7.0 or newer"),
    ],
    ids=["valkey", "redis"],
)
def test_unsupported_server_version_is_error(
    embedded_server: EmbeddedServer, tmp_path: Path, change: Change, pattern: str
) -> None:
    with RewritingProxy(embedded_server.url, tmp_path, change) as proxy:
        assert_says(findings_of(proxy.url)["too-old"], pattern)


@pytest.mark.parametrize("change", [as_valkey("7.2.0"), as_redis("7.0.9")], ids=["valkey", "redis"])
def test_oldest_supported_server_version_is_accepted(
    embedded_server: EmbeddedServer, tmp_path: Path, change: Change
) -> None:
    with RewritingProxy(embedded_server.url, tmp_path, change) as proxy:
        assert "too-old" not in findings_of(proxy.url)


@pytest.mark.parametrize(
    ("offset", "check", "pattern"),
    [
        (-61.0, "clock", "error: has a clock 61 seconds ahead of that of this machine.*NTP"),
        (61.0, "clock", "error: has a clock 61 seconds behind that of this machine"),
        (-1.5, "clock-drift", r"warning: has a clock 1\.\d seconds ahead of"),
        (50.0, "clock-drift", "warning: has a clock 50"),
    ],
)
def test_clock_difference_is_reported(
    tcp_server: redis.Redis, offset: float, check: str, pattern: str
) -> None:
    findings = findings_of(url_of(tcp_server), lambda: time.time() + offset)
    assert list(findings) == [check]
    assert_says(findings[check], pattern)


def test_slow_reply_is_not_reported_as_clock_difference(tcp_server: redis.Redis) -> None:
    offsets = itertools.cycle((-3.0, 0.0))  # each measurement takes three seconds
    assert not findings_of(url_of(tcp_server), lambda: time.time() + next(offsets))

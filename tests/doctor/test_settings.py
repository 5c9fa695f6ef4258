"""What a server's configuration would lose, or whom it would let in."""

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
from tests.doctor.looking import RewritingProxy, examined, found, machine_with, redis_of, url_of, valkey

Change = Callable[[bytes], bytes]
UNROUTABLE = "127.0.0.1 -192.0.2.1"  # an address of no machine: the dash lets it be missing


def test_with_a_server_as_it_should_be_all_is_well(listening: redis.Redis) -> None:
    report = examined(url_of(listening))
    assert report.findings == ()
    assert report.ok
    assert len(report.well) == 8


@pytest.mark.parametrize(
    ("settings", "check", "says"),
    [
        ({"maxmemory-policy": "allkeys-lru"}, "eviction", "error: .*allkeys-lru.*noeviction"),
        ({"maxmemory-policy": "volatile-ttl"}, "eviction", "error: .*volatile-ttl"),
        ({"appendfsync": "everysec"}, "appendfsync", "error: .*everysec.* a second of acknowledged work"),
        ({"appendfsync": "no"}, "appendfsync", "error: .*fsync no.* half a minute .*appendfsync always"),
        ({"appendonly": "no"}, "no-append-only-file", "error: .*loses all data.*appendonly yes"),
        ({"appendonly": "no", "save": "3600 1"}, "snapshots-only", "error: .*save 3600 1"),
        ({"no-appendfsync-on-rewrite": "yes"}, "no-fsync-on-rewrite", "error: "),
        ({"aof-load-truncated": "no"}, "aof-load-truncated", "warning: "),
        ({"timeout": "30"}, "timeout", "warning: has timeout 30"),
        ({"tcp-keepalive": "0"}, "tcp-keepalive", "warning: "),
    ],
)
def test_a_setting_that_loses_work(
    wrong: redis.Redis, settings: dict[str, str], check: str, says: str
) -> None:
    for name, value in settings.items():
        wrong.config_set(name, value)
    said = found(url_of(wrong))
    assert list(said) == [check]
    assert_says(said[check], says)


def assert_says(text: str, pattern: str) -> None:
    assert re.match(pattern, text), text


def test_a_long_idle_timeout_is_nothing_to_mend(wrong: redis.Redis) -> None:
    wrong.config_set("timeout", 600)
    assert not found(url_of(wrong))


def test_memory_that_is_nearly_full(wrong: redis.Redis) -> None:
    used = wrong.info("memory")["used_memory"]
    wrong.config_set("maxmemory", used * 100 // 93)
    assert_says(found(url_of(wrong))["memory-nearly-full"], "warning: uses 9[0-9] %")
    wrong.config_set("maxmemory", used * 2)
    assert not found(url_of(wrong))


def test_memory_is_nearly_full_from_90_percent_on(wrong: redis.Redis) -> None:
    wrong.set("big", b"x" * 50_000_000)  # beside which it matters little what a connection takes
    used = wrong.info("memory")["used_memory"]
    for percent, full in ((89, False), (91, True)):
        wrong.config_set("maxmemory", round(used * 100 / percent))
        assert ("memory-nearly-full" in found(url_of(wrong))) == full, percent


def test_no_limit_and_a_machine_that_is_nearly_full(embedded: EmbeddedServer, tmp_path: Path) -> None:
    used = leaseq.connect(embedded.url).redis.info("memory")["used_memory"]
    with RewritingProxy(embedded.url, tmp_path, machine_with(used * 100 // 80)) as proxy:
        assert_says(found(proxy.url)["memory-no-limit"], r"warning: has no maxmemory, and uses (7|8)\d %")


def test_no_password_where_others_can_come(wrong: redis.Redis) -> None:
    wrong.config_set("bind", UNROUTABLE)
    wrong.config_set("protected-mode", "no")
    said = found(url_of(wrong))
    assert list(said) == ["no-password", "plain-port"]
    assert_says(said["no-password"], r"error: .*192\.0\.2\.1.*without a password.*ACL SETUSER")
    assert_says(said["plain-port"], "warning: ")


def test_only_protected_mode_where_others_can_come(wrong: redis.Redis) -> None:
    wrong.config_set("bind", UNROUTABLE)
    assert_says(found(url_of(wrong))["protected-mode-only"], "warning: ")


def test_a_password_where_others_can_come(wrong: redis.Redis) -> None:
    wrong.config_set("bind", UNROUTABLE)
    wrong.config_set("protected-mode", "no")
    everything = {"enabled": True, "keys": ["*"], "channels": ["*"], "categories": ["+@all"]}
    wrong.acl_setuser("boss", passwords=["+pw"], **everything)  # type: ignore[arg-type]
    wrong.execute_command(
        "ACL", "SETUSER", "default", "-@all", "+acl", "+auth", "+config", "+info", "+flushall"
    )
    try:
        assert list(found(url_of(wrong, "boss"))) == ["plain-port"], "without a password nothing is allowed"
    finally:
        wrong.execute_command("ACL", "SETUSER", "default", "+@all")
        wrong.acl_deluser("boss")


def test_no_tls_to_another_machine(listening: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is this machine's for redis-py, and another's for the doctor."""
    monkeypatch.setattr("leaseq.doctor.server_info.addresses_of", lambda _: ["192.0.2.1"])
    said = found(url_of(listening).replace("127.0.0.1", "localhost"))
    assert list(said) == ["no-tls"]
    assert_says(said["no-tls"], "error: is used without TLS at localhost.*rediss://")


def test_a_name_that_is_not_resolved_any_more_counts_as_another_machine(
    listening: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver answered redis-py, and fails when the doctor asks."""

    def fail(_: str) -> list[str]:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr("leaseq.doctor.server_info.addresses_of", fail)
    assert list(found(url_of(listening).replace("127.0.0.1", "localhost"))) == ["no-tls"]


def test_a_socket_for_everybody(embedded: EmbeddedServer) -> None:
    embedded.socket.chmod(0o777)
    assert_says(found(embedded.url)["socket-mode"], "error: .*server.sock has mode 777.*770")
    embedded.socket.chmod(0o770)
    assert not found(embedded.url)


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_socket_that_others_could_put_another_in_place_of(embedded: EmbeddedServer, mode: int) -> None:
    embedded.data_dir.chmod(mode)
    assert_says(found(embedded.url)["socket-directory-writable"], f"error: .*mode {mode:o}.*chmod 700")


def test_a_socket_in_a_folder_that_is_open(embedded: EmbeddedServer) -> None:
    embedded.data_dir.chmod(0o755)
    assert_says(found(embedded.url)["socket-directory-open"], "warning: ")
    embedded.data_dir.chmod(0o750)
    assert not found(embedded.url)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (valkey("7.1.9"), "error: is Valkey 7.1.9: leaseq needs Valkey 7.2 or newer"),
        (redis_of("6.2.9"), "error: is Redis 6.2.9: leaseq needs Redis 7.0 or newer"),
    ],
    ids=["valkey", "redis"],
)
def test_a_server_that_is_too_old(
    embedded: EmbeddedServer, tmp_path: Path, change: Change, says: str
) -> None:
    with RewritingProxy(embedded.url, tmp_path, change) as proxy:
        assert_says(found(proxy.url)["too-old"], says)


@pytest.mark.parametrize("change", [valkey("7.2.0"), redis_of("7.0.9")], ids=["valkey", "redis"])
def test_one_that_is_just_new_enough(embedded: EmbeddedServer, tmp_path: Path, change: Change) -> None:
    with RewritingProxy(embedded.url, tmp_path, change) as proxy:
        assert "too-old" not in found(proxy.url)


@pytest.mark.parametrize(
    ("ahead", "check", "says"),
    [
        (-61.0, "clock", "error: has a clock 61 seconds ahead of that of this machine.*NTP"),
        (61.0, "clock", "error: has a clock 61 seconds behind that of this machine"),
        (-1.5, "clock-drift", r"warning: has a clock 1\.\d seconds ahead of"),
        (50.0, "clock-drift", "warning: has a clock 50"),
    ],
)
def test_clocks_that_differ(listening: redis.Redis, ahead: float, check: str, says: str) -> None:
    said = found(url_of(listening), lambda: time.time() + ahead)
    assert list(said) == [check]
    assert_says(said[check], says)


def test_a_slow_answer_is_no_difference_of_clocks(listening: redis.Redis) -> None:
    each_look_takes_three_seconds = itertools.cycle((-3.0, 0.0))
    assert not found(url_of(listening), lambda: time.time() + next(each_look_takes_three_seconds))

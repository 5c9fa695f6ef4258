"""Missing permissions of the server's user: each needed command is tried, and no key is left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import redis

from leaseq.doctor.rights import DOCTOR, LIBRARY, PAGES, TEST_COMMANDS, rules
from tests.doctor.reports import findings_of, report_of, url_of
from tests.support.leases import not_none
from tests.support.refused import raises

USERS = ("dry", "trying")


@pytest.fixture
def server_with_users(tcp_server: redis.Redis) -> Iterator[redis.Redis]:
    """A server with two users that may run the web app: one may also call ACL DRYRUN; for the other, each
    command is tried."""
    for name, needs in zip(USERS, (DOCTOR, ()), strict=True):
        allow(tcp_server, name, *rules(LIBRARY, PAGES, needs, password="pw"))
    yield tcp_server
    assert not [key for key in tcp_server.scan_iter(count=1_000) if b"doctor" in key], (
        "the doctor leaves no keys behind"
    )
    tcp_server.acl_deluser(*USERS)
    tcp_server.flushall()


def allow(server: redis.Redis, name: str, *words: str) -> None:
    server.execute_command("ACL", "SETUSER", name, *words)


def test_acl_rules_restrict_channels_despite_allchannels_default(scratch_server: redis.Redis) -> None:
    scratch_server.config_set("acl-pubsub-default", "allchannels")
    allow(scratch_server, "new", *rules(LIBRARY, password="pw"))
    try:
        assert not_none(scratch_server.acl_getuser("new"))["channels"] == ["&leaseq:*"]
    finally:
        scratch_server.acl_deluser("new")


def test_each_needed_command_has_test_command() -> None:
    assert set(TEST_COMMANDS) == {*LIBRARY, *PAGES}


@pytest.mark.parametrize("name", USERS)
def test_sufficient_permissions_are_reported_as_fine(server_with_users: redis.Redis, name: str) -> None:
    report = report_of(url_of(server_with_users, name))
    assert {finding.check for finding in report.findings} <= {"not-seen"}
    assert "permissions" in report.passed


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("need", [*LIBRARY, *PAGES])
def test_each_forbidden_command_is_named(server_with_users: redis.Redis, name: str, need: str) -> None:
    allow(server_with_users, name, f"-{need}")
    findings = findings_of(url_of(server_with_users, name))
    check = "acl-commands" if need in LIBRARY else "acl-pages"
    assert {key for key in findings if key.startswith("acl-")} == {check}
    command = re.escape(need.replace("|", " ").upper())
    assert re.match(
        rf"error: .*user {name} .*\b{command}\b.*ACL SETUSER {name} \+{re.escape(need)}$", findings[check]
    )


@pytest.mark.parametrize("name", USERS)
def test_several_forbidden_commands_are_named_together(server_with_users: redis.Redis, name: str) -> None:
    allow(server_with_users, name, "-zadd", "-hset", "-hdel", "-get", "-set")
    findings = findings_of(url_of(server_with_users, name))
    assert all(word in findings["acl-commands"] for word in ("+zadd", "+hdel"))
    assert findings["acl-pages"].endswith("+get")


@pytest.mark.parametrize("name", USERS)
def test_missing_key_permission_is_error(server_with_users: redis.Redis, name: str) -> None:
    allow(server_with_users, name, "resetkeys", "~other:*")
    findings = findings_of(url_of(server_with_users, name))
    assert re.match(rf"error: .*keys leaseq:\*.*ACL SETUSER {name} ~leaseq:\*$", findings["acl-keys"])
    allow(server_with_users, name, "resetkeys", "%R~leaseq:*")
    assert "acl-keys" in findings_of(url_of(server_with_users, name)), "the right to read is not enough"


@pytest.mark.parametrize("name", USERS)
def test_missing_channel_permission_is_error(server_with_users: redis.Redis, name: str) -> None:
    allow(server_with_users, name, "resetchannels", "&other:*")
    findings = findings_of(url_of(server_with_users, name))
    assert {check for check in findings if check.startswith("acl-")} == {"acl-channels"}
    assert re.match(rf"error: .*channels leaseq:\*.*ACL SETUSER {name} &leaseq:\*$", findings["acl-channels"])


def test_library_user_without_page_permissions_has_no_findings(server_with_users: redis.Redis) -> None:
    allow(server_with_users, "dry", *rules(LIBRARY, DOCTOR, password="pw"))
    assert not findings_of(url_of(server_with_users, "dry"))


def test_renamed_command_is_reported() -> None:
    """As some hosting providers do."""
    from tests.conformance.topology.servers import running
    from tests.doctor.reports import SAFE_OPTIONS

    with running(*SAFE_OPTIONS, "--rename-command", "XADD", "") as server:
        assert "XADD" in findings_of(url_of(server))["acl-commands"]


def test_unreadable_settings_are_reported_as_not_checked(server_with_users: redis.Redis) -> None:
    """As on a hosted server: the user may do what leaseq does, but may not read the settings."""
    report = report_of(url_of(server_with_users, "trying"))
    by_command = {
        finding.problem.rpartition(" (")[2].split(" is not")[0]: finding for finding in report.findings
    }
    assert set(by_command) == {"CONFIG GET", "INFO"}
    for option in ("appendfsync", "maxmemory-policy", "bind", "min-replicas-to-write", "timeout"):
        assert option in by_command["CONFIG GET"].problem
    assert "used_memory" in by_command["INFO"].problem
    assert {finding.level for finding in report.findings} == {"unchecked"}
    assert "ask the operator of the server" in report.findings[0].fix
    assert report.ok
    groups = {"permissions", "queues", "pages"}
    assert set(report.passed) == groups, "unchecked parts are not reported as fine"


def test_info_permission_alone_reveals_eviction_and_persistence(server_with_users: redis.Redis) -> None:
    server_with_users.config_set("maxmemory-policy", "allkeys-lfu")
    server_with_users.config_set("appendonly", "no")
    allow(server_with_users, "trying", "+info")
    try:
        findings = findings_of(url_of(server_with_users, "trying"))
    finally:
        server_with_users.config_set("maxmemory-policy", "noeviction")
        server_with_users.config_set("appendonly", "yes")
    assert {"eviction", "snapshots-only"} <= set(findings)


def test_number_of_replicas_is_unknown_without_info(server_with_users: redis.Redis) -> None:
    allow(server_with_users, "trying", "+config|get")
    server_with_users.config_set("min-replicas-to-write", 2)
    try:
        findings = findings_of(url_of(server_with_users, "trying"))
    finally:
        server_with_users.config_set("min-replicas-to-write", 0)
    assert "too-few-replicas" not in findings


def test_wrong_password_raises_server_refused(server_with_users: redis.Redis) -> None:
    import leaseq

    with raises(leaseq.ServerRefused, "server_refused", what="password"):
        report_of(url_of(server_with_users, "dry").replace(":pw@", ":wrong@"))

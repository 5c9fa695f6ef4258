"""What the server's user may not: each command that is needed is tried, and nothing is left of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import redis

from leaseq.doctor.acl import DOCTOR, LIBRARY, PAGES, rules
from leaseq.doctor.rights import TRIES
from tests.doctor.looking import examined, found, url_of
from tests.support.taking import not_none

NAMES = ("dry", "trying")


@pytest.fixture
def users(listening: redis.Redis) -> Iterator[redis.Redis]:
    """Two who may run the pages: one may also ask ACL DRYRUN, for the other all is tried."""
    for name, needs in zip(NAMES, (DOCTOR, ()), strict=True):
        allow(listening, name, *rules(LIBRARY, PAGES, needs, password="pw"))
    yield listening
    assert not [key for key in listening.scan_iter(count=1_000) if b"doctor" in key], (
        "it leaves nothing behind"
    )
    listening.acl_deluser(*NAMES)
    listening.flushall()


def allow(server: redis.Redis, name: str, *words: str) -> None:
    server.execute_command("ACL", "SETUSER", name, *words)


def test_other_channels_are_closed_where_a_server_opens_all_to_new_users(wrong: redis.Redis) -> None:
    wrong.config_set("acl-pubsub-default", "allchannels")
    allow(wrong, "new", *rules(LIBRARY, password="pw"))
    try:
        assert not_none(wrong.acl_getuser("new"))["channels"] == ["&leaseq:*"]
    finally:
        wrong.acl_deluser("new")


def test_each_command_has_a_way_to_be_tried() -> None:
    assert set(TRIES) == {*LIBRARY, *PAGES}


@pytest.mark.parametrize("name", NAMES)
def test_who_may_do_all_that_is_needed(users: redis.Redis, name: str) -> None:
    report = examined(url_of(users, name))
    assert {one.check for one in report.findings} <= {"not-seen"}
    assert "permissions" in report.well


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("need", [*LIBRARY, *PAGES])
def test_each_command_that_is_not_allowed_is_named(users: redis.Redis, name: str, need: str) -> None:
    allow(users, name, f"-{need}")
    said = found(url_of(users, name))
    check = "acl-commands" if need in LIBRARY else "acl-pages"
    assert {one for one in said if one.startswith("acl-")} == {check}
    command = re.escape(need.replace("|", " ").upper())
    assert re.match(
        rf"error: .*user {name} .*\b{command}\b.*ACL SETUSER {name} \+{re.escape(need)}$", said[check]
    )


@pytest.mark.parametrize("name", NAMES)
def test_several_at_once(users: redis.Redis, name: str) -> None:
    allow(users, name, "-zadd", "-hset", "-hdel", "-get", "-set")
    said = found(url_of(users, name))
    assert all(word in said["acl-commands"] for word in ("+zadd", "+hdel"))
    assert said["acl-pages"].endswith("+get")


@pytest.mark.parametrize("name", NAMES)
def test_keys_that_are_not_allowed(users: redis.Redis, name: str) -> None:
    allow(users, name, "resetkeys", "~other:*")
    said = found(url_of(users, name))
    assert re.match(rf"error: .*keys leaseq:\*.*ACL SETUSER {name} ~leaseq:\*$", said["acl-keys"])
    allow(users, name, "resetkeys", "%R~leaseq:*")
    assert "acl-keys" in found(url_of(users, name)), "to read them is not enough"


@pytest.mark.parametrize("name", NAMES)
def test_channels_that_are_not_allowed(users: redis.Redis, name: str) -> None:
    allow(users, name, "resetchannels", "&other:*")
    said = found(url_of(users, name))
    assert {one for one in said if one.startswith("acl-")} == {"acl-channels"}
    assert re.match(rf"error: .*channels leaseq:\*.*ACL SETUSER {name} &leaseq:\*$", said["acl-channels"])


def test_a_user_for_the_library_alone(users: redis.Redis) -> None:
    allow(users, "dry", *rules(LIBRARY, DOCTOR, password="pw"))
    assert not found(url_of(users, "dry"))


def test_a_command_that_the_server_renamed_away() -> None:
    """As some who run servers for others do."""
    from tests.conformance.topology.servers import running
    from tests.doctor.looking import WELL

    with running(*WELL, "--rename-command", "XADD", "") as server:
        assert "XADD" in found(url_of(server))["acl-commands"]


def test_what_may_not_be_looked_at_is_said(users: redis.Redis) -> None:
    """As on a server that somebody else runs: the user may do what leaseq does, and look at nothing."""
    report = examined(url_of(users, "trying"))
    said = {one.says.rpartition(" (")[2].split(" is not")[0]: one for one in report.findings}
    assert set(said) == {"CONFIG GET", "INFO"}
    for option in ("appendfsync", "maxmemory-policy", "bind", "min-replicas-to-write", "timeout"):
        assert option in said["CONFIG GET"].says
    assert "used_memory" in said["INFO"].says
    assert {one.level for one in report.findings} == {"unseen"}
    assert "ask the operator of the server" in report.findings[0].cure
    assert report.ok
    assert set(report.well) == {"permissions", "queues", "pages"}, "what was not seen is not said to be well"


def test_where_info_may_be_read_it_says_what_it_can(users: redis.Redis) -> None:
    users.config_set("maxmemory-policy", "allkeys-lfu")
    users.config_set("appendonly", "no")
    allow(users, "trying", "+info")
    try:
        said = found(url_of(users, "trying"))
    finally:
        users.config_set("maxmemory-policy", "noeviction")
        users.config_set("appendonly", "yes")
    assert {"eviction", "snapshots-only"} <= set(said)


def test_a_user_who_is_not_let_in(users: redis.Redis) -> None:
    import leaseq

    with pytest.raises(leaseq.ServerRefused, match="user or password"):
        examined(url_of(users, "dry").replace(":pw@", ":wrong@"))

"""What an acknowledgement waits for, according to the policy's ``durable``, with real disks."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
import redis

import leaseq
from leaseq.engine import commands
from leaseq.server.embedded import EmbeddedServer
from tests.engine.connect.test_faults import MINIMAL
from tests.support.leases import not_none


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as name:
        yield Path(name)


@pytest.fixture
def disk(folder: Path) -> Iterator[EmbeddedServer]:
    """A server that fsyncs each write, as `leaseq up` runs it."""
    with EmbeddedServer(folder) as embedded:
        yield embedded


def raw(queue: leaseq.Queue) -> redis.Redis:
    client = queue._client.redis
    assert isinstance(client, redis.Redis)
    return client


def calls(server: redis.Redis, command: str, call: Callable[[], object]) -> int:
    server.config_resetstat()
    call()
    stats: dict[str, dict[str, int]] = server.info("commandstats")
    return stats.get(f"cmdstat_{command}", {"calls": 0})["calls"]


def durable_queue(url: str, name: str, durability: leaseq.Durable) -> leaseq.Queue:
    queue = leaseq.Queue(leaseq.connect(url), name)
    queue.configure(durable=durability)
    return queue


def test_each_move_waits_and_no_look_does(disk: EmbeddedServer) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    server = raw(queue)

    def day() -> None:
        queue.enqueue_many([{}] * 3)
        lease = queue.reserve("ann")
        assert lease is not None
        queue.save_draft(queue.renew(lease), {})
        queue.abandon(lease)
        next_lease = queue.finish(not_none(queue.reserve("ann")), {}, then_reserve=True).next
        assert next_lease is not None
        queue.release(next_lease.id)
        queue.assign(next_lease.id, "bob")
        queue.change(next_lease.id, priority=1)
        queue.remove(next_lease.id)
        queue.pause()
        queue.resume()

    day()  # scripts that are not loaded yet are sent twice
    assert calls(server, "waitaof", day) == 13

    def look() -> None:
        queue.stats()
        queue.items("finished")
        queue.journal()
        queue.mine("ann")
        queue.why_nothing("ann")
        _ = queue.policy
        queue.clear()

    assert calls(server, "waitaof", look) == 0


def test_what_was_acknowledged_survives_kill_9(disk: EmbeddedServer) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    queue.enqueue_many([{}] * 20)
    lease = queue.reserve("ann")
    for n in range(20):
        assert lease is not None
        lease = queue.finish(lease, {"n": n}, then_reserve=True).next
    assert disk.pid is not None
    os.kill(disk.pid, signal.SIGKILL)
    disk.stop()
    disk.start()
    assert [answer.result for answer in queue.answers()] == [{"n": n} for n in range(20)]


def test_a_server_that_forgot_the_scripts_gets_them_again_and_waits(disk: EmbeddedServer) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    server = raw(queue)
    server.script_flush()
    assert calls(server, "waitaof", lambda: queue.enqueue({}, id="one")) >= 1
    assert queue.stats().counters["enqueued"] == 1


def test_without_the_policy_nothing_waits_and_it_is_read_now_and_then(disk: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(disk.url), "q")
    queue.enqueue({})
    server = raw(queue)
    queue.reserve("ann")
    assert calls(server, "evalsha", lambda: [queue.reserve("ann") for _ in range(50)]) in (50, 51)
    other = leaseq.Queue(queue._client, "q")
    first = calls(server, "evalsha", lambda: other.reserve("ann"))
    assert first in (1, 2)  # queues share the client's cache
    assert calls(server, "wait", lambda: queue.reserve("ann")) == 0


@pytest.fixture
def other(disk: EmbeddedServer) -> leaseq.Queue:
    """A queue of a client that cached the policy before another client made the queue durable."""
    queue = leaseq.Queue(leaseq.connect(disk.url), "q")
    queue.enqueue({})
    queue.reserve("ann")
    durable_queue(disk.url, "q", "fsync")
    return queue


def test_another_program_follows_a_changed_policy(
    disk: EmbeddedServer, other: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    _ = other.policy  # the cached policy has expired
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 1
    durable_queue(disk.url, "q", "server")
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 0


def test_what_is_known_of_a_policy_counts_for_seconds(
    other: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 0
    later = monotonic() + 10
    monkeypatch.setattr(commands, "monotonic", lambda: later)
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"appendonly": "no"}, "appendonly yes"),
        ({"appendfsync": "everysec"}, "appendfsync always"),
        ({"appendfsync": "no"}, "appendfsync always"),
    ],
)
def test_a_server_that_may_lose_it_is_refused(
    disk: EmbeddedServer, settings: dict[str, str], message: str
) -> None:
    queue = leaseq.Queue(leaseq.connect(disk.url), "q")
    queue.configure(title="before")
    for name, value in settings.items():
        raw(queue).config_set(name, value)
    with pytest.raises(leaseq.Invalid, match=message) as error:
        queue.configure(durable="fsync", title="after")
    assert error.value.field == "durable"
    assert next(iter(settings.values())) in error.value.limit
    assert (queue.policy.durable, queue.policy.title) == ("server", "before")


def test_a_server_without_a_replica_is_refused(disk: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(disk.url), "q")
    with pytest.raises(leaseq.Invalid, match="connected replica") as error:
        queue.configure(durable="replica")
    assert error.value.field == "durable"
    assert not queue.exists()


def test_a_user_who_may_not_read_the_configuration(disk: EmbeddedServer) -> None:
    admin = leaseq.Queue(leaseq.connect(disk.url), "q")
    url = f"unix://low:pw@{disk.url.removeprefix('unix://')}"
    raw(admin).execute_command("ACL", "SETUSER", "low", *MINIMAL.split())
    queue = leaseq.Queue(leaseq.connect(url), "q")
    with pytest.raises(leaseq.Invalid, match=r"\+config\|get"):
        queue.configure(durable="fsync")
    raw(admin).config_set("appendonly", "no")
    with pytest.raises(leaseq.Invalid, match="append-only file"):
        queue.configure(durable="fsync")
    raw(admin).config_set("appendonly", "yes")
    admin.configure(durable="fsync")
    queue.enqueue({})
    assert queue.finish(not_none(queue.reserve("ann")), {}).late is False
    queue.configure(durable="fsync", title="one who may not choose it may leave it so")
    raw(admin).execute_command("ACL", "SETUSER", "low", "-waitaof", "-wait")
    admin.configure(durable="server")
    for durability in ("fsync", "replica"):
        with pytest.raises(leaseq.Invalid, match=r"ACL rule \+wait"):
            queue.configure(durable=durability)


def test_a_server_that_lost_its_file_says_that_it_took_the_write(disk: EmbeddedServer) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    raw(queue).config_set("appendonly", "no")
    with pytest.raises(leaseq.ServerRefused, match=r"made this change.*appendonly.*may be sent again"):
        queue.enqueue({}, id="one")
    queue.configure(durable="server")
    assert not queue.enqueue({}, id="one").added


def test_a_server_that_confirms_too_early_by_now_is_refused(
    disk: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    queue.enqueue({}, id="one")
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    raw(queue).config_set("appendfsync", "everysec")
    queue._connection.disks.clear()  # as if the cache had expired
    with pytest.raises(leaseq.ServerRefused, match=r"now has appendfsync everysec.*nothing was changed"):
        queue.reserve("ann")
    assert queue.stats().reserved == 0
    raw(queue).config_set("appendfsync", "always")
    assert queue.reserve("ann") is not None
    raw(queue).config_set("appendfsync", "everysec")
    monkeypatch.undo()
    queue.configure(durable="server")
    assert queue.enqueue({}).added


def test_who_may_not_read_the_configuration_asks_once(
    disk: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server logs each refused command."""
    admin = durable_queue(disk.url, "q", "fsync")
    raw(admin).execute_command("ACL", "SETUSER", "low", *MINIMAL.split())
    queue = leaseq.Queue(leaseq.connect(f"unix://low:pw@{disk.url.removeprefix('unix://')}"), "q")
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    queue.enqueue_many([{} for _ in range(3)])
    queue.reserve("ann")
    counts = {entry["object"]: entry["count"] for entry in raw(admin).acl_log()}
    assert counts["config|get"] == 1


def test_full_memory_keeps_nobody_from_finishing(disk: EmbeddedServer) -> None:
    queue = durable_queue(disk.url, "q", "fsync")
    queue.enqueue({})
    lease = not_none(queue.reserve("ann"))
    raw(queue).config_set("maxmemory", "1")
    assert queue.finish(lease, {}).replayed is False

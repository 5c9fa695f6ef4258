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
from tests.support.refused import raises, refused


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as name:
        yield Path(name)


@pytest.fixture
def fsync_server(folder: Path) -> Iterator[EmbeddedServer]:
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


def test_writes_wait_for_fsync_and_reads_do_not(fsync_server: EmbeddedServer) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    server = raw(queue)

    def make_changes() -> None:
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

    make_changes()  # scripts that are not loaded yet are sent twice
    assert calls(server, "waitaof", make_changes) == 13

    def inspect() -> None:
        queue.stats()
        queue.items("finished")
        queue.journal()
        queue.mine("ann")
        queue.why_nothing("ann")
        _ = queue.policy
        queue.clear()

    assert calls(server, "waitaof", inspect) == 0


def test_acknowledged_changes_survive_kill_9(fsync_server: EmbeddedServer) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    queue.enqueue_many([{}] * 20)
    lease = queue.reserve("ann")
    for n in range(20):
        assert lease is not None
        lease = queue.finish(lease, {"n": n}, then_reserve=True).next
    assert fsync_server.pid is not None
    os.kill(fsync_server.pid, signal.SIGKILL)
    fsync_server.stop()
    fsync_server.start()
    assert [answer.result for answer in queue.answers()] == [{"n": n} for n in range(20)]


def test_reloaded_script_waits_for_fsync(fsync_server: EmbeddedServer) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    server = raw(queue)
    server.script_flush()
    assert calls(server, "waitaof", lambda: queue.enqueue({}, id="one")) >= 1
    assert queue.stats().counters["enqueued"] == 1


def test_non_durable_queue_sends_no_wait_and_caches_policy(fsync_server: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(fsync_server.url), "q")
    queue.enqueue({})
    server = raw(queue)
    queue.reserve("ann")
    assert calls(server, "evalsha", lambda: [queue.reserve("ann") for _ in range(50)]) in (50, 51)
    other = leaseq.Queue(queue._client, "q")
    first = calls(server, "evalsha", lambda: other.reserve("ann"))
    assert first in (1, 2)  # queues share the client's cache
    assert calls(server, "wait", lambda: queue.reserve("ann")) == 0


@pytest.fixture
def other(fsync_server: EmbeddedServer) -> leaseq.Queue:
    """A queue of a client that cached the policy before another client made the queue durable."""
    queue = leaseq.Queue(leaseq.connect(fsync_server.url), "q")
    queue.enqueue({})
    queue.reserve("ann")
    durable_queue(fsync_server.url, "q", "fsync")
    return queue


def test_other_client_applies_changed_durable(
    fsync_server: EmbeddedServer, other: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    _ = other.policy  # the cached policy has expired
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 1
    durable_queue(fsync_server.url, "q", "server")
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 0


def test_cached_policy_is_used_until_cache_expires(
    other: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 0
    later = monotonic() + 10
    monkeypatch.setattr(commands, "monotonic", lambda: later)
    assert calls(raw(other), "waitaof", lambda: other.reserve("ann")) == 1


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"appendonly": "no"}, "file"),
        ({"appendfsync": "everysec"}, "appendfsync"),
        ({"appendfsync": "no"}, "appendfsync"),
    ],
)
def test_fsync_is_refused_on_server_that_may_lose_writes(
    fsync_server: EmbeddedServer, settings: dict[str, str], what: str
) -> None:
    queue = leaseq.Queue(leaseq.connect(fsync_server.url), "q")
    queue.configure(title="before")
    for name, value in settings.items():
        raw(queue).config_set(name, value)
    with refused("durable", "durable", what=what) as error:
        queue.configure(durable="fsync", title="after")
    assert next(iter(settings.values())) in str(error.value)
    assert (queue.policy.durable, queue.policy.title) == ("server", "before")


def test_replica_durability_without_replica_is_refused(fsync_server: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(fsync_server.url), "q")
    with refused("durable", what="replica") as error:
        queue.configure(durable="replica")
    assert error.value.field == "durable"
    assert not queue.exists()


def test_fsync_is_refused_without_permission_to_read_configuration(fsync_server: EmbeddedServer) -> None:
    admin = leaseq.Queue(leaseq.connect(fsync_server.url), "q")
    url = f"unix://low:pw@{fsync_server.url.removeprefix('unix://')}"
    raw(admin).execute_command("ACL", "SETUSER", "low", *MINIMAL.split())
    queue = leaseq.Queue(leaseq.connect(url), "q")
    with refused("durable", "durable", what="config"):
        queue.configure(durable="fsync")
    raw(admin).config_set("appendonly", "no")
    with refused("durable", what="file"):
        queue.configure(durable="fsync")
    raw(admin).config_set("appendonly", "yes")
    admin.configure(durable="fsync")
    queue.enqueue({})
    assert queue.finish(not_none(queue.reserve("ann")), {}).late is False
    queue.configure(durable="fsync", title="one who may not choose it may leave it so")
    raw(admin).execute_command("ACL", "SETUSER", "low", "-waitaof", "-wait")
    admin.configure(durable="server")
    for durability in ("fsync", "replica"):
        with refused("durable", what="permission"):
            queue.configure(durable=durability)


def test_error_reports_write_made_without_append_only_file(fsync_server: EmbeddedServer) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    raw(queue).config_set("appendonly", "no")
    with raises(leaseq.ServerRefused, "unconfirmed", "appendonly"):
        queue.enqueue({}, id="one")
    queue.configure(durable="server")
    assert not queue.enqueue({}, id="one").added


def test_reserve_is_refused_after_appendfsync_is_lowered(
    fsync_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    queue.enqueue({}, id="one")
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    raw(queue).config_set("appendfsync", "everysec")
    queue._connection.disks.clear()  # as if the cache had expired
    with raises(leaseq.ServerRefused, "durable", what="appendfsync_now", fsync="everysec"):
        queue.reserve("ann")
    assert queue.stats().reserved == 0
    raw(queue).config_set("appendfsync", "always")
    assert queue.reserve("ann") is not None
    raw(queue).config_set("appendfsync", "everysec")
    monkeypatch.undo()
    queue.configure(durable="server")
    assert queue.enqueue({}).added


def test_forbidden_configuration_is_requested_once(
    fsync_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server logs each refused command."""
    admin = durable_queue(fsync_server.url, "q", "fsync")
    raw(admin).execute_command("ACL", "SETUSER", "low", *MINIMAL.split())
    queue = leaseq.Queue(leaseq.connect(f"unix://low:pw@{fsync_server.url.removeprefix('unix://')}"), "q")
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    queue.enqueue_many([{} for _ in range(3)])
    queue.reserve("ann")
    counts = {entry["object"]: entry["count"] for entry in raw(admin).acl_log()}
    assert counts["config|get"] == 1


def test_finish_works_with_full_memory(fsync_server: EmbeddedServer) -> None:
    queue = durable_queue(fsync_server.url, "q", "fsync")
    queue.enqueue({})
    lease = not_none(queue.reserve("ann"))
    raw(queue).config_set("maxmemory", "1")
    assert queue.finish(lease, {}).replayed is False

"""Faults of a server: scripts flushed, unavailable, memory full, read-only, or access denied."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator

import pytest
import redis

import leaseq
from leaseq.doctor.rights import LIBRARY, rules
from leaseq.engine.keys import Keys
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.support.leases import not_none, take, wait_and_take
from tests.support.refused import raises


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server for this test only, which the test may break."""
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        yield embedded


def raw(client: leaseq.Client) -> redis.Redis:
    assert isinstance(client.redis, redis.Redis)
    return client.redis


def test_flushed_scripts_are_loaded_again(queue: leaseq.Queue, server: Server) -> None:
    queue.enqueue_many([{}, {}])
    server.redis.script_flush()
    lease = queue.reserve("ann")
    assert lease is not None
    server.redis.script_flush()
    next_lease = queue.finish(lease, {}, then_reserve=True).next
    assert next_lease is not None
    server.redis.script_flush()
    queue.abandon(next_lease)
    assert [e.what for e in queue.journal()][-3:] == ["finished", "reserved", "abandoned"]


def test_unavailable_server_is_named_and_work_resumes_after_restart(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue({}, id="one")
    lease = queue.reserve("ann")
    assert lease is not None
    own_server.stop()
    calls = (
        lambda: queue.finish(lease, {}),
        lambda: queue.reserve("bob"),
        lambda: queue.enqueue({}),
        lambda: queue.policy,
        queue.stats,
        client.ping,
        lambda: leaseq.queues(client),
    )
    for call in calls:
        with raises(leaseq.ServerUnavailable, "no_answer", "server.sock"):
            call()
    own_server.start()
    assert queue.finish(lease, {}) == leaseq.Finished("one", late=False, replayed=False)
    assert queue.stats().finished == 1


def test_client_recovers_after_many_failed_calls(own_server: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(own_server.url), "q")
    queue.enqueue({})
    own_server.stop()
    for _ in range(150):
        with pytest.raises(leaseq.ServerUnavailable):
            queue.reserve("ann")
    own_server.start()
    assert queue.reserve("ann") is not None


def test_client_recovers_after_many_closed_connections(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue({})
    for _ in range(150):
        server.redis.client_kill_filter(_type="normal", skipme=True)
        assert queue.reserve("ann") is not None


def test_missing_socket_raises_server_unavailable() -> None:
    queue = leaseq.Queue(leaseq.connect("unix:///nowhere/server.sock"), "q")
    with raises(leaseq.ServerUnavailable, "no_answer", "/nowhere/server.sock"):
        queue.reserve("ann")


def test_restarting_the_server_loses_nothing(own_server: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(own_server.url), "q")
    queue.configure(lease_seconds=1000, title="kept")
    queue.enqueue_many([{"n": n} for n in range(3)])
    lease = not_none(queue.reserve("ann"))
    queue.save_draft(lease, {"half": 1})
    queue.finish(not_none(queue.reserve("bob")), {"x": 1})
    before = queue.stats(), queue.journal(), list(queue.answers()), queue.mine("ann")
    own_server.stop()
    own_server.start()
    after = queue.stats(), queue.journal(), list(queue.answers()), queue.mine("ann")
    assert before[1:] == after[1:]
    assert before[0].counters == after[0].counters
    assert queue.mine("ann")[0].draft == {"half": 1}
    assert queue.policy.title == "kept"


def test_full_memory_refuses_new_items_but_allows_work(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue_many([{"n": n} for n in range(20)])
    leases = [take(queue, f"p{n}") for n in range(6)]
    raw(client).config_set("maxmemory", "1")
    before = queue.stats()
    for call in (
        lambda: queue.enqueue({}),
        lambda: queue.enqueue_many([{}]),
        lambda: leaseq.Queue(client, "new").configure(),
    ):
        with raises(leaseq.ServerRefused, "server_refused", "maxmemory"):
            call()
    assert queue.stats().inbound == before.inbound

    renewed_lease = queue.renew(leases[0])
    queue.save_draft(renewed_lease, {"half": 1})
    next_lease = queue.finish(renewed_lease, {"x": 1}, then_reserve=True).next
    assert next_lease is not None
    assert queue.finish(next_lease, {}).late is False
    queue.abandon(leases[1], "later")
    assert queue.fail(leases[2], "no").retry_at is not None
    queue.release(leases[3].id)
    queue.pause()
    queue.resume()
    with pytest.raises(leaseq.LeaseLost) as error:
        queue.finish(leases[3], {"typed": "much"})
    assert error.value.answer_kept
    assert queue.adopt(leases[3].id, leases[3].token).state == "finished"
    assert queue.reserve("new person") is not None
    queue.clear()
    queue.remove(leases[4].id)
    assert queue.stats().finished == 3


def test_reserve_on_read_only_server_is_refused(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue({}, id="one")
    raw(client).replicaof("127.0.0.1", "1")
    with raises(leaseq.ServerRefused, "server_refused", "read"):
        queue.reserve("ann")
    assert queue.get("one").state == "inbound"
    raw(client).replicaof("NO", "ONE")
    assert queue.reserve("ann") is not None


def test_wrong_password_is_refused_without_retry(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    raw(client).acl_setuser("worker", enabled=True, passwords=["+right"], keys=["*"], categories=["+@all"])
    path = own_server.url.removeprefix("unix://")
    right_client = leaseq.connect(f"unix://worker:right@{path}")
    right_client.ping()
    leaseq.Queue(right_client, "q").enqueue({})
    wrong_client = leaseq.connect(f"unix://worker:hunter2@{path}")
    calls: list[Callable[[], object]] = [
        wrong_client.ping,
        lambda: leaseq.Queue(wrong_client, "q").reserve("ann"),
    ]
    for call in calls:
        raw(client).acl_log_reset()
        with pytest.raises(leaseq.ServerRefused) as error:
            call()
        assert "hunter2" not in str(error.value)
        assert [int(str(entry["count"])) for entry in raw(client).acl_log()] == [1]


MINIMAL = " ".join(rules(LIBRARY, password="pw"))


def test_delete_without_unlink_permission_leaves_queue_unchanged(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue({}, id="one")
    raw(client).execute_command("ACL", "SETUSER", "minimal", *MINIMAL.split(), "-unlink")
    limited_client = leaseq.connect(f"unix://minimal:pw@{own_server.url.removeprefix('unix://')}")
    with raises(leaseq.ServerRefused, "server_refused", "unlink"):
        leaseq.Queue(limited_client, "q").delete()
    assert take(queue, "ann").id == "one", "the queue is as it was"


def test_minimal_acl_rules_allow_all_queue_operations(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    raw(client).execute_command("ACL", "SETUSER", "minimal", *MINIMAL.split())
    limited_client = leaseq.connect(f"unix://minimal:pw@{own_server.url.removeprefix('unix://')}")
    limited_client.ping()
    queue = leaseq.Queue(limited_client, "q")
    queue.configure(holds=9, retry_seconds=0, dedupe_seconds=60)
    raw(client).xgroup_create(Keys("q").journal, "bridge", "0")
    queue.enqueue_many([{"n": n} for n in range(9)])
    queue.enqueue({}, delay=0.000001)
    for n in range(8):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.save_draft(queue.renew(lease), {})
        if n == 0:
            queue.abandon(lease)
        elif n == 1:
            queue.fail(lease, "no")
        elif n == 2:
            queue.release(lease.id)
            with pytest.raises(leaseq.LeaseLost):
                queue.finish(lease, {})
            queue.adopt(lease.id, lease.token)
        elif n == 3:
            queue.remove(lease.id)
        else:
            queue.finish(lease, {}, then_reserve=True)
    queue.configure(keep_finished_seconds=0)
    raw(client).xreadgroup("bridge", "one", {Keys("q").journal: ">"}, count=100)
    assert queue.clear().forgotten == 0
    raw(client).xgroup_destroy(Keys("q").journal, "bridge")
    assert queue.clear().forgotten == 5
    queue.pause()
    queue.resume()
    queue.why_nothing("bob")
    for state in leaseq.STATES:
        page = queue.page(state, limit=1)
        queue.page(state, limit=1, after=page.after)
    assert queue.stats().counters["finished"] == 5
    assert leaseq.queues(limited_client) == ["q"]
    assert queue.journal(limit=10_000)[-1].what == "resumed"
    wait_and_take(leaseq.Queue(limited_client, "waited-for"), "ann")


def test_reserve_without_permission_is_refused_and_changes_nothing(own_server: EmbeddedServer) -> None:
    client = leaseq.connect(own_server.url)
    leaseq.Queue(client, "q").enqueue({}, id="one")
    raw(client).execute_command("ACL", "SETUSER", "few", *MINIMAL.replace("+zadd ", "").split())
    limited_client = leaseq.connect(f"unix://few:pw@{own_server.url.removeprefix('unix://')}")
    with raises(leaseq.ServerRefused, "server_refused", "permission"):
        leaseq.Queue(limited_client, "q").reserve("ann")
    assert leaseq.Queue(client, "q").get("one").state == "inbound"
    assert leaseq.Queue(client, "q").reserve("bob") is not None

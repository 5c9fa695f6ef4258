"""A server that forgot the scripts, went away, or is full."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator

import pytest
import redis

import leaseq
from leaseq.doctor.acl import LIBRARY, rules
from leaseq.engine.keys import Keys
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.support.taking import not_none, take, wait_and_take


@pytest.fixture
def alone() -> Iterator[EmbeddedServer]:
    """A server of the test's own, to be hurt."""
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        yield embedded


def raw(client: leaseq.Client) -> redis.Redis:
    assert isinstance(client.redis, redis.Redis)
    return client.redis


def test_a_server_that_forgot_the_scripts_gets_them_again(queue: leaseq.Queue, server: Server) -> None:
    queue.enqueue_many([{}, {}])
    server.redis.script_flush()
    lease = queue.reserve("ann")
    assert lease is not None
    server.redis.script_flush()
    following = queue.finish(lease, {}, then_reserve=True).next
    assert following is not None
    server.redis.script_flush()
    queue.abandon(following)
    assert [e.what for e in queue.journal()][-3:] == ["finished", "reserved", "abandoned"]


def test_a_server_that_is_away_is_named_and_work_goes_on_when_it_is_back(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue({}, id="one")
    lease = queue.reserve("ann")
    assert lease is not None
    alone.stop()
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
        with pytest.raises(leaseq.ServerUnavailable, match=r"server\.sock"):
            call()
    alone.start()
    assert queue.finish(lease, {}) == leaseq.Finished("one", late=False, replayed=False)
    assert queue.stats().finished == 1


def test_work_goes_on_however_often_it_was_tried_in_vain(alone: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(alone.url), "q")
    queue.enqueue({})
    alone.stop()
    for _ in range(150):
        with pytest.raises(leaseq.ServerUnavailable):
            queue.reserve("ann")
    alone.start()
    assert queue.reserve("ann") is not None


def test_work_goes_on_however_often_the_link_was_cut(server: Server, queue: leaseq.Queue) -> None:
    queue.enqueue({})
    for _ in range(150):
        server.redis.client_kill_filter(_type="normal", skipme=True)
        assert queue.reserve("ann") is not None


def test_a_new_client_to_nowhere() -> None:
    queue = leaseq.Queue(leaseq.connect("unix:///nowhere/server.sock"), "q")
    with pytest.raises(leaseq.ServerUnavailable, match=r"/nowhere/server\.sock"):
        queue.reserve("ann")


def test_restarting_the_server_loses_nothing(alone: EmbeddedServer) -> None:
    queue = leaseq.Queue(leaseq.connect(alone.url), "q")
    queue.configure(lease_seconds=1000, title="kept")
    queue.enqueue_many([{"n": n} for n in range(3)])
    lease = not_none(queue.reserve("ann"))
    queue.save_draft(lease, {"half": 1})
    queue.finish(not_none(queue.reserve("bob")), {"x": 1})
    before = queue.stats(), queue.journal(), list(queue.answers()), queue.mine("ann")
    alone.stop()
    alone.start()
    after = queue.stats(), queue.journal(), list(queue.answers()), queue.mine("ann")
    assert before[1:] == after[1:]
    assert before[0].counters == after[0].counters
    assert queue.mine("ann")[0].draft == {"half": 1}
    assert queue.policy.title == "kept"


def test_with_full_memory_people_go_on_working_and_nothing_enters(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
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
        with pytest.raises(leaseq.ServerRefused, match="maxmemory"):
            call()
    assert queue.stats().inbound == before.inbound

    renewed = queue.renew(leases[0])
    queue.save_draft(renewed, {"half": 1})
    following = queue.finish(renewed, {"x": 1}, then_reserve=True).next
    assert following is not None
    assert queue.finish(following, {}).late is False
    queue.abandon(leases[1], "later")
    assert queue.fail(leases[2], "no").retry_at is not None
    queue.release(leases[3].id)
    queue.pause()
    queue.resume()
    with pytest.raises(leaseq.LeaseLost) as lost:
        queue.finish(leases[3], {"typed": "much"})
    assert lost.value.answer_kept
    assert queue.adopt(leases[3].id, leases[3].token).state == "finished"
    assert queue.reserve("new person") is not None
    queue.clear()
    queue.remove(leases[4].id)
    assert queue.stats().finished == 3


def test_a_read_only_server_refuses(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
    queue = leaseq.Queue(client, "q")
    queue.enqueue({}, id="one")
    raw(client).replicaof("127.0.0.1", "1")
    with pytest.raises(leaseq.ServerRefused, match=r"(?i)read.?only"):
        queue.reserve("ann")
    assert queue.get("one").state == "inbound"
    raw(client).replicaof("NO", "ONE")
    assert queue.reserve("ann") is not None


def test_a_wrong_password_is_refused_and_not_repeated(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
    raw(client).acl_setuser("worker", enabled=True, passwords=["+right"], keys=["*"], categories=["+@all"])
    path = alone.url.removeprefix("unix://")
    right = leaseq.connect(f"unix://worker:right@{path}")
    right.ping()
    leaseq.Queue(right, "q").enqueue({})
    wrong = leaseq.connect(f"unix://worker:hunter2@{path}")
    calls: list[Callable[[], object]] = [wrong.ping, lambda: leaseq.Queue(wrong, "q").reserve("ann")]
    for call in calls:
        raw(client).acl_log_reset()
        with pytest.raises(leaseq.ServerRefused) as refused:
            call()
        assert "hunter2" not in str(refused.value)
        assert [int(str(entry["count"])) for entry in raw(client).acl_log()] == [1]


MINIMAL = " ".join(rules(LIBRARY, password="pw"))


def test_a_user_with_only_what_the_moves_need_can_work_a_queue(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
    raw(client).execute_command("ACL", "SETUSER", "minimal", *MINIMAL.split())
    low = leaseq.connect(f"unix://minimal:pw@{alone.url.removeprefix('unix://')}")
    low.ping()
    queue = leaseq.Queue(low, "q")
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
    assert leaseq.queues(low) == ["q"]
    assert queue.journal(limit=10_000)[-1].what == "resumed"
    wait_and_take(leaseq.Queue(low, "waited-for"), "ann")


def test_a_user_who_may_not_is_refused_and_nothing_moved(alone: EmbeddedServer) -> None:
    client = leaseq.connect(alone.url)
    leaseq.Queue(client, "q").enqueue({}, id="one")
    raw(client).execute_command("ACL", "SETUSER", "few", *MINIMAL.replace("+zadd ", "").split())
    few = leaseq.connect(f"unix://few:pw@{alone.url.removeprefix('unix://')}")
    with pytest.raises(leaseq.ServerRefused, match=r"(?i)permission"):
        leaseq.Queue(few, "q").reserve("ann")
    assert leaseq.Queue(client, "q").get("one").state == "inbound"
    assert leaseq.Queue(client, "q").reserve("bob") is not None

"""`durable="replica"`: unconfirmed calls raise ServerUnavailable and close the connections to the primary."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

import leaseq
from leaseq.engine.durability import MAX_MILLISECONDS, check
from tests.conformance.topology.servers import port_of, primary_and_replicas
from tests.support.leases import not_none
from tests.support.refused import raises, refused
from tests.support.waiting import eventually


class Pair:
    def __init__(self, primary: redis.Redis, replica: redis.Redis) -> None:
        self.primary = primary
        self.url = f"redis://127.0.0.1:{port_of(primary)}"
        self._replica = int(replica.info("server")["process_id"])

    def queue(self, name: str) -> leaseq.Queue:
        """A queue whose changes wait for the replica."""
        queue = leaseq.Queue(leaseq.connect(f"{self.url}?socket_timeout=1"), name)  # waits 0.2 s less for it
        queue.configure(durable="replica")
        return queue

    def connections(self) -> int:
        return int(self.primary.info("stats")["total_connections_received"])

    def stop(self) -> None:
        os.kill(self._replica, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._replica, signal.SIGCONT)


@pytest.fixture(scope="module")
def replicated_pair() -> Iterator[Pair]:
    with primary_and_replicas(1) as (primary, replica):
        yield Pair(primary, replica)


@pytest.fixture
def pair(replicated_pair: Pair) -> Iterator[Pair]:
    """A primary whose replica the test may stop."""
    yield replicated_pair
    replicated_pair.resume()
    replicated_pair.primary.execute_command("WAIT", "1", "5000")


def test_unconfirmed_finish_raises_unavailable_and_can_be_repeated(pair: Pair, queue_name: str) -> None:
    queue = pair.queue(queue_name)
    queue.enqueue({}, id="one")
    lease = not_none(queue.reserve("ann"))
    pair.stop()
    for _ in range(2):  # the second changes nothing, but is not confirmed either
        with raises(leaseq.ServerUnavailable, "unconfirmed", what="replica"):
            queue.finish(lease, {"x": 1})
    assert queue.get("one").state == "finished"
    pair.resume()
    assert queue.finish(lease, {"x": 1}).replayed
    assert (queue.stats().finished, queue.stats().counters["finished"]) == (1, 1)


def test_asker_gets_no_unconfirmed_answer(pair: Pair, queue_name: str) -> None:
    """A new primary may not have it, and somebody else may answer otherwise."""
    queue, asking = pair.queue(queue_name), pair.queue(queue_name)
    queue.enqueue({}, id="one")
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asking.wait_for, "one", 60)
        eventually(lambda: queue.get("one").asked_by is not None)  # it has looked
        lease = not_none(queue.reserve("ann"))
        pair.stop()
        with raises(leaseq.ServerUnavailable, "unconfirmed"):
            queue.finish(lease, "yes")
        assert not future.done(), "it had more time for its look than the finish for its confirmation"
        pair.resume()
        assert future.result(30).result == "yes"


def test_repeated_unconfirmed_reserve_returns_same_lease(pair: Pair, queue_name: str) -> None:
    queue = pair.queue(queue_name)
    queue.enqueue_many([{}, {}])
    pair.stop()
    with pytest.raises(leaseq.ServerUnavailable):
        queue.reserve("ann", request_id="r1")
    leases = queue.mine("ann")
    pair.resume()
    repeated_lease = queue.reserve("ann", request_id="r1")
    assert repeated_lease is not None
    assert [(lease.id, lease.token) for lease in leases] == [(repeated_lease.id, repeated_lease.token)]
    assert queue.stats().reserved == 1


def test_durable_can_be_lowered_while_replica_is_stopped(pair: Pair, queue_name: str) -> None:
    queue = pair.queue(queue_name)
    pair.stop()
    queue.configure(durable="server")
    assert queue.enqueue({}).added


def test_client_reconnects_when_primary_has_too_few_replicas(pair: Pair, queue_name: str) -> None:
    """After a network split, the old primary accepts no writes; a new connection may reach the new one."""
    queue = pair.queue(queue_name)
    pair.primary.config_set("min-replicas-to-write", 2)
    try:
        before = pair.connections()
        with raises(leaseq.ServerUnavailable, "no_answer", "NOREPLICAS"):
            queue.enqueue({}, id="one")
        assert pair.connections() > before
    finally:
        pair.primary.config_set("min-replicas-to-write", 0)
    assert queue.enqueue({}, id="one").added


def test_all_connections_are_closed_after_missing_confirmation(pair: Pair, queue_name: str) -> None:
    """Idle ones, too: the primary may have been replaced, and they would reach the old one."""
    queue = pair.queue(queue_name)
    queue.enqueue({})  # loads the script
    pair.stop()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(queue.enqueue, {})
        eventually(lambda: pair.primary.info("clients")["blocked_clients"] == 1)
        assert queue.stats().inbound == 2  # over another connection
        with raises(leaseq.ServerUnavailable, "unconfirmed"):
            future.result()
    before = pair.connections()
    queue.stats()
    assert pair.connections() == before + 1


def test_aborted_wait_raises_server_unavailable(
    pair: Pair, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a server does when it is demoted to a replica."""
    monkeypatch.setitem(MAX_MILLISECONDS, "replica", 60_000)
    queue = leaseq.Queue(leaseq.connect(f"{pair.url}?socket_timeout=60"), queue_name)
    queue.configure(durable="replica")
    queue.enqueue({})  # loads the script
    pair.stop()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(queue.enqueue, {})
        eventually(lambda: pair.primary.info("clients")["blocked_clients"] == 1)
        (blocked_client,) = (one for one in pair.primary.client_list() if "b" in one["flags"])
        pair.primary.client_unblock(int(blocked_client["id"]), error=True)
        with raises(leaseq.ServerUnavailable, "unconfirmed", "UNBLOCKED"):
            future.result()


def test_wait_for_replica_is_limited_with_long_socket_timeout(pair: Pair, queue_name: str) -> None:
    """The primary may have been replaced, and a new connection may reach the new one."""
    queue = leaseq.Queue(leaseq.connect(f"{pair.url}?socket_timeout=60"), queue_name)
    queue.configure(durable="replica")
    with pair.primary.monitor() as monitor:
        queue.enqueue({})
        command = next(one["command"] for one in monitor.listen() if one["command"].startswith("WAIT "))
    assert command == f"WAIT 1 {MAX_MILLISECONDS['replica']}"


def test_fsync_is_refused_when_only_disk_of_replica_confirms() -> None:
    answers: dict[str, Any] = {
        "CONFIG GET": {"appendonly": "yes", "appendfsync": "always"},
        "WAITAOF": [0, 1],
    }
    with refused("durable", what="disk"):
        check("fsync", lambda *words: answers[words[0]], lambda: 1)

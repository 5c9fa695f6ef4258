"""Changes acknowledged under ``durable="replica"`` survive a failover to a replica."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from redis.crc import key_slot

import leaseq
from tests.conformance.topology.cluster import run_cluster
from tests.conformance.topology.servers import port_of, primary_and_replicas, service_url, watching
from tests.support.waiting import TIMEOUT, eventually, retry_while_unavailable

ITEMS = 20


class Service:
    """A primary with two replicas, and a sentinel that fails over on request."""

    def __init__(self, stack: ExitStack) -> None:
        self.primary, *_ = stack.enter_context(primary_and_replicas(2))
        self._watcher = stack.enter_context(watching(self.primary))
        eventually(lambda: len(self._watcher.execute_command("SENTINEL", "REPLICAS", "mymaster")) == 2)
        self.url = f"{service_url(self._watcher)}?socket_timeout=1"
        self.process = int(self.primary.info("server")["process_id"])

    def fail_over(self) -> None:
        eventually(lambda: bool(self._watcher.execute_command("SENTINEL", "FAILOVER", "mymaster")))
        eventually(lambda: self._port() != port_of(self.primary))

    def _port(self) -> int:
        """The port of the primary, as the sentinel reports it."""
        masters: Any = self._watcher.sentinel_masters()
        return int(masters["mymaster"]["port"])


@pytest.fixture
def service() -> Iterator[Service]:
    with ExitStack() as stack:
        yield Service(stack)


@pytest.mark.parametrize("stopped", [True, False], ids=["primary hangs", "primary cut off"])
def test_acknowledged_changes_survive_a_failover(service: Service, stopped: bool) -> None:
    """A primary that is only cut off still answers its clients, but no other server has what it accepts."""
    client = leaseq.connect(service.url)
    queue = leaseq.Queue(client, "reviews")
    queue.configure(durable="replica")
    queue.enqueue_many(leaseq.NewItem({}, id=f"{n:02}") for n in range(ITEMS))
    lease = queue.reserve("ann")
    tokens: list[int] = []
    while lease is not None:
        current_lease = lease
        tokens.append(current_lease.token)
        if len(tokens) == ITEMS // 2:
            if stopped:
                os.kill(service.process, signal.SIGSTOP)
            service.fail_over()
            if not stopped:
                eventually(lambda: service.primary.info("replication")["connected_slaves"] == 0)
        lease = retry_while_unavailable(
            partial(queue.finish, current_lease, current_lease.token, then_reserve=True)
        ).next
    assert tokens == list(range(1, ITEMS + 1))
    client.close()
    other = leaseq.connect(service.url)  # finds the new primary
    assert [answer.result for answer in leaseq.Queue(other, "reviews").answers()] == tokens
    other.close()


def test_unanswered_call_continues_with_the_new_primary(service: Service) -> None:
    """The call does not wait for its timeout."""
    client = leaseq.connect(service.url.replace("timeout=1", f"timeout={2 * TIMEOUT}"))
    queue = leaseq.Queue(client, "reviews")
    queue.configure(durable="replica")
    queue.enqueue({}, id="a")
    with ThreadPoolExecutor() as pool:
        os.kill(service.process, signal.SIGSTOP)
        future = pool.submit(queue.reserve, "ann")
        service.fail_over()
        lease = future.result(TIMEOUT)
    assert lease is not None
    assert lease.id == "a"
    client.close()


def test_unanswered_cluster_call_continues_with_new_owner_of_the_slot() -> None:
    with run_cluster(replicas=1, node_timeout=60) as cluster, ThreadPoolExecutor() as pool:
        client = leaseq.connect(f"{cluster.url}?socket_timeout={2 * TIMEOUT}")
        queue = leaseq.Queue(client, "reviews")
        queue.configure(durable="replica")
        queue.enqueue({}, id="a")
        primary = cluster.owner(key_slot(b"reviews"))
        replicas = {node.client.info("replication").get("master_port"): node for node in cluster.nodes}
        primary.freeze()
        future = pool.submit(queue.stats)
        replicas[primary.port].client.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")
        assert future.result(TIMEOUT).inbound == 1
        client.close()

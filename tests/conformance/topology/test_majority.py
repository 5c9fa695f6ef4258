"""``durable="majority"`` waits for more than half of the replicas that the topology has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest
import redis
from redis.crc import key_slot

import leaseq
from leaseq.engine import commands
from leaseq.engine.client import connection_of
from tests.conformance.topology.cluster import run_cluster
from tests.conformance.topology.nodes import Node
from tests.conformance.topology.servers import port_of, primary_and_replicas, service_url, watching
from tests.support.refused import raises, refused
from tests.support.waiting import eventually

NAME = "reviews"


class Service(NamedTuple):
    """A primary with two replicas, and its URLs with and without a sentinel."""

    primary: redis.Redis
    replicas: list[redis.Redis]
    url: str

    @property
    def direct(self) -> str:
        return f"redis://127.0.0.1:{port_of(self.primary)}/0"


@pytest.fixture
def service() -> Iterator[Service]:
    with ExitStack() as stack:
        primary, *replicas = stack.enter_context(primary_and_replicas(2))
        watcher = stack.enter_context(watching(primary))
        eventually(lambda: len(watcher.execute_command("SENTINEL", "REPLICAS", "mymaster")) == 2)
        yield Service(primary, replicas, service_url(watcher))


def cut_off(service: Service) -> None:
    """Disconnect one replica: the primary and the other replica are still connected."""
    service.replicas[0].replicaof("NO", "ONE")
    eventually(lambda: service.primary.info("replication")["connected_slaves"] == 1)


def test_primary_cut_off_with_one_of_two_replicas_acknowledges_nothing(service: Service) -> None:
    client = leaseq.connect(service.url)
    queue, replica_queue = leaseq.Queue(client, NAME), leaseq.Queue(client, "one")
    assert queue.configure(durable="majority").durable == "majority"
    replica_queue.configure(durable="replica")
    assert queue.enqueue({}, id="before").added
    cut_off(service)
    assert replica_queue.enqueue({}).added
    with raises(leaseq.ServerUnavailable, "unconfirmed", what="majority", quorum=2) as error:
        queue.enqueue({}, id="meanwhile")
    assert error.value.taken
    service.replicas[0].replicaof("127.0.0.1", str(port_of(service.primary)))
    eventually(lambda: service.primary.info("replication")["connected_slaves"] == 2)
    assert not queue.enqueue({}, id="meanwhile").added  # it was applied, and both replicas have it now
    client.close()


def test_majority_is_refused_if_too_few_replicas_are_connected(service: Service) -> None:
    cut_off(service)
    client = leaseq.connect(service.url)
    with refused("durable", what="majority"):
        leaseq.Queue(client, NAME).configure(durable="majority")
    client.close()


def test_majority_counts_connected_replicas_without_sentinels(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_CACHE_SECONDS", -1.0)
    client = leaseq.connect(service.direct)
    queue = leaseq.Queue(client, NAME)
    queue.configure(durable="majority")
    service.primary.config_resetstat()
    queue.enqueue({})
    assert "WAIT\r\n$1\r\n2" in _last_wait(client, queue)
    for replica in service.replicas:
        replica.replicaof("NO", "ONE")
    eventually(lambda: service.primary.info("replication")["connected_slaves"] == 0)
    with raises(leaseq.ServerUnavailable, "unconfirmed", what="majority", quorum=1):
        queue.enqueue({})
    with refused("durable", what="majority"):
        leaseq.Queue(client, "other").configure(durable="majority")
    client.close()


def _last_wait(client: leaseq.Client, queue: leaseq.Queue) -> str:
    wait = queue._commands.confirm()
    assert wait is not None
    return wait.packed_commands()[1].decode()


def test_missing_acl_rule_to_count_replicas_is_named(service: Service) -> None:
    service.primary.execute_command("ACL", "SETUSER", "low", "on", ">pw", "~*", "&*", "+@all", "-info")
    client = leaseq.connect(service.direct.replace("//", "//low:pw@"))
    with refused("durable", "durable", what="count"):
        leaseq.Queue(client, NAME).configure(durable="majority")
    client.close()


def test_majority_counts_replicas_of_the_slot_in_a_cluster() -> None:
    with run_cluster(replicas=2, node_timeout=60) as cluster:
        client = leaseq.connect(cluster.url)
        queue = leaseq.Queue(client, NAME)
        # A node counts a replica after it has reported its offset.
        eventually(lambda: connection_of(client).replicas(f"{{{NAME}}}") == 2)
        queue.configure(durable="majority")
        assert queue.enqueue({}).added
        port = cluster.owner(key_slot(NAME.encode())).port
        replicas = (node for node in cluster.nodes if _primary_of(node) == port)
        next(replicas).freeze()
        with raises(leaseq.ServerUnavailable, "unconfirmed", what="majority", quorum=2):
            queue.enqueue({})
        client.close()


def _primary_of(node: Node) -> int | None:
    port = node.client.info("replication").get("master_port")
    return int(port) if port else None

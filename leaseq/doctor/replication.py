"""Checks of replicas, Sentinels and Cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import redis
from redis import exceptions as rx
from redis.cluster import ClusterNode, RedisCluster
from redis.sentinel import SentinelConnectionPool

from leaseq import Client, ServerUnavailable
from leaseq.doctor.checks import Check, Finding, Node
from leaseq.doctor.exposure import NO_PASSWORD, NO_TLS
from leaseq.engine.transport import FAILURES
from leaseq.engine.urls import TIMEOUTS, without_password

Kind = Literal["server", "sentinel", "cluster"]


@dataclass
class Topology:
    """The servers behind a URL. ``nodes`` hold data, primaries first. ``service`` is the sentinels' name
    for them."""

    kind: Kind
    nodes: list[Node]
    sentinels: list[Node] = field(default_factory=list)
    service: str = ""

    @property
    def primaries(self) -> list[Node]:
        return [node for node in self.nodes if not node.replica]


def topology_of(client: Client) -> Topology:
    """Find the servers behind a URL. Raises ServerUnavailable if no node or sentinel answers."""
    if isinstance(client.redis, RedisCluster):
        return _cluster(client.redis)
    if isinstance(client.redis.connection_pool, SentinelConnectionPool):
        return _sentinel(client, client.redis.connection_pool)
    return Topology("server", [Node(client.redis, without_password(client.url))])


def _cluster(client: RedisCluster) -> Topology:
    cluster_nodes = sorted(_nodes_of(client), key=lambda node: (node.server_type != "primary", node.name))
    nodes = [
        Node(client.get_redis_connection(node), node.name, replica=node.server_type != "primary")
        for node in cluster_nodes
    ]
    return Topology("cluster", nodes)


def _nodes_of(client: Any) -> list[ClusterNode]:
    nodes: list[ClusterNode] = client.get_nodes()
    return nodes


def _sentinel(client: Client, pool: SentinelConnectionPool) -> Topology:
    manager, service = pool.sentinel_manager, str(pool.service_name)
    options: dict[str, Any] = manager.connection_kwargs
    # A client soon tries the next sentinel. The doctor waits longer: a slow sentinel is not a lost one.
    sentinel_options = {**manager.sentinel_kwargs, **{name: options[name] for name in TIMEOUTS}}
    sentinels = [
        Node(redis.Redis(host=host, port=port, **sentinel_options), f"sentinel {host}:{port}")
        for host, port in map(_address, manager.sentinels)
    ]
    for sentinel in sentinels:
        with suppress(*FAILURES):
            primary: Any = sentinel.redis.sentinel_master(service)
            replicas: Any = sentinel.redis.sentinel_slaves(service)
            addresses = [(node["ip"], int(node["port"])) for node in (primary, *replicas)]
            nodes = [
                Node(redis.Redis(host=host, port=port, **options), f"{host}:{port}", replica=number > 0)
                for number, (host, port) in enumerate(addresses)
            ]
            return Topology("sentinel", nodes, sentinels, service)
    address = without_password(client.url)
    raise ServerUnavailable("no_answer", what="sentinel", address=address, service=service)


def _address(client: redis.Redis) -> tuple[str, int]:
    settings = client.connection_pool.connection_kwargs
    return str(settings["host"]), int(settings["port"])


AWAY = Check(
    "node-away",
    "error",
    "is a data node and does not answer",
    "start it again, or check its log and the network",
)
NO_REPLICA = Check(
    "no-replica",
    "error",
    "is the only data node of {service} that answers: if it is lost, so is all data since the last backup",
    "start two replicas (REPLICAOF {address})",
)
FEW_NODES = Check(
    "few-data-nodes",
    "warning",
    "is one of two data nodes of {service} that answer: after a failover there is no replica left to "
    "confirm a write",
    "start a third data node (REPLICAOF {address})",
)
FEW_SENTINELS = Check(
    "few-sentinels",
    "warning",
    "is watched by {count} of the three required sentinels: if one is lost, the others may not be able to "
    "fail over",
    "start sentinels on three machines, and name all of them in the URL",
)
SENTINEL_AWAY = Check(
    "sentinel-away", "warning", "does not answer", "start it again, or remove it from the URL"
)
QUORUM = Check(
    "sentinel-quorum",
    "error",
    "would not fail over {service}: {said}",
    "start the missing sentinels, or SENTINEL SET {service} quorum to a number that can be reached",
)
DOWN_AFTER = Check(
    "sentinel-down-after",
    "warning",
    "considers the primary of {service} down after {milliseconds} ms: it reconnects at most once a second, "
    "so "
    "it may consider a newly promoted primary down, and replace it by one that no replica follows",
    "SENTINEL SET {service} down-after-milliseconds {enough} on each sentinel",
)
MIN_REPLICAS = Check(
    "min-replicas-to-write",
    "warning",
    "has replicas and min-replicas-to-write 0: when cut off from them, it accepts writes that a failover "
    "loses",
    "CONFIG SET min-replicas-to-write 1 with three data nodes, then CONFIG REWRITE; or durable 'replica'",
)
TOO_FEW = Check(
    "too-few-replicas",
    "error",
    "refuses every write: min-replicas-to-write is {wanted}, and only {good} replicas are up to date",
    "start the replicas again, or CONFIG SET min-replicas-to-write {good}",
)
SLOTS = Check(
    "cluster-slots",
    "error",
    "reports {count:,} slots that no node serves: the queues in them can't be used",
    "start the missing nodes; or CLUSTER ADDSLOTSRANGE, or valkey-cli --cluster fix",
)
SHARD_ALONE = Check(
    "cluster-no-replica",
    "error",
    "is a primary of the cluster without a replica: if it is lost, so is the data of its queues since the "
    "last backup",
    "start another node, join it with CLUSTER MEET, then CLUSTER REPLICATE this node's id (CLUSTER MYID)",
)
COVERAGE = Check(
    "cluster-full-coverage",
    "warning",
    "has cluster-require-full-coverage yes: the loss of one shard stops the queues of all shards",
    "CONFIG SET cluster-require-full-coverage no, then CONFIG REWRITE",
)
PASSED = {
    "server": "a single server",
    "sentinel": "three data nodes or more, and sentinels that can fail over",
    "cluster": "every slot is served, and every primary has a replica",
}

SLOT_COUNT = 16_384
MIN_DOWN_AFTER = 2_000  # milliseconds until a sentinel considers a primary down


def find_problems(topology: Topology, unreachable_nodes: set[Node]) -> Iterator[Finding]:
    """Run the checks; ``unreachable_nodes`` are those that did not answer."""
    for node in topology.nodes:
        if node in unreachable_nodes:
            yield AWAY.finding(node.where)
    for node in topology.primaries:
        if node not in unreachable_nodes:
            yield from _replicas(node, in_cluster=topology.kind == "cluster")
    if topology.kind == "sentinel":
        yield from _sentinels(topology, len(topology.nodes) - len(unreachable_nodes))
    if topology.kind == "cluster":
        yield from _shards([node for node in topology.nodes if node not in unreachable_nodes])


def _replicas(node: Node, *, in_cluster: bool) -> Iterator[Finding]:
    """Check min-replicas-to-write, which a cluster may have at 0: its primary stops by itself if cut off."""
    minimum = int(node.config("min-replicas-to-write") or 0)
    count = int(node.info_field("connected_slaves") or 0)
    if minimum and node.info:
        good_count = int(node.info.get("min_slaves_good_slaves", count))
        if good_count < minimum:
            yield TOO_FEW.finding(node.where, wanted=minimum, good=good_count)
    elif count and not minimum and not in_cluster and node.config("min-replicas-to-write") is not None:
        yield MIN_REPLICAS.finding(node.where)


def _sentinels(topology: Topology, reachable_count: int) -> Iterator[Finding]:
    primary = topology.nodes[0]
    facts = {"service": topology.service, "address": primary.where.replace(":", " ")}
    if reachable_count == 1:
        yield NO_REPLICA.finding(primary.where, **facts)
    elif reachable_count == 2:
        yield FEW_NODES.finding(primary.where, **facts)
    sentinel_count = 0
    for sentinel in topology.sentinels:
        try:
            state: Any = sentinel.redis.sentinel_master(topology.service)
        except FAILURES:
            yield SENTINEL_AWAY.finding(sentinel.where)
            continue
        sentinel_count = max(sentinel_count, int(state["num-other-sentinels"]) + 1)
        yield from _quorum(sentinel, topology.service)
        if (milliseconds := int(state["down-after-milliseconds"])) < MIN_DOWN_AFTER:
            yield DOWN_AFTER.finding(
                sentinel.where, service=topology.service, milliseconds=milliseconds, enough=MIN_DOWN_AFTER
            )
        yield from _exposure(sentinel)
    if sentinel_count < 3:
        yield FEW_SENTINELS.finding(primary.where, count=sentinel_count)


def _quorum(sentinel: Node, service: str) -> Iterator[Finding]:
    try:
        sentinel.ask("SENTINEL CKQUORUM", service)
    except rx.NoPermissionError:
        sentinel.note_unreadable("SENTINEL CKQUORUM", "the quorum")
    except rx.ResponseError as error:
        yield QUORUM.finding(sentinel.where, service=service, said=" ".join(str(error).split()))


def _exposure(sentinel: Node) -> Iterator[Finding]:
    """Check whether strangers can send commands to a sentinel, which lets them move the primary."""
    if sentinel.is_remote:
        if not sentinel.settings.get("password"):
            yield NO_PASSWORD.finding(sentinel.where, where_to=sentinel.settings["host"])
        if not sentinel.tls:
            yield NO_TLS.finding(sentinel.where, host=sentinel.settings["host"])


def _shards(nodes: list[Node]) -> Iterator[Finding]:
    for node in nodes:
        if not node.replica:
            if node.info_field("connected_slaves") == 0:
                yield SHARD_ALONE.finding(node.where)
            if node.config("cluster-require-full-coverage") == "yes":
                yield COVERAGE.finding(node.where)
    yield from _slots(nodes)


def _slots(nodes: list[Node]) -> Iterator[Finding]:
    """Report missing slots, from the first node that lists any: nodes notice a loss one by one."""
    for node in nodes:
        try:
            state: dict[str, str] = node.ask("CLUSTER INFO")
        except rx.NoPermissionError:
            node.note_unreadable("CLUSTER INFO", "the cluster's slots")
            continue
        missing_count = SLOT_COUNT - int(state["cluster_slots_ok"])
        if missing_count:
            yield SLOTS.finding(node.where, count=missing_count)
            return

"""The servers behind a URL: one, the data nodes that sentinels watch, or all nodes of a cluster."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import redis
from redis.cluster import ClusterNode, RedisCluster
from redis.sentinel import SentinelConnectionPool

from leaseq import Client, ServerUnavailable
from leaseq.doctor.server_info import Node
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
            addresses = [(one["ip"], int(one["port"])) for one in (primary, *replicas)]
            nodes = [
                Node(redis.Redis(host=host, port=port, **options), f"{host}:{port}", replica=number > 0)
                for number, (host, port) in enumerate(addresses)
            ]
            return Topology("sentinel", nodes, sentinels, service)
    raise ServerUnavailable(f"no sentinel of {without_password(client.url)} knows the primary of {service!r}")


def _address(client: redis.Redis) -> tuple[str, int]:
    link = client.connection_pool.connection_kwargs
    return str(link["host"]), int(link["port"])

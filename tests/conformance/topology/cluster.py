"""A cluster of three primaries with replicas; tests make nodes fail and move slots."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import redis

from tests.conformance.topology.nodes import Node
from tests.conformance.topology.servers import PRIMARIES, QUICK, SLOTS
from tests.support.waiting import eventually

_OPTIONS = ("--cluster-enabled", "yes", *QUICK)


class ReplicatedCluster:
    """``replicas``: number for each primary. ``node_timeout``: seconds until a silent node is considered
    failed."""

    def __init__(self, stack: ExitStack, replicas: int, node_timeout: float) -> None:
        self._replicas = replicas
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq")))
        options = (*_OPTIONS, "--cluster-node-timeout", str(int(node_timeout * 1000)))
        self.nodes = [
            stack.enter_context(Node(folder / f"node-{n}", *options))
            for n in range((1 + replicas) * PRIMARIES)
        ]
        for number, node in enumerate(self.nodes):
            (node.folder / "nodes.conf").write_text(self._configuration(number))
        for node in self.nodes:
            node.start()
        self.url = f"redis+cluster://127.0.0.1:{self.nodes[0].port}"
        self.wait_until_whole()

    def _configuration(self, own_number: int) -> str:
        """The configuration that the nodes would otherwise exchange within a few seconds."""
        lines = []
        for number, node in enumerate(self.nodes):
            index = number % PRIMARIES
            role = f"slave {_id(index)}" if number >= PRIMARIES else "master -"
            flags = f"myself,{role}" if number == own_number else role
            first, last = index * SLOTS // PRIMARIES, (index + 1) * SLOTS // PRIMARIES - 1
            slots = f" {first}-{last}" if number < PRIMARIES else ""
            address = f"127.0.0.1:{node.port}@{node.port + 10_000}"
            lines.append(f"{_id(number)} {address} {flags} 0 0 {index + 1} connected{slots}")
        return "\n".join([*lines, f"vars currentEpoch {PRIMARIES} lastVoteEpoch 0", ""])

    def owner(self, slot: int, *, than: Node | None = None) -> Node:
        """Return the primary of this slot if all nodes agree on it; ``than`` is not asked."""
        ports = {_owner(node.client, slot) for node in self.nodes if node is not than}
        if len(ports) != 1:
            raise redis.ConnectionError("the nodes don't agree yet")
        port = ports.pop()
        return next(node for node in self.nodes if node.port == port)

    def others(self, slot: int) -> list[Node]:
        """Return the primaries that don't have this slot."""
        primaries = [node for node in self.nodes if node.client.info("replication")["role"] == "master"]
        return [node for node in primaries if node is not self.owner(slot)]

    def id(self, node: Node) -> str:
        return _id(self.nodes.index(node))

    def wait_until_replaced(self, slot: int, primary: Node) -> None:
        """Return when another node has the slot of the failed primary."""
        eventually(lambda: self.owner(slot, than=primary) is not primary)

    def wait_until_whole(self) -> None:
        """Return when all nodes agree, and each primary has its replicas."""
        eventually(self._is_whole)

    def _is_whole(self) -> bool:
        for node in self.nodes:
            info = node.client.execute_command("CLUSTER INFO")
            state: dict[str, Any] = node.client.info("replication")
            if info["cluster_state"] != "ok" or int(info["cluster_slots_ok"]) != SLOTS:
                return False
            primary = state["role"] == "master"
            if (
                primary != (state["connected_slaves"] == self._replicas)
                or state.get("master_link_status", "up") != "up"
            ):
                return False
        views = [_known(node.client) for node in self.nodes]
        return all(one == views[0] and "fail" not in str(one) for one in views)


def _id(number: int) -> str:
    return f"{number + 1:040x}"


def _nodes(node: redis.Redis) -> dict[str, dict[str, Any]]:
    nodes: dict[str, dict[str, Any]] = node.execute_command("CLUSTER NODES")
    return nodes


def _known(node: redis.Redis) -> list[tuple[str, str]]:
    """Return each node's address and role, without the mark of the node that was asked."""
    return sorted(
        (address, node_info["flags"].removeprefix("myself,")) for address, node_info in _nodes(node).items()
    )


def _owner(node: redis.Redis, slot: int) -> int:
    for first, last, (_, port, *_), *_ in node.execute_command("CLUSTER SLOTS", keys_only=False):
        if first <= slot <= last:
            return int(port)
    raise redis.ConnectionError(f"no node has slot {slot}")


@contextmanager
def run_cluster(*, replicas: int, node_timeout: float) -> Iterator[ReplicatedCluster]:
    with ExitStack() as stack:
        yield ReplicatedCluster(stack, replicas, node_timeout)

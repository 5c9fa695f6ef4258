"""A service of three data nodes and three sentinels, for tests in which it loses its primary repeatedly."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import redis

from tests.conformance.topology.nodes import Node
from tests.conformance.topology.server_logs import read_logs
from tests.conformance.topology.servers import QUICK
from tests.conformance.topology.splitter import Splitter
from tests.support.waiting import eventually

NAME = "mymaster"
# Seconds. A sentinel reconnects at most once a second: with a limit of one second, it may consider a just
# promoted primary failed before it ever reached it, and replace it by one that has no replicas.
DOWN_AFTER = 2.0
_LATER = 0.2  # more for each further sentinel: noticing together, each may vote for itself
FAILOVER_TIMEOUT = 2.0  # sentinels wait twice this long between two failovers
_UP_TO = 1.0  # each adds up to this at random, so that they don't all start together


class SentinelService:
    """Start the service. ``split``: each data node is behind a proxy for all its connections."""

    def __init__(self, stack: ExitStack, *, split: bool = False) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leaseq")))
        self.splitters: dict[Node, Splitter] = {}
        self.nodes = [stack.enter_context(self._data_node(stack, folder, n, split)) for n in range(3)]
        for node in self.nodes:
            self._start(node, self.nodes[0])
        self.sentinels = [
            stack.enter_context(Node(folder / f"sentinel-{n}", *_watch(folder, n))) for n in range(3)
        ]
        for number in range(3):
            (folder / f"{number}.conf").write_text(self._configuration(number))
        for sentinel in self.sentinels:
            sentinel.start()
        addresses = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        self.url = f"redis+sentinel://{addresses}/{NAME}/0"
        self.wait_until_whole()

    def _data_node(self, stack: ExitStack, folder: Path, number: int, split: bool) -> Node:
        options = (*QUICK, "--bind-source-addr", f"127.0.0.{11 + number}") if split else QUICK
        node = Node(folder / f"node-{number}", *options)
        if split:
            self.splitters[node] = stack.enter_context(Splitter(node.port))
        return node

    def port(self, node: Node) -> int:
        """Return the port by which all others know the node."""
        return self.splitters[node].port if node in self.splitters else node.port

    def _start(self, node: Node, primary: Node) -> None:
        announcement = ("--replica-announce-ip", "127.0.0.1", "--replica-announce-port", str(self.port(node)))
        replication = ("--replicaof", f"127.0.0.1 {self.port(primary)}")
        node.start(*announcement, *(replication if node is not primary else ()))

    def _configuration(self, number: int) -> str:
        """Return a configuration with what the sentinels would otherwise discover within a few seconds."""
        lines = [
            f"sentinel myid {_id(number)}",
            "sentinel announce-ip 127.0.0.1",
            f"sentinel monitor {NAME} 127.0.0.1 {self.port(self.nodes[0])} 2",
            f"sentinel down-after-milliseconds {NAME} {(DOWN_AFTER + number * _LATER) * 1000:.0f}",
            f"sentinel failover-timeout {NAME} {FAILOVER_TIMEOUT * 1000:.0f}",
            f"sentinel parallel-syncs {NAME} 2",
        ]
        lines += [f"sentinel known-replica {NAME} 127.0.0.1 {self.port(node)}" for node in self.nodes[1:]]
        for other, sentinel in enumerate(self.sentinels):
            if other != number:
                lines.append(f"sentinel known-sentinel {NAME} 127.0.0.1 {sentinel.port} {_id(other)}")
        if self.splitters:
            lines.append(f"bind-source-addr 127.0.0.{21 + number}")
        return "\n".join(lines) + "\n"

    def primary(self) -> Node:
        """Return the primary according to most sentinels."""
        ports = [_primary(sentinel.client) for sentinel in self.sentinels]
        port = max(ports, key=ports.count)
        return next(node for node in self.nodes if self.port(node) == port)

    def replicas(self) -> list[Node]:
        primary = self.primary()
        return [node for node in self.nodes if node is not primary]

    def wait_until_whole(self) -> None:
        """Return when all sentinels agree, both replicas follow, and another failover is allowed."""
        eventually(self._is_whole)
        votes = [one.at for one in read_logs(self.sentinels, 0) if one.text.startswith("+vote-for-leader")]
        ready = max(votes, default=0.0) + 2 * FAILOVER_TIMEOUT + _UP_TO
        time.sleep(max(ready - time.time(), 0))

    def _is_whole(self) -> bool:
        primary = self.primary()
        is_known = all(_sees_all(sentinel.client, self.port(primary)) for sentinel in self.sentinels)
        replicas = [node.client.info("replication") for node in self.replicas()]
        is_followed = all(
            (replica["role"], replica.get("master_link_status"), replica.get("master_port"))
            == ("slave", "up", self.port(primary))
            for replica in replicas
        )
        return is_known and is_followed and primary.client.info("replication")["connected_slaves"] == 2

    def has_another_primary(self, than: Node, *, silent: Node | None = None) -> bool:
        """Whether all sentinels, except ``silent``, name another primary."""
        sentinels = [sentinel for sentinel in self.sentinels if sentinel is not silent]
        return all(_primary(sentinel.client) != self.port(than) for sentinel in sentinels)

    def start_again(self, node: Node) -> None:
        """Start the node as a primary without data, as it would start by itself; no client is led to it, and
        the sentinels make it a replica. If the test made it a replica of a node that the sentinels no longer
        consider the primary, it would confirm writes of that one."""
        eventually(lambda: self.has_another_primary(node))
        self._start(node, node)


def _watch(folder: Path, number: int) -> tuple[str, ...]:
    return (str(folder / f"{number}.conf"), "--sentinel")


def _id(number: int) -> str:
    return f"{number + 1:040x}"


def _primary(sentinel: redis.Redis) -> int:
    masters: Any = sentinel.sentinel_masters()
    return int(masters[NAME]["port"])


def _sees_all(sentinel: redis.Redis, port: int) -> bool:
    masters: Any = sentinel.sentinel_masters()
    master = masters[NAME]
    replicas = [
        one for one in sentinel.sentinel_slaves(NAME) if not (one["is_sdown"] or one["is_disconnected"])
    ]
    is_well = master["port"] == port and not (master["is_sdown"] or "failover_in_progress" in master["flags"])
    return bool(is_well and master["num-other-sentinels"] == 2 and len(replicas) == 2)


@contextmanager
def run_sentinels(*, split: bool = False) -> Iterator[SentinelService]:
    with ExitStack() as stack:
        yield SentinelService(stack, split=split)

"""Each kind of server that leaseq runs on, booted on this machine for as long as a test needs it.

As in docs/acl.md, the user may do only what the library needs, or the pages.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import redis

import leaseq
from leaseq.doctor import rights
from leaseq.server.embedded import EmbeddedServer
from tests.conformance.topology.servers import (
    PRIMARIES,
    QUICK,
    online,
    port_of,
    primary_and_replicas,
    running,
    service_url,
    share_slots,
    watching,
)
from tests.support.waiting import eventually

REDIS = shutil.which("redis-server")
PASSWORD = "pw"
USERS = {"library": (rights.LIBRARY,), "pages": (rights.LIBRARY, rights.PAGES)}


def make_users(node: redis.Redis, *extra: tuple[str, ...], newer: bool = True) -> None:
    """``extra``: commands that they need on this kind of server. ``newer``: it has the newest commands."""
    for user, needs in USERS.items():
        rules = rights.rules(*needs, *extra, password=PASSWORD, newer=newer)
        node.execute_command("ACL", "SETUSER", user, *rules)


@dataclass(frozen=True)
class Engine:
    """A running server and its abilities. Without a user, its URL is for one who may do anything."""

    name: str
    admin_url: str
    primaries: tuple[redis.Redis, ...]
    fsync: bool = True  # it can confirm that a write is on disk
    replica: bool = False
    clients: list[leaseq.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.url_of("library")

    def url_of(self, user: str) -> str:
        return self.admin_url.replace("://", f"://{user}:{PASSWORD}@", 1)

    def connect(self, url: str | None = None) -> leaseq.Client:
        """A client that lives as long as the engine."""
        self.clients.append(leaseq.connect(url or self.url))
        return self.clients[-1]

    def version(self) -> str:
        info: dict[str, str] = self.primaries[0].info("server")
        return (
            f"Valkey {info['valkey_version']}"
            if "valkey_version" in info
            else f"Redis {info['redis_version']}"
        )


class EmbeddedRedis(EmbeddedServer):
    """Debian's Redis instead of the embedded Valkey, with the same options."""

    def command(self) -> list[str]:
        assert REDIS is not None
        return [REDIS, *super().command()[1:]]


@contextmanager
def _run_embedded(name: str, kind: type[EmbeddedServer], fsync: bool) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, kind(folder, fsync="no") as server:
        node = redis.Redis.from_url(server.url)
        make_users(node, newer=fsync)
        yield Engine(name, server.url, (node,), fsync)


def valkey() -> AbstractContextManager[Engine]:
    return _run_embedded("valkey", EmbeddedServer, fsync=True)


def debian() -> AbstractContextManager[Engine]:
    """Debian's Redis, which is older than 7.2 and has no WAITAOF."""
    return _run_embedded("redis", EmbeddedRedis, fsync=False)


@contextmanager
def cluster() -> Iterator[Engine]:
    """Three primaries with a replica each."""
    options = (*QUICK, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
    with ExitStack() as stack:
        nodes = [stack.enter_context(running(*options)) for _ in range(2 * PRIMARIES)]
        primaries, replicas = nodes[:PRIMARIES], nodes[PRIMARIES:]
        share_slots(primaries)
        for node, peer in combinations(nodes, 2):  # all pairs, because gossip takes seconds
            node.execute_command("CLUSTER", "MEET", "127.0.0.1", port_of(peer))
        for primary, replica in zip(primaries, replicas, strict=True):
            name = primary.execute_command("CLUSTER", "MYID")
            eventually(partial(_knows, replica, name))
            replica.execute_command("CLUSTER", "REPLICATE", name)
        for node in nodes:
            make_users(node, rights.CLUSTER)
            eventually(partial(_is_whole, node))
        for primary in primaries:
            eventually(lambda primary=primary: online(primary) == 1)  # type: ignore[misc]
        yield Engine(
            "cluster", f"redis+cluster://127.0.0.1:{port_of(nodes[0])}", tuple(primaries), replica=True
        )


def _knows(node: redis.Redis, name: bytes) -> bool:
    return name.decode() in str(node.execute_command("CLUSTER NODES"))


def _is_whole(node: redis.Redis) -> bool:
    """Whether all slots are served, and each node knows all replicas: else clients may ask the wrong node."""
    info = node.execute_command("CLUSTER INFO")
    shards = node.execute_command("CLUSTER SLOTS")  # each: from slot, to slot, a primary, its replicas
    return info["cluster_state"] == "ok" and [len(shard) for shard in shards] == [4] * PRIMARIES


@contextmanager
def sentinel() -> Iterator[Engine]:
    """A primary and two replicas, watched by a sentinel."""
    with primary_and_replicas(2) as nodes, watching(primary := nodes[0]) as watcher:
        for node in nodes:
            make_users(node)
        yield Engine("sentinel", service_url(watcher), (primary,), replica=True)


ENGINES: dict[str, Callable[[], AbstractContextManager[Engine]]] = {
    "valkey": valkey,
    "redis": debian,
    "cluster": cluster,
    "sentinel": sentinel,
}


@contextmanager
def boot(name: str) -> Iterator[Engine]:
    """Start the engine of this name. Its connections are closed at the end."""
    with ENGINES[name]() as engine:
        yield engine
        for client in engine.clients:
            client.close()
        for primary in engine.primaries:
            primary.close()

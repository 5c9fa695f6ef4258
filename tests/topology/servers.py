"""Real clusters and sentinels on this machine's loopback, for as long as a test needs them."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import redis

from leaseq.embedded import server_binary
from tests.patience import eventually

SLOTS = 16_384


def free_port() -> int:
    """A port whose cluster bus port (10,000 above) exists as well."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port < 55_000:
            return port


@contextmanager
def running(*arguments: str, binary: str | None = None) -> Iterator[redis.Redis]:
    """One server process, of the embedded kind unless told; the client is connected once it answers."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        log = (Path(folder) / "log").open("wb")
        place = ("--port", str(port), "--dir", folder, "--bind", "127.0.0.1")
        command = [binary or server_binary(), *arguments, *place]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        client = redis.Redis(port=port)
        try:
            eventually(client.ping)
            yield client
        finally:
            client.close()
            process.kill()
            process.wait()
            log.close()


def port_of(client: redis.Redis) -> int:
    return int(client.connection_pool.connection_kwargs["port"])


@contextmanager
def cluster(primaries: int = 3) -> Iterator[str]:
    """The URL of a cluster of primaries only."""
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(running("--cluster-enabled", "yes", "--save", "")) for _ in range(primaries)
        ]
        share = SLOTS // primaries
        for number, node in enumerate(nodes):
            last = SLOTS - 1 if number == primaries - 1 else (number + 1) * share - 1
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, last)
            node.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            node.execute_command("CLUSTER", "MEET", "127.0.0.1", port_of(nodes[0]))
        for node in nodes:
            eventually(lambda node=node: _is_whole(node, primaries))
        yield f"redis+cluster://127.0.0.1:{port_of(nodes[0])}"


def _is_whole(node: redis.Redis, primaries: int) -> bool:
    info = node.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == primaries


@contextmanager
def sentinel() -> Iterator[str]:
    """The URL of a service that one sentinel watches."""
    with running("--save", "") as primary, watching(primary) as watcher:
        yield service_url(watcher)


@contextmanager
def watching(primary: redis.Redis) -> Iterator[redis.Redis]:
    """A sentinel. It needs half a minute to find by itself that a primary is gone."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        configuration = Path(folder) / "sentinel.conf"
        configuration.write_text(f"sentinel monitor mymaster 127.0.0.1 {port_of(primary)} 1\n")
        with running(str(configuration), "--sentinel") as watcher:
            eventually(lambda: bool(watcher.execute_command("SENTINEL", "MASTERS")))
            yield watcher


def service_url(watcher: redis.Redis) -> str:
    return f"redis+sentinel://127.0.0.1:{port_of(watcher)}/mymaster/0"


@contextmanager
def primary_and_replica() -> Iterator[tuple[redis.Redis, redis.Redis]]:
    """The replica is connected and has all that the primary has."""
    options = ("--save", "", "--repl-diskless-sync-delay", "0")
    with running(*options) as primary, running(*options) as replica:
        replica.replicaof("127.0.0.1", str(port_of(primary)))
        eventually(lambda: _confirms(primary))
        yield primary, replica


def _confirms(primary: redis.Redis) -> bool:
    primary.set("written", "1")
    found: dict[str, str] = primary.info("replication").get("slave0", {})
    return found.get("state") == "online" and primary.execute_command("WAIT", "1", "100") == 1

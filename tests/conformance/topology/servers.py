"""Real clusters and sentinels on this machine's loopback interface, for the duration of a test."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import redis

from leaseq.server.embedded import server_binary
from tests.support.ports import free_port
from tests.support.waiting import eventually

SLOTS = 16_384
PRIMARIES = 3  # in each cluster
QUICK = ("--save", "", "--repl-diskless-sync-delay", "0")  # replicas get their copy without delay


@contextmanager
def running(*arguments: str, binary: str | None = None) -> Iterator[redis.Redis]:
    """Run one server process, of the embedded kind by default; yield a client once the server answers."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        log = (Path(folder) / "log").open("wb")
        address_options = ("--port", str(port), "--dir", folder, "--bind", "127.0.0.1")
        command = [binary or server_binary(), *arguments, *address_options]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        client = redis.Redis(port=port)
        try:
            eventually(lambda: process.poll() is not None or client.ping())
            assert process.poll() is None, (Path(folder) / "log").read_text()
            yield client
        finally:
            client.close()
            process.kill()
            process.wait()
            log.close()


def port_of(client: redis.Redis) -> int:
    return int(client.connection_pool.connection_kwargs["port"])


def share_slots(primaries: Sequence[redis.Redis]) -> None:
    """Assign the slots to the primaries of a new cluster, before they meet."""
    for number, node in enumerate(primaries):
        first, end = (SLOTS * part // len(primaries) for part in (number, number + 1))
        node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        node.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)


@contextmanager
def cluster() -> Iterator[str]:
    """Yield the URL of a cluster without replicas."""
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(running("--cluster-enabled", "yes", "--save", "")) for _ in range(PRIMARIES)
        ]
        share_slots(nodes)
        for node in nodes:
            node.execute_command("CLUSTER", "MEET", "127.0.0.1", port_of(nodes[0]))
        for node in nodes:
            eventually(partial(_is_whole, node))
        yield f"redis+cluster://127.0.0.1:{port_of(nodes[0])}"


def _is_whole(node: redis.Redis) -> bool:
    info = node.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == PRIMARIES


@contextmanager
def sentinel() -> Iterator[str]:
    """Yield the URL of a service that one sentinel watches."""
    with running("--save", "") as primary, watching(primary) as watcher:
        yield service_url(watcher)


@contextmanager
def watching(primary: redis.Redis) -> Iterator[redis.Redis]:
    """Run a sentinel. It would need half a minute to detect by itself that a primary has failed."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        configuration = Path(folder) / "sentinel.conf"
        configuration.write_text(f"sentinel monitor mymaster 127.0.0.1 {port_of(primary)} 1\n")
        with running(str(configuration), "--sentinel") as watcher:
            eventually(lambda: bool(watcher.execute_command("SENTINEL", "MASTERS")))
            yield watcher


def service_url(watcher: redis.Redis) -> str:
    return f"redis+sentinel://127.0.0.1:{port_of(watcher)}/mymaster/0"


@contextmanager
def primary_and_replicas(count: int) -> Iterator[tuple[redis.Redis, ...]]:
    """Run a primary and replicas that are connected and have all its data."""
    with ExitStack() as stack:
        primary, *replicas = (stack.enter_context(running(*QUICK)) for _ in range(1 + count))
        for replica in replicas:
            replica.replicaof("127.0.0.1", str(port_of(primary)))
        eventually(lambda: online(primary) == count and _confirmed(primary) == count)
        yield primary, *replicas


def online(primary: redis.Redis) -> int:
    """Return how many replicas follow."""
    info = primary.info("replication")
    return sum(info.get(f"slave{n}", {}).get("state") == "online" for n in range(info["connected_slaves"]))


def _confirmed(primary: redis.Redis) -> int:
    primary.set("written", "1")
    return int(primary.execute_command("WAIT", "9", "100"))

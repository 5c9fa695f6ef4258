"""The benchmark environment: a private server over a unix socket, and ways to time calls."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import redis

from leaseq import Client, Lease, Queue, connect
from leaseq.server.embedded import EmbeddedServer

PAYLOAD = {"text": "x" * 189}  # 200 bytes of JSON
RESULT = {"label": "spam"}
FOREVER = 604_800  # seconds of lease


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure and its limit."""

    name: str
    value: float
    unit: str
    least: float
    aim: float
    more_is_better: bool = False
    detail: str = ""  # the two values of a ratio

    @property
    def reached(self) -> bool:
        return self.value >= self.least if self.more_is_better else self.value <= self.least


def require_lease(lease: Lease | None) -> Lease:
    """The lease that a reserve returned, from a queue that must have an item for every reserve."""
    if lease is None:
        raise RuntimeError("the queue of this benchmark has no item left: add more")
    return lease


@dataclass(frozen=True, slots=True)
class Bench:
    client: Client
    server: redis.Redis
    cycles: int  # reserve + finish, for each sample
    rounds: int  # samples, of which the median counts
    large: int  # items of the large queue
    announce: Callable[[str], None]

    def flush(self) -> None:
        """Flush the server and wait until its memory is free; FLUSHALL does not wait."""
        self.server.flushall()
        while self.server.info("memory")["lazyfree_pending_objects"]:
            time.sleep(0.01)

    def queue(self, name: str, items: int) -> Queue:
        """A queue on an empty server."""
        self.flush()
        return self.add_queue(name, items)

    def add_queue(self, name: str, items: int) -> Queue:
        """A further queue on the same server."""
        queue = Queue(self.client, name)
        queue.configure(lease_seconds=FOREVER)
        queue.enqueue_many(PAYLOAD for _ in range(items))
        return queue

    def server_microseconds(self, work: Callable[[], object], cycles: int) -> float:
        """The server's time per cycle for all scripts that ``work`` runs."""
        self.server.config_resetstat()
        work()
        stats = self.server.info("commandstats")
        return float(stats["cmdstat_evalsha"]["usec"]) / cycles

    def core_seconds(self, work: Callable[[], object]) -> float:
        """The CPU time that client and server together use for ``work``, without what the machine's
        neighbours take from their core."""

        def cpu_seconds() -> float:
            server = self.server.info("cpu")
            return time.process_time() + float(server["used_cpu_user"]) + float(server["used_cpu_sys"])

        before = cpu_seconds()
        work()
        return cpu_seconds() - before

    def longest_call(self, work: Callable[[], object]) -> float:
        """The server's microseconds per call, for the call or the equal calls that ``work`` makes."""
        self.server.config_resetstat()
        work()
        return float(self.server.info("commandstats")["cmdstat_evalsha"]["usec_per_call"])


@contextmanager
def open_bench(quick: bool, announce: Callable[[str], None]) -> Iterator[Bench]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        _one_core(),
        EmbeddedServer(folder, fsync="no") as embedded,
    ):
        client = connect(embedded.url)
        if not isinstance(client.redis, redis.Redis):
            raise TypeError("an embedded server is not a cluster")
        client.redis.config_set("appendonly", "no")  # the floor has no file either
        scale = 10 if quick else 1
        yield Bench(client, client.redis, 20_000 // scale, 5, 1_000_000 // scale, announce)
        client.close()


@contextmanager
def _one_core() -> Iterator[None]:
    """Pin this process, and the server that it starts, to one core: otherwise ratios vary."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)

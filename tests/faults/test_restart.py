"""How long a server with many items takes to answer again after kill -9."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.server.embedded import EmbeddedServer

WANTED = 2.0  # seconds with 200,000 items
PAYLOAD = {"text": "x" * 188}  # 200 bytes of JSON


def finish(queue: leaseq.Queue, items: int) -> None:
    for _ in range(items):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.finish(lease, {"label": "good"})


def test_a_restart_with_many_items(request: pytest.FixtureRequest, measured: Callable[[str], None]) -> None:
    soak = request.config.getoption("--soak")
    items, done = (200_000, 10_000) if soak else (5_000, 50)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        with EmbeddedServer(folder, fsync="no") as server:  # only to fill it sooner: the file is the same
            client = leaseq.connect(server.url)
            queue = leaseq.Queue(client, "q")
            queue.enqueue_many(NewItem(PAYLOAD, id=f"item-{n:06}") for n in range(items))
            finish(queue, done)
            client.close()
        server = EmbeddedServer(folder)
        server.start()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        begun = time.monotonic()
        server.start()
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, "q")
        try:
            lease = queue.reserve("bob")
            seconds = time.monotonic() - begun
            assert lease is not None
            assert lease.id == f"item-{done:06}"
            stats = queue.stats()
        finally:
            client.close()
            server.stop()
    assert (stats.inbound, stats.finished) == (items - done - 1, done)
    measured(f"restart with {items:,} items, {done:,} of them finished: {seconds:.2f} s to the first reserve")
    if soak:
        assert seconds <= WANTED

"""The time until a server with many items answers again after kill -9."""

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

MAX_SECONDS = 2.0  # with 200,000 items
PAYLOAD = {"text": "x" * 188}  # 200 bytes of JSON


def finish_items(queue: leaseq.Queue, items: int) -> None:
    for _ in range(items):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.finish(lease, {"label": "good"})


def test_restart_with_many_items_is_complete_and_fast(
    request: pytest.FixtureRequest, report_figure: Callable[[str], None]
) -> None:
    soak = request.config.getoption("--soak")
    items, finished_items = (200_000, 10_000) if soak else (5_000, 50)
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        with EmbeddedServer(folder, fsync="no") as server:  # only to fill it faster: the file is the same
            client = leaseq.connect(server.url)
            queue = leaseq.Queue(client, "q")
            queue.enqueue_many(NewItem(PAYLOAD, id=f"item-{n:06}") for n in range(items))
            finish_items(queue, finished_items)
            client.close()
        server = EmbeddedServer(folder)
        server.start()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        start = time.monotonic()
        server.start()
        client = leaseq.connect(server.url)
        queue = leaseq.Queue(client, "q")
        try:
            lease = queue.reserve("bob")
            seconds = time.monotonic() - start
            assert lease is not None
            assert lease.id == f"item-{finished_items:06}"
            stats = queue.stats()
        finally:
            client.close()
            server.stop()
    assert (stats.inbound, stats.finished) == (items - finished_items - 1, finished_items)
    report_figure(
        f"restart with {items:,} items, {finished_items:,} of them finished: "
        f"{seconds:.2f} s to the first reserve"
    )
    if soak:
        assert seconds <= MAX_SECONDS

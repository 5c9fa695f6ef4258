"""A call waits, up to a limit, for a cluster's node that stops answering."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
import redis

import leaseq
from leaseq.engine.keys import QUEUES
from tests.conformance.topology.servers import SLOTS, port_of, running
from tests.support.waiting import TIMEOUT, eventually

PAUSED = 5_000  # milliseconds


@pytest.fixture
def node() -> Iterator[redis.Redis]:
    """The only node of a cluster."""
    with running("--cluster-enabled", "yes", "--save", "") as node:
        node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        eventually(lambda: node.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        yield node


def test_commands_on_reused_connections_time_out(node: redis.Redis) -> None:
    async def main() -> None:
        url = f"redis+cluster://127.0.0.1:{port_of(node)}?socket_timeout=0.5"
        async with leaseq.aio.connect(url) as client:
            queue = leaseq.aio.Queue(client, "reviews")
            await queue.enqueue({})
            node.execute_command("CLIENT", "PAUSE", PAUSED, "ALL")
            with pytest.raises(leaseq.ServerUnavailable):
                await client.ask(("SMEMBERS", QUEUES))
            with pytest.raises(leaseq.ServerUnavailable):
                await queue.enqueue({})

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_call_in_an_event_loop_to_a_stopped_node_fails(node: redis.Redis) -> None:
    async def main() -> None:
        async with leaseq.aio.connect(f"redis+cluster://127.0.0.1:{port_of(node)}") as client:
            queue = leaseq.aio.Queue(client, "reviews")
            await queue.enqueue({})
            node.shutdown(nosave=True)
            with pytest.raises(leaseq.ServerUnavailable):
                await queue.enqueue({})

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_call_waits_for_a_silent_node_that_was_not_replaced(
    node: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both with threads and in an event loop."""
    monkeypatch.setattr("leaseq.engine.transport.SILENCE", 0.1)
    url = f"redis+cluster://127.0.0.1:{port_of(node)}"
    client = leaseq.connect(url)
    queue = leaseq.Queue(client, "reviews")

    def fall_silent() -> None:
        node.execute_command("CLIENT", "PAUSE", 300, "ALL")

    async def main() -> None:
        async with leaseq.aio.connect(url) as client:
            queue = leaseq.aio.Queue(client, "reviews")
            await queue.stats()
            fall_silent()
            await queue.enqueue({})

    queue.configure()
    fall_silent()
    queue.enqueue({})
    asyncio.run(main())
    assert queue.stats().inbound == 2
    client.close()

"""Lost replies, a server without the scripts, and durable acknowledgement, in an event loop."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.engine.proxy import CuttingProxy
from tests.support.refused import refused

Call = Callable[[leaseq.aio.Queue, leaseq.Lease], Awaitable[object]]
CALLS: dict[str, Call] = {
    "reserve": lambda queue, _: queue.reserve("bob"),
    "finish": lambda queue, lease: queue.finish(lease, {}),
    "enqueue": lambda queue, _: queue.enqueue({}),
    "abandon": lambda queue, lease: queue.abandon(lease),
    "fail": lambda queue, lease: queue.fail(lease, "torn"),
    "renew": lambda queue, lease: queue.renew(lease),
}


@pytest.fixture
def proxy(server: Server) -> Iterator[CuttingProxy]:
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        CuttingProxy(server.url, Path(folder)) as cutting_proxy,
    ):
        yield cutting_proxy


def in_loop(url: str, name: str, work: Callable[[leaseq.aio.Queue], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with leaseq.aio.connect(url) as client:
            await work(leaseq.aio.Queue(client, name))

    asyncio.run(main())


@pytest.mark.not_on("cluster", "sentinel")  # the proxy is in front of a single server's socket
@pytest.mark.parametrize("call", CALLS)
def test_call_with_lost_reply_is_applied_once(
    server: Server, proxy: CuttingProxy, queue_name: str, call: str
) -> None:
    plain_queue = leaseq.Queue(server.client, queue_name)
    plain_queue.enqueue_many([leaseq.NewItem({}, id) for id in "ab"])
    lease = plain_queue.reserve("ann")
    assert lease is not None

    async def work(queue: leaseq.aio.Queue) -> None:
        before = (await queue.stats()).counters
        proxy.cut(call)
        await CALLS[call](queue, lease)
        after = (await queue.stats()).counters
        assert sum(after.values()) - sum(before.values()) == (call != "renew")

    in_loop(proxy.url, queue_name, work)
    assert proxy.cuts == 1


def test_scripts_are_loaded_again_after_script_flush(own_server: EmbeddedServer) -> None:
    async def work(queue: leaseq.aio.Queue) -> None:
        await queue.enqueue({}, id="a")
        await queue.reserve("ann")
        await queue._client.redis.script_flush()
        assert [lease.id for lease in await queue.mine("ann")] == ["a"]
        assert (await queue.reserve("ann")) is not None

    in_loop(own_server.url, "reviews", work)


def test_client_reconnects_after_server_restart(own_server: EmbeddedServer) -> None:
    async def work(queue: leaseq.aio.Queue) -> None:
        await queue.enqueue({}, id="a")
        own_server.stop()
        with pytest.raises(leaseq.ServerUnavailable):
            await queue.stats()
        own_server.start()
        assert (await queue.get("a")).state == "inbound"

    in_loop(own_server.url, "reviews", work)


def test_each_write_waits_for_fsync(own_server: EmbeddedServer) -> None:
    async def work(queue: leaseq.aio.Queue) -> None:
        await queue.configure(durable="fsync")
        redis = queue._client.redis
        for _ in range(2):  # in the first round, the server has no scripts
            await redis.config_resetstat()
            await queue.enqueue({})
            lease = await queue.reserve("ann")
            assert lease is not None
            await queue.finish(lease, {})
            await queue.stats()
        stats = await redis.info("commandstats")
        assert stats["cmdstat_waitaof"]["calls"] == 3
        with refused("durable", what="replica"):
            await queue.configure(durable="replica")

    in_loop(own_server.url, "reviews", work)

"""Discovery of the primary while a sentinel hangs, and connections to sentinels after a client is closed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
import redis

import leaseq
from tests.conformance.topology.servers import primary_and_replicas, service_url, watching
from tests.support.waiting import TIMEOUT, eventually

THREADS = 8


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """A server that accepts every connection and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def sentinels(silent_server: socket.socket) -> Iterator[str]:
    """A URL with the silent sentinel and two more."""
    with ExitStack() as stack:
        primary, *_ = stack.enter_context(primary_and_replicas(1))
        first, second = (stack.enter_context(watching(primary)) for _ in range(2))
        base_url, _, service = service_url(first).rpartition("/")[0].rpartition("/")
        second_address = service_url(second).partition("://")[2].partition("/")[0]
        silent_address = f"127.0.0.1:{silent_server.getsockname()[1]}"
        yield f"{base_url.replace('://', f'://{silent_address},')},{second_address}/{service}/0?socket_timeout=1"


def test_concurrent_discovery_loses_no_sentinel(sentinels: str) -> None:
    client = leaseq.connect(sentinels)
    manager = client.redis.connection_pool.sentinel_manager  # type: ignore[union-attr]
    before = set(manager.sentinels)
    with ThreadPoolExecutor(THREADS) as pool:
        primaries = set(pool.map(manager.discover_master, ["mymaster"] * THREADS))
    assert len(primaries) == 1
    assert len(before) == 3
    assert set(manager.sentinels) == before
    client.close()


def test_hanging_sentinel_is_asked_last(sentinels: str, silent_server: socket.socket) -> None:
    client = leaseq.connect(sentinels)
    manager = client.redis.connection_pool.sentinel_manager  # type: ignore[union-attr]
    for _ in range(20):
        manager.discover_master("mymaster")
    assert connection_count(silent_server) <= 1, "none if it was never chosen"
    client.close()


@pytest.fixture
def watcher() -> Iterator[redis.Redis]:
    """A client of a sentinel."""
    with primary_and_replicas(1) as (primary, *_), watching(primary) as sentinel:
        yield sentinel


def test_closed_client_leaves_no_connection_to_a_sentinel(watcher: redis.Redis, queue_name: str) -> None:
    before = len(watcher.client_list())
    client = leaseq.connect(service_url(watcher))
    queue = leaseq.Queue(client, queue_name)
    queue.configure()
    with ThreadPoolExecutor() as pool:
        wait = pool.submit(queue.reserve, "ann", wait=600)
        eventually(lambda: queue.stats().waiting == 1)
        client.close()
        assert wait.result(TIMEOUT) is None
    eventually(lambda: len(watcher.client_list()) == before)


def test_closed_aio_client_leaves_no_connection_to_a_sentinel(watcher: redis.Redis, queue_name: str) -> None:
    """A wait leaves the line only after the client was closed."""

    async def close_and_leave() -> None:
        client = leaseq.aio.connect(service_url(watcher))
        queue = leaseq.aio.Queue(client, queue_name)
        await queue.configure()
        await client.close()
        await queue._commands.run("end_wait", "waiter", "ann", "request", 0)
        await client._connection.drop_idle_connections()
        eventually(lambda: len(watcher.client_list()) == before)  # the end of the loop closes all

    before = len(watcher.client_list())
    asyncio.run(close_and_leave())


def connection_count(server: socket.socket) -> int:
    """Return the number of connections that wait to be accepted."""
    server.setblocking(False)
    count = 0
    with suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            count += 1
    return count

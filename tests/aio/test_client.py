"""A client of `leaseq.aio`: its event loop, its tasks, closing it, and its errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import leaseq
from leaseq.engine.aio import pooled_connection
from leaseq.engine.notifications import NoItemYet
from tests.conftest import Server
from tests.support.ports import free_port
from tests.support.refused import raises, refused


async def wait_until_in_line(queue: leaseq.aio.Queue) -> None:
    while not (await queue.stats()).waiting:  # noqa: ASYNC110 - only the server has this state
        await asyncio.sleep(0.01)


@pytest.mark.not_on("cluster")  # in a cluster, redis.asyncio keeps the idle connections
def test_tasks_share_client_with_limited_connections(server: Server, queue_name: str) -> None:
    async def work() -> None:
        async with leaseq.aio.connect(server.url) as client:
            queue = leaseq.aio.Queue(client, queue_name)
            await queue.enqueue_many({"n": n} for n in range(200))

            async def finish_one(person: str) -> str:
                lease = await queue.reserve(person)
                assert lease is not None
                await queue.finish(lease, {})
                return lease.id

            ids = await asyncio.gather(*(finish_one(f"p{n}") for n in range(200)))
            assert len(set(ids)) == 200
            assert (await queue.stats()).finished == 200
            transport: Any = client._connection._transport
            assert len(transport._idle) <= pooled_connection.MAX_CALLS, "calls wait for their turn"

    asyncio.run(work())


def test_client_is_refused_in_second_event_loop(server: Server, queue_name: str) -> None:
    client = leaseq.aio.connect(server.url)
    queue = leaseq.aio.Queue(client, queue_name)

    async def first() -> None:
        await queue.configure()

    async def second() -> None:
        with refused("event_loop", "client"):
            await queue.reserve("ann", wait=20)

    with asyncio.Runner() as one, asyncio.Runner() as other:
        one.run(first())
        other.run(second())
        one.run(client.close())


def test_close_ends_waiting_reserve(server: Server, queue_name: str) -> None:
    async def wait() -> None:
        client = leaseq.aio.connect(server.url)
        queue = leaseq.aio.Queue(client, queue_name)
        await queue.configure()
        task = asyncio.create_task(queue.reserve("ann", wait=600))
        await wait_until_in_line(queue)
        await client.close()
        assert client.closed
        assert await asyncio.wait_for(task, 30) is None
        assert [one.get_name() for one in asyncio.all_tasks()].count("leaseq-waiting") == 0

    asyncio.run(wait())
    assert leaseq.Queue(server.client, queue_name).stats().waiting == 0


def test_call_on_closed_client_is_refused(server: Server, queue_name: str) -> None:
    async def run_calls() -> None:
        async with leaseq.aio.connect(server.url) as client:
            queue = leaseq.aio.Queue(client, queue_name)
            await queue.enqueue({})
        for ask in (
            client.ping,
            lambda: client.ask(("PING",)),
            lambda: leaseq.aio.queues(client),
            queue.exists,
            lambda: queue.reserve("ann"),
            lambda: queue.reserve("ann", wait=20),
        ):
            with refused("closed"):
                await ask()
        await client.close()

    asyncio.run(run_calls())
    assert leaseq.Queue(server.client, queue_name).stats().inbound == 1


def test_read_queues_returns_unreadable_queue_as_error(
    server: Server, queue_name: str, unreadable_queue: leaseq.Queue
) -> None:
    leaseq.Queue(server.client, queue_name).configure(title="Of today")

    async def title(queue: leaseq.aio.Queue) -> str:
        return (await queue.policy).title

    async def read() -> tuple[dict[str, str], dict[str, leaseq.QueueUnreadable]]:
        async with leaseq.aio.connect(server.url) as client:
            return await leaseq.aio.read_queues(client, title, [unreadable_queue.name, queue_name])

    values, errors = asyncio.run(read())
    assert values == {queue_name: "Of today"}
    assert list(errors) == [unreadable_queue.name]


def test_stop_event_ends_waiting_reserve(server: Server, queue_name: str) -> None:
    async def wait() -> None:
        async with leaseq.aio.connect(server.url) as client:
            queue, stop = leaseq.aio.Queue(client, queue_name), asyncio.Event()
            await queue.configure()
            task = asyncio.create_task(queue.reserve("ann", wait=600, stop=stop))
            await wait_until_in_line(queue)
            stop.set()
            assert await asyncio.wait_for(task, 30) is None
            with refused("type", "stop", what="event", type="asyncio.Event"):
                await queue.reserve("ann", stop=5)  # type: ignore[arg-type]

    asyncio.run(wait())


@pytest.mark.parametrize(("due_in", "limit"), [(30, 3), (0.0, 23)], ids=["in 30 seconds", "immediately"])
def test_waiting_reserve_limits_calls_to_server(
    server: Server, queue_name: str, due_in: float, limit: int
) -> None:
    """A wait calls the server once at first, once in line, and once at the end; it pauses between calls even
    if a lease is about to expire."""
    waiters: list[str | None] = []

    class CountingQueue(leaseq.aio.Queue):
        async def _reserve(
            self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
        ) -> leaseq.Lease | NoItemYet:
            waiters.append(waiter)
            return NoItemYet(due_in, 0)

    async def wait() -> None:
        async with leaseq.aio.connect(server.url) as client:
            queue = CountingQueue(client, queue_name)
            await queue.configure()
            assert await queue.reserve("ann", wait=0.2) is None

    asyncio.run(wait())
    assert 3 <= len(waiters) <= limit


def test_enqueue_many_accepts_async_iterator(server: Server, queue_name: str) -> None:
    async def fill() -> None:
        async def texts() -> AsyncIterator[leaseq.Json]:
            for n in range(600):
                yield {"n": n}

        async with leaseq.aio.connect(server.url) as client:
            queue = leaseq.aio.Queue(client, queue_name)
            assert (await queue.enqueue_many(texts())).added == 600
            assert (await queue.enqueue_many([{}, {}])).added == 2
            with refused("type", "items", what="items"):
                await queue.enqueue_many(7)  # type: ignore[arg-type]
            lease = await queue.reserve("ann")
            assert lease is not None
            await queue.finish(lease, {"label": 1})
            assert [answer.result async for answer in queue.answers()] == [{"label": 1}]
            assert queue_name in await leaseq.aio.queues(client)
            stats, _ = await leaseq.aio.read_queues(client, leaseq.aio.Queue.stats, [queue_name])
            assert stats[queue_name].finished == 1

    asyncio.run(fill())


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:{}/0", "redis+cluster://127.0.0.1:{}", "redis+sentinel://127.0.0.1:{}/mymaster/0"],
)
def test_connection_error_is_raised_as_server_unavailable(url: str) -> None:
    async def run_calls() -> None:
        async with leaseq.aio.connect(url.format(free_port())) as client:
            queue = leaseq.aio.Queue(client, "reviews")
            for ask in (client.ping(), queue.stats(), queue.reserve("ann", wait=0.01), queue.enqueue({})):
                with pytest.raises(leaseq.ServerUnavailable):
                    await ask

    asyncio.run(run_calls())


def test_error_counts_sentinels_that_do_not_answer() -> None:
    async def run_calls() -> None:
        async with leaseq.aio.connect("redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster") as client:
            with raises(leaseq.ServerUnavailable, "no_answer", "2 of 2 sentinels did not answer"):
                await client.ping()

    asyncio.run(run_calls())


@pytest.mark.parametrize("url", ["http://x", "redis+sentinel://x", 7])
def test_invalid_url_is_refused_by_connect(url: str) -> None:
    with refused("format", "url"):
        leaseq.aio.connect(url)


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEASEQ_REDIS_URL", raising=False)
    monkeypatch.delenv("LEASEQ_DATA", raising=False)


@pytest.mark.usefixtures("no_server")
def test_connect_without_url_uses_server_of_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused("no_server", "url"):
        leaseq.aio.connect()
    monkeypatch.setenv("LEASEQ_REDIS_URL", server.url)
    assert leaseq.aio.connect().url == server.url


def test_queue_refuses_mismatched_sync_or_async_client(server: Server) -> None:
    with refused("type", "client", what="client"):
        leaseq.aio.Queue(server.client, "reviews")  # type: ignore[arg-type]
    with refused("type", "client", what="client"):
        leaseq.Queue(leaseq.aio.connect(server.url), "reviews")  # type: ignore[arg-type]

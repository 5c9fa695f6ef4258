"""A cancelled reserve leaves the waiting line, and an item that was reserved for it returns immediately."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

import leaseq
from tests.conftest import Server
from tests.engine.waiters import in_line
from tests.support.leases import not_none

OnSuspend = Callable[[int], None]


class SuspensionObserver:
    """Await a coroutine, and call ``on_suspend`` with the number of suspensions at each of them."""

    def __init__(self, work: Coroutine[Any, Any, Any], on_suspend: OnSuspend) -> None:
        self._work, self._on_suspend = work, on_suspend

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, count = self._work.__await__(), 0
        send: Callable[[], Any] = lambda: next(steps)  # noqa: E731
        while True:
            try:
                value = send()
            except StopIteration as done:
                return done.value
            count += 1
            self._on_suspend(count)
            try:
                yield value
                send = lambda: next(steps)  # noqa: E731
            except BaseException as error:  # noqa: BLE001 - the cancellation
                send = lambda error=error: steps.throw(error)  # type: ignore[misc]  # noqa: E731


async def cancelled_at(point: int, again: bool, url: str, name: str, wait: float) -> bool:
    """Cancel a reserve at its nth suspension, and with ``again`` at each later one, too. Return whether it
    got that far. An item is added while it waits."""
    is_reached = False
    async with leaseq.aio.connect(url) as client, leaseq.aio.connect(url) as other:
        queue, other_queue = leaseq.aio.Queue(client, name), leaseq.aio.Queue(other, name)
        enqueue_tasks: list[asyncio.Task[Any]] = []

        def on_suspend(count: int) -> None:
            nonlocal is_reached
            if count == 12 and wait:
                enqueue_tasks.append(asyncio.create_task(other_queue.enqueue({}, id="a")))
            if count == point or (again and count > point):
                is_reached = True
                task.cancel()

        async def reserve() -> leaseq.Lease | None:
            lease: leaseq.Lease | None = await SuspensionObserver(queue.reserve("ann", wait=wait), on_suspend)
            return lease

        task = asyncio.create_task(reserve())
        with contextlib.suppress(asyncio.CancelledError):
            lease = await asyncio.wait_for(task, 30)
            if lease is not None:
                await queue.release(lease.id)
        await asyncio.gather(*enqueue_tasks)
        assert await queue.mine("ann") == []
    return is_reached


@pytest.mark.parametrize("again", [False, True], ids=["once", "repeatedly"])
@pytest.mark.parametrize("wait", [0, 600], ids=["without wait", "with wait"])
def test_reserve_cancelled_at_any_suspension_leaves_no_lease(
    server: Server, queue_name: str, wait: float, again: bool
) -> None:
    plain_queue = leaseq.Queue(server.client, queue_name)
    plain_queue.configure()
    point = 1
    while True:
        if not wait:
            plain_queue.enqueue({}, id="a")
        if not asyncio.run(cancelled_at(point, again, server.url, queue_name, wait)):
            break
        stats = plain_queue.stats()
        assert (stats.reserved, stats.waiting, in_line(server, plain_queue)) == (0, 0, 0), point
        with contextlib.suppress(leaseq.ItemNotFound):
            plain_queue.remove("a")
        point += 1
    assert point > 3, "it suspends at least three times: to connect, to send and to read"


def test_short_wait_receives_item_enqueued_meanwhile(server: Server, queue_name: str) -> None:
    async def wait() -> leaseq.Lease | None:
        async with leaseq.aio.connect(server.url) as client:
            queue = leaseq.aio.Queue(client, queue_name)
            await queue.configure()
            reserve = asyncio.create_task(queue.reserve("ann", wait=0.9))
            while not (reserve.done() or (await queue.stats()).waiting):
                pass  # each call of stats() suspends
            await queue.enqueue({}, id="a")
            return await reserve

    assert not_none(asyncio.run(wait())).id == "a"


def test_asyncio_timeout_ends_wait(server: Server, queue_name: str) -> None:
    async def wait() -> None:
        async with leaseq.aio.connect(server.url) as client:
            queue = leaseq.aio.Queue(client, queue_name)
            await queue.configure()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await queue.reserve("ann", wait=600)
            assert (await queue.stats()).waiting == 0
            await queue.enqueue({}, id="a")
            assert (await queue.get("a")).state == "inbound"

    asyncio.run(wait())

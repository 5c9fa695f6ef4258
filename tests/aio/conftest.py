"""All queue fixtures in this folder use `leaseq.aio`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.engine.conftest import sets, start
from tests.support.awaited_queue import AwaitedQueue, LoopThread

__all__ = ["sets", "start"]

Open = Callable[..., leaseq.Queue]


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    loop_thread = LoopThread()
    yield loop_thread
    loop_thread.stop()


@pytest.fixture
def open_queue(loop: LoopThread, server: Server) -> Iterator[Open]:
    """Open a queue of `leaseq.aio` with a client of its own, as another program would."""
    clients: list[leaseq.aio.Client] = []

    def open_queue(name: str, clock: Clock | None = None) -> leaseq.Queue:
        clients.append(leaseq.aio.connect(server.url))
        queue_in_loop = AwaitedQueue(loop, leaseq.aio.Queue(clients[-1], name, clock=clock), server.client)
        return cast("leaseq.Queue", queue_in_loop)

    yield open_queue
    for client in clients:
        loop.run(client.close())


@pytest.fixture
def queue(open_queue: Open, queue_name: str) -> leaseq.Queue:
    return open_queue(queue_name)


@pytest.fixture
def timed_queue(open_queue: Open, queue_name: str, clock: Clock) -> leaseq.Queue:
    return open_queue(queue_name, clock)


@pytest.fixture
def same_queue(open_queue: Open, queue_name: str, clock: Clock) -> leaseq.Queue:
    return open_queue(queue_name, clock)


@pytest.fixture
def three(timed_queue: leaseq.Queue) -> leaseq.Queue:
    """A queue that wants three answers for each item."""
    timed_queue.configure(answers=3)
    return timed_queue

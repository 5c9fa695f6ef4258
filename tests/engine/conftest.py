"""Fixtures of the engine's tests: short ways to act on a queue and to inspect it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.waiters import LONG, Start, in_line
from tests.support.waiting import eventually

Sets = Callable[[], dict[str, list[str]]]


@pytest.fixture
def sets(server: Server, queue_name: str) -> Sets:
    """Return a function that reads the ids in each state from the server."""
    return lambda: server_contents.sets(server.redis, queue_name)


@pytest.fixture
def three(timed_queue: leaseq.Queue) -> leaseq.Queue:
    """A queue that wants three answers for each item."""
    timed_queue.configure(answers=3)
    return timed_queue


@pytest.fixture
def same_queue(server: Server, queue_name: str, clock: Clock) -> leaseq.Queue:
    """The queue of ``timed_queue`` with a client of its own, as in another program."""
    return leaseq.Queue(leaseq.connect(server.url), queue_name, clock=clock)


@pytest.fixture
def start(server: Server, queue: leaseq.Queue) -> Iterator[Start]:
    """Return a function that lets somebody wait in a thread, and returns when they are in line."""
    pool = ThreadPoolExecutor(20)

    def wait(person: str, on: leaseq.Queue | None = None, **arguments: object) -> Future[leaseq.Lease | None]:
        before = in_line(server, queue)
        future = pool.submit((on or queue).reserve, person, **{"wait": LONG, **arguments})  # type: ignore[arg-type]
        eventually(lambda: in_line(server, queue) > before)
        return future

    yield wait
    pool.shutdown(wait=False, cancel_futures=True)

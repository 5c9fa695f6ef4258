"""Every public call of a queue once, for its main effect, on every engine."""

from __future__ import annotations

from typing import cast

import pytest

import leaseq
from leaseq import NewItem
from tests.conformance.engines.calls import CALLS
from tests.conformance.engines.scene import Scene
from tests.conftest import Clock
from tests.support.awaited_queue import AwaitedQueue, LoopThread

AioClients = tuple[LoopThread, leaseq.aio.Client, leaseq.aio.Client]


@pytest.fixture
def scene(timed_queue: leaseq.Queue, other: leaseq.Client, clock: Clock) -> Scene:
    timed_queue.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(4))
    return Scene(timed_queue, leaseq.Queue(other, timed_queue.name, clock=clock), clock)


@pytest.mark.parametrize("call", CALLS)
def test_each_public_call_works(scene: Scene, call: str) -> None:
    CALLS[call](scene)


@pytest.mark.parametrize("call", CALLS)
def test_each_public_call_of_aio_works(
    aio_clients: AioClients, other: leaseq.Client, queue_name: str, clock: Clock, call: str
) -> None:
    loop, *clients = aio_clients
    first_queue, second_queue = (
        cast("leaseq.Queue", AwaitedQueue(loop, leaseq.aio.Queue(client, queue_name, clock=clock), other))
        for client in clients
    )
    first_queue.enqueue_many(NewItem({"n": n}, f"{n}") for n in range(4))
    CALLS[call](Scene(first_queue, second_queue, clock))


def test_calls_cover_every_public_method() -> None:
    assert set(CALLS) == {name for name in dir(leaseq.Queue) if not name.startswith("_")}

"""Calls on a closed client."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Server
from tests.support.refused import refused

CALLS: dict[str, Callable[[leaseq.Client, leaseq.Queue], object]] = {
    "ping": lambda client, _: client.ping(),
    "ask": lambda client, _: client.ask(("GET", "mine")),
    "translating": lambda client, _: client.translating(),
    "queues": lambda client, _: leaseq.queues(client),
    "exists": lambda _, queue: queue.exists(),
    "policy": lambda _, queue: queue.policy,
    "configure": lambda _, queue: queue.configure(holds=2),
    "enqueue": lambda _, queue: queue.enqueue({}),
    "enqueue_many": lambda _, queue: queue.enqueue_many([{}]),
    "reserve": lambda _, queue: queue.reserve("ann"),
    "wait": lambda _, queue: queue.reserve("ann", wait=600),
    "why_nothing": lambda _, queue: queue.why_nothing("ann"),
    "stats": lambda _, queue: queue.stats(),
    "Worker": lambda client, _: leaseq.Worker(client, {"reviews": print}, person="bot"),
    "late_items": lambda _, queue: list(queue.late_items()),
}


@pytest.fixture
def closed_client(server: Server, queue: leaseq.Queue) -> leaseq.Client:
    queue.configure()
    with leaseq.connect(server.url) as client:
        leaseq.Queue(client, queue.name).stats()
    return client


@pytest.mark.parametrize("call", CALLS)
def test_every_call_on_closed_client_is_refused(
    closed_client: leaseq.Client, queue: leaseq.Queue, call: str
) -> None:
    with refused("closed") as error:
        CALLS[call](closed_client, leaseq.Queue(closed_client, queue.name))
    assert error.value.field == "client"
    assert queue.stats().inbound == 0


def test_repeated_close_does_nothing(closed_client: leaseq.Client) -> None:
    closed_client.close()
    assert closed_client.closed


def test_client_stays_closed_in_forked_process(closed_client: leaseq.Client, queue: leaseq.Queue) -> None:
    def ask() -> None:
        assert closed_client.closed
        with pytest.raises(leaseq.Invalid):
            leaseq.Queue(closed_client, queue.name).exists()

    child = multiprocessing.get_context("fork").Process(target=ask)
    child.start()
    child.join()
    assert child.exitcode == 0

"""A real receiver on this machine, and the parts of ``leaseq webhook run`` separately."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webhooks import Delivery, Endpoint, NewSecret
from leaseq.webhooks.sending import Response
from tests.conftest import Clock, Server
from tests.support.receiver import Receiver, forget_webhooks, send_test

LOOPBACK = webhooks.networks("127.0.0.0/8")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def clock() -> Clock:
    """A clock that starts at the real time, which a receiver's library checks; only the test moves it."""
    return Clock.from_now(0)


@dataclass
class Hooks:
    """Webhooks that use the test's clock."""

    client: leaseq.Client
    clock: Clock
    queue: leaseq.Queue

    def __post_init__(self) -> None:
        self.endpoints = webhooks.Endpoints(self.client, clock=self.clock)
        self.deliveries = webhooks.Deliveries(self.client, clock=self.clock)
        self.deliverer = self.make_deliverer()

    def make_deliverer(self, **options: Any) -> webhooks.Deliverer:
        return webhooks.Deliverer(self.client, LOOPBACK, clock=self.clock, **options)

    def add(self, url: str, *events: str, **options: Any) -> NewSecret:
        options = {"queues": [self.queue.name], "by": "ann", "allow": LOOPBACK, **options}
        self.clock.tick(0.001)  # skip the events before it was added
        return self.endpoints.add(url, events=events or ("item.*",), **options)

    def feed(self) -> None:
        feeder = webhooks.Feeder(self.client, clock=self.clock)
        while feeder.feed():
            pass

    def deliver(self, endpoint: Endpoint) -> list[Response | None]:
        """Send all deliveries of an endpoint that are due."""
        responses: list[Response | None] = []
        while self.deliveries.queue.exists() and (lease := self.deliverer.reserve(endpoint.id)):
            responses.append(self.deliverer.deliver(endpoint.id, lease))
        return responses

    def test(self, endpoint: Endpoint) -> Delivery:
        """Send a test to an endpoint, as the process that sends webhooks does."""
        return send_test(self.deliverer, endpoint.id)

    def run(self, endpoint: Endpoint) -> list[Response | None]:
        self.feed()
        return self.deliver(endpoint)

    def finish(self, id: str, result: Any = None, person: str = "bob", payload: Any = None) -> None:
        self.queue.enqueue(payload if payload is not None else {"n": id}, id=id)
        lease = self.queue.reserve(person)
        assert lease is not None
        self.clock.tick(1)
        self.queue.finish(lease, result if result is not None else {"v": id})

    def log(self, endpoint: Endpoint) -> list[Delivery]:
        return self.deliveries.log(endpoint.id)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock() / 1e6, UTC)


@pytest.fixture
def hooks(server: Server, timed_queue: leaseq.Queue, clock: Clock) -> Iterator[Hooks]:
    timed_queue.configure()
    yield Hooks(server.client, clock, timed_queue)
    forget_webhooks(server.redis)


def add_hook_with_delivery(hooks: Hooks, receiver: Receiver) -> NewSecret:
    """Add an endpoint with one waiting delivery."""
    hook = hooks.add(receiver.url, "item.finished")
    hooks.finish("a")
    hooks.feed()
    return hook

"""A webhook is sent only while the person who added its endpoint may see what it contains."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.leases import take
from tests.support.receiver import Receiver
from tests.web.conftest import Caller

LOOPBACK = webhooks.networks("127.0.0.0/8")


def finish_and_send(server: Any, queue: leaseq.Queue, endpoint: str, id: str) -> None:
    queue.enqueue({"secret": id}, id=id)
    queue.finish(take(queue, "worker"), {"ok": True})
    feeder, deliverer = webhooks.Feeder(server.client), webhooks.Deliverer(server.client, LOOPBACK)
    while feeder.feed():
        pass
    while lease := deliverer.reserve(endpoint):
        if deliverer.deliver(endpoint, lease) is None:
            return


@pytest.mark.parametrize("loss", ["disabled", "role", "access", "erased"])
def test_nothing_is_sent_once_the_maker_may_not_see_it(
    app: Any,
    server: Any,
    accounts: Accounts,
    receiver: Receiver,
    queue: leaseq.Queue,
    make_caller: Callable[[str], Caller],
    loss: str,
) -> None:
    queue.configure()
    access, maker = app.extensions[EXTENSION].access, make_caller("manager").name
    endpoints = webhooks.Endpoints(server.client)
    endpoint = endpoints.add(
        receiver.url, events=["item.finished"], queues=[queue.name], by=maker, allow=LOOPBACK
    ).endpoint
    finish_and_send(server, queue, endpoint.id, "seen")
    assert [json.loads(one.body)["data"]["id"] for one in receiver.requests] == ["seen"]
    if loss == "disabled":
        accounts.change(maker, by="test", disabled=True)
    elif loss == "role":
        accounts.change(maker, by="test", role="worker")
    elif loss == "access":
        access.set(queue.name, Access(manage=Group(people=("eva",))))
    else:
        webhooks.forget_person(server.client, maker, "erased-1")
    finish_and_send(server, queue, endpoint.id, "unseen")
    assert len(receiver.requests) == 1
    now = endpoints.get(endpoint.id)
    assert now.disabled_at is not None
    assert now.disabled_why
    if loss == "disabled":
        other = make_caller("manager").name
        endpoints.enable(endpoint.id, by=other)
        assert endpoints.get(endpoint.id).created_by == other
        finish_and_send(server, queue, endpoint.id, "seen again")
        assert json.loads(receiver.requests[-1].body)["data"]["id"] == "seen again"
    endpoints.remove(endpoint.id)

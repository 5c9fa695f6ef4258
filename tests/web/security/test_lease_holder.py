"""A lease belongs to its holder: nobody else can change it, even if they know its token."""

from __future__ import annotations

import re
from typing import Any

import pytest

import leaseq
from tests.web.conftest import Browser, Caller

VERBS: dict[str, tuple[str, dict[str, Any]]] = {
    "finish": ("POST", {"result": {"about": "refund", "urgent": True}}),
    "abandon": ("POST", {}),
    "fail": ("POST", {"error": "unreadable"}),
    "renew": ("POST", {}),
    "draft": ("PUT", {"draft": {"about": "other"}}),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.guard("lease-of-its-holder")
def test_rest_refuses_action_on_lease_of_another_person(
    form_queue: leaseq.Queue, worker: Caller, make_caller: Any, verb: str
) -> None:
    lease = form_queue.reserve(worker.name)
    assert lease
    method, body = VERBS[verb]
    path = f"/queues/{form_queue.name}/items/{lease.id}/{verb}"
    for role, message in (
        ("worker", "no item"),
        ("manager", "you never had a lease"),
        ("admin", "never had"),
    ):
        response = make_caller(role)(method, path, json={"token": lease.token, **body})
        assert (response.status_code, message in response.json["detail"]) == (404, True), response.text
    assert form_queue.mine(worker.name) == [lease], "neither ended, nor renewed, nor with another's draft"
    assert worker(method, path, json={"token": lease.token, **body}).status_code in (200, 204)


@pytest.mark.parametrize("verb", ["finish", "abandon", "fail", "renew"])
@pytest.mark.guard("no-grant-no-answer")
def test_pages_refuse_action_on_lease_of_another_person(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Any, verb: str
) -> None:
    lease = form_queue.reserve(worker_browser.name)
    assert lease
    fields = {"answer.about": "refund", "answer.urgent": "yes", "again": "yes", "error": "x", "then": "stop"}
    path = f"/q/{form_queue.name}/items/{lease.id}/{verb}"
    for role in ("worker", "manager"):
        response = sign_in_as(role).post(path, {"token": str(lease.token), **fields})
        assert response.status_code in (404, 409), response.text
    assert form_queue.mine(worker_browser.name) == [lease]


@pytest.mark.guard("no-unknown-fields")
def test_reserve_uses_signed_in_person_and_refuses_person_field(
    form_queue: leaseq.Queue, worker: Caller
) -> None:
    response = worker("POST", f"/queues/{form_queue.name}/reserve", json={"person": "eve"})
    assert (response.status_code, response.json["field"]) == (400, "person")
    response = worker("POST", f"/queues/{form_queue.name}/reserve", json={})
    assert response.json["person"] == worker.name


def make_item_in_every_state(queue: leaseq.Queue, holder: str) -> dict[str, str]:
    """The ids of an item in each state, one whose lease expired, and one that does not exist."""
    queue.configure(max_attempts=1, holds=10)
    ids = {"missing": "item-6"}
    changes: dict[str, Any] = {
        "finished": lambda lease: queue.finish(lease, {"about": "refund", "urgent": True}),
        "dead": lambda lease: queue.fail(lease, "broken"),
        "reserved": lambda _lease: None,
    }
    for item_id in ("one", "two"):
        queue.remove(item_id)
    for number, (state, change) in enumerate(changes.items()):
        ids[state] = f"item-{number}"
        queue.enqueue({"text": "secret"}, id=ids[state])
        lease = queue.reserve(holder, request_id=f"r{number}")
        assert lease
        assert lease.id == ids[state]
        change(lease)
    queue.enqueue({"text": "secret"}, id="item-4")
    queue.enqueue({"text": "secret"}, id="item-5", delay=3_600)
    assert {queue.get(ids[state]).state for state in changes} == set(changes)
    return ids | {"inbound": "item-4", "scheduled": "item-5"}


@pytest.mark.parametrize("token", [1, 2, 3])
@pytest.mark.parametrize("verb", [*VERBS, "undo"])
@pytest.mark.guard("stranger-learns-nothing")
def test_rest_hides_existence_of_item_from_non_holder(
    form_queue: leaseq.Queue, worker: Caller, make_caller: Any, verb: str, token: int
) -> None:
    """In every state and for every token, the response is that for a missing item."""
    ids, stranger = make_item_in_every_state(form_queue, worker.name), make_caller("worker")
    method, body = VERBS.get(verb, ("POST", {}))
    bodies = {}
    for state, item_id in ids.items():
        response = stranger(
            method, f"/queues/{form_queue.name}/items/{item_id}/{verb}", json={"token": token, **body}
        )
        content = {name: value for name, value in response.json.items() if name != "request_id"}
        bodies[state] = (response.status_code, repr(content).replace(item_id, "ID"))
    assert set(bodies.values()) == {bodies["missing"]}
    assert bodies["missing"][0] == 404


@pytest.mark.parametrize("verb", [*VERBS, "undo", "outcome"])
@pytest.mark.guard("stranger-learns-nothing")
def test_pages_hide_existence_of_item_from_non_holder(
    form_queue: leaseq.Queue, worker_browser: Browser, sign_in_as: Any, verb: str
) -> None:
    ids, stranger = make_item_in_every_state(form_queue, worker_browser.name), sign_in_as("worker")
    fields = {"answer.about": "refund", "answer.urgent": "yes", "again": "yes", "error": "x", "token": "1"}
    pages = {}
    for state, item_id in ids.items():
        path = f"/q/{form_queue.name}/items/{item_id}/{verb}"
        response = stranger.get(f"{path}?token=1") if verb == "outcome" else stranger.post(path, fields)
        text = re.sub(r'(name="csrf_token" value|content|nonce)="[^"]*"', "", response.text)
        pages[state] = (response.status_code, text.replace(item_id, "ID"))
    assert set(pages.values()) == {pages["missing"]}
    assert pages["missing"][0] == (303 if verb == "undo" else 404)

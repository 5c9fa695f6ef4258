"""A lease is its holder's: nobody else moves it, though they know its token."""

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
def test_over_rest(asking: leaseq.Queue, worker: Caller, caller: Any, verb: str) -> None:
    lease = asking.reserve(worker.name)
    assert lease
    method, body = VERBS[verb]
    path = f"/queues/{asking.name}/items/{lease.id}/{verb}"
    for role, said in (
        ("worker", "no item"),
        ("manager", "you never had a lease"),
        ("admin", "never had"),
    ):
        answer = caller(role)(method, path, json={"token": lease.token, **body})
        assert (answer.status_code, said in answer.json["detail"]) == (404, True), answer.text
    assert asking.mine(worker.name) == [lease], "neither moved, nor renewed, nor with another's draft"
    assert worker(method, path, json={"token": lease.token, **body}).status_code in (200, 204)


@pytest.mark.parametrize("verb", ["finish", "abandon", "fail", "renew"])
def test_on_the_pages(asking: leaseq.Queue, person: Browser, visitor: Any, verb: str) -> None:
    lease = asking.reserve(person.name)
    assert lease
    fields = {"answer.about": "refund", "answer.urgent": "yes", "again": "yes", "error": "x", "then": "stop"}
    path = f"/q/{asking.name}/items/{lease.id}/{verb}"
    for role in ("worker", "manager"):
        answer = visitor(role).post(path, {"token": str(lease.token), **fields})
        assert answer.status_code in (404, 409), answer.text
    assert asking.mine(person.name) == [lease]


def test_the_person_is_who_is_signed_in_and_no_field(asking: leaseq.Queue, worker: Caller) -> None:
    answer = worker("POST", f"/queues/{asking.name}/reserve", json={"person": "eve"})
    assert (answer.status_code, answer.json["field"]) == (400, "person")
    answer = worker("POST", f"/queues/{asking.name}/reserve", json={})
    assert answer.json["person"] == worker.name


def in_every_state(queue: leaseq.Queue, holder: str) -> dict[str, str]:
    """The id of an item in each state, one that its holder's time ran out of, and one that is not there."""
    queue.configure(max_attempts=1, holds=10)
    ids = {"missing": "item-6"}
    moves: dict[str, Any] = {
        "finished": lambda lease: queue.finish(lease, {"about": "refund", "urgent": True}),
        "dead": lambda lease: queue.fail(lease, "broken"),
        "reserved": lambda _lease: None,
    }
    for id in ("one", "two"):
        queue.remove(id)
    for number, (state, move) in enumerate(moves.items()):
        ids[state] = f"item-{number}"
        queue.enqueue({"text": "secret"}, id=ids[state])
        lease = queue.reserve(holder, request_id=f"r{number}")
        assert lease
        assert lease.id == ids[state]
        move(lease)
    queue.enqueue({"text": "secret"}, id="item-4")
    queue.enqueue({"text": "secret"}, id="item-5", delay=3_600)
    assert {queue.get(ids[state]).state for state in moves} == set(moves)
    return ids | {"inbound": "item-4", "scheduled": "item-5"}


@pytest.mark.parametrize("token", [1, 2, 3])
@pytest.mark.parametrize("verb", [*VERBS, "undo"])
def test_over_rest_a_stranger_learns_nothing_of_an_item(
    asking: leaseq.Queue, worker: Caller, caller: Any, verb: str, token: int
) -> None:
    """Whatever state it is in, and whatever token they guess, it is as if it were not there."""
    ids, stranger = in_every_state(asking, worker.name), caller("worker")
    method, body = VERBS.get(verb, ("POST", {}))
    bodies = {}
    for state, id in ids.items():
        answer = stranger(method, f"/queues/{asking.name}/items/{id}/{verb}", json={"token": token, **body})
        content = {name: value for name, value in answer.json.items() if name != "request_id"}
        bodies[state] = (answer.status_code, repr(content).replace(id, "ID"))
    assert set(bodies.values()) == {bodies["missing"]}
    assert bodies["missing"][0] == 404


@pytest.mark.parametrize("verb", [*VERBS, "undo", "receipt"])
def test_on_the_pages_a_stranger_learns_nothing_of_an_item(
    asking: leaseq.Queue, person: Browser, visitor: Any, verb: str
) -> None:
    ids, stranger = in_every_state(asking, person.name), visitor("worker")
    fields = {"answer.about": "refund", "answer.urgent": "yes", "again": "yes", "error": "x", "token": "1"}
    pages = {}
    for state, id in ids.items():
        path = f"/q/{asking.name}/items/{id}/{verb}"
        answer = stranger.get(f"{path}?token=1") if verb == "receipt" else stranger.post(path, fields)
        text = re.sub(r'(name="csrf_token" value|content|nonce)="[^"]*"', "", answer.text)
        pages[state] = (answer.status_code, text.replace(id, "ID"))
    assert set(pages.values()) == {pages["missing"]}
    assert pages["missing"][0] == (303 if verb == "undo" else 404)

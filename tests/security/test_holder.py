"""A lease is its holder's: nobody else moves it, though they know its token."""

from __future__ import annotations

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
    for other in (caller("worker"), caller("manager"), caller("admin")):
        path = f"/queues/{asking.name}/items/{lease.id}/{verb}"
        answer = other(method, path, json={"token": lease.token, **body})
        assert answer.status_code in (404, 409), (other.name, answer.text)
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

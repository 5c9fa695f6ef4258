"""Helpers for REST tests: every call with a body, and checks of responses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import leaseq
from leaseq.webapp.api import Problem
from leaseq.webapp.serving.problem import title_of
from tests.web.conftest import Caller

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ANSWER = {"about": "refund", "urgent": True}

# Every call with a body, and one body that it accepts.
TOKEN = {"token": 1}
CALLS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "put queue": ("manager", "PUT", "/queues/{q}", {}),
    "put item": ("manager", "POST", "/queues/{q}/items", {"payload": 1}),
    "reserve": ("worker", "POST", "/queues/{q}/reserve", {}),
    "finish": ("worker", "POST", "/queues/{q}/items/one/finish", {**TOKEN, "result": {}}),
    "undo": ("worker", "POST", "/queues/{q}/items/one/undo", TOKEN),
    "abandon": ("worker", "POST", "/queues/{q}/items/one/abandon", TOKEN),
    "fail": ("worker", "POST", "/queues/{q}/items/one/fail", {**TOKEN, "error": "x"}),
    "renew": ("worker", "POST", "/queues/{q}/items/one/renew", TOKEN),
    "draft": ("worker", "PUT", "/queues/{q}/items/one/draft", {**TOKEN, "draft": {}}),
    "adopt": ("manager", "POST", "/queues/{q}/items/one/adopt", TOKEN),
    "reopen": ("manager", "POST", "/queues/{q}/items/one/reopen", TOKEN),
    "correct": ("manager", "POST", "/queues/{q}/items/one/correct", {**TOKEN, "result": ANSWER}),
    "revive": ("manager", "POST", "/queues/{q}/items/one/revive", {}),
    "revive all": ("manager", "POST", "/queues/{q}/revive", {}),
    "remove all": ("manager", "POST", "/queues/{q}/remove", {"state": "inbound"}),
    "cancel": ("manager", "POST", "/queues/{q}/items/one/cancel", {}),
    "release": ("manager", "POST", "/queues/{q}/items/one/release", {}),
    "assign": ("manager", "POST", "/queues/{q}/items/one/assign", {"person": "table worker"}),
    "change": ("manager", "PATCH", "/queues/{q}/items/one", {"priority": 7}),
    "clear": ("manager", "POST", "/queues/{q}/clear", {}),
    "pause": ("manager", "POST", "/queues/{q}/pause", {}),
    "resume": ("manager", "POST", "/queues/{q}/resume", {}),
    "put person": ("admin", "PUT", "/people/somebody new", {}),
}


def whole_state(queue: leaseq.Queue) -> Any:
    """The whole state of a queue, read by the library."""
    items = {state: queue.items(state) for state in leaseq.STATES}
    return queue.policy, queue.stats().counters, items, queue.journal(limit=1_000)


@contextmanager
def assert_unchanged(queue: leaseq.Queue) -> Iterator[None]:
    before = whole_state(queue)
    yield
    assert whole_state(queue) == before


def assert_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.mimetype == "application/problem+json"
    body: dict[str, Any] = response.json
    assert (body["status"], body["code"]) == (status, code)
    assert body["title"] == title_of(status)
    assert body["detail"]
    assert set(body) <= set(Problem.model_fields), "each member is in the description"
    Problem.model_validate(body, strict=True)
    assert "Traceback" not in response.text
    return body


def finish(queue: leaseq.Queue, worker: Caller) -> None:
    """Reserve the item "one" and finish it."""
    lease = reserve(queue, worker)
    json = {"token": lease["token"], "result": ANSWER}
    assert worker("POST", f"/queues/{queue.name}/items/one/finish", json=json).status_code == 200


def reserve(queue: leaseq.Queue, worker: Caller) -> dict[str, Any]:
    response = worker("POST", f"/queues/{queue.name}/reserve")
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json
    return body

"""PATCH of an item: managers change the fields that they send; a refused field is named with its limit."""

from __future__ import annotations

import json
from typing import Any

import pytest

import leaseq
from tests.support.leases import take
from tests.web.api_calls import ANSWER, assert_problem, assert_unchanged, whole_state
from tests.web.conftest import Caller

DUE = "2027-05-01T12:00:00.000Z"


@pytest.fixture
def path(form_queue: leaseq.Queue) -> str:
    form_queue.enqueue({"text": "first"}, id="r-1", requires=["fr"])
    return f"/queues/{form_queue.name}/items/r-1"


def test_patch_changes_only_sent_fields(form_queue: leaseq.Queue, manager: Caller, path: str) -> None:
    before = manager("GET", path).json
    for changes in (
        {"priority": 10},
        {"due": DUE},
        {"due": None},
        {"requires": ["de", "legal"]},
        {"payload": {"text": "second"}},
        {"payload": None},
        {"priority": 100, "requires": [], "due": DUE, "payload": [1]},
    ):
        response = manager("PATCH", path, json=changes)
        assert response.status_code == 200, response.text
        assert response.json == {**before, **changes}
        before = response.json
    assert manager("GET", path).json == before
    events = [event for event in form_queue.journal(limit=1_000) if event.what == "changed"]
    assert {event.person for event in events} == {manager.name}
    assert json.loads(events[0].detail or "") == {"priority": 10}


def test_item_is_scheduled_by_delay_and_inbound_by_zero_delay(manager: Caller, path: str) -> None:
    assert manager("PATCH", path, json={"delay": 3600}).json["state"] == "scheduled"
    assert manager("PATCH", path, json={"priority": 1}).json["state"] == "scheduled"
    assert manager("PATCH", path, json={"delay": 0}).json["state"] == "inbound"


def test_patch_without_fields_changes_nothing(form_queue: leaseq.Queue, manager: Caller, path: str) -> None:
    with assert_unchanged(form_queue):
        assert manager("PATCH", path, json={}).status_code == 200
        assert manager("PATCH", path).status_code == 200


BAD: list[tuple[dict[str, Any], str]] = [
    ({"priority": -1}, "priority"),
    ({"priority": 1_000_001}, "priority"),
    ({"priority": None}, "priority"),
    ({"priority": "10"}, "priority"),
    ({"priority": 1.5}, "priority"),
    ({"due": "2027-05-01"}, "due"),
    ({"due": "2027-05-01T12:00:00"}, "due"),
    ({"due": "tomorrow"}, "due"),
    ({"due": 1_800_000_000}, "due"),
    ({"due": "1969-12-31T23:59:59Z"}, "due"),
    ({"requires": "fr"}, "requires"),
    ({"requires": None}, "requires"),
    ({"requires": ["a b"]}, "requires"),
    ({"requires": [f"s{n}" for n in range(17)]}, "requires"),
    ({"delay": -1}, "delay"),
    ({"delay": None}, "delay"),
    ({"delay": 315_360_001}, "delay"),
    ({"max_attempts": 3}, "max_attempts"),
    ({"id": "other"}, "id"),
]


@pytest.mark.parametrize(("body", "field"), BAD)
def test_invalid_field_is_refused_and_named(
    form_queue: leaseq.Queue, manager: Caller, path: str, body: dict[str, Any], field: str
) -> None:
    with assert_unchanged(form_queue):
        response = manager("PATCH", path, json={"payload": 1, **body})
    assert assert_problem(response, 400, "invalid")["field"].partition(".")[0] == field


def test_patch_of_reserved_finished_or_unknown_item_is_refused(
    form_queue: leaseq.Queue, manager: Caller, worker: Caller, path: str
) -> None:
    lease = worker("POST", f"/queues/{form_queue.name}/reserve").json
    held_path = f"/queues/{form_queue.name}/items/{lease['id']}"
    with assert_unchanged(form_queue):
        refusal = assert_problem(manager("PATCH", held_path, json={"priority": 1}), 400, "invalid")
        assert refusal["field"] == "id"
        assert "reserved: release it first" in refusal["detail"]
        assert_problem(manager("PATCH", f"{path}0", json={"priority": 1}), 404, "not-found")
        assert_problem(manager("PATCH", path, json={"payload": "x" * 262_144}), 413, "too-large")
        assert_problem(worker("PATCH", path, json={"priority": 1}), 403, "forbidden")
    worker("POST", f"{held_path}/finish", json={"token": lease["token"], "result": ANSWER})
    assert (
        "finished"
        in assert_problem(manager("PATCH", held_path, json={"priority": 1}), 400, "invalid")["detail"]
    )


def test_payload_change_is_refused_while_item_is_held(
    form_queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    form_queue.configure(answers=2)
    lease = worker("POST", f"/queues/{form_queue.name}/reserve").json
    held_path = f"/queues/{form_queue.name}/items/{lease['id']}"
    before = whole_state(form_queue)
    assert (
        assert_problem(manager("PATCH", held_path, json={"payload": 1}), 400, "invalid")["field"] == "payload"
    )
    assert whole_state(form_queue) == before
    assert manager("PATCH", held_path, json={"priority": 1}).json["priority"] == 1


def test_item_needs_fewer_answers_or_more(manager: Caller, queue: leaseq.Queue) -> None:
    queue.configure(answers=3)
    queue.enqueue({}, id="a")
    for person in ("ann", "bob"):
        queue.finish(take(queue, person), {"by": person})
    path = f"/queues/{queue.name}/items/a"
    response = manager("PATCH", path, json={"answers": 2})
    assert (response.status_code, response.json["state"]) == (200, "finished")
    assert len(response.json["answers"]) == 2
    assert manager("PATCH", path, json={"answers": 2}).status_code == 200
    response = manager("PATCH", path, json={"answers": 3})
    assert (response.status_code, response.json["state"]) == (200, "inbound")
    assert manager("PATCH", path, json={"answers": 0}).status_code == 400

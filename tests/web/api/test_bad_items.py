"""Several new items, one of them bad: an array adds none, lines add those before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.web.api_calls import assert_problem, assert_unchanged

DEEP = "[" * 3_000 + "]" * 3_000


def test_an_array_with_a_bad_item_adds_none(form_queue: leaseq.Queue, call: Callable[..., Any]) -> None:
    items = [{"payload": 1}, {"payload": 2, "id": ""}, {"payload": 3}]
    with assert_unchanged(form_queue):
        refusal = assert_problem(
            call("manager", "POST", f"/queues/{form_queue.name}/items", json=items), 400, "invalid"
        )
    assert refusal["field"] == "1.id"


def test_an_array_with_too_many_items_adds_none(
    queue: leaseq.Queue, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.configure()
    monkeypatch.setattr("leaseq.webapp.api.enqueue.MAX_ARRAY", 3)
    path = f"/queues/{queue.name}/items"
    with assert_unchanged(queue):
        refusal = assert_problem(call("manager", "POST", path, json=[{"payload": 1}] * 4), 400, "invalid")
    assert refusal["field"] == "body"
    assert "at most 3 items in an array" in refusal["detail"]
    assert call("manager", "POST", path, json=[{"payload": 1}] * 3).json["added"] == 3


def test_array_with_an_element_that_is_not_json_adds_none(
    form_queue: leaseq.Queue, call: Callable[..., Any]
) -> None:
    good = b'{"payload": 1}'
    path = f"/queues/{form_queue.name}/items"
    for body in (b" [%s, {]", b'[%s, {"payload": NaN}]', b"[%s", b"[%s] 1", b"[%s, \xff]"):
        with assert_unchanged(form_queue):
            response = call("manager", "POST", path, data=body % good, content_type="application/json")
            assert assert_problem(response, 400, "invalid")["field"].startswith("body"), body


def test_object_has_room_for_a_payload_and_an_array_for_many(
    form_queue: leaseq.Queue, call: Callable[..., Any]
) -> None:
    path = f"/queues/{form_queue.name}/items"

    def status_of(body: str) -> int:
        response = call("manager", "POST", path, data=body, content_type="application/json")
        status: int = response.status_code
        return status

    largest = json.dumps({"payload": "\u00e9" * 131_000})  # each as an escape of 6 bytes
    assert status_of(largest) == 201
    with assert_unchanged(form_queue):
        assert status_of(json.dumps({"payload": 1, "id": "x" * 3_000_000})) == 413
    assert status_of(f"[{largest},{largest},{largest}]") == 201


@pytest.mark.parametrize(
    "bad_line",
    ['{"payload": NaN}', '{"payload": 1, "x": 2}', "{", '{"payload": 1, "payload": 2}', DEEP, '"text"',
     "\xff"],
    ids=["NaN", "unknown field", "malformed", "duplicate key", "deep", "not an object", "not UTF-8"],
)  # fmt: skip
def test_lines_before_first_invalid_line_are_added(
    form_queue: leaseq.Queue, call: Callable[..., Any], bad_line: str
) -> None:
    lines = (
        '{"payload": 1, "id": "a"}\n{"payload": 1, "id": "a"}\n' + bad_line + '\n{"payload": 4, "id": "d"}\n'
    )
    response = call(
        "manager", "POST", f"/queues/{form_queue.name}/items",
        data=lines.encode("latin-1"), content_type="application/x-ndjson",
    )  # fmt: skip
    refusal = assert_problem(response, 400, "invalid")
    assert (refusal["line"], refusal["added"], refusal["duplicates"]) == (3, 1, 1)
    assert "line 3" in refusal["detail"]
    assert form_queue.stats().inbound == 3, "nothing from that line on was added"

"""New items, people and results that exist already or are too large: the responses say what was not added."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

import leaseq
from tests.support.leases import not_none
from tests.web.api_calls import assert_problem, assert_unchanged
from tests.web.conftest import Caller

NDJSON = "application/x-ndjson"


@pytest.fixture
def path(queue: leaseq.Queue) -> str:
    queue.configure()
    return f"/queues/{queue.name}/items"


def send(caller: Caller, path: str, items: list[dict[str, Any]], kind: str, key: str | None = None) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    if kind == "array":
        return caller("POST", path, json=items, headers=headers)
    lines = "".join(json.dumps(item) + "\n" for item in items)
    return caller("POST", path, data=lines, content_type=NDJSON, headers=headers)


def test_location_header_of_new_item_is_its_url(queue: leaseq.Queue, manager: Caller, path: str) -> None:
    first_response = manager(
        "POST", path, json={"payload": {"n": 1}, "id": "a/b ü?"}, headers={"Idempotency-Key": "k"}
    )
    assert (first_response.status_code, first_response.json) == (201, {"id": "a/b ü?", "added": True})
    item_response = manager.client.get(
        first_response.headers["Location"], headers={"Authorization": f"Bearer {manager.token}"}
    )
    assert (item_response.status_code, not_none(item_response.json)["payload"]) == (200, {"n": 1})
    second_response = manager(
        "POST", path, json={"payload": {"n": 1}, "id": "a/b ü?"}, headers={"Idempotency-Key": "k"}
    )
    assert (second_response.status_code, second_response.headers["Idempotency-Replayed"]) == (201, "true")
    assert second_response.headers["Location"] == first_response.headers["Location"]


def test_equal_payload_for_existing_id_adds_nothing(queue: leaseq.Queue, manager: Caller, path: str) -> None:
    manager("POST", path, json={"payload": {"a": 1, "b": [2]}, "id": "one"})
    with assert_unchanged(queue):
        response = manager("POST", path, json={"payload": {"b": [2.0], "a": 1}, "id": "one"})
        assert (response.status_code, response.json) == (200, {"id": "one", "added": False})
        assert "Location" not in response.headers
        for kind in ("array", "lines"):
            bulk_response = send(manager, path, [{"payload": {"a": 1, "b": [2]}, "id": "one"}], kind)
            assert (bulk_response.status_code, bulk_response.json) == (201, {"added": 0, "duplicates": 1})


@pytest.mark.parametrize("state", ["inbound", "finished"])
def test_different_payload_for_existing_id_is_conflict(
    queue: leaseq.Queue, manager: Caller, path: str, state: str
) -> None:
    manager("POST", path, json={"payload": {"n": 1}, "id": "one"})
    if state == "finished":
        queue.finish(not_none(queue.reserve("ann")), {})
    with assert_unchanged(queue):
        refusal = assert_problem(
            manager("POST", path, json={"payload": {"n": 2}, "id": "one"}), 409, "conflict"
        )
    assert refusal["id"] == "one"
    assert "'one'" in refusal["detail"]


@pytest.mark.parametrize("kind", ["array", "lines"])
def test_bulk_enqueue_reports_conflicts_and_adds_other_items(
    queue: leaseq.Queue, manager: Caller, path: str, kind: str
) -> None:
    queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n}") for n in (0, 1))
    items = [{"payload": {"n": n}, "id": id} for n, id in ((0, "0"), (7, "1"), (2, "2"), (8, "2"), (3, "3"))]
    refusal = assert_problem(send(manager, path, items, kind, "k"), 409, "conflict")
    assert (refusal["added"], refusal["duplicates"], refusal["conflicts"]) == (2, 1, 2)
    assert (refusal["values"]["count"], refusal["values"]["total"]) == (2, 5)
    assert refusal["items"] == [{"number": 2, "id": "1"}, {"number": 4, "id": "2"}]
    assert "2 ('1')" in refusal["detail"]
    assert {item.id: item.payload for item in queue.items("inbound")} == {f"{n}": {"n": n} for n in range(4)}
    with assert_unchanged(queue):
        second_refusal = assert_problem(send(manager, path, items, kind, "k"), 409, "conflict")
    assert (second_refusal["added"], second_refusal["duplicates"], second_refusal["conflicts"]) == (0, 3, 2)


@pytest.mark.parametrize(("count", "are_all_named"), [(3, True), (4, False)])
def test_first_three_conflicts_are_named(
    queue: leaseq.Queue, manager: Caller, path: str, count: int, are_all_named: bool
) -> None:
    queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n}") for n in range(count))
    items = [{"payload": "other", "id": f"{n}"} for n in range(count)]
    named = assert_problem(send(manager, path, items, "array"), 409, "conflict")["values"]["ids"]
    assert named[:3] == [f"{n + 1} ('{n}')" for n in range(3)]
    assert (named[3:] == []) == are_all_named


def test_conflict_list_is_truncated_and_count_is_complete(
    queue: leaseq.Queue, manager: Caller, path: str
) -> None:
    queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"{n}") for n in range(300))
    items = [{"payload": "other", "id": f"{n}"} for n in range(300)]
    refusal = assert_problem(send(manager, path, items, "lines"), 409, "conflict")
    assert (refusal["conflicts"], len(refusal["items"])) == (300, 100)


def test_invalid_line_is_reported_with_earlier_conflicts(
    queue: leaseq.Queue, manager: Caller, path: str
) -> None:
    queue.enqueue({"n": 0}, id="0")
    items: list[dict[str, Any]] = [
        {"payload": {"n": 1}, "id": "0"},
        {"payload": {"n": 1}, "id": "1"},
        {"payload": 1, "id": ""},
    ]
    refusal = assert_problem(send(manager, path, items, "lines"), 400, "invalid")
    assert (refusal["line"], refusal["added"], refusal["duplicates"], refusal["conflicts"]) == (3, 1, 0, 1)
    assert refusal["items"] == [{"number": 1, "id": "0"}]


@pytest.mark.parametrize("is_remembered", [True, False])
def test_key_reused_for_other_item_is_refused_without_stored_response(
    queue: leaseq.Queue, manager: Caller, path: str, monkeypatch: pytest.MonkeyPatch, is_remembered: bool
) -> None:
    headers = {"Idempotency-Key": secrets.token_hex(4)}
    with monkeypatch.context() as patch:  # as if the process died before it answers
        patch.setattr(
            "leaseq.webapp.store.idempotency.IdempotencyStore.keep",
            lambda store, person, scope, _: store.drop(person, scope),
        )
        first = manager("POST", path, json={"payload": {"n": 1}}, headers=headers)
    for _ in range(0 if is_remembered else 16):
        queue.enqueue({})
    with assert_unchanged(queue):
        response = manager("POST", path, json={"payload": {"n": 2}}, headers=headers)
        assert assert_problem(response, 422, "key-reused")["field"] == "Idempotency-Key"
    repeated_response = manager("POST", path, json={"payload": {"n": 1}}, headers=headers)
    assert (repeated_response.status_code, repeated_response.json) == (
        (201, first.json) if is_remembered else (200, {"id": first.json["id"], "added": False})
    )


def test_put_of_person_is_201_for_new_and_200_for_existing(admin: Caller, new_name: Any) -> None:
    path = f"/people/{new_name('worker')}"
    assert [admin("PUT", path, json={}).status_code for _ in range(2)] == [201, 200]
    response = admin("PUT", f"/people/{new_name('worker')}", json={"disabled": True, "role": "manager"})
    assert (response.status_code, response.json["disabled"], response.json["role"]) == (201, True, "manager")


# A payload, a result and a draft may have 262,144 bytes of JSON each.


@pytest.mark.parametrize(("name", "field"), [("finish", "result"), ("draft", "draft")])
def test_result_or_draft_over_limit_is_too_large(
    form_queue: leaseq.Queue, worker: Caller, name: str, field: str
) -> None:
    lease = not_none(form_queue.reserve(worker.name))
    body = {"token": lease.token, field: "x" * 262_143}
    method = "PUT" if name == "draft" else "POST"
    with assert_unchanged(form_queue):
        response = worker(method, f"/queues/{form_queue.name}/items/{lease.id}/{name}", json=body)
        refusal = assert_problem(response, 413, "too-large")
    assert refusal["field"] == field
    assert "262,144" in refusal["limit"]


@pytest.mark.parametrize("kind", ["one", "array", "lines"])
def test_a_payload_over_the_limit_is_too_large(
    queue: leaseq.Queue, manager: Caller, path: str, kind: str
) -> None:
    items = [{"payload": "small"}, {"payload": "x" * 262_143}, {"payload": "small"}]
    response = manager("POST", path, json=items[1]) if kind == "one" else send(manager, path, items, kind)
    refusal = assert_problem(response, 413, "too-large")
    assert refusal["field"] == {"one": "payload", "array": "1.payload", "lines": "body"}[kind]
    assert "262,144" in refusal["limit"]
    assert queue.stats().inbound == (1 if kind == "lines" else 0)
    if kind == "lines":
        assert (refusal["line"], refusal["added"]) == (2, 1)


def test_line_over_limit_is_too_large(queue: leaseq.Queue, manager: Caller, path: str) -> None:
    lines = '{"payload": 1}\n' + " " * 2_200_000 + '{"payload": 2}\n'
    refusal = assert_problem(manager("POST", path, data=lines, content_type=NDJSON), 413, "too-large")
    assert (refusal["line"], refusal["added"]) == (2, 1)

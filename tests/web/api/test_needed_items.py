"""REST: a form, a deadline and an addressee of an item's own, and the cancel of an item."""

from __future__ import annotations

import json
from typing import Any

import leaseq
from tests.support.bad_questions import IMPOSSIBLE_FORM
from tests.support.leases import not_none
from tests.web.api_calls import ANSWER, assert_problem, assert_unchanged, reserve
from tests.web.conftest import Caller

FORM = {"ask": {"type": "object", "required": ["refund"], "properties": {"refund": {"type": "boolean"}}}}


def test_item_with_own_form_is_answered_and_corrected_by_it(
    form_queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    path = f"/queues/{form_queue.name}/items"
    for id in ("one", "two"):
        form_queue.remove(id)
    assert manager("POST", path, json={"payload": 1, "id": "own", "form": FORM}).status_code == 201
    impossible = manager("POST", path, json={"payload": 1, "form": IMPOSSIBLE_FORM})
    assert assert_problem(impossible, 400, "invalid")["field"] == "form"
    lease = reserve(form_queue, worker)
    assert (lease["id"], lease["form"]) == ("own", FORM)
    wrong = worker("POST", f"{path}/own/finish", json={"token": lease["token"], "result": ANSWER})
    assert "refund" in assert_problem(wrong, 422, "form")["errors"]
    right = worker("POST", f"{path}/own/finish", json={"token": lease["token"], "result": {"refund": True}})
    assert right.status_code == 200
    correction = {"token": lease["token"], "result": {"refund": False}}
    item = manager("POST", f"{path}/own/correct", json=correction).json
    assert (item["form"], item["answers"][0]["result"]) == (FORM, {"refund": False})
    form_queue.enqueue(1, id="plain")
    assert reserve(form_queue, worker)["form"] == form_queue.policy.form
    assert manager("GET", f"{path}/plain").json["form"] is None


def test_deadline_and_addressee_of_a_new_item(queue: leaseq.Queue, manager: Caller, worker: Caller) -> None:
    path = f"/queues/{queue.name}/items"
    queue.configure()
    new_item = {"payload": 1, "id": "for one", "to": worker.name, "expires": 3_600}
    assert manager("POST", path, json=new_item).status_code == 201
    assert manager("POST", path, json=[{**new_item, "id": "2", "expires": "2035-01-01T00:00:00Z"}]).json == {
        "added": 1,
        "duplicates": 0,
    }
    item = manager("GET", f"{path}/for one").json
    assert (item["assigned_to"], item["died_of"]) == ([worker.name], None)
    assert item["expires"] == leaseq.validation.rfc3339(not_none(queue.get("for one").expires))
    assert manager("GET", f"{path}/2").json["expires"] == "2035-01-01T00:00:00.000Z"
    assert queue.reserve("somebody else") is None
    assert reserve(queue, worker)["id"] == "for one"
    assert manager("DELETE", f"{path}/2/assignment").json["assigned_to"] == []


def test_unknown_addressee_is_refused_before_or_after_the_others(
    queue: leaseq.Queue, manager: Caller
) -> None:
    path = f"/queues/{queue.name}/items"
    stranger = {"payload": 2, "id": "b", "to": "stranger"}
    queue.configure()
    rows = [{"payload": 1, "id": "a"}, stranger]
    with assert_unchanged(queue):
        assert assert_problem(manager("POST", path, json=rows), 400, "invalid")["field"] == "1.to"
    lines = "\n".join(json.dumps(row) for row in rows)
    response = manager("POST", path, data=lines, content_type="application/x-ndjson")
    problem = assert_problem(response, 400, "invalid")
    assert (problem["line"], problem["added"]) == (2, 1)


def test_import_takes_form_deadline_and_addressee_from_columns(
    queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    form_cell = json.dumps(FORM).replace('"', '""')
    table = (
        f'id;text;what;until;who\n1;x;"{form_cell}";2035-01-01;{worker.name}\n2;x;;600;\n'
        "3;x;;;stranger\n4;x;nonsense;;\n5;x;;never;\n"
        + '6;x;"{}";;\n'.format(json.dumps(IMPOSSIBLE_FORM).replace('"', '""'))
    )
    columns = "id_field=id&payload_field=text&form_field=what&expires_field=until&to_field=who"
    path = f"/queues/{queue.name}/import?{columns}"
    queue.configure()
    result = manager("POST", path, data=table, content_type="text/csv").json
    assert (result["added"], [error["line"] for error in result["errors"]]) == (2, [4, 5, 6, 7])
    first, second = queue.get("1"), queue.get("2")
    assert (first.payload, first.form, first.assigned_to) == ({"text": "x"}, FORM, (worker.name,))
    assert leaseq.validation.rfc3339(not_none(first.expires)) == "2035-01-01T00:00:00.000Z"
    assert round((not_none(second.expires) - second.enqueued_at).total_seconds()) == 600
    assert (second.form, second.assigned_to) == (None, ())


def test_cancel_ends_waiting_and_held_items_and_keeps_the_answer(
    queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    path = f"/queues/{queue.name}/items"
    queue.enqueue(1, id="one")
    lease = reserve(queue, worker)
    item = manager("POST", f"{path}/one/cancel", json={"reason": "withdrawn"}).json
    assert (item["state"], item["died_of"], item["last_error"]) == ("dead", "cancelled", "withdrawn")
    late = worker("POST", f"{path}/one/finish", json={"token": lease["token"], "result": {"a": 1}})
    assert assert_problem(late, 409, "lease-lost")["answer_kept"] is True
    assert manager("POST", f"{path}/one/revive", json={}).json["died_of"] is None
    lease = reserve(queue, worker)
    worker("POST", f"{path}/one/finish", json={"token": lease["token"], "result": {"a": 1}})
    assert assert_problem(manager("POST", f"{path}/one/cancel"), 400, "invalid")["field"] == "id"
    assert_problem(worker("POST", f"{path}/one/cancel"), 403, "forbidden")


def test_bulk_cancels_and_lists_what_is_finished(queue: leaseq.Queue, manager: Caller) -> None:
    for id in ("one", "two", "three"):
        queue.enqueue(1, id=id)
    queue.finish(not_none(queue.reserve("ann")), {"a": 1})
    body: dict[str, Any] = {"action": "cancel", "ids": ["one", "two", "three"], "reason": "withdrawn"}
    result = manager("POST", f"/queues/{queue.name}/bulk", json=body).json
    assert (result["done"], [refusal["id"] for refusal in result["refused"]]) == (2, ["one"])
    assert queue.get("three").last_error == "withdrawn"
    refused = manager("POST", f"/queues/{queue.name}/bulk", json={**body, "action": "release"})
    assert assert_problem(refused, 400, "invalid")["field"] == "reason"


def test_exported_items_are_imported_as_equal_ones(
    queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    queue.enqueue(1, id="own", form=FORM, expires=600, to=worker.name)
    queue.enqueue(2, id="gone")
    queue.cancel("gone", "withdrawn")
    lines = manager("GET", f"/queues/{queue.name}/items/export?format=jsonl").text
    rows = {row["id"]: row for row in map(json.loads, lines.splitlines())}
    assert rows["gone"]["died_of"] == "cancelled"
    new_item = {name: rows["own"][name] for name in ("payload", "form", "expires", "to")}
    assert manager("POST", f"/queues/{queue.name}/items", json={**new_item, "id": "copy"}).status_code == 201
    copy, item = queue.get("copy"), queue.get("own")
    assert (copy.form, copy.assigned_to) == (item.form, item.assigned_to)
    assert rows["own"]["expires"] == leaseq.validation.rfc3339(not_none(copy.expires))

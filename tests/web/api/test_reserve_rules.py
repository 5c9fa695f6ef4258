"""REST: which items a person may reserve, several answers per item, and the reason for an empty reserve."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none
from tests.web.api_calls import ANSWER, assert_problem, reserve
from tests.web.conftest import Caller


def why_nothing(queue: leaseq.Queue, worker: Caller) -> Any:
    """The reason for an empty reserve, and its Retry-After in seconds."""
    response = worker("POST", f"/queues/{queue.name}/reserve")
    assert (response.status_code, response.data) == (204, b"")
    return response.headers["X-Leaseq-Reason"], int(response.headers["Retry-After"])


def test_changed_skills_apply_from_next_reserve(queue: leaseq.Queue, worker: Caller, admin: Caller) -> None:
    queue.configure()
    queue.enqueue({}, id="bonjour", requires=["fr"])
    assert why_nothing(queue, worker)[0] == "not-eligible"
    admin("PUT", f"/people/{worker.name}", json={"skills": ["de", "fr"]})
    lease = reserve(queue, worker)
    assert lease["id"] == "bonjour"
    queue.enqueue({}, id="salut", requires=["fr"])
    body = {"token": lease["token"], "result": {}, "then_reserve": True}
    outcome = worker("POST", f"/queues/{queue.name}/items/bonjour/finish", json=body).json
    assert outcome["next"]["id"] == "salut"
    queue.release("salut")
    admin("PUT", f"/people/{worker.name}", json={"skills": []})
    assert why_nothing(queue, worker)[0] == "not-eligible"


def test_abandon_puts_item_off_or_excludes_person(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    worker("POST", f"/queues/{form_queue.name}/items/one/abandon", json={"token": lease["token"]})
    lease = reserve(form_queue, worker)
    assert lease["id"] == "two", "an item that they never had comes first"
    body = {"token": lease["token"], "again": False, "reason": "I know her"}
    response = worker("POST", f"/queues/{form_queue.name}/items/two/abandon", json=body)
    assert (response.status_code, response.json) == (200, {"id": "two", "next": None})
    lease = reserve(form_queue, worker)
    assert lease["id"] == "one", "the item put off comes now, since nothing else waits for them"
    finish_body = {"token": lease["token"], "result": ANSWER}
    worker("POST", f"/queues/{form_queue.name}/items/one/finish", json=finish_body)
    assert why_nothing(form_queue, worker)[0] == "not-eligible"
    assert form_queue.get("two").history[-1].reason == "I know her"


@pytest.mark.parametrize("again", ["no", 0, None])
def test_again_must_be_boolean(form_queue: leaseq.Queue, worker: Caller, again: Any) -> None:
    lease = reserve(form_queue, worker)
    body = {"token": lease["token"], "again": again}
    response = worker("POST", f"/queues/{form_queue.name}/items/one/abandon", json=body)
    assert assert_problem(response, 400, "invalid")["field"] == "again"
    assert len(form_queue.mine(worker.name)) == 1


def test_item_is_assigned_only_to_enabled_account(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller, accounts: Accounts
) -> None:
    path = f"/queues/{form_queue.name}/items/two/assign"
    for name in ("nobody of that name", "", "x" * 65):
        response = manager("POST", path, json={"person": name})
        assert assert_problem(response, 400, "invalid")["field"] == "person"
    accounts.change(worker.name, by="test", disabled=True)
    refusal = assert_problem(manager("POST", path, json={"person": worker.name}), 400, "invalid")
    assert "disabled" in refusal["detail"]
    assert form_queue.get("two").assigned_to == ()
    accounts.change(worker.name, by="test", disabled=False)
    response = manager("POST", path, json={"person": worker.name})
    assert (response.status_code, response.json["id"], response.json["assigned_to"]) == (
        200,
        "two",
        [worker.name],
    )
    assert [event.person for event in form_queue.journal() if event.what == "assigned"] == [manager.name]
    assert reserve(form_queue, manager)["id"] == "one"
    assert reserve(form_queue, worker)["id"] == "two"
    response = manager("POST", path, json={"person": manager.name})
    assert assert_problem(response, 400, "invalid")["field"] == "id"
    body = {"person": worker.name}
    assert_problem(
        manager("POST", f"/queues/{form_queue.name}/items/none/assign", json=body), 404, "not-found"
    )


def test_due_items_are_listed_by_due_date(queue: leaseq.Queue, manager: Caller) -> None:
    now = datetime.now(UTC)
    for id, hours in (("tomorrow", 24), ("yesterday", -24), ("soon", 1)):
        queue.enqueue({}, id=id, due=now + timedelta(hours=hours))
    queue.enqueue({}, id="whenever")
    path = f"/queues/{queue.name}/due?limit=2"
    first = manager("GET", path).json
    rest = manager("GET", f"{path}&after={first['after']}").json
    assert [one["id"] for one in first["items"] + rest["items"]] == ["yesterday", "soon", "tomorrow"]
    assert rest["after"] is None
    assert manager("GET", f"/queues/{queue.name}/stats").json["overdue"] == 1
    assert_problem(manager("GET", f"/queues/{queue.name}/due?after=x"), 400, "invalid")


def test_each_of_several_answers_is_exported_once(
    queue: leaseq.Queue, make_caller: Callable[[str], Caller], manager: Caller
) -> None:
    queue.configure(answers=3)
    queue.enqueue({"text": "hello"}, id="one")
    people = [make_caller("worker") for _ in range(4)]
    for number, one in enumerate(people[:3]):
        lease = reserve(queue, one)
        body = {"token": lease["token"], "result": {"label": number}}
        assert one("POST", f"/queues/{queue.name}/items/one/finish", json=body).status_code == 200
        assert why_nothing(queue, one)[0] == ("not-eligible" if number < 2 else "empty")
    names = [one.name for one in people[:3]]
    lines = manager("GET", f"/queues/{queue.name}/answers").text.splitlines()
    assert [(line["person"], line["result"]) for line in map(json.loads, lines)] == [
        (name, {"label": number}) for number, name in enumerate(names)
    ]
    table = list(csv.DictReader(manager("GET", f"/queues/{queue.name}/answers?format=csv").text.splitlines()))
    assert [row["person"] for row in table] == names
    finished_items = manager("GET", f"/queues/{queue.name}/items?state=finished").json["items"]
    assert [(one["id"], one["assignment"]) for one in finished_items] == [("one", 1), ("one", 2), ("one", 3)]
    item = manager("GET", f"/queues/{queue.name}/items/one").json
    assert [answer["person"] for answer in item["answers"]] == names


def test_late_finish_is_accepted_and_different_result_is_refused(
    expirable_queue: tuple[leaseq.Queue, Callable[[], None]], worker: Caller
) -> None:
    asking, expire = expirable_queue
    lease = reserve(asking, worker)
    expire()
    assert worker("GET", f"/queues/{asking.name}/mine").json["leases"] == []
    body = {"token": lease["token"], "result": ANSWER}
    response = worker("POST", f"/queues/{asking.name}/items/one/finish", json=body)
    assert (response.status_code, response.json["late"]) == (200, True)
    response = worker(
        "POST", f"/queues/{asking.name}/items/one/finish", json={**body, "result": {**ANSWER, "note": "x"}}
    )
    refusal = assert_problem(response, 409, "lease-lost")
    assert (refusal["id"], refusal["state"], refusal["answer_kept"]) == ("one", "finished", True)


def test_lost_lease_of_waiting_item_suggests_reserve(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    form_queue.release("one")
    response = worker("POST", f"/queues/{form_queue.name}/items/one/renew", json={"token": lease["token"]})
    refusal = assert_problem(response, 409, "lease-lost")
    assert (refusal["state"], refusal["detail"].partition(": ")[2]) == (
        "inbound",
        "it waits for somebody again: reserve to get an item again",
    )


def test_list_of_dead_items_has_last_error(form_queue: leaseq.Queue, manager: Caller) -> None:
    form_queue.configure(max_attempts=1)
    form_queue.fail(not_none(form_queue.reserve("ann")), "unreadable")
    (item,) = manager("GET", f"/queues/{form_queue.name}/items?state=dead").json["items"]
    assert (item["id"], item["last_error"], item["failures"]) == ("one", "unreadable", 1)


def test_retry_after_follows_next_available_item(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    queue.configure(lease_seconds=20, holds=3)
    queue.enqueue({}, delay=15)
    reason, seconds = why_nothing(queue, worker)
    assert (reason, 10 <= seconds <= 15) == ("empty", True)
    queue.enqueue({})
    reserve(queue, manager)
    reason, seconds = why_nothing(queue, worker)
    assert (reason, 10 <= seconds <= 15) == ("held", True), "the scheduled item is due before the lease ends"
    queue.remove(queue.items("scheduled")[0].id)
    reason, seconds = why_nothing(queue, worker)
    assert (reason, 15 < seconds <= 20) == ("held", True)
    queue.enqueue({}, requires=["fr"])
    reason, seconds = why_nothing(queue, worker)
    assert (reason, 15 < seconds <= 20) == ("not-eligible", True)
    queue.configure(lease_seconds=3_600)
    queue.remove(queue.items("reserved")[0].id)
    queue.enqueue({})
    reserve(queue, manager)
    assert why_nothing(queue, worker) == ("not-eligible", 60)
    queue.pause()
    assert why_nothing(queue, worker) == ("paused", 5)

"""REST: an item read by its holder, late answers, bulk actions, search, and the link to the next page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import leaseq
from tests.support.leases import not_none
from tests.web.api_calls import ANSWER, assert_problem, assert_unchanged, reserve
from tests.web.conftest import Caller


@pytest.mark.guard("item-of-its-holder")
def test_worker_reads_item_over_rest_only_while_holding_it(
    queue: leaseq.Queue, worker: Caller, manager: Caller, make_caller: Callable[[str], Caller]
) -> None:
    queue.configure(answers=2)
    queue.enqueue({"text": "hello"}, id="one")
    other = make_caller("worker")
    other_lease = reserve(queue, other)
    other(
        "POST",
        f"/queues/{queue.name}/items/one/finish",
        json={"token": other_lease["token"], "result": {"a": 1}},
    )
    assert_problem(worker("GET", f"/queues/{queue.name}/items/one"), 403, "forbidden")
    lease = reserve(queue, worker)
    item = worker("GET", f"/queues/{queue.name}/items/one").json
    assert item["payload"] == {"text": "hello"}
    assert [one["token"] for one in item["leases"]] == [lease["token"]]
    assert [one["person"] for one in item["history"]] == [worker.name]
    assert item["answers"] == [], "they may not see what others answered"
    assert len(manager("GET", f"/queues/{queue.name}/items/one").json["answers"]) == 1
    for id in ("two", "not-there"):
        assert_problem(worker("GET", f"/queues/{queue.name}/items/{id}"), 403, "forbidden")


def test_late_answers_are_listed_until_adopted(
    expirable_queue: tuple[leaseq.Queue, Callable[[], None]], manager: Caller, worker: Caller
) -> None:
    asking, expire = expirable_queue
    for answer in ({"about": "refund", "urgent": True}, {"about": "other", "urgent": False}):
        lease = not_none(asking.reserve("ann"))
        expire()
        asking.clear()
        second_lease = not_none(asking.reserve("bob"))
        with pytest.raises(leaseq.LeaseLost):
            asking.finish(lease, answer)
        asking.finish(second_lease, ANSWER)
    path = f"/queues/{asking.name}/late"
    first = manager("GET", f"{path}?limit=1")
    second = manager("GET", first.headers["Link"].partition(">")[0].removeprefix("<http://localhost/api/v1"))
    late_answers = first.json["answers"] + second.json["answers"]
    assert [(one["person"], one["late"], one["result"]["about"]) for one in late_answers] == [
        ("ann", True, "refund"),
        ("ann", True, "other"),
    ]
    assert second.json["after"] is None
    assert "Link" not in second.headers
    asking.adopt(late_answers[0]["id"], late_answers[0]["token"])
    assert late_answers[0]["token"] not in [one["token"] for one in manager("GET", path).json["answers"]]
    assert_problem(worker("GET", path), 403, "forbidden")


def test_bulk_action_succeeds_or_is_refused_per_item(
    mixed_queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    path = f"/queues/{mixed_queue.name}/bulk"
    ids = ["dead-1", "nowhere", "dead-1"]
    response = manager("POST", path, json={"action": "revive", "ids": ids})
    assert response.status_code == 200
    assert response.json["done"] == 1
    assert [(one["id"], one["code"]) for one in response.json["refused"]] == [
        ("nowhere", "not-found"),
    ]
    assert mixed_queue.get("dead-1").state == "inbound"
    response = manager(
        "POST", path, json={"action": "assign", "ids": ["wait-2", "held-1"], "person": worker.name}
    )
    assert (response.json["done"], response.json["refused"][0]["code"]) == (1, "invalid")
    assert mixed_queue.get("wait-2").assigned_to == (worker.name,)
    manager("POST", path, json={"action": "release", "ids": ["held-1"]})
    assert mixed_queue.get("held-1").state == "inbound"
    manager("POST", path, json={"action": "remove", "ids": ["done-1", "held-2"]})
    assert mixed_queue.stats().reserved == mixed_queue.stats().finished == 0


def test_bulk_reopen_and_change_take_the_fields_of_the_single_calls(
    mixed_queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    path = f"/queues/{mixed_queue.name}/bulk"
    body = {"action": "reopen", "ids": ["done-1", "wait-1"], "to": worker.name, "reason": "again"}
    response = manager("POST", path, json=body)
    assert response.json["done"] == 1
    assert [(one["id"], one["rule"]) for one in response.json["refused"]] == [("wait-1", "state")]
    item = mixed_queue.get("done-1")
    assert (item.state, item.assigned_to, item.history[-1].reason) == ("inbound", (worker.name,), "again")
    changes = {"priority": 7, "due": "2030-01-01T00:00:00Z", "requires": ["fr"], "delay": 60}
    ids = ["wait-1", "wait-2", "held-1"]
    response = manager("POST", path, json={"action": "change", "ids": ids, **changes})
    assert (response.json["done"], response.json["refused"][0]["rule"]) == (2, "state")
    item = mixed_queue.get("wait-2")
    assert (item.state, item.priority, item.requires) == ("scheduled", 7, ("fr",))
    assert item.due == datetime(2030, 1, 1, tzinfo=UTC)
    manager("POST", path, json={"action": "change", "ids": ["wait-2"], "due": None, "delay": 0})
    assert (mixed_queue.get("wait-2").due, mixed_queue.get("wait-2").state) == (None, "inbound")


def test_bulk_remove_unless_finished_keeps_answered_items(mixed_queue: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{mixed_queue.name}/bulk"
    body = {"action": "remove", "ids": ["done-1", "held-1", "wait-1"], "unless": "finished"}
    response = manager("POST", path, json=body)
    assert response.json["done"] == 2
    assert [(one["id"], one["code"]) for one in response.json["refused"]] == [("done-1", "item-finished")]
    assert mixed_queue.get("done-1").answers


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ids": ["a"]}, "action"),
        ({"action": "finish", "ids": ["a"]}, "action"),
        ({"action": "remove"}, "ids"),
        ({"action": "remove", "ids": []}, "ids"),
        ({"action": "remove", "ids": ["x"] * 1_001}, "ids"),
        ({"action": "remove", "ids": [7]}, "ids.0"),
        ({"action": "remove", "ids": ["a"], "person": "ann"}, "person"),
        ({"action": "remove", "ids": ["a"], "unless": "dead"}, "unless"),
        ({"action": "release", "ids": ["a"], "unless": "finished"}, "unless"),
        ({"action": "assign", "ids": ["a"]}, "person"),
        ({"action": "assign", "ids": ["a"], "person": "nobody"}, "person"),
        ({"action": "reopen", "ids": ["a"], "to": "nobody"}, "to"),
        ({"action": "reopen", "ids": ["a"], "person": "ann"}, "person"),
        ({"action": "release", "ids": ["a"], "reason": "x"}, "reason"),
        ({"action": "reopen", "ids": ["a"], "reason": 7}, "reason"),
        ({"action": "change", "ids": ["a"]}, "priority"),
        ({"action": "change", "ids": ["a"], "priority": "high"}, "priority"),
        ({"action": "change", "ids": ["wait-1"], "due": "soon"}, "due"),
        ({"action": "remove", "ids": ["wait-1"], "delay": 5}, "delay"),
        ({"action": "change", "ids": ["a"], "payload": 1}, "payload"),
        ({"action": "cancel", "ids": ["a"], "to": "ann"}, "to"),
    ],
)
def test_invalid_bulk_request_is_refused(
    mixed_queue: leaseq.Queue, call: Callable[..., Any], body: dict[str, Any], field: str
) -> None:
    with assert_unchanged(mixed_queue):
        refusal = assert_problem(
            call("manager", "POST", f"/queues/{mixed_queue.name}/bulk", json=body), 400, "invalid"
        )
    assert refusal["field"] == field


def found_ids(manager: Caller, queue: leaseq.Queue, **query: str) -> list[str]:
    ids: list[str] = []
    path: str = f"/queues/{queue.name}/search"
    while True:
        page = manager("GET", path, query_string=query).json
        ids += [one["id"] for one in page["items"]]
        assert page["compared"] <= 5_000
        if page["after"] is None:
            return ids
        query["after"] = page["after"]


def test_search_filters_by_text_state_person_and_time(
    mixed_queue: leaseq.Queue, manager: Caller, worker: Caller
) -> None:
    assert sorted(found_ids(manager, mixed_queue, find="of:ann")) == ["dead-1", "done-1", "held-1"]
    assert found_ids(manager, mixed_queue, find="of:ann", state="dead") == ["dead-1"]
    assert found_ids(manager, mixed_queue, find="wait", limit="1") == ["wait-1", "wait-2"], "page by page"
    assert sorted(found_ids(manager, mixed_queue, person="bob")) == ["dead-2", "held-2"]
    assert found_ids(manager, mixed_queue, to="2020-01-01") == []
    assert len(found_ids(manager, mixed_queue, **{"from": "2020-01-01"})) == 7
    assert_problem(worker("GET", f"/queues/{mixed_queue.name}/search"), 403, "forbidden")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=lost", "state"),
        ("from=", "from"),
        ("from=2026-11-22&to=2026-11-21", "from"),
        ("to=yesterday", "to"),
        ("after=", "after"),
        ("after=x", "after"),
        ("after=inbound%3Dx", "after"),
        ("find=" + "x" * 501, "find"),
        ("person=", "person"),
        ("limit=0", "limit"),
        ("text=x", "text"),
    ],
)
def test_invalid_search_is_refused(
    form_queue: leaseq.Queue, call: Callable[..., Any], query: str, field: str
) -> None:
    refusal = assert_problem(
        call("manager", "GET", f"/queues/{form_queue.name}/search?{query}"), 400, "invalid"
    )
    assert refusal["field"] == field


def test_link_to_next_page_keeps_query(form_queue: leaseq.Queue, manager: Caller) -> None:
    form_queue.enqueue_many(leaseq.NewItem(n, id=f"x {n}/") for n in range(3))
    path, ids = f"/queues/{form_queue.name}/items?state=inbound&limit=1", []
    while path:
        response = manager("GET", path)
        ids += [one["id"] for one in response.json["items"]]
        link = response.headers.get("Link", "")
        path = link.partition(">")[0].removeprefix("<http://localhost/api/v1")
    assert ids == ["one", "two", "x 0/", "x 1/", "x 2/"]


def test_docs_page_explains_each_problem_type(app: Any, manager: Caller) -> None:
    from leaseq.webapp.serving.problem import MEANINGS

    page = app.test_client().get("/api/v1/docs").text
    for code in MEANINGS:
        assert f'id="problem-{code}"' in page
    refusal = assert_problem(manager("GET", "/queues/not-there"), 404, "not-found")
    assert refusal["type"] == "/api/v1/docs#problem-not-found"

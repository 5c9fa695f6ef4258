"""REST removes all items of a state, or those that match a filter, and deletes whole queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.threads import Threads
from tests.support.leases import take
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller


@pytest.fixture
def dead_items(queue: leaseq.Queue) -> leaseq.Queue:
    """Five dead items of two people, with two errors, and one waiting item."""
    queue.configure(max_attempts=1)
    for n in range(5):
        queue.enqueue({"n": n}, id=f"item-{n}")
        queue.fail(take(queue, ("ann", "bob")[n % 2]), "no <text>" if n < 4 else "page 404")
    queue.enqueue({}, id="waits")
    return queue


def test_items_of_state_or_filter_are_removed(
    dead_items: leaseq.Queue, manager: Caller, server_of_pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, threads = f"/queues/{dead_items.name}/remove", Threads(server_of_pages.client)
    threads.ask(dead_items.name, "item-4", "ann", "why?", message="one")
    dead_filter: dict[str, Any] = {"state": "dead"}
    assert manager("POST", path, json={**dead_filter, "person": "ann", "error": "404"}).json == {
        "removed": 1,
        "more": False,
    }
    assert threads.of_item(dead_items.name, "item-4") == []
    monkeypatch.setattr("leaseq.webapp.api.queues.MAX_MOVED", 3)
    assert manager("POST", path, json=dead_filter).json == {"removed": 3, "more": True}
    assert manager("POST", path, json=dead_filter).json == {"removed": 1, "more": False}
    assert (dead_items.stats().dead, dead_items.stats().inbound) == (0, 1)
    assert {event.person for event in dead_items.journal(limit=100) if event.what == "removed"} == {
        manager.name
    }
    for bad_body, field in (
        ({}, "state"),
        ({"state": "lost"}, "state"),
        ({**dead_filter, "person": ""}, "person"),
        ({**dead_filter, "error": "x" * 2_001}, "error"),
        ({**dead_filter, "limit": 5}, "limit"),
    ):
        assert assert_problem(manager("POST", path, json=bad_body), 400, "invalid")["field"] == field


def test_item_is_deleted_unless_finished(queue: leaseq.Queue, manager: Caller) -> None:
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("answered", "waits"))
    queue.finish(take(queue, "ann"), {"v": 1})
    path = f"/queues/{queue.name}/items"
    refusal = assert_problem(manager("DELETE", f"{path}/answered?unless=finished"), 409, "item-finished")
    assert (refusal["id"], refusal["state"]) == ("answered", "finished")
    assert [one["result"] for one in manager("GET", f"{path}/answered").json["answers"]] == [{"v": 1}]
    assert manager("DELETE", f"{path}/waits?unless=finished").status_code == 204
    for query, field in (("unless=dead", "unless"), ("unles=finished", "unles")):
        refusal = assert_problem(manager("DELETE", f"{path}/answered?{query}"), 400, "invalid")
        assert refusal["field"] == field
    assert manager("DELETE", f"{path}/answered").status_code == 204
    assert_problem(manager("DELETE", f"{path}/answered?unless=finished"), 404, "not-found")


def test_queue_is_deleted_only_if_if_match_is_current(
    dead_items: leaseq.Queue, manager: Caller, worker: Caller, accounts: Accounts
) -> None:
    path = f"/queues/{dead_items.name}"
    tag = manager("GET", path).headers["ETag"]
    dead_items.configure(title="Other")
    refusal = assert_problem(manager("DELETE", path, headers={"If-Match": tag}), 412, "policy-changed")
    assert "save" not in refusal["detail"]
    assert worker("DELETE", path).status_code == 403
    lease = take(dead_items, worker.name)
    tag = manager("GET", path).headers["ETag"]
    response = manager("DELETE", path, headers={"If-Match": tag})
    assert (response.status_code, response.data) == (204, b"")
    assert not dead_items.exists()
    for method, below, body in (
        ("GET", "", None),
        ("POST", "/items/waits/finish", {"token": lease.token, "result": {}}),
        ("POST", "/items/waits/renew", {"token": lease.token}),
        ("POST", "/reserve", {}),
    ):
        refusal = assert_problem(worker(method, path + below, json=body), 404, "not-found")
        assert "it was deleted" in refusal["detail"], below
    assert_problem(manager("DELETE", path), 404, "not-found")
    refusal = assert_problem(manager("DELETE", path, headers={"If-Match": "*"}), 412, "policy-changed")
    assert (refusal["rule"], refusal["values"]) == (
        "not_found",
        {"what": "queue_of_tag", "name": dead_items.name},
    )
    line = accounts.log.latest(1)[0]
    assert (line.by, line.what, line.about) == (manager.name, "queue.deleted", dead_items.name)
    assert line.values == {"count": 6, "held": 1}


@pytest.mark.parametrize("name", ["", "No-Name", "x" * 65])
def test_delete_of_invalid_queue_name_is_refused(manager: Caller, name: str) -> None:
    assert manager("DELETE", f"/queues/{name}").status_code in (400, 404)


def test_interrupted_queue_deletion_is_completed(
    dead_items: leaseq.Queue, manager: Caller, call: Callable[..., Any]
) -> None:
    dead_items._commands.run("delete", "")
    assert_problem(manager("GET", f"/queues/{dead_items.name}"), 404, "not-found")
    assert manager("DELETE", f"/queues/{dead_items.name}").status_code == 204
    assert_problem(manager("DELETE", f"/queues/{dead_items.name}"), 404, "not-found")

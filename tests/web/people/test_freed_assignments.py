"""What was assigned to people who may no longer work on a queue becomes available to everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.web.conftest import Browser, Caller


@pytest.fixture
def assigned(queue: leaseq.Queue, worker: Caller) -> leaseq.Queue:
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("one", "two", "other"))
    queue.enqueue({}, id="later", delay=3_600)
    for id in ("one", "two", "later"):
        queue.assign(id, worker.name)
    queue.assign("other", "somebody else")
    return queue


def assigned_ids(queue: leaseq.Queue) -> list[str]:
    return [id for id in ("one", "two", "later", "other") if queue.get(id).assigned_to]


def test_disabling_by_rest_frees_items_and_says_how_many(
    admin: Caller, worker: Caller, assigned: leaseq.Queue
) -> None:
    response = admin("PUT", f"/people/{worker.name}", json={"disabled": True})
    assert (response.status_code, response.headers["X-Leaseq-Unassigned"]) == (200, "3")
    assert assigned_ids(assigned) == ["other"]
    response = admin("PUT", f"/people/{worker.name}", json={"disabled": False})
    assert response.headers["X-Leaseq-Unassigned"] == "0"


def test_disabling_on_the_page_frees_items(
    admin_browser: Browser, worker: Caller, assigned: leaseq.Queue
) -> None:
    admin_browser.post(f"/people/{worker.name}/disable", {})
    assert assigned_ids(assigned) == ["other"]
    assert "3 items" in admin_browser.get(f"/people/{worker.name}").text


def test_disabling_many_frees_items(admin_browser: Browser, worker: Caller, assigned: leaseq.Queue) -> None:
    admin_browser.post("/people/bulk", {"act": "disable", "name": [worker.name]})
    assert assigned_ids(assigned) == ["other"]


@pytest.mark.parametrize("change", [{"team": "B"}, {"skills": []}])
def test_leaving_the_team_or_skill_that_gave_access_frees_items(
    admin: Caller,
    worker: Caller,
    assigned: leaseq.Queue,
    accounts: Accounts,
    app: Flask,
    change: dict[str, Any],
) -> None:
    accounts.change(worker.name, by="test", team="A", skills=["fr"])
    group = Group(teams=("A",)) if "team" in change else Group(skills=("fr",))
    access: QueueAccess = app.extensions["leaseq"].access
    access.set(assigned.name, Access(work=group))
    response = admin("PUT", f"/people/{worker.name}", json={"role": "worker"})
    assert response.headers["X-Leaseq-Unassigned"] == "0"
    assert admin("PUT", f"/people/{worker.name}", json=change).headers["X-Leaseq-Unassigned"] == "3"
    assert assigned_ids(assigned) == ["other"]


def test_losing_access_frees_items(
    manager: Caller, worker: Caller, make_caller: Callable[[str], Caller], assigned: leaseq.Queue
) -> None:
    colleague = make_caller("worker")
    work = {"people": [colleague.name, worker.name]}
    response = manager("PUT", f"/queues/{assigned.name}/access", json={"work": work, "manage": None})
    assert response.headers["X-Leaseq-Unassigned"] == "0"
    work = {"people": [colleague.name]}
    response = manager("PUT", f"/queues/{assigned.name}/access", json={"work": work, "manage": None})
    assert response.headers["X-Leaseq-Unassigned"] == "3"
    assert assigned_ids(assigned) == ["other"]


def test_erasing_a_person_frees_items(admin: Caller, worker: Caller, assigned: leaseq.Queue) -> None:
    assert admin("DELETE", f"/people/{worker.name}").status_code == 204
    assert assigned_ids(assigned) == ["other"]


def test_rest_takes_an_assignment_back(manager: Caller, worker: Caller, assigned: leaseq.Queue) -> None:
    response = manager("DELETE", f"/queues/{assigned.name}/items/one/assignment")
    assert (response.status_code, response.json["assigned_to"]) == (200, [])
    assert manager("DELETE", f"/queues/{assigned.name}/items/one/assignment").status_code == 200
    assert manager("DELETE", f"/queues/{assigned.name}/items/missing/assignment").status_code == 404
    assert worker("DELETE", f"/queues/{assigned.name}/items/two/assignment").status_code == 403
    body = {"action": "unassign", "ids": ["two", "missing"]}
    response = manager("POST", f"/queues/{assigned.name}/bulk", json=body)
    assert (response.json["done"], [one["id"] for one in response.json["refused"]]) == (1, ["missing"])
    assert assigned_ids(assigned) == ["later", "other"]

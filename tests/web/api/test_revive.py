"""REST revives dead items: all, or those that match a filter."""

from __future__ import annotations

import pytest

import leaseq
from tests.support.leases import not_none
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller


@pytest.fixture
def dead_items(queue: leaseq.Queue) -> leaseq.Queue:
    """Six dead items of two people, with two errors."""
    queue.configure(max_attempts=1)
    for n in range(6):
        queue.enqueue({"n": n}, id=f"item-{n}")
        queue.fail(not_none(queue.reserve(("ann", "bob")[n % 2])), "no <text>" if n < 4 else "page 404")
    return queue


def test_all_or_filtered_dead_items_are_revived(dead_items: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{dead_items.name}/revive"
    for body, count in (({"person": "bob", "error": "404"}, 1), ({"error": "no <"}, 4), ({}, 1), ({}, 0)):
        response = manager("POST", path, json=body)
        assert (response.status_code, response.json) == (200, {"revived": count, "more": False})
    assert dead_items.stats().dead == 0
    assert {event.person for event in dead_items.journal(limit=100) if event.what == "revived"} == {
        manager.name
    }
    for bad_body, field in (
        ({"person": ""}, "person"),
        ({"error": "x" * 2_001}, "error"),
        ({"error": 404}, "error"),
    ):
        assert assert_problem(manager("POST", path, json=bad_body), 400, "invalid")["field"] == field


def test_revive_over_limit_reports_more(
    dead_items: leaseq.Queue, manager: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.api.queues.MAX_MOVED", 4)
    path = f"/queues/{dead_items.name}/revive"
    assert manager("POST", path).json == {"revived": 4, "more": True}
    assert manager("POST", path).json == {"revived": 2, "more": False}

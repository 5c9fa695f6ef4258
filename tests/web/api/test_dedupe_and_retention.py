"""REST and the manager's page: duplicates, and deleted items."""

from __future__ import annotations

import json
from collections.abc import Callable

import leaseq
from tests.support.leases import not_none
from tests.web.conftest import Browser, Caller


def test_equal_payload_is_duplicate_under_any_id(queue: leaseq.Queue, manager: Caller) -> None:
    path = f"/queues/{queue.name}"
    manager("PUT", path, json={"dedupe_seconds": 3600})
    first = manager("POST", f"{path}/items", json={"payload": {"a": 1, "b": 2}, "id": "one"})
    second = manager("POST", f"{path}/items", json={"payload": {"b": 2.0, "a": 1}})
    assert (first.status_code, first.json) == (201, {"id": "one", "added": True})
    assert (second.status_code, second.json) == (200, {"id": "one", "added": False})
    items = [{"payload": {"a": 1, "b": 2}}, {"payload": {"a": 2}}, {"payload": {"a": 2}, "id": "mine"}]
    assert manager("POST", f"{path}/items", json=items).json == {"added": 1, "duplicates": 2}
    lines = "\n".join(json.dumps({"payload": {"a": n}}) for n in (2, 3))
    lines_response = manager("POST", f"{path}/items", data=lines, content_type="application/x-ndjson")
    assert lines_response.json == {"added": 1, "duplicates": 1}
    assert manager("GET", f"{path}/stats").json["counters"]["deduped"] == 4


def test_clear_reports_number_of_deleted_items(
    queue: leaseq.Queue, manager: Caller, sign_in_as: Callable[[str], Browser]
) -> None:
    browser = sign_in_as("manager")
    queue.configure(keep_finished_seconds=0)
    queue.enqueue({}, id="one")
    queue.finish(not_none(queue.reserve("ann")), {})
    response = manager("POST", f"/queues/{queue.name}/clear")
    assert (response.json["forgotten"], response.json["more"]) == (1, False)
    assert manager("GET", f"/queues/{queue.name}/items/one").status_code == 404
    queue.enqueue({}, id="two")
    queue.finish(not_none(queue.reserve("ann")), {})
    path = f"/manage/{queue.name}"
    browser.post(f"{path}/clear")
    assert "0 failed, 1 deleted." in browser.get(path).text

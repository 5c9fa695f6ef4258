"""REST for managers: fields and status codes of the responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import pytest

import leaseq
from tests.web.api_calls import ANSWER, TIME, assert_problem, finish, reserve
from tests.web.conftest import FORM, Caller

DEFAULTS: dict[str, Any] = json.loads(json.dumps(asdict(leaseq.Policy())))


def test_a_queue_is_made_and_changed_by_put(manager: Caller, worker: Caller, queue_name: str) -> None:
    response = manager(
        "PUT", f"/queues/{queue_name}", json={"title": "Triage", "form": FORM, "bands": [10, 20]}
    )
    assert response.status_code == 201
    assert response.json == {
        "name": queue_name,
        "title": "Triage",
        "paused": None,
        "policy": {**DEFAULTS, "title": "Triage", "form": FORM, "bands": [10, 20]},
        "form": FORM,
        "counts": {"inbound": 0, "reserved": 0, "scheduled": 0, "finished": 0, "dead": 0},
        "alerts": [],
    }
    response = manager("PUT", f"/queues/{queue_name}", json={"lease_seconds": 5})
    assert response.status_code == 200
    assert (response.json["policy"]["lease_seconds"], response.json["title"]) == (5, "Triage")
    assert worker("GET", f"/queues/{queue_name}").json == response.json
    assert response.json in worker("GET", f"/queues?after={queue_name[:-1]}").json["queues"]


def test_put_with_stale_if_match_is_refused(manager: Caller, queue: leaseq.Queue) -> None:
    path = f"/queues/{queue.name}"
    for tag in ("*", '"0123"'):
        refusal = assert_problem(
            manager("PUT", path, json={}, headers={"If-Match": tag}), 412, "policy-changed"
        )
        assert refusal["values"] == {"what": "queue_of_tag", "name": queue.name}
    assert not queue.exists()
    tag = manager("PUT", path, json={"title": "One"}).headers["ETag"]
    assert manager("GET", path).headers["ETag"] == tag
    queue.enqueue({})
    assert manager("GET", path).headers["ETag"] == tag  # it depends on the policy, not on the counts
    response = manager("PUT", path, json={"holds": 2}, headers={"If-Match": tag})
    assert response.status_code == 200
    stale_response = manager("PUT", path, json={"holds": 3}, headers={"If-Match": tag})
    assert "send the ETag that it has now" in assert_problem(stale_response, 412, "policy-changed")["detail"]
    assert queue.policy.holds == 2
    tags = f'"other", W/{response.headers["ETag"]}'  # as behind a proxy that compresses
    assert manager("PUT", path, json={"holds": 3}, headers={"If-Match": tags}).status_code == 200
    assert manager("PUT", path, json={"holds": 4}, headers={"If-Match": "*"}).json["policy"]["holds"] == 4


def test_malformed_if_match_is_refused(manager: Caller, queue: leaseq.Queue) -> None:
    queue.configure(holds=2)
    version = queue.policy.version
    for tag in ("", ",", version, f'"{version}" x', f"W/{version}"):
        headers = {"If-Match": tag}
        response = manager("PUT", f"/queues/{queue.name}", json={"holds": 3}, headers=headers)
        refusal = assert_problem(response, 400, "invalid")
        assert (refusal["field"], "with its quotes" in refusal["limit"]) == ("If-Match", True)
    response = manager("PUT", f"/queues/{queue.name}", json={"holds": 3}, headers={"If-Match": '""'})
    assert_problem(response, 412, "policy-changed")
    assert queue.policy.holds == 2


def test_put_with_if_none_match_refuses_existing_queue(manager: Caller, queue: leaseq.Queue) -> None:
    path, headers = f"/queues/{queue.name}", {"If-None-Match": "*"}
    for tag in ('"0123"', "", "x"):
        refusal = assert_problem(
            manager("PUT", path, json={}, headers={"If-None-Match": tag}), 400, "invalid"
        )
        assert refusal["field"] == "If-None-Match"
    assert not queue.exists()
    response = manager("PUT", path, json={"title": "One"}, headers=headers)
    assert (response.status_code, queue.policy.title) == (201, "One")
    refusal = assert_problem(
        manager("PUT", path, json={"title": "Two"}, headers=headers), 412, "queue-exists"
    )
    assert queue.name in refusal["detail"]
    both_headers = {**headers, "If-Match": response.headers["ETag"]}
    assert_problem(manager("PUT", path, json={"title": "Two"}, headers=both_headers), 412, "queue-exists")
    assert queue.policy.title == "One"


def test_items_are_added_singly_as_array_and_as_lines(queue: leaseq.Queue, manager: Caller) -> None:
    queue.configure()
    path = f"/queues/{queue.name}/items"
    response = manager("POST", path, json={"payload": {"n": 1}, "id": "a", "priority": 7, "delay": 30})
    assert (response.status_code, response.json) == (201, {"id": "a", "added": True})
    assert manager("POST", path, json={"payload": {"n": 1}, "id": "a"}).json == {"id": "a", "added": False}
    assert len(manager("POST", path, json={"payload": None}).json["id"]) > 10
    response = manager("POST", path, json=[{"payload": {"n": 1}, "id": "a"}, {"payload": 2}, {"payload": 3}])
    assert (response.status_code, response.json) == (201, {"added": 2, "duplicates": 1})
    assert manager("POST", path, json=[]).json == {"added": 0, "duplicates": 0}
    lines = "\n".join(json.dumps({"payload": n, "id": f"line-{n}"}) for n in range(2_000))
    response = manager("POST", path, data=lines, content_type="application/x-ndjson")
    assert (response.status_code, response.json) == (201, {"added": 2_000, "duplicates": 0})
    assert queue.get("a").payload == {"n": 1}
    assert queue.get("a").priority == 7
    stats = queue.stats()
    assert (stats.inbound, stats.scheduled) == (2_003, 1)


def test_item_has_documented_fields_and_lists_are_paged(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    finish(form_queue, worker)
    item = manager("GET", f"/queues/{form_queue.name}/items/one").json
    assert list(item) == [
        "id", "state", "payload", "priority", "requires", "assignment", "assigned_to", "due", "form",
        "expires", "attempts", "failures", "last_error", "died_of", "enqueued_at", "answers_needed", "leases",
        "answers", "late_answers", "history",
    ]  # fmt: skip
    assert (item["state"], item["due"], item["requires"], item["leases"]) == ("finished", None, [], [])
    assert list(item["answers"][0]) == [
        "id", "payload", "result", "person", "token", "attempt", "finished_at", "late",
        "reserved_at", "seconds", "changed",
    ]  # fmt: skip
    assert item["history"][0]["how"] == "finished"
    form_queue.enqueue_many([{"n": n} for n in range(7)])
    path, ids = f"/queues/{form_queue.name}/items?state=inbound&limit=3", []
    after: str | None = ""
    while after is not None:
        page = manager("GET", path + (f"&after={after}" if after else "")).json
        ids += [one["id"] for one in page["items"]]
        after = page["after"]
    assert ids == [one.id for one in form_queue.items("inbound")]


def test_pause_reason_is_optional(manager: Caller, queue: leaseq.Queue) -> None:
    queue.configure()
    path = f"/queues/{queue.name}"
    assert manager("POST", f"{path}/pause", json={"reason": "lunch"}).json == {"paused": "lunch"}
    assert manager("POST", f"{path}/resume").json == {"paused": None}
    assert manager("POST", f"{path}/pause").json == {"paused": ""}
    assert queue.stats().paused == ""


def test_manager_revives_removes_clears_and_reads_stats(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    form_queue.configure(max_attempts=1)
    lease = reserve(form_queue, worker)
    base = f"/queues/{form_queue.name}/items/one"
    response = worker("POST", f"{base}/fail", json={"token": lease["token"], "error": "broken"})
    assert response.json == {"id": "one", "retry_at": None, "next": None}
    assert manager("POST", f"{base}/revive").json["state"] == "inbound"
    response = manager("DELETE", base)
    assert (response.status_code, response.data) == (204, b"")
    assert manager("GET", base).status_code == 404
    response = manager("POST", f"/queues/{form_queue.name}/clear")
    assert (response.status_code, response.json) == (
        200,
        {"returned": 0, "released": 0, "died": 0, "more": False, "forgotten": 0},
    )
    stats = manager("GET", f"/queues/{form_queue.name}/stats").json
    assert list(stats) == [
        *("inbound", "reserved", "scheduled", "finished", "dead"),
        *("oldest_inbound_seconds", "overdue", "waiting", "paused", "counters", "alerts", "unreachable"),
        *("questions", "answer_seconds"),
    ]
    assert set(stats["counters"]) == {
        *("enqueued", "reserved", "finished", "late", "abandoned"),
        *("expired", "failed", "died", "revived", "released", "assigned", "deduped", "forgotten", "undone"),
        *("reopened", "corrected", "cancelled", "lapsed"),
    }


def test_alerts_are_set_raised_and_resolved(
    manager: Caller, worker: Caller, form_queue: leaseq.Queue
) -> None:
    path = f"/queues/{form_queue.name}"
    rules = ["oldest>3600", "waiting>1"]
    assert manager("PUT", path, json={"alerts": rules}).json["policy"]["alerts"] == [
        "waiting>1",
        "oldest>3600",
    ]
    assert worker("GET", path).json["alerts"] == []
    manager("POST", f"{path}/clear")
    (event,) = (
        event for event in manager("GET", f"{path}/journal").json["events"] if event["what"] == "alert.raised"
    )
    assert event["detail"] == {"alert": "waiting", "limit": 1, "value": 2}
    alert = {"name": "waiting", "limit": 1, "value": 2, "since": event["at"]}
    assert worker("GET", path).json["alerts"] == manager("GET", f"{path}/stats").json["alerts"] == [alert]
    manager("PUT", path, json={"alerts": []})
    manager("POST", f"{path}/clear")
    last = manager("GET", f"{path}/journal").json["events"][-1]
    assert (last["what"], last["detail"]["alert"]) == ("alert.resolved", "waiting")
    assert worker("GET", path).json["alerts"] == []


@pytest.mark.parametrize(
    "rules", ["waiting>1", None, 5, [5], ["waiting"], ["late>5"], ["waiting>00"], ["waiting>1", "waiting>2"]]
)
def test_invalid_alert_rules_change_nothing(manager: Caller, form_queue: leaseq.Queue, rules: Any) -> None:
    before = form_queue.policy
    response = manager("PUT", f"/queues/{form_queue.name}", json={"holds": 2, "alerts": rules})
    assert assert_problem(response, 400, "invalid")["field"].startswith("alerts")
    assert form_queue.policy == before


def test_journal_events_name_person_and_action(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    reserve(form_queue, worker)
    path = f"/queues/{form_queue.name}/journal"
    first = manager("GET", f"{path}?limit=2").json
    second = manager("GET", f"{path}?after={first['after']}").json
    events = first["events"] + second["events"]
    assert events[-1] == {
        "cursor": events[-1]["cursor"],
        "at": events[-1]["at"],
        "what": "reserved",
        "id": "one",
        "person": worker.name,
        "token": 1,
        "detail": None,
    }
    assert second["after"] == events[-1]["cursor"]
    assert manager("GET", f"{path}?after={second['after']}").json["events"] == []


def test_answers_are_exported_as_lines_and_csv(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    finish(form_queue, worker)
    lines_response = manager("GET", f"/queues/{form_queue.name}/answers")
    assert (lines_response.status_code, lines_response.mimetype) == (200, "application/x-ndjson")
    (answer,) = map(json.loads, lines_response.text.splitlines())
    assert (answer["id"], answer["result"], answer["late"]) == ("one", ANSWER, False)
    table_response = manager("GET", f"/queues/{form_queue.name}/answers?format=csv")
    assert table_response.mimetype == "text/csv"
    assert "payload.order" in table_response.text.splitlines()[0]
    assert f'filename="{form_queue.name}.csv"' in table_response.headers["Content-Disposition"]


def test_people_are_added_and_changed_by_put(admin: Caller, new_name: Any) -> None:
    name = new_name("by put %2F")
    path = f"/people/{quote(name, safe='')}"
    response = admin("PUT", path, json={"role": "manager", "skills": ["fr", "de"]})
    assert response.status_code == 201
    shape = dict(response.json)
    assert TIME.fullmatch(shape.pop("created_at"))
    assert shape == {
        "name": name, "shown_name": "", "role": "manager", "skills": ["de", "fr"], "team": "",
        "disabled": False,
    }  # fmt: skip
    response = admin("PUT", path, json={"disabled": True})
    assert (response.json["disabled"], response.json["role"]) == (True, "manager")
    assert name in people(admin)


def people(admin: Caller) -> Iterator[str]:
    """Return the names of all people, page by page."""
    page = admin("GET", "/people").json
    while True:
        yield from (one["name"] for one in page["people"])
        if page["after"] is None:
            return
        page = admin("GET", f"/people?after={quote(page['after'], safe='')}").json

"""REST: the shapes and the status codes of the contract."""

from __future__ import annotations

import json
import re
from typing import Any

import leaseq

from .conftest import FORM, Caller

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ANSWER = {"about": "refund", "urgent": True}


def reserve(queue: leaseq.Queue, worker: Caller) -> dict[str, Any]:
    answer = worker("POST", f"/queues/{queue.name}/reserve")
    assert answer.status_code == 200, answer.text
    return answer.json


def test_a_queue_is_made_and_changed_by_put(manager: Caller, worker: Caller, queue_name: str) -> None:
    made = manager("PUT", f"/queues/{queue_name}", json={"title": "Triage", "form": FORM, "bands": [10, 20]})
    assert made.status_code == 201
    assert made.json == {
        "name": queue_name,
        "title": "Triage",
        "paused": None,
        "policy": {
            "lease_seconds": 300,
            "max_attempts": 3,
            "retry_seconds": 2,
            "retry_max_seconds": 3600,
            "holds": 1,
            "bands": [10, 20],
            "renewals": None,
            "share_drafts": False,
            "form": FORM,
            "title": "Triage",
            "instructions": "",
        },
        "form": FORM,
        "counts": {"inbound": 0, "reserved": 0, "scheduled": 0, "finished": 0, "dead": 0},
    }
    changed = manager("PUT", f"/queues/{queue_name}", json={"lease_seconds": 5})
    assert changed.status_code == 200
    assert (changed.json["policy"]["lease_seconds"], changed.json["title"]) == (5, "Triage")
    assert worker("GET", f"/queues/{queue_name}").json == changed.json
    assert changed.json in worker("GET", "/queues").json["queues"]


def test_items_go_in_one_by_one_in_arrays_and_as_lines(queue: leaseq.Queue, manager: Caller) -> None:
    queue.configure()
    path = f"/queues/{queue.name}/items"
    one = manager("POST", path, json={"payload": {"n": 1}, "id": "a", "priority": 7, "delay": 30})
    assert (one.status_code, one.json) == (201, {"id": "a", "added": True})
    assert manager("POST", path, json={"payload": {"n": 2}, "id": "a"}).json == {"id": "a", "added": False}
    assert len(manager("POST", path, json={"payload": None}).json["id"]) > 10
    many = manager("POST", path, json=[{"payload": 1, "id": "a"}, {"payload": 2}, {"payload": 3}])
    assert (many.status_code, many.json) == (201, {"added": 2, "duplicates": 1})
    assert manager("POST", path, json=[]).json == {"added": 0, "duplicates": 0}
    lines = "\n".join(json.dumps({"payload": n, "id": f"line-{n}"}) for n in range(2_000))
    streamed = manager("POST", path, data=lines, content_type="application/x-ndjson")
    assert (streamed.status_code, streamed.json) == (201, {"added": 2_000, "duplicates": 0})
    assert queue.get("a").payload == {"n": 1}
    assert queue.get("a").priority == 7
    stats = queue.stats()
    assert (stats.inbound, stats.scheduled) == (2_003, 1)


def test_a_lease_has_its_shape(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    assert TIME.fullmatch(lease.pop("reserved_at"))
    assert TIME.fullmatch(lease.pop("expires_at"))
    assert lease == {
        "queue": asking.name,
        "id": "one",
        "token": lease["token"],
        "payload": {"text": "My parcel is not here", "order": 12},
        "attempt": 1,
        "lease_seconds": 60,
        "draft": None,
        "person": worker.name,
    }
    (mine,) = worker("GET", f"/queues/{asking.name}/mine").json["leases"]
    assert mine["token"] == lease["token"]
    assert reserve(asking, worker)["token"] == lease["token"], "hands full: the same one again"


def test_finish_and_next_in_one_call(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    path = f"/queues/{asking.name}/items/one/finish"
    body = {"token": lease["token"], "result": ANSWER, "then_reserve": True}
    first = worker("POST", path, json=body)
    assert first.status_code == 200
    assert first.json["next"]["id"] == "two"
    assert {**first.json, "next": None} == {"id": "one", "late": False, "replayed": False, "next": None}
    again = worker("POST", path, json=body)
    assert (again.json["replayed"], again.json["next"]["id"]) == (True, "two")
    assert asking.stats().counters["finished"] == 1
    assert asking.get("one").answers[0].result == ANSWER


def test_renew_draft_abandon_fail(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    base, token = f"/queues/{asking.name}/items/one", lease["token"]
    renewed = worker("POST", f"{base}/renew", json={"token": token})
    assert renewed.status_code == 200
    assert renewed.json["expires_at"] > lease["expires_at"]
    draft = worker("PUT", f"{base}/draft", json={"token": token, "draft": {"note": "so f"}})
    assert (draft.status_code, draft.data) == (204, b"")
    assert reserve(asking, worker)["draft"] == {"note": "so f"}
    left = worker("POST", f"{base}/abandon", json={"token": token, "reason": "lunch"})
    assert (left.status_code, left.json) == (200, {"id": "one"})
    assert asking.get("one").history[-1].reason == "lunch"
    lease = reserve(asking, worker)
    assert (lease["id"], lease["draft"]) == ("one", {"note": "so f"})
    failed = worker("POST", f"{base}/fail", json={"token": lease["token"], "error": "unreadable"})
    assert failed.status_code == 200
    assert TIME.fullmatch(failed.json["retry_at"])
    assert asking.get("one").last_error == "unreadable"


def test_nothing_now_says_why_and_when_to_ask_again(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    queue.configure()
    path = f"/queues/{queue.name}"

    def nothing() -> tuple[int, str, bool]:
        answer = worker("POST", f"{path}/reserve", json={})
        return answer.status_code, answer.headers["X-Leaseq-Reason"], int(answer.headers["Retry-After"]) > 0

    assert nothing() == (204, "empty", True)
    queue.enqueue({}, id="x")
    paused = manager("POST", f"{path}/pause", json={"reason": "lunch"})
    assert (paused.status_code, paused.json) == (200, {"paused": "lunch"})
    assert nothing() == (204, "paused", True)
    assert worker("GET", path).json["paused"] == "lunch"
    resumed = manager("POST", f"{path}/resume")
    assert (resumed.status_code, resumed.json) == (200, {"paused": None})
    reserve(queue, manager)
    assert nothing() == (204, "held", True)


def test_a_lost_lease_says_what_is_true_and_that_the_answer_is_kept(
    asking: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    lease = reserve(asking, worker)
    base = f"/queues/{asking.name}/items/one"
    released = manager("POST", f"{base}/release")
    assert (released.status_code, released.json["state"]) == (200, "inbound")
    other = reserve(asking, manager)
    assert other["id"] == "one"
    body = {"token": lease["token"], "result": ANSWER}
    lost = worker("POST", f"{base}/finish", json=body)
    assert lost.status_code == 409
    assert lost.mimetype == "application/problem+json"
    assert {key: lost.json[key] for key in ("code", "state", "answer_kept", "status")} == {
        "code": "lease-lost",
        "state": "reserved",
        "answer_kept": True,
        "status": 409,
    }
    renewed = worker("POST", f"{base}/renew", json={"token": lease["token"]})
    assert (renewed.status_code, renewed.json["answer_kept"]) == (409, False)
    (late,) = manager("GET", base).json["late_answers"]
    assert (late["person"], late["result"]) == (worker.name, ANSWER)
    adopted = manager("POST", f"{base}/adopt", json={"token": late["token"]})
    assert adopted.status_code == 200
    assert (adopted.json["state"], adopted.json["answers"][0]["person"]) == ("finished", worker.name)


def test_a_result_that_does_not_fit_leaves_the_lease(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    body = {"token": lease["token"], "result": {"about": "weather", "count": -1}}
    answer = worker("POST", f"/queues/{asking.name}/items/one/finish", json=body)
    assert (answer.status_code, answer.json["code"]) == (422, "form")
    assert set(answer.json["errors"]) == {"about", "count", "urgent"}
    assert asking.mine(worker.name)[0].token == lease["token"]


def test_an_item_has_its_shape_and_lists_go_page_by_page(
    asking: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    lease = reserve(asking, worker)
    worker(
        "POST", f"/queues/{asking.name}/items/one/finish", json={"token": lease["token"], "result": ANSWER}
    )
    item = manager("GET", f"/queues/{asking.name}/items/one").json
    assert list(item) == [
        "id", "state", "payload", "priority", "requires", "due", "attempts", "failures",
        "enqueued_at", "leases", "answers", "late_answers", "history",
    ]  # fmt: skip
    assert (item["state"], item["due"], item["requires"], item["leases"]) == ("finished", None, [], [])
    assert list(item["answers"][0]) == [
        "id", "payload", "result", "person", "token", "attempt", "finished_at", "late",
    ]  # fmt: skip
    assert item["history"][0]["how"] == "finished"
    asking.enqueue_many([{"n": n} for n in range(7)])
    path, after, seen = f"/queues/{asking.name}/items?state=inbound&limit=3", "", []
    while after is not None:
        page = manager("GET", path + (f"&after={after}" if after else "")).json
        seen += [one["id"] for one in page["items"]]
        after = page["after"]
    assert seen == [one.id for one in asking.items("inbound")]


def test_a_managers_moves(asking: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    asking.configure(max_attempts=1)
    lease = reserve(asking, worker)
    base = f"/queues/{asking.name}/items/one"
    failed = worker("POST", f"{base}/fail", json={"token": lease["token"], "error": "broken"})
    assert failed.json == {"id": "one", "retry_at": None}
    assert manager("POST", f"{base}/revive").json["state"] == "inbound"
    removed = manager("DELETE", base)
    assert (removed.status_code, removed.data) == (204, b"")
    assert manager("GET", base).status_code == 404
    cleared = manager("POST", f"/queues/{asking.name}/clear")
    assert (cleared.status_code, cleared.json) == (
        200,
        {"returned": 0, "released": 0, "died": 0, "more": False},
    )
    stats = manager("GET", f"/queues/{asking.name}/stats").json
    assert list(stats) == [
        *("inbound", "reserved", "scheduled", "finished", "dead"),
        *("oldest_inbound_seconds", "paused", "counters"),
    ]
    assert set(stats["counters"]) == {
        *("enqueued", "reserved", "finished", "late", "abandoned"),
        *("expired", "failed", "died", "revived", "released"),
    }


def test_the_journal_names_who_did_what(asking: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    reserve(asking, worker)
    path = f"/queues/{asking.name}/journal"
    first = manager("GET", f"{path}?limit=2").json
    rest = manager("GET", f"{path}?after={first['after']}").json
    events = first["events"] + rest["events"]
    assert events[-1] == {
        "cursor": events[-1]["cursor"],
        "at": events[-1]["at"],
        "what": "reserved",
        "id": "one",
        "person": worker.name,
        "token": 1,
        "detail": None,
    }
    assert rest["after"] == events[-1]["cursor"]
    assert manager("GET", f"{path}?after={rest['after']}").json["events"] == []


def test_answers_stream_as_lines_and_as_a_table(
    asking: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    lease = reserve(asking, worker)
    worker(
        "POST", f"/queues/{asking.name}/items/one/finish", json={"token": lease["token"], "result": ANSWER}
    )
    lines = manager("GET", f"/queues/{asking.name}/answers")
    assert (lines.status_code, lines.mimetype) == (200, "application/x-ndjson")
    (answer,) = map(json.loads, lines.text.splitlines())
    assert (answer["id"], answer["result"], answer["late"]) == ("one", ANSWER, False)
    table = manager("GET", f"/queues/{asking.name}/answers?format=csv")
    assert table.mimetype == "text/csv"
    assert "payload.order" in table.text.splitlines()[0]
    assert f'filename="{asking.name}.csv"' in table.headers["Content-Disposition"]


def test_an_id_may_hold_any_printable_character(queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    from urllib.parse import quote

    queue.configure()
    for id in ("a/b", "/", "a b?c#d%e", "ü/finish", "x/finish/finish", "<&>'\""):
        manager("POST", f"/queues/{queue.name}/items", json={"payload": 1, "id": id})
        path = f"/queues/{queue.name}/items/{quote(id, safe='')}"
        assert manager("GET", path).json["id"] == id
        lease = reserve(queue, worker)
        done = worker("POST", f"{path}/finish", json={"token": lease["token"], "result": {}})
        assert done.json["id"] == id


def test_an_idempotency_key_makes_a_post_act_once(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    queue.configure(holds=5)
    key = {"Idempotency-Key": "k1"}
    path = f"/queues/{queue.name}/items"
    first = manager("POST", path, json={"payload": 1}, headers=key).json
    assert manager("POST", path, json={"payload": 1}, headers=key).json == {"id": first["id"], "added": False}
    many = {"json": [{"payload": n} for n in range(3)], "headers": {"Idempotency-Key": "k2"}}
    assert manager("POST", path, **many).json == {"added": 3, "duplicates": 0}
    assert manager("POST", path, **many).json == {"added": 0, "duplicates": 3}
    lines = {
        "data": '{"payload": 1}\n{"payload": 1}\n',
        "content_type": "application/x-ndjson",
        "headers": {"Idempotency-Key": "k3"},
    }
    assert manager("POST", path, **lines).json == {"added": 2, "duplicates": 0}
    assert manager("POST", path, **lines).json == {"added": 0, "duplicates": 2}
    reserved = worker("POST", f"/queues/{queue.name}/reserve", headers=key).json
    assert worker("POST", f"/queues/{queue.name}/reserve", headers=key).json["token"] == reserved["token"]
    assert worker("POST", f"/queues/{queue.name}/reserve").json["token"] != reserved["token"]


def test_people_are_added_and_changed_by_put(admin: Caller, new_name: Any) -> None:
    name = new_name("by put/")
    from urllib.parse import quote

    path = f"/people/{quote(name, safe='')}"
    added = admin("PUT", path, json={"role": "manager", "skills": ["fr", "de"]})
    assert added.status_code == 200
    shape = dict(added.json)
    assert TIME.fullmatch(shape.pop("created_at"))
    assert shape == {"name": name, "role": "manager", "skills": ["de", "fr"], "disabled": False}
    changed = admin("PUT", path, json={"disabled": True})
    assert (changed.json["disabled"], changed.json["role"]) == (True, "manager")
    assert name in [one["name"] for one in admin("GET", "/people").json["people"]]


def test_the_description_is_openapi_3_1_and_names_every_call(app: Any) -> None:
    found = app.test_client().get("/api/v1/openapi.json").json
    assert found["openapi"] == "3.1.0"
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.endpoint.startswith("api.")
    }
    described = {(path, method) for path, item in found["paths"].items() for method in item}
    assert described == routes
    for item in found["paths"].values():
        for operation in item.values():
            assert operation["summary"]
            assert "401" in operation["responses"]


def test_alive_and_ready_need_nobody(app: Any) -> None:
    client = app.test_client()
    assert client.get("/healthz").json == {"status": "alive"}
    assert client.get("/readyz").json == {"status": "ready"}

"""REST for workers: fields and status codes of the responses."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.store.accounts import Accounts
from tests.web.api_calls import ANSWER, TIME, reserve
from tests.web.conftest import Caller

JSON = {"content_type": "application/json"}


def test_reserve_returns_documented_lease_fields(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    assert TIME.fullmatch(lease.pop("reserved_at"))
    assert TIME.fullmatch(lease.pop("expires_at"))
    assert lease == {
        "queue": form_queue.name,
        "id": "one",
        "token": lease["token"],
        "payload": {"text": "My parcel is not here", "order": 12},
        "attempt": 1,
        "lease_seconds": 60,
        "draft": None,
        "person": worker.name,
        "form": form_queue.policy.form,
    }
    (held_lease,) = worker("GET", f"/queues/{form_queue.name}/mine").json["leases"]
    assert held_lease["token"] == lease["token"]
    assert reserve(form_queue, worker)["token"] == lease["token"], "they hold one already: the same one again"


def test_finish_with_then_reserve_returns_next_lease(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    path = f"/queues/{form_queue.name}/items/one/finish"
    body = {"token": lease["token"], "result": ANSWER, "then_reserve": True}
    first = worker("POST", path, json=body)
    assert first.status_code == 200
    assert first.json["next"]["id"] == "two"
    assert {**first.json, "next": None} == {"id": "one", "late": False, "replayed": False, "next": None}
    second = worker("POST", path, json=body)
    assert (second.json["replayed"], second.json["next"]["id"]) == (True, "two")
    assert form_queue.stats().counters["finished"] == 1
    assert form_queue.get("one").answers[0].result == ANSWER


def test_renew_draft_abandon_and_fail_update_item(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    base, token = f"/queues/{form_queue.name}/items/one", lease["token"]
    form_queue.configure(lease_seconds=120)
    response = worker("POST", f"{base}/renew", json={"token": token})
    assert response.status_code == 200
    assert response.json["expires_at"] > lease["expires_at"]
    response = worker("PUT", f"{base}/draft", json={"token": token, "draft": {"note": "so f"}})
    assert (response.status_code, response.data) == (204, b"")
    assert reserve(form_queue, worker)["draft"] == {"note": "so f"}
    response = worker("POST", f"{base}/abandon", json={"token": token, "reason": "lunch"})
    assert (response.status_code, response.json) == (200, {"id": "one", "next": None})
    assert form_queue.get("one").history[-1].reason == "lunch"
    form_queue.remove("two")  # it would come first, since the worker gave "one" back
    lease = reserve(form_queue, worker)
    assert (lease["id"], lease["draft"]) == ("one", {"note": "so f"})
    response = worker("POST", f"{base}/fail", json={"token": lease["token"], "error": "unreadable"})
    assert response.status_code == 200
    assert TIME.fullmatch(response.json["retry_at"])
    assert form_queue.get("one").last_error == "unreadable"


def test_fail_without_retry_makes_item_dead(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    body = {"token": lease["token"], "error": "no such kind", "retry": False}
    response = worker("POST", f"/queues/{form_queue.name}/items/one/fail", json=body)
    assert (response.status_code, response.json["retry_at"]) == (200, None)
    assert form_queue.get("one").state == "dead"


@pytest.mark.parametrize(
    ("verb", "fields"), [("abandon", {}), ("abandon", {"again": False}), ("fail", {"error": "unreadable"})]
)
def test_abandon_or_fail_with_then_reserve_returns_next_lease(
    form_queue: leaseq.Queue, worker: Caller, accounts: Accounts, verb: str, fields: dict[str, object]
) -> None:
    accounts.change(worker.name, by="test", skills=["fr"])
    lease = reserve(form_queue, worker)
    form_queue.enqueue({"text": "bonjour"}, id="french", requires=["fr"], priority=0)
    path = f"/queues/{form_queue.name}/items/one/{verb}"
    body = {"token": lease["token"], "then_reserve": True, **fields}
    first = worker("POST", path, json=body, headers={"Idempotency-Key": "k"})
    assert first.status_code == 200
    assert (first.json["id"], first.json["next"]["id"]) == ("one", "french")
    assert [one.token for one in form_queue.mine(worker.name)] == [first.json["next"]["token"]]
    assert worker("POST", path, json=body, headers={"Idempotency-Key": "k"}).json == first.json


def test_empty_reserve_has_reason_and_retry_after(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    queue.configure()
    path = f"/queues/{queue.name}"

    def empty_reply() -> tuple[int, str, bool]:
        response = worker("POST", f"{path}/reserve", json={})
        return (
            response.status_code,
            response.headers["X-Leaseq-Reason"],
            int(response.headers["Retry-After"]) > 0,
        )

    assert empty_reply() == (204, "empty", True)
    queue.enqueue({}, id="x")
    response = manager("POST", f"{path}/pause", json={"reason": "lunch"})
    assert (response.status_code, response.json) == (200, {"paused": "lunch"})
    assert empty_reply() == (204, "paused", True)
    assert worker("GET", path).json["paused"] == "lunch"
    response = manager("POST", f"{path}/resume")
    assert (response.status_code, response.json) == (200, {"paused": None})
    reserve(queue, manager)
    assert empty_reply() == (204, "held", True)


def test_lost_lease_reports_state_and_kept_answer(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    lease = reserve(form_queue, worker)
    base = f"/queues/{form_queue.name}/items/one"
    response = manager("POST", f"{base}/release")
    assert (response.status_code, response.json["state"]) == (200, "inbound")
    other = reserve(form_queue, manager)
    assert other["id"] == "one"
    body = {"token": lease["token"], "result": ANSWER}
    response = worker("POST", f"{base}/finish", json=body)
    assert response.status_code == 409
    assert response.mimetype == "application/problem+json"
    assert {
        key: response.json[key] for key in ("code", "rule", "values", "state", "answer_kept", "status")
    } == {
        "code": "lease-lost",
        "rule": "lease_lost",
        "values": {"id": "one", "what": "reserved"},
        "state": "reserved",
        "answer_kept": True,
        "status": 409,
    }
    response = worker("POST", f"{base}/renew", json={"token": lease["token"]})
    assert (response.status_code, response.json["answer_kept"]) == (409, False)
    (late,) = manager("GET", base).json["late_answers"]
    assert (late["person"], late["result"]) == (worker.name, ANSWER)
    response = manager("POST", f"{base}/adopt", json={"token": late["token"]})
    assert response.status_code == 200
    assert (response.json["state"], response.json["answers"][0]["person"]) == ("finished", worker.name)


def test_result_not_matching_form_is_refused_and_keeps_lease(
    form_queue: leaseq.Queue, worker: Caller
) -> None:
    lease = reserve(form_queue, worker)
    body = {"token": lease["token"], "result": {"about": "weather", "count": -1}}
    response = worker("POST", f"/queues/{form_queue.name}/items/one/finish", json=body)
    assert (response.status_code, response.json["code"]) == (422, "form")
    assert set(response.json["errors"]) == {"about", "count", "urgent"}
    assert form_queue.mine(worker.name)[0].token == lease["token"]


def test_an_id_may_hold_any_printable_character(queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    queue.configure()
    for id in ("a/b", "/", "a b?c#d%e", "ü/finish", "x/finish/finish", "<&>'\""):
        manager("POST", f"/queues/{queue.name}/items", json={"payload": 1, "id": id})
        path = f"/queues/{queue.name}/items/{quote(id, safe='')}"
        assert manager("GET", path).json["id"] == id
        lease = reserve(queue, worker)
        response = worker("POST", f"{path}/finish", json={"token": lease["token"], "result": {}})
        assert response.json["id"] == id


def test_an_idempotency_key_makes_a_post_act_once(
    queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    queue.configure(holds=5)
    key = {"Idempotency-Key": "k1"}
    path = f"/queues/{queue.name}/items"
    first = manager("POST", path, json={"payload": 1}, headers=key).json
    assert manager("POST", path, json={"payload": 1}, headers=key).json == first
    array_request = {"json": [{"payload": n} for n in range(3)], "headers": {"Idempotency-Key": "k2"}}
    assert manager("POST", path, **array_request).json == {"added": 3, "duplicates": 0}
    assert manager("POST", path, **array_request).json == {"added": 3, "duplicates": 0}
    lines_request = {
        "data": '{"payload": 1}\n{"payload": 1}\n',
        "content_type": "application/x-ndjson",
        "headers": {"Idempotency-Key": "k3"},
    }
    assert manager("POST", path, **lines_request).json == {"added": 2, "duplicates": 0}
    assert manager("POST", path, **lines_request).json == {"added": 2, "duplicates": 0}
    assert queue.stats().inbound == 6
    lease = worker("POST", f"/queues/{queue.name}/reserve", headers=key).json
    assert worker("POST", f"/queues/{queue.name}/reserve", headers=key).json["token"] == lease["token"]
    assert worker("POST", f"/queues/{queue.name}/reserve").json["token"] != lease["token"]


def test_whole_number_with_decimal_point_is_accepted(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    """JSON has one type of number: some languages write 5 as 5.0."""
    assert manager(
        "PUT", f"/queues/{form_queue.name}", data='{"holds": 2.0, "bands": [40.0, 150]}', **JSON
    ).json
    assert (form_queue.policy.holds, form_queue.policy.bands) == (2, (40, 150))
    item_body = '{"payload": 1, "id": "three", "priority": 7.0, "max_attempts": 5e0}'
    assert manager("POST", f"/queues/{form_queue.name}/items", data=item_body, **JSON).status_code == 201
    assert form_queue.get("three").priority == 7
    lease = reserve(form_queue, worker)
    body = f'{{"token": {lease["token"]}.0}}'
    assert worker("POST", f"/queues/{form_queue.name}/items/{lease['id']}/renew", data=body, **JSON).json


def test_stale_token_refusal_names_current_token_of_same_person(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
    lease = reserve(form_queue, worker)
    base = f"/queues/{form_queue.name}/items/one"
    manager("POST", f"{base}/release")
    second_lease = reserve(form_queue, worker)
    assert (second_lease["id"], second_lease["token"] > lease["token"]) == ("one", True)
    for verb, body in (("renew", {}), ("finish", {"result": ANSWER}), ("abandon", {})):
        response = worker("POST", f"{base}/{verb}", json={"token": lease["token"], **body})
        assert (response.status_code, response.json["code"]) == (409, "lease-lost")
        assert f"the same person holds it, under token {second_lease['token']}" in response.json["detail"]


@pytest.mark.parametrize(
    ("verb", "fields"), [("abandon", {}), ("abandon", {"again": False}), ("fail", {"error": "unreadable"})]
)
def test_undo_returns_abandoned_or_failed_item_to_person(
    form_queue: leaseq.Queue, worker: Caller, app: Flask, verb: str, fields: dict[str, object]
) -> None:
    lease = reserve(form_queue, worker)
    base, token_body = f"/queues/{form_queue.name}/items/one", {"token": lease["token"]}
    worker("PUT", f"{base}/draft", json={**token_body, "draft": {"note": "so f"}})
    outcome = worker("POST", f"{base}/{verb}", json={**token_body, "then_reserve": True, **fields}).json
    response = worker("POST", f"{base}/undo", json=token_body, headers={"Idempotency-Key": "k"})
    assert (response.status_code, response.json["id"], response.json["draft"]) == (
        200,
        "one",
        {"note": "so f"},
    )
    tokens = [one.token for one in form_queue.mine(worker.name)]
    assert tokens == [response.json["token"], outcome["next"]["token"]]
    today = app.extensions["leaseq"].activity.today(worker.name, form_queue.name)
    assert (today.abandoned, today.failed) == (0, 0)
    repeated_response = worker("POST", f"{base}/undo", json=token_body)
    assert (repeated_response.status_code, repeated_response.json["code"]) == (409, "lease-lost")


def test_undo_of_adopted_answer_is_refused(form_queue: leaseq.Queue, worker: Caller, manager: Caller) -> None:
    lease = reserve(form_queue, worker)
    base = f"/queues/{form_queue.name}/items/one"
    manager("POST", f"{base}/release")
    assert reserve(form_queue, manager)["id"] == "one"
    body = {"token": lease["token"], "result": ANSWER}
    assert worker("POST", f"{base}/finish", json=body).json["answer_kept"]
    assert manager("POST", f"{base}/adopt", json={"token": lease["token"]}).status_code == 200
    response = worker("POST", f"{base}/undo", json={"token": lease["token"]})
    assert (response.status_code, response.json["code"], response.json["state"]) == (
        409,
        "lease-lost",
        "finished",
    )
    assert "only a manager can change it" in response.json["detail"]
    assert [one["person"] for one in manager("GET", base).json["answers"]] == [worker.name]


def test_an_answer_is_reopened_and_corrected(
    worker: Caller, manager: Caller, form_queue: leaseq.Queue
) -> None:
    base = f"/queues/{form_queue.name}/items/one"
    first = worker("POST", f"/queues/{form_queue.name}/reserve", json={}).json
    answer = {"about": "refund", "urgent": True}
    worker("POST", f"{base}/finish", json={"token": first["token"], "result": answer})
    reopen_body = {"token": first["token"], "to": worker.name, "reason": "it is a delivery"}
    item = manager("POST", f"{base}/reopen", json=reopen_body).json
    assert (item["state"], item["assigned_to"], item["answers"]) == ("inbound", [worker.name], [])
    assert (item["history"][0]["how"], item["history"][0]["reason"]) == ("reopened", "it is a delivery")
    assert item["late_answers"][0]["result"] == answer
    lease = worker("POST", f"/queues/{form_queue.name}/reserve", json={}).json
    assert (lease["id"], lease["draft"]) == ("one", answer)
    worker("POST", f"{base}/finish", json={"token": lease["token"], "result": answer})
    correct_body = {"token": lease["token"], "result": {**answer, "about": "delivery"}}
    response = manager("POST", f"{base}/correct", json={**correct_body, "result": {"about": 5}})
    assert (response.status_code, response.json["code"]) == (422, "form")
    (corrected_answer,) = manager("POST", f"{base}/correct", json=correct_body).json["answers"]
    assert (corrected_answer["person"], corrected_answer["result"]["about"]) == (manager.name, "delivery")
    response = manager(
        "POST", f"{base}/reopen", json={"token": corrected_answer["token"], "to": "nobody here"}
    )
    assert (response.status_code, response.json["field"]) == (400, "to")
    for verb in ("reopen", "correct"):
        assert worker("POST", f"{base}/{verb}", json=correct_body).status_code == 403

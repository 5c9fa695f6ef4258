"""A POST repeated with its idempotency key acts once and gets the same response."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import state
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.idempotency import IdempotencyStore
from tests.support.leases import not_none
from tests.support.waiting import eventually
from tests.web.api_calls import ANSWER, CALLS, assert_problem, reserve, whole_state
from tests.web.conftest import Caller

REPLAYED_HEADER = "Idempotency-Replayed"
KEY = {"Idempotency-Key": "the same again"}


def make_held(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.enqueue({"text": "another"}, id="other")
    return int(reserve(queue, worker)["token"])


def leave_waiting(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    return 1


def make_dead(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.configure(max_attempts=1)
    lease = not_none(queue.reserve(worker.name))
    queue.fail(lease, "unreadable")
    return lease.token


def make_finished(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = not_none(queue.reserve(worker.name))
    queue.finish(lease, ANSWER)
    return lease.token


def make_answered_late(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = not_none(queue.reserve(worker.name))
    queue.release("one")
    queue.reserve(manager.name)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, ANSWER)
    return lease.token


def make_paused(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.pause("lunch")
    return 1


PREPARATIONS: dict[str, Callable[[leaseq.Queue, Caller, Caller], int]] = {
    "put item": leave_waiting,
    "reserve": leave_waiting,
    "finish": make_held,
    "undo": make_finished,
    "abandon": make_held,
    "fail": make_held,
    "renew": make_held,
    "adopt": make_answered_late,
    "reopen": make_finished,
    "correct": make_finished,
    "revive": make_dead,
    "revive all": make_dead,
    "remove all": leave_waiting,
    "cancel": make_held,
    "release": make_held,
    "assign": leave_waiting,
    "change": leave_waiting,
    "clear": make_held,
    "pause": leave_waiting,
    "resume": make_paused,
}


def test_table_has_every_post_and_patch() -> None:
    assert set(PREPARATIONS) == {
        name for name, (_, method, _, _) in CALLS.items() if method in ("POST", "PATCH")
    }


@pytest.mark.parametrize("name", PREPARATIONS)
def test_a_post_sent_twice_acts_once(
    form_queue: leaseq.Queue, worker: Caller, manager: Caller, name: str
) -> None:
    role, method, path, valid_body = CALLS[name]
    form_queue.configure(holds=2, lease_seconds=600)
    token = PREPARATIONS[name](form_queue, worker, manager)
    body = {**valid_body, **({"token": token} if "token" in valid_body else {})}
    if name == "finish":
        body |= {"result": ANSWER, "then_reserve": True}
    if name == "assign":
        body = {"person": worker.name}
    caller = worker if role == "worker" else manager

    def send() -> Any:
        return caller(method, path.format(q=form_queue.name), json=body, headers=KEY)

    first = send()
    assert first.status_code < 300, first.text
    expected = whole_state(form_queue)
    second = send()
    assert second.status_code == first.status_code, second.text
    assert whole_state(form_queue) == expected
    assert second.data == first.data
    header_names = ("Content-Type", "Retry-After", "X-Leaseq-Reason")
    assert [second.headers.get(one) for one in header_names] == [
        first.headers.get(one) for one in header_names
    ]
    assert (first.headers.get(REPLAYED_HEADER), second.headers[REPLAYED_HEADER]) == (None, "true")
    third = caller(method, path.format(q=form_queue.name), json={**body, "x": 1}, headers=KEY)
    assert assert_problem(third, 422, "key-reused")["field"] == "Idempotency-Key"
    assert whole_state(form_queue) == expected


@pytest.mark.parametrize("name", ["put item", "reserve", "finish", "undo", "renew"])
def test_repeat_after_lost_stored_response_acts_once(
    form_queue: leaseq.Queue,
    worker: Caller,
    manager: Caller,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    role, method, path, valid_body = CALLS[name]
    form_queue.configure(holds=2, lease_seconds=600)
    body = {
        **valid_body,
        **({"token": PREPARATIONS[name](form_queue, worker, manager)} if "token" in valid_body else {}),
    }
    if name == "finish":
        body |= {"result": ANSWER, "then_reserve": True}
    caller = worker if role == "worker" else manager

    def send() -> Any:
        return caller(method, path.format(q=form_queue.name), json=body, headers=KEY)

    with monkeypatch.context() as patch:
        patch.setattr(IdempotencyStore, "keep", lambda store, person, scope, _: store.drop(person, scope))
        first = send()
    expected = whole_state(form_queue)
    second = send()
    assert (second.status_code, REPLAYED_HEADER in second.headers) == (first.status_code, False)
    assert whole_state(form_queue) == expected
    changes = {"replayed": True} if name == "finish" else {}
    assert second.json == {**first.json, **changes}


def test_repeated_request_is_logged_once(
    form_queue: leaseq.Queue, accounts: Accounts, manager: Caller
) -> None:
    path, body = f"/queues/{form_queue.name}/pause", {"reason": "lunch"}
    for _ in range(2):
        assert manager("POST", path, json=body, headers=KEY).status_code == 200
    entries = [(one.what, one.detail) for one in accounts.log.page(person=manager.name).entries]
    assert entries.count(("queue.paused", "reason: lunch")) == 1


def test_empty_reserve_is_replayed_for_same_key(form_queue: leaseq.Queue, worker: Caller) -> None:
    form_queue.pause("lunch")
    path = f"/queues/{form_queue.name}/reserve"
    first = worker("POST", path, headers=KEY)
    form_queue.resume()
    second = worker("POST", path, headers=KEY)
    assert (first.status_code, first.headers["X-Leaseq-Reason"]) == (204, "paused")
    assert (second.status_code, second.headers["X-Leaseq-Reason"]) == (204, "paused")
    assert second.headers["Retry-After"] == first.headers["Retry-After"]
    assert worker("POST", path, headers={"Idempotency-Key": "a new one"}).status_code == 200


@pytest.mark.guard("key-of-a-person")
def test_idempotency_key_is_scoped_to_person_and_path(
    form_queue: leaseq.Queue, worker: Caller, make_caller: Any
) -> None:
    path = f"/queues/{form_queue.name}/reserve"
    own_response, other_response = (
        worker("POST", path, headers=KEY),
        make_caller("worker")("POST", path, headers=KEY),
    )
    assert (own_response.json["id"], other_response.json["id"]) == ("one", "two")
    body = {"token": own_response.json["token"]}
    response = worker("POST", f"/queues/{form_queue.name}/items/one/renew", json=body, headers=KEY)
    assert (response.status_code, REPLAYED_HEADER in response.headers) == (200, False)


@pytest.mark.parametrize("kind", ["item", "array", "lines"])
def test_equal_items_of_two_people_with_same_key_are_both_added(
    form_queue: leaseq.Queue, make_caller: Callable[[str], Caller], kind: str
) -> None:
    """A key such as "1" or a date may well be used by several people."""
    path, item = f"/queues/{form_queue.name}/items", '{"payload": {"text": "alike"}}'
    body = f"[{item}]" if kind == "array" else item
    mimetype = "application/x-ndjson" if kind == "lines" else "application/json"
    before = {one.id for one in form_queue.items("inbound")}

    def send(sender: Caller) -> Any:
        return sender("POST", path, data=body, content_type=mimetype, headers=KEY)

    ann, bob = make_caller("manager"), make_caller("manager")
    assert [send(sender).status_code for sender in (ann, bob)] == [201, 201]
    new_items = [one for one in form_queue.items("inbound") if one.id not in before]
    assert [one.payload for one in new_items] == [{"text": "alike"}] * 2
    assert send(bob).headers[REPLAYED_HEADER] == "true"
    assert form_queue.stats().inbound == 4


def test_different_items_of_two_people_with_same_key_are_both_added(
    form_queue: leaseq.Queue, make_caller: Callable[[str], Caller]
) -> None:
    for n, sender in enumerate((make_caller("manager"), make_caller("manager"))):
        response = sender("POST", f"/queues/{form_queue.name}/items", json={"payload": n}, headers=KEY)
        assert (response.status_code, response.json["added"]) == (201, True)
        assert form_queue.get(response.json["id"]).payload == n


def test_refused_request_may_be_corrected_under_same_key(form_queue: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(form_queue, worker)
    path, body = f"/queues/{form_queue.name}/items/one/finish", {"token": lease["token"], "result": {}}
    assert_problem(worker("POST", path, json=body, headers=KEY), 422, "form")
    assert worker("POST", path, json={**body, "result": ANSWER}, headers=KEY).status_code == 200


def test_completed_request_unlocks_its_key(app: Flask, form_queue: leaseq.Queue, worker: Caller) -> None:
    """A lock that was still renewed would refuse the key if the answer could not be kept."""
    for body in ({}, {"wait": "no number"}):
        worker("POST", f"/queues/{form_queue.name}/reserve", json=body, headers=KEY)
        with app.app_context():
            assert state().idempotency._locks._marks == set()


def test_repeat_during_first_request_is_refused_as_in_progress(
    app: Any, form_queue: leaseq.Queue, worker: Caller
) -> None:
    form_queue.remove("one")
    form_queue.remove("two")
    path, headers = f"/queues/{form_queue.name}/reserve", {"Authorization": f"Bearer {worker.token}", **KEY}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(app.test_client().post, f"/api/v1{path}", json={"wait": 30}, headers=headers)
        eventually(lambda: form_queue.stats().waiting or first.done())
        second = worker("POST", path, json={"wait": 30}, headers=KEY)
        assert assert_problem(second, 409, "in-progress")["detail"].endswith(": send it again in 1 s")
        assert second.headers["Retry-After"] == "1"
        assert_problem(worker("POST", path, json={"wait": 20}, headers=KEY), 422, "key-reused")
        form_queue.enqueue({"text": "here"}, id="three")
        assert first.result().json["id"] == "three"
    assert worker("POST", path, json={"wait": 30}, headers=KEY).json == first.result().json


def test_repeated_lines_are_replayed_and_changed_lines_are_refused(
    form_queue: leaseq.Queue, manager: Caller
) -> None:
    def send(lines: str) -> Any:
        return manager(
            "POST",
            f"/queues/{form_queue.name}/items",
            data=lines,
            content_type="application/x-ndjson",
            headers=KEY,
        )

    lines = '{"payload": 1}\n' * 20_000
    first, second = send(lines), send(lines)
    assert (first.status_code, first.json) == (201, {"added": 20_000, "duplicates": 0})
    assert (second.status_code, second.json, second.headers[REPLAYED_HEADER]) == (201, first.json, "true")
    assert_problem(send(lines + '{"payload": 2}'), 422, "key-reused")
    assert form_queue.stats().inbound == 20_002

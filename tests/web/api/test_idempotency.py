"""Each POST of REST may be sent again with its key after a lost reply: the same answer, and it acts once."""

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
from tests.support.patience import eventually
from tests.support.taking import not_none
from tests.web.api_calls import ANSWER, CALLS, everything, problem, reserve
from tests.web.conftest import Caller

AGAIN = "Idempotency-Replayed"
KEY = {"Idempotency-Key": "the same again"}


def held(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.enqueue({"text": "another"}, id="other")
    return int(reserve(queue, worker)["token"])


def waiting(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    return 1


def dead(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.configure(max_attempts=1)
    lease = not_none(queue.reserve(worker.name))
    queue.fail(lease, "unreadable")
    return lease.token


def finished(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = not_none(queue.reserve(worker.name))
    queue.finish(lease, ANSWER)
    return lease.token


def answered_late(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = not_none(queue.reserve(worker.name))
    queue.release("one")
    queue.reserve(manager.name)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, ANSWER)
    return lease.token


def paused(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.pause("lunch")
    return 1


BEFORE: dict[str, Callable[[leaseq.Queue, Caller, Caller], int]] = {
    "put item": waiting,
    "reserve": waiting,
    "finish": held,
    "undo": finished,
    "abandon": held,
    "fail": held,
    "renew": held,
    "adopt": answered_late,
    "reopen": finished,
    "correct": finished,
    "revive": dead,
    "revive all": dead,
    "remove all": waiting,
    "release": held,
    "assign": waiting,
    "change": waiting,
    "clear": held,
    "pause": waiting,
    "resume": paused,
}


def test_every_post_is_in_the_table() -> None:
    assert set(BEFORE) == {name for name, (_, method, _, _) in CALLS.items() if method in ("POST", "PATCH")}


@pytest.mark.parametrize("name", BEFORE)
def test_a_post_sent_twice_acts_once(
    asking: leaseq.Queue, worker: Caller, manager: Caller, name: str
) -> None:
    role, method, path, good = CALLS[name]
    asking.configure(holds=2, lease_seconds=600)
    token = BEFORE[name](asking, worker, manager)
    body = {**good, **({"token": token} if "token" in good else {})}
    if name == "finish":
        body |= {"result": ANSWER, "then_reserve": True}
    if name == "assign":
        body = {"person": worker.name}
    caller = worker if role == "worker" else manager

    def send() -> Any:
        return caller(method, path.format(q=asking.name), json=body, headers=KEY)

    first = send()
    assert first.status_code < 300, first.text
    once = everything(asking)
    again = send()
    assert again.status_code == first.status_code, again.text
    assert everything(asking) == once
    assert again.data == first.data
    kept = ("Content-Type", "Retry-After", "X-Leaseq-Reason")
    assert [again.headers.get(one) for one in kept] == [first.headers.get(one) for one in kept]
    assert (first.headers.get(AGAIN), again.headers[AGAIN]) == (None, "true")
    another = caller(method, path.format(q=asking.name), json={**body, "x": 1}, headers=KEY)
    assert problem(another, 422, "key-reused")["field"] == "Idempotency-Key"
    assert everything(asking) == once


@pytest.mark.parametrize("name", ["put item", "reserve", "finish", "undo", "renew"])
def test_a_process_that_died_before_it_answered_leaves_nothing_to_be_done_twice(
    asking: leaseq.Queue,
    worker: Caller,
    manager: Caller,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    role, method, path, good = CALLS[name]
    asking.configure(holds=2, lease_seconds=600)
    body = {**good, **({"token": BEFORE[name](asking, worker, manager)} if "token" in good else {})}
    if name == "finish":
        body |= {"result": ANSWER, "then_reserve": True}
    caller = worker if role == "worker" else manager

    def send() -> Any:
        return caller(method, path.format(q=asking.name), json=body, headers=KEY)

    with monkeypatch.context() as patch:
        patch.setattr(IdempotencyStore, "keep", lambda sent, who, scope, _: sent.drop(who, scope))
        first = send()
    once = everything(asking)
    again = send()
    assert (again.status_code, AGAIN in again.headers) == (first.status_code, False)
    assert everything(asking) == once
    said = {"replayed": True} if name == "finish" else {}
    assert again.json == {**first.json, **said}


def test_what_came_again_is_in_the_managers_log_once(
    asking: leaseq.Queue, accounts: Accounts, manager: Caller
) -> None:
    path, body = f"/queues/{asking.name}/pause", {"reason": "lunch"}
    for _ in range(2):
        assert manager("POST", path, json=body, headers=KEY).status_code == 200
    entries = [(one.what, one.detail) for one in accounts.log.page(person=manager.name).entries]
    assert entries.count(("queue.paused", "reason: lunch")) == 1


def test_nothing_now_stays_the_answer_of_its_key(asking: leaseq.Queue, worker: Caller) -> None:
    asking.pause("lunch")
    path = f"/queues/{asking.name}/reserve"
    first = worker("POST", path, headers=KEY)
    asking.resume()
    again = worker("POST", path, headers=KEY)
    assert (first.status_code, first.headers["X-Leaseq-Reason"]) == (204, "paused")
    assert (again.status_code, again.headers["X-Leaseq-Reason"]) == (204, "paused")
    assert again.headers["Retry-After"] == first.headers["Retry-After"]
    assert worker("POST", path, headers={"Idempotency-Key": "a new one"}).status_code == 200


def test_a_key_belongs_to_a_person_and_a_path(asking: leaseq.Queue, worker: Caller, caller: Any) -> None:
    path = f"/queues/{asking.name}/reserve"
    mine, theirs = worker("POST", path, headers=KEY), caller("worker")("POST", path, headers=KEY)
    assert (mine.json["id"], theirs.json["id"]) == ("one", "two")
    body = {"token": mine.json["token"]}
    renewed = worker("POST", f"/queues/{asking.name}/items/one/renew", json=body, headers=KEY)
    assert (renewed.status_code, AGAIN in renewed.headers) == (200, False)


@pytest.mark.parametrize("kind", ["item", "array", "lines"])
def test_two_people_with_one_key_both_put_in_what_they_sent(
    asking: leaseq.Queue, caller: Callable[[str], Caller], kind: str
) -> None:
    """A key such as "1" or a date is likely to be somebody else's as well."""
    path, item = f"/queues/{asking.name}/items", '{"payload": {"text": "alike"}}'
    body = f"[{item}]" if kind == "array" else item
    mimetype = "application/x-ndjson" if kind == "lines" else "application/json"
    before = {one.id for one in asking.items("inbound")}

    def send(who: Caller) -> Any:
        return who("POST", path, data=body, content_type=mimetype, headers=KEY)

    ann, bob = caller("manager"), caller("manager")
    assert [send(who).status_code for who in (ann, bob)] == [201, 201]
    entered = [one for one in asking.items("inbound") if one.id not in before]
    assert [one.payload for one in entered] == [{"text": "alike"}] * 2
    assert send(bob).headers[AGAIN] == "true"
    assert asking.stats().inbound == 4


def test_two_people_with_one_key_put_in_different_things(
    asking: leaseq.Queue, caller: Callable[[str], Caller]
) -> None:
    for n, who in enumerate((caller("manager"), caller("manager"))):
        sent = who("POST", f"/queues/{asking.name}/items", json={"payload": n}, headers=KEY)
        assert (sent.status_code, sent.json["added"]) == (201, True)
        assert asking.get(sent.json["id"]).payload == n


def test_what_is_refused_may_be_mended_under_the_same_key(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    path, body = f"/queues/{asking.name}/items/one/finish", {"token": lease["token"], "result": {}}
    problem(worker("POST", path, json=body, headers=KEY), 422, "form")
    assert worker("POST", path, json={**body, "result": ANSWER}, headers=KEY).status_code == 200


def test_a_request_that_is_over_holds_its_key_no_longer(
    app: Flask, asking: leaseq.Queue, worker: Caller
) -> None:
    """A lock that went on being renewed would refuse the key where the answer could not be kept."""
    for body in ({}, {"wait": "no number"}):
        worker("POST", f"/queues/{asking.name}/reserve", json=body, headers=KEY)
        with app.app_context():
            assert state().idempotency._locks._marks == set()


def test_while_the_first_runs_the_second_is_told_to_wait(
    app: Any, asking: leaseq.Queue, worker: Caller
) -> None:
    asking.remove("one")
    asking.remove("two")
    path, headers = f"/queues/{asking.name}/reserve", {"Authorization": f"Bearer {worker.token}", **KEY}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(app.test_client().post, f"/api/v1{path}", json={"wait": 30}, headers=headers)
        eventually(lambda: asking.stats().waiting or first.done())
        busy = worker("POST", path, json={"wait": 30}, headers=KEY)
        assert problem(busy, 409, "in-progress")["detail"].endswith(": send it again in 1 s")
        assert busy.headers["Retry-After"] == "1"
        problem(worker("POST", path, json={"wait": 20}, headers=KEY), 422, "key-reused")
        asking.enqueue({"text": "here"}, id="three")
        assert first.result().json["id"] == "three"
    assert worker("POST", path, json={"wait": 30}, headers=KEY).json == first.result().json


def test_a_stream_of_lines_is_answered_the_same_and_known_by_its_bytes(
    asking: leaseq.Queue, manager: Caller
) -> None:
    def send(lines: str) -> Any:
        return manager(
            "POST",
            f"/queues/{asking.name}/items",
            data=lines,
            content_type="application/x-ndjson",
            headers=KEY,
        )

    lines = '{"payload": 1}\n' * 20_000
    first, again = send(lines), send(lines)
    assert (first.status_code, first.json) == (201, {"added": 20_000, "duplicates": 0})
    assert (again.status_code, again.json, again.headers[AGAIN]) == (201, first.json, "true")
    problem(send(lines + '{"payload": 2}'), 422, "key-reused")
    assert asking.stats().inbound == 20_002

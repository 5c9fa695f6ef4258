"""Each POST of REST may be sent again with its key after a lost reply: the same answer, and it acts once."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import leaseq
from webapp.accounts import Accounts
from webapp.sent import Kept, Running, Sent, _base

from .api_calls import ANSWER, CALLS, everything, problem, reserve
from .conftest import Caller

AGAIN = "Idempotency-Replayed"
KEY = {"Idempotency-Key": "the same again"}


def held(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.enqueue({"text": "another"}, id="other")
    return int(reserve(queue, worker)["token"])


def waiting(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    return 1


def dead(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    queue.configure(max_attempts=1)
    lease = queue.reserve(worker.name)
    queue.fail(lease, "unreadable")
    return lease.token


def finished(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = queue.reserve(worker.name)
    queue.finish(lease, ANSWER)
    return lease.token


def answered_late(queue: leaseq.Queue, worker: Caller, manager: Caller) -> int:
    lease = queue.reserve(worker.name)
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
    "revive": dead,
    "revive all": dead,
    "release": held,
    "assign": waiting,
    "clear": held,
    "pause": waiting,
    "resume": paused,
}


def test_every_post_is_in_the_table() -> None:
    assert set(BEFORE) == {name for name, (_, method, _, _) in CALLS.items() if method == "POST"}


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
        patch.setattr(Sent, "keep", lambda sent, who, scope, _: sent.drop(who, scope))
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
    told = [(one.what, one.detail) for one in accounts.log.page(person=manager.name).entries]
    assert told.count(("queue.paused", "reason: lunch")) == 1


def test_nothing_now_stays_the_answer_of_its_key(
    asking: leaseq.Queue, worker: Caller, manager: Caller
) -> None:
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


def test_what_is_refused_may_be_mended_under_the_same_key(asking: leaseq.Queue, worker: Caller) -> None:
    lease = reserve(asking, worker)
    path, body = f"/queues/{asking.name}/items/one/finish", {"token": lease["token"], "result": {}}
    problem(worker("POST", path, json=body, headers=KEY), 422, "form")
    assert worker("POST", path, json={**body, "result": ANSWER}, headers=KEY).status_code == 200


def test_while_the_first_runs_the_second_is_told_to_wait(
    app: Any, asking: leaseq.Queue, worker: Caller, server: Any
) -> None:
    asking.remove("one")
    asking.remove("two")
    path, headers = f"/queues/{asking.name}/reserve", {"Authorization": f"Bearer {worker.token}", **KEY}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(app.test_client().post, f"/api/v1{path}", json={"wait": 30}, headers=headers)
        while not asking.stats().waiting:
            assert not first.done()
        busy = worker("POST", path, json={"wait": 30}, headers=KEY)
        problem(busy, 409, "in-progress")
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


def test_a_server_that_is_away_when_the_answer_is_kept_does_not_take_it_back(
    asking: leaseq.Queue, worker: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: Any) -> None:
        raise leaseq.ServerUnavailable("no answer")

    monkeypatch.setattr(Sent, "_keep", away)
    assert worker("POST", f"/queues/{asking.name}/reserve", headers=KEY).status_code == 200
    assert "not kept" in caplog.text


def test_a_mark_lasts_while_its_request_runs_and_little_longer(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a process that died leaves behind is one that nobody renews."""
    monkeypatch.setattr("webapp.running._RENEWED_EVERY", 0.05)
    monkeypatch.setattr("webapp.sent.MARKED_SECONDS", 1)
    sent, mark = Sent(server.client), f"{_base(queue_name)}running:s"
    assert sent.begin(queue_name, "s", "h") is None
    deadline = time.monotonic() + 10
    while server.redis.pttl(mark) <= 1_000:  # renewed, it lasts as long as any
        assert time.monotonic() < deadline
    assert Sent(server.client).begin(queue_name, "s", "h") == Running("h")
    sent.end(queue_name, "s")
    server.redis.pexpire(mark, 1)
    while server.redis.exists(mark):
        assert time.monotonic() < deadline
    assert sent.begin(queue_name, "s", "h") is None
    sent.end(queue_name, "s")


class Later:
    """A time that the test moves."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def answers_of(sent: Sent, person: str, scopes: list[str]) -> list[str]:
    found = []
    for scope in scopes:
        if isinstance(sent.begin(person, scope, "h"), Kept):
            found.append(scope)
        else:
            sent.end(person, scope)
    return found


def test_what_is_kept_of_a_person_is_bounded_and_goes_after_a_day(
    server: Any, monkeypatch: pytest.MonkeyPatch, queue_name: str
) -> None:
    clock = Later()
    sent, answer = Sent(server.client, clock=clock), Kept("h", 200, {}, b"{}")
    monkeypatch.setattr("webapp.sent.MOST", 3)
    scopes = [f"s{number}" for number in range(5)]
    sent.keep("another " + queue_name, "s0", answer)
    for scope in scopes:
        clock.now += 1
        sent.keep(queue_name, scope, answer)
    assert answers_of(sent, queue_name, scopes) == ["s2", "s3", "s4"]
    assert answers_of(sent, "another " + queue_name, scopes) == ["s0"]
    clock.now += 86_401
    sent.keep(queue_name, "s5", answer)
    assert answers_of(sent, queue_name, [*scopes, "s5"]) == ["s5"]
    monkeypatch.setattr("webapp.sent.MOST_BYTES", 100_000)
    for scope in scopes:
        clock.now += 1
        sent.keep(queue_name, scope, Kept("h", 200, {}, secrets.token_bytes(30_000)))
    assert answers_of(sent, queue_name, [*scopes, "s5"]) == ["s3", "s4"]
    times = [server.redis.ttl(key) for key in server.redis.keys(f"{_base(queue_name)}*")]
    assert all(seconds != -1 and seconds <= 86_401 for seconds in times), times  # -2: gone meanwhile


def test_an_answer_that_is_too_long_to_be_kept_is_not_acted_on_again(
    queue: leaseq.Queue, worker: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.enqueue({"text": secrets.token_hex(2_000)}, id="long")
    monkeypatch.setattr("webapp.sent.LONGEST", 1_000)
    path = f"/queues/{queue.name}/reserve"
    assert worker("POST", path, headers=KEY).json["id"] == "long"
    problem(worker("POST", path, headers=KEY), 409, "answer-not-kept")

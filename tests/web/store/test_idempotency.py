"""Stored responses of requests with an idempotency key: limits and lifetimes."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.idempotency import IdempotencyStore, InProgress, StoredResponse, _base
from tests.support.refused import unavailable
from tests.support.waiting import eventually
from tests.web.api_calls import assert_problem
from tests.web.conftest import Caller

KEY = {"Idempotency-Key": "the same again"}


def test_failure_to_store_response_does_not_fail_request(
    form_queue: leaseq.Queue,
    worker: Caller,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def raise_unavailable(*_: Any) -> None:
        raise unavailable()

    monkeypatch.setattr(IdempotencyStore, "_keep", raise_unavailable)
    assert worker("POST", f"/queues/{form_queue.name}/reserve", headers=KEY).status_code == 200
    assert "not kept" in caplog.text


def test_in_progress_mark_is_renewed_while_request_runs(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark of a process that died is not renewed, and expires."""
    monkeypatch.setattr("leaseq.webapp.store.base._RENEWAL_SECONDS", 0.05)
    monkeypatch.setattr("leaseq.webapp.store.idempotency.MARKED_SECONDS", 1)
    store, mark = IdempotencyStore(server.client), f"{_base(queue_name)}running:s"
    assert store.begin(queue_name, "s", "h") is None
    eventually(lambda: server.redis.pttl(mark) > 1_000)  # renewed, it lasts as long as a new one
    assert IdempotencyStore(server.client).begin(queue_name, "s", "h") == InProgress("h")
    store.end(queue_name, "s")
    server.redis.pexpire(mark, 1)
    eventually(lambda: not server.redis.exists(mark))
    assert store.begin(queue_name, "s", "h") is None
    store.end(queue_name, "s")


class AdjustableClock:
    """A clock that the test moves."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def scopes_with_response(store: IdempotencyStore, person: str, scopes: list[str]) -> list[str]:
    matches = []
    for scope in scopes:
        if isinstance(store.begin(person, scope, "h"), StoredResponse):
            matches.append(scope)
        else:
            store.end(person, scope)
    return matches


def test_stored_responses_are_bounded_per_person_and_expire(
    server: Any, monkeypatch: pytest.MonkeyPatch, queue_name: str
) -> None:
    clock = AdjustableClock()
    store, response = IdempotencyStore(server.client, clock=clock), StoredResponse("h", 200, {}, b"{}")
    monkeypatch.setattr("leaseq.webapp.store.idempotency.MAX_RESPONSES", 3)
    scopes = [f"s{number}" for number in range(5)]
    store.keep("another " + queue_name, "s0", response)
    for scope in scopes:
        clock.now += 1
        store.keep(queue_name, scope, response)
    assert scopes_with_response(store, queue_name, scopes) == ["s2", "s3", "s4"]
    assert scopes_with_response(store, "another " + queue_name, scopes) == ["s0"]
    clock.now += 86_401
    store.keep(queue_name, "s5", response)
    assert scopes_with_response(store, queue_name, [*scopes, "s5"]) == ["s5"]
    monkeypatch.setattr("leaseq.webapp.store.idempotency.MAX_BYTES", 100_000)
    for scope in scopes:
        clock.now += 1
        store.keep(queue_name, scope, StoredResponse("h", 200, {}, secrets.token_bytes(30_000)))
    assert scopes_with_response(store, queue_name, [*scopes, "s5"]) == ["s3", "s4"]
    lifetimes = [server.redis.ttl(key) for key in server.redis.keys(f"{_base(queue_name)}*")]
    assert all(seconds != -1 and seconds <= 86_401 for seconds in lifetimes), lifetimes  # -2: expired by now


def test_expired_responses_are_deleted_in_batches(
    server: Any, monkeypatch: pytest.MonkeyPatch, queue_name: str
) -> None:
    monkeypatch.setattr("leaseq.webapp.store.idempotency._BATCH", 2)
    clock, scopes = AdjustableClock(), [f"s{number}" for number in range(6)]
    store, response = IdempotencyStore(server.client, clock=clock), StoredResponse("h", 200, {}, b"{}")
    for scope in scopes[:-1]:
        clock.now += 1
        store.keep(queue_name, scope, response)
    clock.now += 86_401
    store.keep(queue_name, scopes[-1], response)
    assert scopes_with_response(store, queue_name, scopes) == scopes[2:]


@pytest.mark.parametrize("second_size", [30_000, 29_000], ids=["as long", "shorter"])
def test_replaced_response_counts_once_towards_limit(
    server: Any, monkeypatch: pytest.MonkeyPatch, queue_name: str, second_size: int
) -> None:
    """As after two parallel requests with the same key; no other stored response is evicted."""
    clock = AdjustableClock()
    store = IdempotencyStore(server.client, clock=clock)
    monkeypatch.setattr(
        "leaseq.webapp.store.idempotency.MAX_BYTES", 130_000
    )  # three fit: 30,000 bytes are stored as 37,500
    for scope, size in (("s0", 30_000), ("s1", 30_000), ("s1", second_size), ("s2", 30_000)):
        clock.now += 1
        store.keep(queue_name, scope, StoredResponse("h", 200, {}, secrets.token_bytes(size)))
    assert scopes_with_response(store, queue_name, ["s0", "s1", "s2"]) == ["s0", "s1", "s2"]
    for scope, remaining in (("s3", ["s1", "s2", "s3"]), ("s4", ["s2", "s3", "s4"])):
        clock.now += 1
        store.keep(queue_name, scope, StoredResponse("h", 200, {}, secrets.token_bytes(30_000)))
        assert scopes_with_response(store, queue_name, ["s0", "s1", "s2", "s3", "s4"]) == remaining


def test_key_reused_after_a_day_returns_new_response(server: Any, queue_name: str) -> None:
    clock = AdjustableClock()
    store = IdempotencyStore(server.client, clock=clock)
    store.keep(queue_name, "s0", StoredResponse("h", 200, {}, b"yesterday's"))
    server.redis.delete(f"{_base(queue_name)}answer:s0")  # as the server does after a day
    clock.now += 86_401
    store.keep(queue_name, "s0", StoredResponse("h", 200, {}, b"today's, which is longer"))
    response = store.begin(queue_name, "s0", "h")
    assert isinstance(response, StoredResponse)
    assert response.body == b"today's, which is longer"


def test_redis_key_of_stored_response_is_stable(server: Any, queue_name: str) -> None:
    """During an upgrade, a request may be sent to the old version, and again to the new one."""
    IdempotencyStore(server.client).keep(queue_name, "s", StoredResponse("h", 200, {}, b"{}"))
    person_hash = hashlib.sha256(queue_name.encode()).hexdigest()[:32]
    assert server.redis.exists(f"leaseq:{{@sent:{person_hash}}}:answer:s")


def test_repeat_with_too_long_response_is_refused(
    queue: leaseq.Queue, worker: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.enqueue({"text": secrets.token_hex(2_000)}, id="long")
    monkeypatch.setattr("leaseq.webapp.store.idempotency.MAX_RESPONSE_BYTES", 1_000)
    path = f"/queues/{queue.name}/reserve"
    assert worker("POST", path, headers=KEY).json["id"] == "long"
    assert_problem(worker("POST", path, headers=KEY), 409, "answer-not-kept")

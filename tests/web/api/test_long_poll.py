"""REST calls that wait for an item: they end when an item is available, and do not block other requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.serving.capacity import Waits
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.waiting import TIMEOUT, eventually
from tests.web.api_calls import assert_problem
from tests.web.conftest import SECRET, Caller
from tests.web.gunicorn_server import run_gunicorn
from tests.web.serving.test_gunicorn import call as over_http


class WaitingCall(threading.Thread):
    """A waiting request, in its own thread, and its response."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._result: Any = None
        self.start()

    def run(self) -> None:
        self._result = self._call()

    def result(self) -> Any:
        self.join(TIMEOUT)
        assert not self.is_alive(), "it still waits"
        return self._result


def test_new_item_goes_to_waiting_reserve(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure()
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    queue.enqueue({"n": 1}, id="one")
    response = waiting_call.result()
    assert (response.status_code, response.json["id"]) == (200, "one")
    assert queue.stats().waiting == 0


def test_wait_without_item_ends_with_reason(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure()
    queue.pause()
    response = worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 0.05})
    assert (response.status_code, response.headers["X-Leaseq-Reason"]) == (204, "paused")
    assert response.headers["Retry-After"] == "0", "the call has waited already"
    assert queue.stats().waiting == 0


def test_waiting_reserve_uses_skills_of_account(
    queue: leaseq.Queue, worker: Caller, accounts: Accounts
) -> None:
    queue.configure()
    accounts.change(worker.name, by="test", skills=["fr"])
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    queue.enqueue({"n": 1}, id="one", requires=["fr"])
    assert waiting_call.result().json["id"] == "one"


@pytest.mark.guard("disabled-waits-in-vain")
def test_person_disabled_while_waiting_gets_no_item(
    queue: leaseq.Queue, worker: Caller, accounts: Accounts
) -> None:
    queue.configure()
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    accounts.change(worker.name, by="test", disabled=True)
    queue.enqueue({"n": 1}, id="one")
    assert_problem(waiting_call.result(), 401, "unauthorized")
    assert queue.get("one").state == "inbound"


@pytest.mark.guard("closed-waits-in-vain")
def test_person_losing_access_or_token_while_waiting_gets_no_item(
    app: Flask, queue: leaseq.Queue, worker: Caller, accounts: Accounts
) -> None:
    queue.configure()
    access = app.extensions[EXTENSION].access
    changes: tuple[tuple[Callable[[], Any], int], ...] = (
        (lambda: access.set(queue.name, Access(Group(people=("eva",)))), 404),
        (lambda: accounts.revoke_tokens(worker.name, by="test"), 401),
    )
    for change, status in changes:
        waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
        eventually(lambda: queue.stats().waiting == 1)
        change()
        queue.enqueue({"n": 1}, id="one")
        response = waiting_call.result()
        assert (response.status_code, "payload" in response.text) == (status, False)
        assert queue.get("one").state == "inbound"
        queue.remove("one")
        access.set(queue.name, Access())


def test_skill_lost_while_waiting_leaves_item_to_others(
    queue: leaseq.Queue, worker: Caller, accounts: Accounts
) -> None:
    queue.configure()
    accounts.change(worker.name, by="test", skills=["de", "fr"])
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    accounts.change(worker.name, by="test", skills=["de"])
    queue.enqueue({"n": 1}, id="french", requires=["fr"])
    response = waiting_call.result()
    assert (response.status_code, response.data) == (204, b"")
    assert queue.get("french").state == "inbound"
    queue.enqueue({"n": 2}, id="german", requires=["de"])
    assert worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 1}).json["id"] == "german"


def test_access_lost_by_another_process_while_waiting_is_seen_at_once(
    app: Flask, server: Any, queue: leaseq.Queue, worker: Caller
) -> None:
    """Not only when the access that this process has read is a second old."""
    queue.configure()
    access, other_process = app.extensions[EXTENSION].access, QueueAccess(server.client)
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    access.get(queue.name)
    access._until = float("inf")
    try:
        other_process.set(queue.name, Access(Group(people=("eva",))))
        queue.enqueue({"n": 1}, id="one")
        assert waiting_call.result().status_code == 404
        assert queue.get("one").state == "inbound"
    finally:
        access._until = 0.0


def test_token_revoked_by_another_process_while_waiting_is_seen_at_once(
    server: Any, queue: leaseq.Queue, worker: Caller
) -> None:
    queue.configure()
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 1)
    worker("GET", "/me")  # this process reads the token again, and caches it
    Accounts(server.client).revoke_tokens(worker.name, by="test")
    queue.enqueue({"n": 1}, id="one")
    assert_problem(waiting_call.result(), 401, "unauthorized")
    assert queue.get("one").state == "inbound"


def test_person_disabled_while_waiting_leaves_item_to_others(
    queue: leaseq.Queue, worker: Caller, accounts: Accounts
) -> None:
    queue.configure(answers=2)
    holder_call = WaitingCall(lambda: queue.reserve("ann", wait=30))
    eventually(lambda: queue.stats().waiting == 1)
    waiting_call = WaitingCall(lambda: worker("POST", f"/queues/{queue.name}/reserve", json={"wait": 30}))
    eventually(lambda: queue.stats().waiting == 2)
    accounts.change(worker.name, by="test", disabled=True)
    queue.enqueue({"n": 1}, id="one")
    assert_problem(waiting_call.result(), 401, "unauthorized")
    assert [lease.person for lease in queue.get("one").leases] == ["ann"]
    assert holder_call.result().id == "one"


def test_repeated_wait_with_same_key_returns_same_lease(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure(holds=3)
    queue.enqueue_many([1, 2])
    request = {"json": {"wait": 1}, "headers": {"Idempotency-Key": "k"}}
    first, second = (worker("POST", f"/queues/{queue.name}/reserve", **request) for _ in range(2))
    assert first.json == second.json


@pytest.mark.parametrize("wait", [-1, 30.5, 3_600, "5", True, None, [1]])
def test_invalid_wait_is_refused(queue: leaseq.Queue, worker: Caller, wait: Any) -> None:
    queue.configure()
    queue.enqueue(1)
    refusal = assert_problem(
        worker("POST", f"/queues/{queue.name}/reserve", json={"wait": wait}), 400, "invalid"
    )
    assert refusal["field"] == "wait"
    assert refusal["limit"]
    assert queue.stats().reserved == 0


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    """The address of a process that handles two requests at a time."""
    with run_gunicorn(server.url, SECRET, workers=1, threads=2) as (url, _):
        yield url.removeprefix("http://")


def test_waiting_reserves_do_not_block_other_requests(
    address: str, queue: leaseq.Queue, accounts: Accounts, new_name: Callable[[str], str]
) -> None:
    queue.configure()
    tokens = []
    for _ in range(12):
        name = new_name("worker")
        accounts.add(name, by="test", role="worker")
        tokens.append(accounts.create_token(name, "test", by="test"))
    path = f"/queues/{queue.name}/reserve"

    def start_call(token: str) -> WaitingCall:
        return WaitingCall(lambda: over_http(address, token, "POST", path, {"wait": 30}))

    calls = [start_call(token) for token in tokens]
    eventually(lambda: queue.stats().waiting == 12)
    assert over_http(address, tokens[0], "GET", f"/queues/{queue.name}/mine")[0] == 200
    queue.enqueue_many(range(12))
    assert [one.result()[0] for one in calls] == [200] * 12


def test_fifth_open_wait_of_person_is_refused(queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure(holds=10)

    def wait(seconds: float) -> Any:
        return worker("POST", f"/queues/{queue.name}/reserve", json={"wait": seconds})

    calls = [WaitingCall(lambda: wait(30)) for _ in range(4)]
    eventually(lambda: queue.stats().waiting == 4)
    response = wait(30)
    assert assert_problem(response, 429, "too-many-requests")["detail"].startswith("you have 4 waits open")
    assert int(response.headers["Retry-After"]) > 0
    assert wait(0).status_code == 204, "it does not wait"
    queue.enqueue_many(range(4))
    assert {one.result().status_code for one in calls} == {200}
    assert wait(0.01).status_code == 204, "the others have ended"


def test_disconnected_client_gets_no_item(address: str, queue: leaseq.Queue, worker: Caller) -> None:
    queue.configure()
    body = b'{"wait": 30}'
    head = (
        f"POST /api/v1/queues/{queue.name}/reserve HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {worker.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        eventually(lambda: queue.stats().waiting == 1)
    eventually(lambda: queue.stats().waiting == 0, "its wait is over")
    queue.enqueue(1, id="one")
    assert queue.get("one").state == "inbound"


def test_wait_begun_during_shutdown_ends_immediately() -> None:
    waits = Waits()
    with waits.track({}) as before:
        waits.close()
        assert before.is_set()
    with waits.track({}) as after:
        assert after.is_set()

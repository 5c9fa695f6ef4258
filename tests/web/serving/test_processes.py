"""gunicorn as we run it: its processes count together, and a stop drops nobody."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.activity import Activity
from tests.support.patience import PATIENCE, eventually
from tests.support.taking import not_none
from tests.web.conftest import SECRET
from tests.web.gunicorn_place import gunicorn

TOKEN = "a token for Prometheus, long enough"


@pytest.fixture
def place(server: Any) -> Iterator[tuple[str, Any]]:
    settings: dict[str, Any] = {"LEASEQ_METRICS_TOKEN": TOKEN}
    with gunicorn(server.url, SECRET, workers=2, threads=4, **settings) as (url, process):
        yield urlsplit(url).netloc, process


@pytest.fixture
def token(accounts: Accounts, new_name: Any) -> str:
    name = new_name("worker")
    accounts.add(name, by="test")
    return accounts.create_token(name, "test", by="test")


def ask(address: str, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, bytes]:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        sent = None if body is None else json.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, sent, {**kind, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_processes_count_together(place: tuple[str, Any]) -> None:
    address, _ = place
    for _ in range(40):  # some by either process
        assert ask(address, "/login")[0] == 200
    wanted = re.compile(
        r'^leaseq_http_requests_total\{.*route="/login",status="200"\} ([\d.]+)', re.MULTILINE
    )

    def counted() -> list[float]:
        status, text = ask(address, "/metrics", Authorization=f"Bearer {TOKEN}")
        assert status == 200
        return [float(one) for one in wanted.findall(text.decode())]

    eventually(lambda: counted() == [40], "the last one is counted, which is after it is sent")
    for _ in range(6):
        assert counted() == [40]


def test_clients_that_say_nothing_take_no_thread(place: tuple[str, Any]) -> None:
    host, _, port = place[0].partition(":")
    with contextlib.ExitStack() as silent:
        for _ in range(200):  # a thread would be kept by each for five seconds, all of them for two minutes
            silent.enter_context(socket.create_connection((host, int(port))))
        connection = http.client.HTTPConnection(place[0], timeout=PATIENCE)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


def test_a_client_that_stops_half_way_is_let_go(server: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """In its headers, in its body, or in a body without a length; each would keep one of two threads."""
    line = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    halves = [
        line,
        line + b"Content-Length: 9\r\n\r\nname",
        line + b"Transfer-Encoding: chunked\r\n\r\n4\r\nna",
    ]
    with (
        gunicorn(server.url, SECRET, workers=1, threads=2, socket_seconds=1) as (url, _),
        contextlib.ExitStack() as slow,
    ):
        host, _, port = urlsplit(url).netloc.partition(":")
        for sent in halves * 2:
            client = slow.enter_context(socket.create_connection((host, int(port)), PATIENCE))
            client.sendall(sent)
            answer = client.makefile("rb").read()
            assert answer.startswith(b"HTTP/1.1 4" if sent != line else b"")
        assert ask(urlsplit(url).netloc, "/healthz")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_a_client_that_does_not_read_is_let_go(
    server: Any, accounts: Accounts, queue: leaseq.Queue, new_name: Any
) -> None:
    name = new_name("manager")
    accounts.add(name, by="test", role="manager")
    token = accounts.create_token(name, "test", by="test")
    queue.enqueue_many({"text": "x" * 200_000} for _ in range(100))
    for _ in range(100):
        queue.finish(not_none(queue.reserve("ann")), {})
    path = f"/api/v1/queues/{queue.name}/answers"
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    with gunicorn(server.url, SECRET, workers=1, threads=1, socket_seconds=1) as (url, _):
        host, _, port = urlsplit(url).netloc.partition(":")
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect((host, int(port)))
            deaf.sendall(request.encode())
            assert ask(urlsplit(url).netloc, "/healthz")[0] == 200  # once the only thread is free again


def test_a_stop_drops_no_request(place: tuple[str, Any]) -> None:
    """During shutdown an accepted connection is answered in full, and any other is refused at once."""
    address, process = place
    answered, dropped = [0], []
    enough = threading.Event()

    def load() -> None:
        while True:
            connection = http.client.HTTPConnection(address, timeout=PATIENCE)
            try:
                connection.connect()
            except ConnectionRefusedError:
                return
            try:
                for _ in range(3):  # on one connection, as long as it is kept
                    connection.request("GET", "/login")
                    answer = connection.getresponse()
                    assert answer.status == 200
                    assert answer.read().rstrip().endswith(b"</html>")
                    answered[0] += 1
                    if answered[0] > 100:
                        enough.set()
                    if answer.headers.get("Connection", "").lower() == "close":
                        break
            except (OSError, http.client.HTTPException, AssertionError) as error:
                dropped.append(repr(error))
                return
            finally:
                connection.close()

    people = [threading.Thread(target=load) for _ in range(8)]
    for one in people:
        one.start()
    assert enough.wait(PATIENCE), dropped
    process.send_signal(signal.SIGTERM)
    for one in people:
        one.join()
    assert dropped == []
    assert process.wait(PATIENCE) == 0


def test_a_stop_does_not_wait_for_clients_that_ask_nothing(server: Any) -> None:
    """Neither for one that asked before, nor for one that never did."""
    hours = ("--keep-alive", "3600", "--graceful-timeout", "3600")
    with gunicorn(server.url, SECRET, workers=1, threads=1, options=hours) as (url, process):
        address = urlsplit(url).netloc
        host, _, port = address.partition(":")
        before = http.client.HTTPConnection(address, timeout=PATIENCE)
        with contextlib.closing(before), socket.create_connection((host, int(port))):
            before.request("GET", "/healthz")
            before.getresponse().read()
            assert before.sock is not None, "it is kept alive"
            for _ in range(2):  # by the same thread: now the worker waits for what the first one asks next
                assert ask(address, "/healthz")[0] == 200
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


def test_who_waits_is_told_that_there_is_nothing(
    place: tuple[str, Any], token: str, queue: leaseq.Queue
) -> None:
    """A stop in the middle of a wait for an item."""
    address, process = place
    queue.configure()
    answers: list[tuple[int, bytes]] = []

    def wait() -> None:
        path = f"/api/v1/queues/{queue.name}/reserve"
        answers.append(ask(address, path, "POST", {"wait": 30}, Authorization=f"Bearer {token}"))

    people = [threading.Thread(target=wait) for _ in range(2)]
    for one in people:
        one.start()
    eventually(lambda: queue.stats().waiting == 2)
    process.send_signal(signal.SIGTERM)
    for one in people:
        one.join()
    assert answers == [(204, b""), (204, b"")]
    assert process.wait(PATIENCE) == 0


def test_what_was_finished_just_before_a_stop_is_in_the_figures(
    place: tuple[str, Any], queue: leaseq.Queue, server: Any, accounts: Accounts, new_name: Any
) -> None:
    name = new_name("program")
    accounts.add(name, by="test")
    send = {"Authorization": f"Bearer {accounts.create_token(name, 'test', by='test')}"}
    queue.enqueue({})
    status, text = ask(place[0], f"/api/v1/queues/{queue.name}/reserve", "POST", {}, **send)
    lease = json.loads(text)
    path = f"/api/v1/queues/{queue.name}/items/{lease['id']}/finish"
    status, _ = ask(place[0], path, "POST", {"token": lease["token"], "result": {}}, **send)
    assert status == 200
    place[1].terminate()
    place[1].wait(PATIENCE)
    assert Activity(server.client).today(name, queue.name).finished == 1

"""gunicorn processes share their metrics, and slow clients do not block other requests."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.open_calls import COUNTED_SECONDS, MAX_OPEN
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT, eventually
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn, send_request

TOKEN = "a token for Prometheus, long enough"


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    settings: dict[str, Any] = {"LEASEQ_METRICS_TOKEN": TOKEN}
    with run_gunicorn(server.url, SECRET, workers=2, threads=4, **settings) as (url, _):
        yield urlsplit(url).netloc


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hasty") / "log"


@pytest.fixture(scope="module")
def short_timeout_address(server: Any, log: Path) -> Iterator[str]:
    """The address of a process with one slot and one second for each part of a request or answer."""
    slots: dict[str, Any] = {"workers": 1, "threads": 1, "options": ("--keep-alive", "1")}
    with run_gunicorn(server.url, SECRET, **slots, access_log=log, app=ADJUSTED_APP, SLOW_SECONDS="1") as (
        url,
        _,
    ):
        yield urlsplit(url).netloc


def test_metrics_are_summed_over_processes(address: str) -> None:
    for _ in range(40):  # some by each process
        assert send_request(address, "/login")[0] == 200
    pattern = re.compile(
        r'^leaseq_http_requests_total\{.*route="/login",status="200"\} ([\d.]+)', re.MULTILINE
    )

    def counts() -> list[float]:
        status, text = send_request(address, "/metrics", Authorization=f"Bearer {TOKEN}")
        assert status == 200
        return [float(count) for count in pattern.findall(text.decode())]

    eventually(lambda: counts() == [40], "the last one is counted, after it is sent")
    for _ in range(6):
        assert counts() == [40]


def test_silent_clients_take_no_slot(address: str) -> None:
    host, _, port = address.partition(":")
    with contextlib.ExitStack() as silent_clients:
        for _ in range(200):
            silent_clients.enter_context(socket.create_connection((host, int(port))))
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


LOGIN_HEAD = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (b"", b""),
        (LOGIN_HEAD, b""),
        (LOGIN_HEAD + b"Content-Length: 9\r\n\r\nname", b"HTTP/1.1 408 "),
        (LOGIN_HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nna", b"HTTP/1.1 408 "),
    ],
    ids=["nothing", "headers", "body", "chunk"],
)
def test_incomplete_request_is_closed_and_does_not_block_others(
    request_bytes: bytes, expected: bytes, short_timeout_address: str, log: Path
) -> None:
    host, _, port = short_timeout_address.partition(":")
    with contextlib.ExitStack() as slow_clients:
        clients = [
            slow_clients.enter_context(socket.create_connection((host, int(port)), TIMEOUT))
            for _ in range(20)
        ]
        for client in clients:
            client.sendall(request_bytes)
        assert send_request(short_timeout_address, "/login")[0] == 200, "the only slot is free"
        for client in clients:
            response = client.makefile("rb").read()
            assert response.startswith(expected)
            assert bool(response) == bool(expected)
    assert "Traceback" not in log.read_text()


def test_client_sending_body_too_slowly_is_closed(short_timeout_address: str) -> None:
    """Each byte arrives in time, but the body does not."""
    host, _, port = short_timeout_address.partition(":")
    with socket.create_connection((host, int(port)), 0.3) as client:
        client.sendall(LOGIN_HEAD + b"Content-Length: 9000\r\n\r\n")
        for _ in range(100):
            client.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                assert client.recv(100).startswith(b"HTTP/1.1 408 ")
                return
    raise AssertionError("it was not closed")


def test_request_is_refused_before_body_is_read(address: str) -> None:
    host, _, port = address.partition(":")
    head = b"POST /api/v1/queues/q/items HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with socket.create_connection((host, int(port)), TIMEOUT) as client:
        client.sendall(head + b"Authorization: Bearer wrong\r\nContent-Length: 1000\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 401 ")


def test_endless_refused_body_does_not_block_others(server: Any) -> None:
    """The rest of a refused body is read only so that the client can read the response."""
    options = ("--keep-alive", "3600")
    head = LOGIN_HEAD.replace(b"/login", b"/api/v1/queues/q/items") + b"Authorization: Bearer wrong\r\n"
    chunk = b"100000\r\n" + b"x" * 0x10_0000 + b"\r\n"
    with run_gunicorn(server.url, SECRET, workers=1, threads=1, options=options) as (url, _):
        address = urlsplit(url).netloc
        host, _, port = address.partition(":")
        is_sending, is_over = threading.Event(), threading.Event()
        with socket.create_connection((host, int(port))) as client:

            def send() -> None:
                with contextlib.suppress(OSError):
                    client.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                    while not is_over.is_set():
                        for _ in range(32):
                            client.sendall(chunk)
                        is_sending.set()

            sender = threading.Thread(target=send)
            sender.start()
            assert is_sending.wait(TIMEOUT)
            assert send_request(address, "/healthz")[0] == 200
            assert sender.is_alive(), "it was closed first"
            is_over.set()
            sender.join(TIMEOUT)


def test_stalled_reader_is_closed(
    short_timeout_address: str, accounts: Accounts, queue: leaseq.Queue, new_name: Any
) -> None:
    name = new_name("manager")
    accounts.add(name, by="test", role="manager")
    token = accounts.create_token(name, "test", by="test")
    queue.enqueue_many({"text": "x" * 200_000} for _ in range(100))
    for _ in range(100):
        queue.finish(not_none(queue.reserve("ann")), {})
    path = f"/api/v1/queues/{queue.name}/answers"
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    host, _, port = short_timeout_address.partition(":")
    with contextlib.ExitStack() as deaf_clients:
        for _ in range(MAX_OPEN["exports"]):
            client = deaf_clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            client.sendall(request.encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        # The person may start another export once theirs have ended; those of a dead process count longer.
        headers = {"Authorization": f"Bearer {token}"}
        limit = COUNTED_SECONDS / 2
        eventually(
            lambda: send_request(short_timeout_address, path, **headers)[0] == 200,
            "they are closed",
            seconds=limit,
        )

"""gunicorn as we run it: its processes count together, and slow clients hold nobody up."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.open_calls import COUNTED_SECONDS, MOST
from tests.support.patience import PATIENCE, eventually
from tests.support.taking import not_none
from tests.web.conftest import SECRET
from tests.web.gunicorn_place import ADJUSTED, ask, gunicorn

TOKEN = "a token for Prometheus, long enough"


@pytest.fixture
def place(server: Any) -> Iterator[tuple[str, Any]]:
    settings: dict[str, Any] = {"LEASEQ_METRICS_TOKEN": TOKEN}
    with gunicorn(server.url, SECRET, workers=2, threads=4, **settings) as (url, process):
        yield urlsplit(url).netloc, process


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


def test_silent_clients_take_no_slot(place: tuple[str, Any]) -> None:
    host, _, port = place[0].partition(":")
    with contextlib.ExitStack() as silent:
        for _ in range(200):
            silent.enter_context(socket.create_connection((host, int(port))))
        connection = http.client.HTTPConnection(place[0], timeout=PATIENCE)
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
        connection.close()


LINE = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"", b""),
        (LINE, b""),
        (LINE + b"Content-Length: 9\r\n\r\nname", b"HTTP/1.1 408 "),
        (LINE + b"Transfer-Encoding: chunked\r\n\r\n4\r\nna", b"HTTP/1.1 408 "),
    ],
    ids=["nothing", "headers", "body", "chunk"],
)
def test_a_client_that_stops_half_way_is_closed_and_holds_nobody_up(
    sent: bytes, answered: bytes, server: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    short = ("--keep-alive", "1")
    with (
        gunicorn(server.url, SECRET, workers=1, threads=1, options=short, app=ADJUSTED, SLOW_SECONDS="1") as (
            url,
            _,
        ),
        contextlib.ExitStack() as slow,
    ):
        host, _, port = urlsplit(url).netloc.partition(":")
        clients = [
            slow.enter_context(socket.create_connection((host, int(port)), PATIENCE)) for _ in range(20)
        ]
        for client in clients:
            client.sendall(sent)
        assert ask(urlsplit(url).netloc, "/login")[0] == 200, "the only slot is free"
        for client in clients:
            answer = client.makefile("rb").read()
            assert answer.startswith(answered)
            assert bool(answer) == bool(answered)
    assert "Traceback" not in capfd.readouterr().err


def test_a_client_that_sends_a_byte_now_and_then_is_closed(server: Any) -> None:
    """Each byte comes in time, and the body does not."""
    with gunicorn(server.url, SECRET, workers=1, threads=1, app=ADJUSTED, SLOW_SECONDS="1") as (url, _):
        host, _, port = urlsplit(url).netloc.partition(":")
        with socket.create_connection((host, int(port)), 0.3) as client:
            client.sendall(LINE + b"Content-Length: 9000\r\n\r\n")
            for _ in range(100):
                client.sendall(b"x")
                with contextlib.suppress(TimeoutError):
                    assert client.recv(100).startswith(b"HTTP/1.1 408 ")
                    return
    raise AssertionError("it was not closed")


def test_a_request_that_is_refused_is_not_read_first(place: tuple[str, Any]) -> None:
    host, _, port = place[0].partition(":")
    head = b"POST /api/v1/queues/q/items HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with socket.create_connection((host, int(port)), PATIENCE) as client:
        client.sendall(head + b"Authorization: Bearer wrong\r\nContent-Length: 1000\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 401 ")


def test_a_refused_body_without_end_holds_nobody_up(server: Any) -> None:
    """It comes as fast as it can be read, and is read on only so that the client sees the answer."""
    long = ("--keep-alive", "3600")
    head = LINE.replace(b"/login", b"/api/v1/queues/q/items") + b"Authorization: Bearer wrong\r\n"
    chunk = b"100000\r\n" + b"x" * 0x10_0000 + b"\r\n"
    with gunicorn(server.url, SECRET, workers=1, threads=1, options=long) as (url, _):
        address = urlsplit(url).netloc
        host, _, port = address.partition(":")
        sent, over = threading.Event(), threading.Event()
        with socket.create_connection((host, int(port))) as client:

            def send() -> None:
                with contextlib.suppress(OSError):
                    client.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
                    while not over.is_set():
                        for _ in range(32):
                            client.sendall(chunk)
                        sent.set()

            sender = threading.Thread(target=send)
            sender.start()
            assert sent.wait(PATIENCE)
            assert ask(address, "/healthz")[0] == 200
            assert sender.is_alive(), "it was closed first"
            over.set()
            sender.join(PATIENCE)


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
    with (
        gunicorn(server.url, SECRET, workers=1, threads=1, app=ADJUSTED, SLOW_SECONDS="1") as (url, _),
        contextlib.ExitStack() as deaf,
    ):
        host, _, port = urlsplit(url).netloc.partition(":")
        for _ in range(MOST["exports"]):
            client = deaf.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            client.sendall(request.encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        # The person may have another export once theirs are over. Those of a dead process count for longer.
        sent = {"Authorization": f"Bearer {token}"}
        address, soon = urlsplit(url).netloc, COUNTED_SECONDS / 2
        eventually(lambda: ask(address, path, **sent)[0] == 200, "they are closed", seconds=soon)

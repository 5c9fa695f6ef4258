"""Requests through real gunicorn, for behaviour that a test client does not have."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from leaseq.webapp.serving.capacity import PIECE
from leaseq.webapp.serving.gunicorn_conf import Worker
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import serve_app

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    with serve_app(server.url, SECRET, workers=2) as url:
        yield urlsplit(url).netloc


def test_gunicorn_serves_tls_with_certificate() -> None:
    """As gunicorn's worker sets it up for the option ``--certfile``."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    worker: Any = SimpleNamespace(handle=print)
    server = Worker.server_class(worker, (HOST, 0), spawn="default", ssl_context=tls, log=None)
    assert server.ssl_enabled
    assert not Worker.server_class(worker, (HOST, 0), spawn="default").ssl_enabled


@pytest.fixture
def tokens(accounts: Accounts, new_name: Any) -> dict[str, str]:
    by_role = {}
    for role in ("worker", "manager"):
        name = new_name(role)
        accounts.add(name, by="test", role=role)
        by_role[role] = accounts.create_token(name, "test", by="test")
    return by_role


def call(
    address: str, token: str, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        content = json.dumps(body) if isinstance(body, dict | list) else body
        content_type = {"Content-Type": "application/json"} if content is not None else {}
        all_headers = {"Authorization": f"Bearer {token}", **content_type, **headers}
        connection.request(
            method, f"/api/v1{path}", content, all_headers, encode_chunked=not isinstance(content, str)
        )
        response = connection.getresponse()
        response_body = response.read()
        is_json = response.headers.get_content_subtype() in ("json", "problem+json")
        return response.status, json.loads(response_body) if is_json else response_body
    finally:
        connection.close()


def test_queue_is_filled_and_worked_through_over_http(
    address: str, tokens: dict[str, str], queue_name: str
) -> None:
    manager_token, path = tokens["manager"], f"/queues/{queue_name}"
    assert call(address, manager_token, "PUT", path, {"holds": 1})[0] == 201

    def item_lines() -> Iterator[bytes]:
        for n in range(200):  # together more than the limit of other bodies
            yield b'{"payload": {"n": %d, "text": "%s"}}\n' % (n, b"x" * 50_000)

    headers = {"Content-Type": "application/x-ndjson", "Transfer-Encoding": "chunked"}
    assert call(address, manager_token, "POST", f"{path}/items", item_lines(), **headers) == (
        201,
        {"added": 200, "duplicates": 0},
    )
    numbers: list[int] = []

    def work(number: int) -> None:
        token = tokens[("worker", "manager")[number]]
        while True:
            status, lease = call(address, token, "POST", f"{path}/reserve", {})
            if status == 204:
                return
            assert status == 200
            numbers.append(lease["payload"]["n"])
            body = {"token": lease["token"], "result": {"n": lease["payload"]["n"]}}
            assert call(address, token, "POST", f"{path}/items/{lease['id']}/finish", body)[0] == 200

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(200))
    status, answer_lines = call(address, manager_token, "GET", f"{path}/answers")
    assert status == 200
    answers = [json.loads(line) for line in answer_lines.splitlines()]
    assert sorted(answer["result"]["n"] for answer in answers) == list(range(200))


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 250_000])
def test_body_read_in_pieces_is_complete(
    address: str, tokens: dict[str, str], queue: leaseq.Queue, size: int
) -> None:
    queue.configure()
    text = "x" * (size - len(json.dumps({"id": "a", "payload": ""})))
    body = json.dumps({"id": "a", "payload": text})
    path = f"/queues/{queue.name}/items"
    assert (len(body), call(address, tokens["manager"], "POST", path, body)[0]) == (size, 201)
    assert queue.get("a").payload == text


def test_chunked_body_over_limit_is_refused(
    address: str, tokens: dict[str, str], queue: leaseq.Queue
) -> None:
    queue.configure()

    def endless_body() -> Iterator[bytes]:
        yield b'{"payload": "'
        for _ in range(150):
            yield b"x" * 65_536
        yield b'"}'

    headers = {"Transfer-Encoding": "chunked"}
    status, error = call(
        address, tokens["manager"], "POST", f"/queues/{queue.name}/items", endless_body(), **headers
    )
    assert (status, error["code"]) == (413, "too-large")
    assert queue.stats().inbound == 0


def test_item_id_with_slashes_is_found(address: str, tokens: dict[str, str], queue: leaseq.Queue) -> None:
    queue.enqueue(1, id="a/b//c ü")
    status, item = call(
        address, tokens["manager"], "GET", f"/queues/{queue.name}/items/a%2Fb%2F%2Fc%20%C3%BC"
    )
    assert (status, item["id"]) == (200, "a/b//c ü")


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"nonsense\r\n\r\n", 400, "invalid"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "invalid"),
        (b"G<T / HTTP/1.1\r\n\r\n", 400, "invalid"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "invalid"),
        (b'GET / HTTP/1.1\r\na "b: c\r\n\r\n', 400, "invalid"),
        (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "invalid"),
        (b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400, "invalid"),
        (b"GET /" + b"x" * 5_000 + b" HTTP/1.1\r\n\r\n", 414, "too-large"),
        (b"GET / HTTP/1.1\r\na: " + b"x" * 9_000 + b"\r\n\r\n", 431, "too-large"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431, "too-large"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: rot13\r\n\r\n", 501, "invalid"),
    ],
    ids=[
        "no request", "version", "method", "header", "header name", "two lengths", "length", "long line",
        "long header", "many headers", "coding",
    ],
)  # fmt: skip
def test_malformed_request_gets_problem_response(
    address: str, request_bytes: bytes, status: int, code: str
) -> None:
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request_bytes)
        response = http.client.HTTPResponse(connection)
        response.begin()
        error = json.loads(response.read())
    assert (response.status, response.headers["Content-Type"]) == (status, "application/problem+json")
    assert response.headers["Connection"] == "close"
    assert (error["status"], error["code"]) == (status, code)
    assert {"type", "title", "detail", "field", "limit"} <= set(error)


def test_body_with_malformed_chunks_is_refused(
    address: str, tokens: dict[str, str], queue: leaseq.Queue
) -> None:
    queue.configure()
    head = (
        f"POST /api/v1/queues/{queue.name}/items HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        f"{tokens['manager']}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(head.encode() + b'5\r\n{"pay\r\nzz\r\n')
        response = http.client.HTTPResponse(connection)
        response.begin()
        error = json.loads(response.read())
    assert (response.status, error["code"]) == (400, "invalid")
    assert queue.stats().inbound == 0


def test_path_with_invalid_utf_8_is_refused_by_app(address: str, tokens: dict[str, str]) -> None:
    status, error = call(address, tokens["manager"], "PUT", "/queues/%ff", {})
    assert (status, error["code"], error["field"]) == (400, "invalid", "path")


def test_body_of_a_stranger_is_not_asked_for(address: str, tokens: dict[str, str], queue_name: str) -> None:
    """A client that sends ``Expect: 100-continue`` sends its body only when it is asked to."""
    path = f"/api/v1/queues/{queue_name}"
    assert call(address, tokens["manager"], "PUT", f"/queues/{queue_name}", {})[0] == 201
    body = b"id,text\n1,Great\n"
    head = (
        f"POST {path}/import HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: {len(body)}\r\n"
        "Expect: 100-continue\r\n"
    )
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"{head}\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 401"
        while connection.recv(4_096):  # until the connection is closed: the body may follow or not
            pass
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"{head}Authorization: Bearer {tokens['manager']}\r\n\r\n".encode())
        assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(12) == b"HTTP/1.1 200"

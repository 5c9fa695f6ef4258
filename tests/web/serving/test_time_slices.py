"""No request keeps a web process from serving others for long, however much it has to read or to show."""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import gevent
import pytest

import leaseq
from leaseq.webapp.rendering.filters import markdown
from leaseq.webapp.store.accounts import Accounts
from tests.support.waiting import TIMEOUT
from tests.web.conftest import SECRET
from tests.web.gunicorn_server import ADJUSTED_APP, run_gunicorn
from tests.web.slice_meter import PATH

MAX_SECONDS = 0.1
"""Of CPU time between two switches, which is the same on a busy machine: twice what is promised."""

Call = Callable[..., tuple[int, float]]


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    with run_gunicorn(server.url, SECRET, workers=1, threads=4, app=ADJUSTED_APP, SLICES="1") as (url, _):
        yield urlsplit(url).netloc


@pytest.fixture
def call(address: str, accounts: Accounts) -> Call:
    """Send a request as an admin; returns its status and its longest slice."""
    name = f"admin-{secrets.token_hex(4)}"
    accounts.add(name, by="test", role="admin")
    headers = {"Authorization": f"Bearer {accounts.create_token(name, 'test', by='test')}"}

    def send(method: str, path: str, body: bytes | None = None, kind: str = "text/csv") -> tuple[int, float]:
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        connection.request("GET", PATH)
        connection.getresponse().read()
        connection.request(method, f"/api/v1{path}", body, {**headers, "Content-Type": kind})
        response = connection.getresponse()
        response.read()
        connection.request("GET", PATH)
        longest = json.load(connection.getresponse())
        connection.close()
        return response.status, longest

    return send


NDJSON = "application/x-ndjson"
FILES = {
    "rows": ("text/csv", b"id,text\n" + b"".join(b"r-%d,some words\n" % n for n in range(20_000))),
    "bad rows": ("text/csv", b"id,text\n" + b"a\n" * 200_000),
    "blank rows": ("text/csv", b"id,text\n" + b"\n" * 300_000),
    "open quote": ("text/csv", b'id,text\n1,"abc\n' + b"some words\n" * 400_000),
    "open quote, then blank rows": ("text/tab-separated-values", b'id\ttext\n1\t"abc\n' + b"\n" * 300_000),
    "bad lines": (NDJSON, b"{\n" * 100_000),
    "elements": ("application/json", b"[" + b"1," * 100_000 + b"1]"),
    "one long element": ("application/json", b"[[" + b"1," * 2_000_000 + b"1]]"),
}


@pytest.mark.parametrize("name", FILES)
def test_import_lets_others_run(call: Call, queue: leaseq.Queue, name: str) -> None:
    kind, body = FILES[name]
    queue.configure()
    status, longest = call("POST", f"/queues/{queue.name}/import", body, kind)
    assert status == 200
    assert longest < MAX_SECONDS


def test_lines_and_duplicates_let_others_run(call: Call, queue: leaseq.Queue) -> None:
    queue.configure()
    path, body = f"/queues/{queue.name}/items", b'{"payload": 1, "id": "x"}\n' * 40_000
    for _ in range(2):
        status, longest = call("POST", path, body, NDJSON)
        assert status == 201
        assert longest < MAX_SECONDS


@pytest.mark.parametrize("format", ["csv", "jsonl", "json"])
def test_export_lets_others_run(call: Call, queue: leaseq.Queue, format: str) -> None:
    queue.configure()
    queue.enqueue_many([{"text": "some words", "n": n} for n in range(3_000)])
    for _ in range(3_000):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.finish(lease, {"label": "spam", "words": ["a"] * 20})
    status, longest = call("GET", f"/queues/{queue.name}/answers?format={format}")
    assert status == 200
    assert longest < MAX_SECONDS


def test_array_of_items_lets_others_run(call: Call, queue: leaseq.Queue) -> None:
    queue.configure()
    body = b"[" + b",".join([b'{"payload": "some words"}'] * 50_000) + b"]"
    status, longest = call("POST", f"/queues/{queue.name}/items", body, "application/json")
    assert status == 201
    assert longest < MAX_SECONDS


@pytest.mark.parametrize("path", ["/login", "/language", "/setup"])
def test_form_of_a_million_fields_is_refused(address: str, path: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    connection.request("GET", PATH)
    connection.getresponse().read()
    connection.request("POST", path, b"a&" * 1_000_000, {"Content-Type": "application/x-www-form-urlencoded"})
    response = connection.getresponse()
    response.read()
    assert response.status in (400, 403, 413)
    connection.request("GET", PATH)
    assert json.load(connection.getresponse()) < MAX_SECONDS
    connection.close()


def test_long_markdown_lets_others_run() -> None:
    """The renderer has no checkpoints, and some texts take seconds."""
    rendering = gevent.spawn(markdown, "![" * 8_000)
    turns = 0
    while not rendering.ready():
        turns += 1
        gevent.sleep(0.001)
    assert "![" in str(rendering.get())
    assert turns > 2

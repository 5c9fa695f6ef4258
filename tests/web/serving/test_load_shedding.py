"""Load shedding: requests that waited too long are refused without effect, the others are served."""

from __future__ import annotations

import html
import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

import leaseq
from leaseq.webapp import create_app
from leaseq.webapp.serving.middleware import QueueTimeLimit, RequestSlots
from leaseq.webapp.settings import Settings
from tests.support.ports import is_accepted
from tests.support.waiting import TIMEOUT, eventually
from tests.web.conftest import PASSWORD, SECRET, Browser, Caller
from tests.web.gunicorn_server import run_gunicorn


@contextmanager
def make_requests_late() -> Iterator[None]:
    """Requests inside the block have waited an hour for their slots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestSlots, "acquire", lambda _: 3_600)
        patch.setattr(RequestSlots, "release", lambda _: None)
        yield


def served_waits(limit: QueueTimeLimit, arrivals: list[float], seconds: float) -> list[float]:
    """The waits of the served requests, which are served one at a time, each in this many seconds."""
    free_at, waits = 0.0, []
    for arrival in arrivals:
        now = max(free_at, arrival)
        if not limit.is_over(now - arrival, now):
            waits.append(now - arrival)
            free_at = now + seconds
    return waits


def test_short_burst_is_served_completely() -> None:
    """Ten requests a second, and once forty more at the same time."""
    arrivals = sorted([n / 10 for n in range(300)] + [10.0] * 40)
    waits = served_waits(QueueTimeLimit(1.0), arrivals, 0.02)
    assert len(waits) == 340
    assert 0.7 < max(waits) <= 1


def test_sustained_overload_lowers_queue_time_limit() -> None:
    """At twice the capacity half of the requests are served, each within 0.05 s after a short time."""
    waits = served_waits(QueueTimeLimit(1.0), [n / 100 for n in range(3_000)], 0.02)
    assert 1_400 < len(waits) <= 1_550
    assert max(waits) <= 1
    assert max(waits[200:]) <= 0.05


def test_queue_time_limit_is_restored_after_overload() -> None:
    limit = QueueTimeLimit(1.0)
    served_waits(limit, [n / 100 for n in range(1_000)], 0.02)
    later_arrivals = [100.0] * 40
    assert len(served_waits(limit, later_arrivals, 0.02)) == 40
    assert len(served_waits(limit, [200.0] * 80, 0.03)) == 34


def test_no_request_is_shed_without_limit() -> None:
    assert len(served_waits(QueueTimeLimit(0), [0.0] * 1_000, 1)) == 1_000


def test_shed_rest_request_gets_retry_after_and_changes_nothing(worker: Caller, queue: leaseq.Queue) -> None:
    queue.enqueue("hello", id="one")
    path = f"/queues/{queue.name}/reserve"
    headers = {"Idempotency-Key": "k1"}
    with make_requests_late():
        responses = [worker("POST", path, json={}, headers=headers) for _ in range(20)]
    for response in responses:
        assert (response.status_code, response.mimetype) == (503, "application/problem+json")
        assert (response.json["code"], response.json["status"]) == ("server-unavailable", 503)
        assert response.json["title"] == "Service unavailable"
        assert "the web app is overloaded" in response.json["detail"]
        assert response.json["request_id"] == response.headers["X-Request-Id"]
        assert response.headers["Cache-Control"] == "no-store"
    waits = {int(response.headers["Retry-After"]) for response in responses}
    assert len(waits) > 1, "not all come back at once"
    assert waits <= set(range(2, 7))
    assert queue.stats().reserved == 0
    response = worker("POST", path, json={}, headers=headers)
    assert (response.status_code, response.json["id"]) == (200, "one")
    assert "Idempotency-Replayed" not in response.headers


def test_shed_page_has_automatic_retry(worker_browser: Browser) -> None:
    with make_requests_late():
        response = worker_browser.get("/?a=1&b=2", headers={"Accept-Language": "de"})
    assert (response.status_code, response.mimetype) == (503, "text/html")
    assert f'data-retry-after="{response.headers["Retry-After"]}"' in response.text
    assert 'href="/?a=1&amp;b=2"' in response.text
    assert '<html lang="de">' in response.text
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_shed_form_is_resent_with_typed_input(worker_browser: Browser, form_queue: leaseq.Queue) -> None:
    worker_browser.post(f"/q/{form_queue.name}/reserve")
    page = worker_browser.get(f"/q/{form_queue.name}").text
    fields = dict(re.findall(r'name="(csrf_token|token)" value="([^"]+)"', page))
    input_fields = {**fields, "answer.about": "refund", "answer.urgent": "true", "answer.note": 'so <far> "'}
    path = f"/q/{form_queue.name}/items/one/finish"
    with make_requests_late():
        response = worker_browser.client.post(path, data=input_fields)
        forged_response = worker_browser.client.post(path, data={**input_fields, "csrf_token": "forged"})
        login_response = worker_browser.client.post(
            "/login", data={**fields, "name": "ann", "password": PASSWORD}
        )
        large_response = worker_browser.client.post(
            path, data={**input_fields, "answer.note": "x" * 9_000_000}
        )
    assert [
        refusal.status_code for refusal in (response, forged_response, login_response, large_response)
    ] == [503] * 4
    assert f'action="{path}"' in response.text
    assert f'data-retry-after="{response.headers["Retry-After"]}"' in response.text
    assert 'data-retry-after=""' in login_response.text, "nothing that a script could send again"
    assert "so &lt;far&gt;" not in forged_response.text
    assert PASSWORD not in login_response.text
    hidden_fields = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', response.text)
    resent_fields = {name: html.unescape(value) for name, value in hidden_fields}
    assert form_queue.get("one").state == "reserved"
    assert worker_browser.client.post(path, data=resent_fields).status_code == 303
    assert form_queue.get("one").answers[0].result["note"] == 'so <far> "'


@pytest.mark.parametrize("path", ["/", "/nowhere", "/docs"])
def test_shed_page_opens_no_connection_to_redis(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}"
        client = create_app(Settings(redis_url=url, secret_key=SECRET)).test_client()
        with client.session_transaction() as session:
            session["_user_id"] = "secret:1:ann"
        with make_requests_late():
            assert client.get(path).status_code == 503
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # no connection was opened
            server.accept()


def test_shed_requests_are_counted_and_health_checks_pass(
    app: Flask, manager: Caller, worker_browser: Browser
) -> None:
    client, headers = app.test_client(), {"Authorization": f"Bearer {manager.token}"}

    def shed_count() -> float:
        text = client.get("/metrics", headers=headers).text
        (value,) = re.findall(r"^leaseq_http_shed_total ([\d.]+)$", text, re.MULTILINE)
        return float(value)

    count_before = shed_count()
    with make_requests_late():
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
        assert client.get("/static/any/shared/base.css", buffered=True).status_code == 200
        assert shed_count() == count_before
        assert worker_browser.get("/", buffered=True).status_code == 503
        assert shed_count() == count_before + 1
        text = client.get("/metrics", headers=headers).text
    assert re.search(r'^leaseq_http_requests_total\{.*route="shed",status="503"\} ', text, re.MULTILINE)
    (wait_sum,) = re.findall(r"^leaseq_http_wait_seconds_sum ([\d.e+]+)$", text, re.MULTILINE)
    assert float(wait_sum) >= 3_600


@pytest.fixture
def one_slot_process(server: Any) -> Iterator[tuple[str, Any]]:
    """A process that handles one request at a time: its address, and the process."""
    with run_gunicorn(server.url, SECRET, workers=1, threads=1, LEASEQ_MAX_QUEUE_SECONDS="0.5") as (
        url,
        process,
    ):
        yield urlsplit(url).netloc, process


def send(address: str, token: str, method: str, path: str, body: Any = None) -> HTTPConnection:
    """Send a request on its own connection, and return once it is in line."""
    connection = HTTPConnection(address, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    eventually(lambda: is_accepted(connection.sock), "accepted")
    return connection


def read_response(connection: HTTPConnection) -> tuple[int, Any]:
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, {**dict(response.headers), **json.loads(text)}


def test_gunicorn_sheds_request_after_long_wait_unless_it_stops(
    one_slot_process: tuple[str, Any], server: Any, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    (address, process), path = one_slot_process, f"/api/v1/queues/{queue.name}"
    server.admin.redis.client_pause(1_500, all=True)  # the fault itself
    stats = send(address, manager.token, "GET", f"{path}/stats")
    item = send(address, manager.token, "POST", f"{path}/items", {"payload": 1})
    assert read_response(send(address, manager.token, "GET", "/healthz"))[0] == 200
    assert read_response(stats)[0] == 200
    status, error = read_response(item)
    assert (status, error["code"]) == (503, "server-unavailable")
    assert 2 <= int(error["Retry-After"]) <= 6
    status, stats_body = read_response(send(address, manager.token, "GET", f"{path}/stats"))
    assert (status, stats_body["inbound"]) == (200, 0)

    server.admin.redis.client_pause(1_500, all=True)  # the fault itself
    stats = send(address, manager.token, "GET", f"{path}/stats")
    item = send(address, manager.token, "POST", f"{path}/items", {"payload": 1})
    process.send_signal(signal.SIGTERM)
    assert (read_response(stats)[0], read_response(item)[0]) == (200, 201)
    assert process.wait(TIMEOUT) == 0

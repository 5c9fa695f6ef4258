"""More requests than can be served: who waited too long is turned away unharmed, the others are served."""

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
from leaseq.webapp.serving.queue_time import QueueTimeLimit
from leaseq.webapp.serving.request_slots import RequestSlots
from leaseq.webapp.settings import Settings
from tests.support.patience import PATIENCE, eventually
from tests.support.ports import is_accepted
from tests.web.conftest import PASSWORD, SECRET, Browser, Caller
from tests.web.gunicorn_place import gunicorn


@contextmanager
def too_late() -> Iterator[None]:
    """What is asked meanwhile waited an hour for its slot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestSlots, "acquire", lambda _: 3_600)
        patch.setattr(RequestSlots, "release", lambda _: None)
        yield


def served(patience: QueueTimeLimit, arrivals: list[float], takes: float) -> list[float]:
    """How long each waited that was served, one at a time, each for so many seconds."""
    free, waits = 0.0, []
    for came in arrivals:
        now = max(free, came)
        if not patience.is_over(now - came, now):
            waits.append(now - came)
            free = now + takes
    return waits


def test_a_burst_is_served_whole() -> None:
    """Somebody every tenth of a second, and once forty more at the same moment."""
    arrivals = sorted([n / 10 for n in range(300)] + [10.0] * 40)
    waits = served(QueueTimeLimit(1.0), arrivals, 0.02)
    assert len(waits) == 340
    assert 0.7 < max(waits) <= 1


def test_where_too_much_comes_all_the_time_who_is_served_waits_a_twentieth() -> None:
    """Twice as many as can be served: half are, and none of them waits long, once that is seen."""
    waits = served(QueueTimeLimit(1.0), [n / 100 for n in range(3_000)], 0.02)
    assert 1_400 < len(waits) <= 1_550
    assert max(waits) <= 1
    assert max(waits[200:]) <= 0.05


def test_what_was_is_forgotten_when_the_line_is_gone() -> None:
    patience = QueueTimeLimit(1.0)
    served(patience, [n / 100 for n in range(1_000)], 0.02)
    later = [100.0] * 40
    assert len(served(patience, later, 0.02)) == 40
    assert len(served(patience, [200.0] * 80, 0.03)) == 34


def test_without_patience_set_everybody_waits() -> None:
    assert len(served(QueueTimeLimit(0), [0.0] * 1_000, 1)) == 1_000


def test_a_program_is_told_when_to_send_it_again(worker: Caller, queue: leaseq.Queue) -> None:
    queue.enqueue("hello", id="one")
    path = f"/queues/{queue.name}/reserve"
    again = {"Idempotency-Key": "k1"}
    with too_late():
        answers = [worker("POST", path, json={}, headers=again) for _ in range(20)]
    for answer in answers:
        assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
        assert (answer.json["code"], answer.json["status"]) == ("server-unavailable", 503)
        assert answer.json["title"] == "Service unavailable"
        assert "the web app is overloaded" in answer.json["detail"]
        assert answer.json["request_id"] == answer.headers["X-Request-Id"]
        assert answer.headers["Cache-Control"] == "no-store"
    waits = {int(answer.headers["Retry-After"]) for answer in answers}
    assert len(waits) > 1, "not all come back at once"
    assert waits <= set(range(2, 7))
    assert queue.stats().reserved == 0
    answer = worker("POST", path, json={}, headers=again)
    assert (answer.status_code, answer.json["id"]) == (200, "one")
    assert "Idempotency-Replayed" not in answer.headers


def test_a_page_tries_again_by_itself(person: Browser) -> None:
    with too_late():
        answer = person.get("/?a=1&b=2", headers={"Accept-Language": "de"})
    assert (answer.status_code, answer.mimetype) == (503, "text/html")
    assert f'data-again="{answer.headers["Retry-After"]}"' in answer.text
    assert 'href="/?a=1&amp;b=2"' in answer.text
    assert '<html lang="de">' in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_was_typed_goes_out_again(person: Browser, asking: leaseq.Queue) -> None:
    person.post(f"/q/{asking.name}/reserve")
    page = person.get(f"/q/{asking.name}").text
    fields = dict(re.findall(r'name="(csrf_token|token)" value="([^"]+)"', page))
    typed = {**fields, "answer.about": "refund", "answer.urgent": "true", "answer.note": 'so <far> "'}
    path = f"/q/{asking.name}/items/one/finish"
    with too_late():
        answer = person.client.post(path, data=typed)
        forged = person.client.post(path, data={**typed, "csrf_token": "forged"})
        secret = person.client.post("/login", data={**fields, "name": "ann", "password": PASSWORD})
        large = person.client.post(path, data={**typed, "answer.note": "x" * 9_000_000})
    assert [one.status_code for one in (answer, forged, secret, large)] == [503] * 4
    assert f'action="{path}"' in answer.text
    assert f'data-again="{answer.headers["Retry-After"]}"' in answer.text
    assert 'data-again=""' in secret.text, "nothing that could be sent again by itself"
    assert "so &lt;far&gt;" not in forged.text
    assert PASSWORD not in secret.text
    kept = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text)
    again = {name: html.unescape(value) for name, value in kept}
    assert asking.get("one").state == "reserved"
    assert person.client.post(path, data=again).status_code == 303
    assert asking.get("one").answers[0].result["note"] == 'so <far> "'


@pytest.mark.parametrize("path", ["/", "/nowhere", "/docs"])
def test_a_refused_page_asks_nothing_of_the_queue_server(path: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}"
        client = create_app(Settings(redis_url=url, secret_key=SECRET)).test_client()
        with client.session_transaction() as session:
            session["_user_id"] = "secret:1:ann"
        with too_late():
            assert client.get(path).status_code == 503
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # no connection was made
            server.accept()


def test_who_looks_after_the_place_sees_it(app: Flask, manager: Caller, person: Browser) -> None:
    client, header = app.test_client(), {"Authorization": f"Bearer {manager.token}"}

    def shed() -> float:
        text = client.get("/metrics", headers=header).text
        (matches,) = re.findall(r"^leaseq_http_shed_total ([\d.]+)$", text, re.MULTILINE)
        return float(matches)

    before = shed()
    with too_late():
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
        assert client.get("/static/shared/base.css", buffered=True).status_code == 200
        assert shed() == before
        assert person.get("/", buffered=True).status_code == 503
        assert shed() == before + 1
        text = client.get("/metrics", headers=header).text
    assert re.search(r'^leaseq_http_requests_total\{.*route="shed",status="503"\} ', text, re.MULTILINE)
    (slow,) = re.findall(r"^leaseq_http_wait_seconds_sum ([\d.e+]+)$", text, re.MULTILINE)
    assert float(slow) >= 3_600


@pytest.fixture
def one_slot(server: Any) -> Iterator[tuple[str, Any]]:
    """The address of a process that handles one request at a time, and the process."""
    with gunicorn(server.url, SECRET, workers=1, threads=1, LEASEQ_PATIENCE_SECONDS="0.5") as (url, process):
        yield urlsplit(url).netloc, process


def send(address: str, token: str, method: str, path: str, body: Any = None) -> HTTPConnection:
    """Send a request on a connection of its own, and return once it is in line."""
    connection = HTTPConnection(address, timeout=PATIENCE)
    header = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body is not None else None, header)
    eventually(lambda: is_accepted(connection.sock), "accepted")
    return connection


def read(connection: HTTPConnection) -> tuple[int, Any]:
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, {**dict(answer.headers), **json.loads(text)}


def test_gunicorn_turns_away_what_waited_too_long(
    one_slot: tuple[str, Any], server: Any, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    address, base = one_slot[0], f"/api/v1/queues/{queue.name}"
    server.admin.redis.client_pause(1_500, all=True)  # the fault itself
    stats = send(address, manager.token, "GET", f"{base}/stats")
    item = send(address, manager.token, "POST", f"{base}/items", {"payload": 1})
    assert read(send(address, manager.token, "GET", "/healthz"))[0] == 200
    assert read(stats)[0] == 200
    status, problem = read(item)
    assert (status, problem["code"]) == (503, "server-unavailable")
    assert 2 <= int(problem["Retry-After"]) <= 6
    status, counted = read(send(address, manager.token, "GET", f"{base}/stats"))
    assert (status, counted["inbound"]) == (200, 0)


def test_a_stop_answers_also_what_waited_long(
    one_slot: tuple[str, Any], server: Any, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    (address, process), base = one_slot, f"/api/v1/queues/{queue.name}"
    server.admin.redis.client_pause(1_500, all=True)  # the fault itself
    stats = send(address, manager.token, "GET", f"{base}/stats")
    item = send(address, manager.token, "POST", f"{base}/items", {"payload": 1})
    process.send_signal(signal.SIGTERM)
    assert (read(stats)[0], read(item)[0]) == (200, 201)
    assert process.wait(PATIENCE) == 0

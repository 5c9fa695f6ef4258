"""Event streams through real gunicorn: they take no slot, miss nothing, and end when they must."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from tests.support.patience import PATIENCE, eventually
from tests.web.conftest import SECRET, Caller
from tests.web.gunicorn_place import gunicorn

MOST = 10  # of one person


@pytest.fixture(scope="module")
def small(server: Any) -> Iterator[str]:
    """One process that handles two requests at once."""
    with gunicorn(server.url, SECRET, workers=1, threads=2) as (url, _):
        yield urlsplit(url).netloc


class EventReader:
    """A client that watches."""

    def __init__(self, address: str, token: str, path: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection(address, timeout=PATIENCE)
        self.connection.request(
            "GET", f"/api/v1{path}", headers={"Authorization": f"Bearer {token}", **headers}
        )
        self.answer = self.connection.getresponse()

    def event(self) -> dict[str, str]:
        """The next one; {} where the stream has ended."""
        fields: dict[str, str] = {}
        while line := self.answer.readline():
            text = line.decode().rstrip("\n")
            if not text and "event" in fields:
                return fields
            name, colon, value = text.partition(": ")
            if colon and name:
                fields[name] = value
        return {}

    def move(self) -> dict[str, Any]:
        while event := self.event():
            if event["event"] == "journal":
                return {"cursor": event["id"], **json.loads(event["data"])}
        return {}

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


@pytest.fixture
def watch() -> Iterator[Callable[..., EventReader]]:
    opened: list[EventReader] = []

    def open_one(*args: Any, **headers: str) -> EventReader:
        opened.append(EventReader(*args, **headers))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def get(address: str, path: str, token: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_watchers_leave_the_slots_to_the_others(
    small: str, asking: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{asking.name}/events"
    watching = [watch(small, manager.token, path) for _ in range(MOST)]
    for one in watching:
        assert one.answer.status == 200
        assert one.answer.headers["Content-Type"].startswith("text/event-stream")
        assert one.answer.headers["X-Content-Type-Options"] == "nosniff"
    for _ in range(5):
        status, body = get(small, f"/api/v1/queues/{asking.name}/stats", manager.token)
        assert (status, json.loads(body)["inbound"]) == (200, 2)
    asking.enqueue({"text": "new"}, id="three")
    for one in watching:
        assert json.loads(one.event()["data"])["inbound"] in (2, 3)
        move = one.move()
        assert (move["what"], move["id"]) == ("enqueued", "three")


def test_who_was_cut_off_misses_nothing(
    small: str, asking: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{asking.name}/events"
    first = watch(small, manager.token, path)
    asking.reserve("ann")
    seen = first.move()
    assert seen["what"] == "reserved"
    first.close()
    asking.enqueue_many(leaseq.NewItem({"n": n}, id=f"n{n}") for n in range(2_500))
    again = watch(small, manager.token, path, **{"Last-Event-ID": seen["cursor"]})
    assert [again.move()["id"] for _ in range(2_500)] == [f"n{n}" for n in range(2_500)]
    query = watch(small, manager.token, f"{path}?after={seen['cursor']}")
    assert query.move()["id"] == "n0"


def test_a_person_may_have_so_many_streams_open(
    small: str, asking: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{asking.name}/events"
    taken = [watch(small, manager.token, path) for _ in range(MOST)]
    assert {one.answer.status for one in taken} == {200}
    refused = watch(small, manager.token, path)
    problem = json.loads(refused.answer.read())
    assert (refused.answer.status, problem["code"]) == (429, "too-many-requests")
    assert problem["detail"] == "you have 10 streams open, as many as one person may have: close one"
    assert int(refused.answer.headers["Retry-After"]) > 0
    taken[0].close()
    eventually(lambda: watch(small, manager.token, path).answer.status == 200, "the server sees that it went")


def test_what_is_no_cursor_is_refused(
    small: str, asking: leaseq.Queue, manager: Caller, worker: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{asking.name}/events"
    assert watch(small, manager.token, path, **{"Last-Event-ID": "yesterday"}).answer.status == 400
    assert watch(small, manager.token, "/queues/none-of-this-name/events").answer.status == 404
    assert watch(small, worker.token, path).answer.status == 403


def test_http_1_0_gets_the_same_without_chunks(small: str, asking: leaseq.Queue, manager: Caller) -> None:
    host, port = small.split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as sock:
        line = f"GET /api/v1/queues/{asking.name}/events HTTP/1.0"
        sock.sendall(f"{line}\r\nAuthorization: Bearer {manager.token}\r\n\r\n".encode())
        heard = b""
        while b"}\n\n" not in heard:
            heard += sock.recv(4096)
        head, _, body = heard.partition(b"\r\n\r\n")
        assert b"chunked" not in head
        assert body.startswith(b"retry: 3000\n\nevent: stats\ndata: {")


def test_a_stop_ends_the_streams_at_once_and_in_order(
    server: Any, asking: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    patient: dict[str, Any] = {"GUNICORN_CMD_ARGS": f"--graceful-timeout {2 * PATIENCE}"}
    with gunicorn(server.url, SECRET, workers=1, threads=2, **patient) as (url, process):
        one = watch(urlsplit(url).netloc, manager.token, f"/queues/{asking.name}/events")
        assert one.event()["event"] == "stats"
        process.terminate()
        assert one.event() == {}
        process.wait(PATIENCE)  # less than it is patient


def test_a_head_request_opens_no_stream(small: str, asking: leaseq.Queue, manager: Caller) -> None:
    for _ in range(MOST + 1):
        connection = http.client.HTTPConnection(small, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {manager.token}"}
        connection.request("HEAD", f"/api/v1/queues/{asking.name}/events", headers=headers)
        assert connection.getresponse().status == 200
        connection.close()


def test_who_takes_nothing_holds_nobody_up(
    small: str, asking: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{asking.name}/events"
    after = asking.latest_events(1)[0].cursor
    asking.enqueue_many(leaseq.NewItem({}, id=f"{n:05}{'x' * 190}") for n in range(6_000))
    slow = watch(small, manager.token, f"{path}?after={after}")
    quick = watch(small, manager.token, f"{path}?after={after}")
    assert [quick.move()["id"][:5] for _ in range(6_000)] == [f"{n:05}" for n in range(6_000)]
    assert slow.move()["id"][:5] == "00000"

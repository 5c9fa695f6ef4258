"""Event streams through real gunicorn: request slots, missed events, limits and shutdown."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.support.large_entries import add_foreign_entry, journal_of, write_large_entries
from tests.support.waiting import TIMEOUT, eventually
from tests.web.conftest import SECRET, Caller
from tests.web.gunicorn_server import run_gunicorn

MAX_STREAMS = 10  # of one person


@pytest.fixture(scope="module")
def address(server: Any) -> Iterator[str]:
    """One process that handles two requests at a time."""
    with run_gunicorn(server.url, SECRET, workers=1, threads=2) as (url, _):
        yield urlsplit(url).netloc


class EventReader:
    """A client that reads an event stream."""

    def __init__(self, address: str, token: str, path: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        self.connection.request(
            "GET", f"/api/v1{path}", headers={"Authorization": f"Bearer {token}", **headers}
        )
        self.response = self.connection.getresponse()

    def read_event(self) -> dict[str, str]:
        """The next event; {} if the stream has ended."""
        fields: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if not text and "event" in fields:
                return fields
            name, colon, value = text.partition(": ")
            if colon and name:
                fields[name] = value
        return {}

    def read_journal_event(self) -> dict[str, Any]:
        while event := self.read_event():
            if event["event"] == "journal":
                return {"cursor": event["id"], **json.loads(event["data"])}
        return {}

    def close(self) -> None:
        self.response.close()
        self.connection.close()


@pytest.fixture
def watch() -> Iterator[Callable[..., EventReader]]:
    readers: list[EventReader] = []

    def open_reader(*args: Any, **headers: str) -> EventReader:
        readers.append(EventReader(*args, **headers))
        return readers[-1]

    yield open_reader
    for reader in readers:
        reader.close()


def get(address: str, path: str, token: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_open_streams_occupy_no_request_slots(
    address: str, form_queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{form_queue.name}/events"
    readers = [watch(address, manager.token, path) for _ in range(MAX_STREAMS)]
    for reader in readers:
        assert reader.response.status == 200
        assert reader.response.headers["Content-Type"].startswith("text/event-stream")
        assert reader.response.headers["X-Content-Type-Options"] == "nosniff"
        assert reader.response.headers["X-Accel-Buffering"] == "no", (
            "an nginx in front passes events on at once"
        )
    for _ in range(5):
        status, body = get(address, f"/api/v1/queues/{form_queue.name}/stats", manager.token)
        assert (status, json.loads(body)["inbound"]) == (200, 2)
    form_queue.enqueue({"text": "new"}, id="three")
    for reader in readers:
        assert json.loads(reader.read_event()["data"])["inbound"] in (2, 3)
        journal_event = reader.read_journal_event()
        assert (journal_event["what"], journal_event["id"]) == ("enqueued", "three")


def test_reconnected_reader_receives_all_missed_events(
    address: str, form_queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{form_queue.name}/events"
    first_reader = watch(address, manager.token, path)
    form_queue.reserve("ann")
    first_event = first_reader.read_journal_event()
    assert first_event["what"] == "reserved"
    first_reader.close()
    form_queue.enqueue_many(leaseq.NewItem({"n": n}, id=f"n{n}") for n in range(2_500))
    second_reader = watch(address, manager.token, path, **{"Last-Event-ID": first_event["cursor"]})
    assert [second_reader.read_journal_event()["id"] for _ in range(2_500)] == [f"n{n}" for n in range(2_500)]
    query_reader = watch(address, manager.token, f"{path}?after={first_event['cursor']}")
    assert query_reader.read_journal_event()["id"] == "n0"


def test_number_of_open_streams_per_person_is_limited(
    address: str, form_queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{form_queue.name}/events"
    readers = [watch(address, manager.token, path) for _ in range(MAX_STREAMS)]
    assert {reader.response.status for reader in readers} == {200}
    extra_reader = watch(address, manager.token, path)
    problem = json.loads(extra_reader.response.read())
    assert (extra_reader.response.status, problem["code"]) == (429, "too-many-requests")
    assert problem["detail"] == "you have 10 streams open, as many as one person may have: close one"
    assert int(extra_reader.response.headers["Retry-After"]) > 0
    readers[0].close()
    eventually(lambda: watch(address, manager.token, path).response.status == 200, "the server sees it close")


def test_invalid_cursor_unknown_queue_and_worker_are_refused(
    address: str, form_queue: leaseq.Queue, manager: Caller, worker: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{form_queue.name}/events"
    assert watch(address, manager.token, path, **{"Last-Event-ID": "yesterday"}).response.status == 400
    assert watch(address, manager.token, "/queues/none-of-this-name/events").response.status == 404
    assert watch(address, worker.token, path).response.status == 403


def test_http_1_0_client_receives_events_without_chunked_encoding(
    address: str, form_queue: leaseq.Queue, manager: Caller
) -> None:
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=TIMEOUT) as sock:
        line = f"GET /api/v1/queues/{form_queue.name}/events HTTP/1.0"
        sock.sendall(f"{line}\r\nAuthorization: Bearer {manager.token}\r\n\r\n".encode())
        output = b""
        while b"}\n\n" not in output:
            output += sock.recv(4096)
        head, _, body = output.partition(b"\r\n\r\n")
        assert b"chunked" not in head
        assert body.startswith(b"retry: 3000\n\nevent: stats\ndata: {")


def test_shutdown_ends_streams_before_graceful_timeout(
    server: Any, form_queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    environment: dict[str, Any] = {"GUNICORN_CMD_ARGS": f"--graceful-timeout {2 * TIMEOUT}"}
    with run_gunicorn(server.url, SECRET, workers=1, threads=2, **environment) as (url, process):
        reader = watch(urlsplit(url).netloc, manager.token, f"/queues/{form_queue.name}/events")
        assert reader.read_event()["event"] == "stats"
        process.terminate()
        assert reader.read_event() == {}
        process.wait(TIMEOUT)  # less than its graceful timeout


def test_a_head_request_opens_no_stream(address: str, form_queue: leaseq.Queue, manager: Caller) -> None:
    for _ in range(MAX_STREAMS + 1):
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        headers = {"Authorization": f"Bearer {manager.token}"}
        connection.request("HEAD", f"/api/v1/queues/{form_queue.name}/events", headers=headers)
        assert connection.getresponse().status == 200
        connection.close()


def test_stalled_reader_does_not_block_other_readers(
    address: str, form_queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    path = f"/queues/{form_queue.name}/events"
    after = form_queue.latest_events(1)[0].cursor
    form_queue.enqueue_many(leaseq.NewItem({}, id=f"{n:05}{'x' * 190}") for n in range(6_000))
    slow_reader = watch(address, manager.token, f"{path}?after={after}")
    quick_reader = watch(address, manager.token, f"{path}?after={after}")
    assert [quick_reader.read_journal_event()["id"][:5] for _ in range(6_000)] == [
        f"{n:05}" for n in range(6_000)
    ]
    assert slow_reader.read_journal_event()["id"][:5] == "00000"


def test_stream_sends_each_event_of_large_entries_once(
    address: str, server: Server, queue: leaseq.Queue, manager: Caller, watch: Callable[..., EventReader]
) -> None:
    clock = Clock.from_now(-600)
    timed_queue = leaseq.Queue(server.client, queue.name, clock=clock)
    timed_queue.configure()
    reader = watch(address, manager.token, f"/queues/{queue.name}/events?after=0.0")
    write_large_entries(timed_queue, clock)
    add_foreign_entry(server, timed_queue, clock, "died")
    events = journal_of(queue)
    assert [reader.read_journal_event()["cursor"] for _ in events] == [event.cursor for event in events]

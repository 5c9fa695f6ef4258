"""What is told to those who watch: by whom it is taken, when a stream ends, what the figures are."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock
from webapp.accounts import Accounts
from webapp.gate import still_lets
from webapp.live import handover
from webapp.live.feed import ASK_AGAIN, Channel, Feed, Watcher
from webapp.live.hub import BACKLOG, HEARTBEAT, STALLED, VOUCHED, Hub, Stream
from webapp.live.picture import Picture
from webapp.live.spark import spark
from webapp.live.tally import Tally, a_minute

from .conftest import Browser, Caller

NOW = datetime(2026, 11, 21, 10, 5, 30, tzinfo=UTC)


# The hub


@pytest.fixture
def time() -> list[float]:
    return [1_000.0]


@pytest.fixture
def hub(time: list[float]) -> Iterator[Hub]:
    made = Hub(2, clock=lambda: time[0])
    yield made
    made.close()


@pytest.fixture
def client(hub: Hub) -> Iterator[tuple[Stream, socket.socket]]:
    """A stream, and what its client hears of it."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(10)
    assert hub.take_place()
    yield hub.add(ours, chunked=False), theirs
    theirs.close()


def hears(theirs: socket.socket, *, until: bytes) -> bytes:
    found = b""
    while not found.endswith(until):
        more = theirs.recv(65_536)
        assert more, found
        found += more
    return found


def ended(theirs: socket.socket) -> bool:
    """Whether the stream ends after what was sent before."""
    while more := theirs.recv(1 << 20):
        assert more
    return True


def test_it_shows_that_it_lives(hub: Hub, client: tuple[Stream, socket.socket], time: list[float]) -> None:
    stream, theirs = client
    hub.send(stream, b"one\n")
    assert hears(theirs, until=b"one\n")
    time[0] += HEARTBEAT
    hub.vouch(stream)
    assert hears(theirs, until=b":\n\n") == b":\n\n"


def test_who_is_not_vouched_for_any_more_is_cut_off(
    hub: Hub, client: tuple[Stream, socket.socket], time: list[float]
) -> None:
    time[0] += VOUCHED + 1
    assert ended(client[1])
    assert hub.take_place()
    assert hub.take_place(), "its place is free again"
    assert not hub.take_place()
    hub.give_back_place()
    hub.give_back_place()


def test_who_takes_nothing_is_cut_off(
    hub: Hub, client: tuple[Stream, socket.socket], time: list[float]
) -> None:
    stream, theirs = client
    hub.send(stream, b"x" * BACKLOG)
    theirs.recv(1)  # it is under way, and more than fits is left
    for _ in range(1_000):
        if not stream.open:
            return
        time[0] += STALLED + 1
        hub.vouch(stream)
        sleep(0.01)
    raise AssertionError("it is still open")


def test_who_falls_too_far_behind_is_cut_off(hub: Hub, client: tuple[Stream, socket.socket]) -> None:
    stream, theirs = client
    for _ in range(4):
        hub.send(stream, b"x" * (BACKLOG // 2))
    for _ in range(1_000):  # who reads meanwhile is not behind
        if not stream.open:
            break
        sleep(0.01)
    assert ended(theirs)


def test_gunicorn_is_left_with_a_client_that_has_gone() -> None:
    theirs, ours = socket.socketpair()
    environ = {"gunicorn.socket": ours, "SERVER_PROTOCOL": "HTTP/1.1"}
    assert handover.can_take(environ)
    taken = handover.take(environ)
    assert ours.recv(1) == b"", "what gunicorn reads is an end"
    with pytest.raises(BrokenPipeError):
        ours.sendall(b"0\r\n\r\n")
    ours.shutdown(socket.SHUT_WR)
    ours.close()
    taken.sendall(b"still here")
    assert theirs.recv(100) == b"still here"
    taken.close()
    theirs.close()


@pytest.mark.parametrize("environ", [{}, {"gunicorn.socket": object()}])
def test_what_can_not_be_handed_over_is_left_alone(environ: dict[str, Any]) -> None:
    assert not handover.can_take(environ)


# Who may watch


def test_a_revoked_token_a_lost_role_and_an_ended_session_watch_no_longer(
    app: Any, accounts: Accounts, manager: Caller, visitor: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    queue.configure()
    path = f"/api/v1/queues/{queue.name}/events"
    by_token = {"path": path, "headers": {"Authorization": f"Bearer {manager.token}"}}
    assert still_lets(app, environ_of(app, by_token))
    accounts.change(manager.name, by="test", role="worker")
    assert not still_lets(app, environ_of(app, by_token))
    accounts.change(manager.name, by="test", role="manager")
    accounts.revoke_token(accounts.tokens(manager.name)[0].id, by="test")
    assert not still_lets(app, environ_of(app, by_token))

    boss = visitor("manager")
    answer = boss.get(f"/manage/{queue.name}/live")
    assert answer.status_code == 200
    environ = dict(answer.request.environ)
    assert still_lets(app, environ)
    accounts.end_sessions(boss.name, by="test")
    assert not still_lets(app, environ)


def test_a_stream_ends_when_the_gate_says_no(hub: Hub, client: tuple[Stream, socket.socket]) -> None:
    class Silent(Channel):
        def serve(self, watchers: Sequence[Any]) -> None:
            pass

    stream, theirs = client
    feed, answers = Feed(hub), iter([True, False])
    watcher = Watcher(stream, lambda: next(answers))
    for _ in range(2):
        watcher.asked -= ASK_AGAIN
        feed.look_at(Silent(Any, Any), [watcher])
    assert ended(theirs)


def environ_of(app: Any, request: dict[str, Any]) -> Any:
    with app.test_request_context(**request) as context:
        return context.request.environ


# The figures


def told(what: str, minutes: float, token: int | None = None) -> leaseq.Event:
    """A move so many minutes ago."""
    return leaseq.Event("1.0", NOW - timedelta(minutes=minutes), what, "one", "ann", token, None)


def test_the_hour_is_counted_by_the_minute() -> None:
    tally = Tally(NOW - timedelta(hours=1))
    for event in (
        told("enqueued", 59),
        told("enqueued", 2),
        told("enqueued", 2),
        told("reserved", 3, 1),
        told("finished", 2, 1),
        told("undone", 2, 1),
        told("reserved", 1.5, 2),
        told("finished", 1, 2),
    ):
        tally.add(event)
    come, done = tally.come(NOW), tally.done(NOW)
    assert (come[0], come[-3], sum(n or 0 for n in come)) == (1, 2, 3)
    assert (done[-3], done[-2], done[-1]) == (0, 1, 0)
    assert a_minute(come) == 2 / 5
    later = NOW + timedelta(minutes=57)
    tally.forget(later)
    assert sum(n or 0 for n in tally.come(later)) == 2


def test_what_is_not_known_is_not_nothing() -> None:
    tally = Tally(NOW - timedelta(minutes=10))
    come = tally.come(NOW)
    assert come[:49] == [None] * 49
    assert come[49:] == [0] * 11
    assert a_minute([None] * 60) is None


def test_handling_times_are_of_those_whose_begin_is_known() -> None:
    tally = Tally(NOW - timedelta(hours=1))
    tally.add(told("finished", 9, 99))
    assert tally.handling() is None
    for token in range(100):
        tally.add(told("reserved", 8, token))
        tally.add(told("finished", 8 - (token + 1) / 60, token))
    for token in (200, 201):
        tally.add(told("reserved", 8, token))
        tally.add(told("expired", 7, token))
    handling = tally.handling()
    assert handling
    assert (round(handling.median), round(handling.p95), handling.of) == (51, 96, 100)


def test_a_sparkline_has_a_bar_for_what_is_something() -> None:
    assert spark([None, 0, 1, 100]) == "M2 20v-1h.8V20zM3 20v-20h.8V20z"
    assert spark([]) == ""


def test_a_picture_shows_who_holds_what_and_what_is_wrong(queue: leaseq.Queue) -> None:
    queue.configure(max_attempts=1, lease_seconds=600)
    queue.enqueue_many(leaseq.NewItem({}, id=f"n{n}") for n in range(5))
    queue.enqueue({}, id="old", due=datetime(2020, 1, 1, tzinfo=UTC), priority=200)
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    queue.fail(take(queue, "dan"), "torn")
    held = take(queue, "eva")
    queue.finish(take(queue, "fay"), {})
    seen = Picture(queue).seen()
    assert seen["counts"] == {"inbound": 3, "reserved": 1, "scheduled": 0, "finished": 1, "dead": 1}
    assert [(one["id"], one["person"], one["renewals"]) for one in seen["held"]] == [(held.id, "eva", 0)]
    assert seen["dead"] == [{"key": "failed torn", "how": "failed", "error": "torn", "count": 1}]
    assert [one["id"] for one in seen["due"]] == ["old"]
    assert (seen["come"]["sum"], seen["done"]["sum"]) == (6, 1)
    assert seen["handling"]


def test_a_picture_follows_what_happens(queue: leaseq.Queue) -> None:
    clock = Clock()
    picture = Picture(queue, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    first = picture.seen()
    assert (first["unwanted_count"], first["late_count"], first["held"]) == (0, 0, [])
    clock.tick(10)
    assert picture.seen() is first, "nothing has changed"
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    assert picture.seen() is first, "it looked a moment ago"
    clock.tick(10)
    seen = picture.seen()
    assert seen["unwanted"] == [{"key": "one", "id": "one", "people": 3}]
    queue.configure(lease_seconds=0.1)
    lease = take(queue, "dan")
    clock.tick(10)
    assert [one["person"] for one in picture.seen()["held"]] == ["dan"]
    while queue.clear().returned == 0:
        pass
    take(queue, "eva")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, {})
    clock.tick(10)
    assert [(one["id"], one["person"]) for one in picture.seen()["late"]] == [("one", "dan")]


def test_a_picture_begins_anew_where_it_missed_too_much(queue: leaseq.Queue) -> None:
    clock = Clock()
    picture = Picture(queue, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    picture.seen()
    queue.enqueue_many({} for _ in range(6_000))
    clock.tick(10)
    assert picture.seen()["come"]["sum"] == 6_001


def take(queue: leaseq.Queue, person: str) -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease
    return lease


def test_the_figures_as_json_are_those_of_the_page(
    visitor: Callable[[str], Browser], asking: leaseq.Queue
) -> None:
    boss = visitor("manager")
    found = boss.get(f"/manage/{asking.name}/live").json
    assert found["counts"]["inbound"] == 2
    assert found["now"].endswith("Z")
    both = boss.get("/manage", headers={"Accept": "application/json"}).json["queues"]
    assert both[asking.name]["counts"] == found["counts"]
    assert boss.get("/manage", headers={"Accept": "text/html,*/*"}).mimetype == "text/html"


def test_without_a_connection_to_hand_over_there_is_no_stream(
    visitor: Callable[[str], Browser], asking: leaseq.Queue, manager: Caller
) -> None:
    answer = manager("GET", f"/queues/{asking.name}/events")
    assert (answer.status_code, answer.json["code"]) == (503, "busy")
    page = visitor("manager").get(f"/manage/{asking.name}/live", headers={"Accept": "text/event-stream"})
    assert page.status_code == 503

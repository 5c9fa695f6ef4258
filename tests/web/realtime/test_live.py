"""What is told to those who watch: by whom it is taken, and when a stream ends."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest

import leaseq
from leaseq.webapp.realtime import socket_handover
from leaseq.webapp.realtime.poller import VOUCH_EVERY, Channel, Poller, Watcher
from leaseq.webapp.realtime.sse_hub import BACKLOG, HEARTBEAT, STALLED, VOUCHED, Hub, Stream
from leaseq.webapp.security.authorization import still_lets
from leaseq.webapp.store.accounts import Accounts
from tests.support.patience import eventually
from tests.web.conftest import Browser, Caller

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
    data = b""
    while not data.endswith(until):
        more = theirs.recv(65_536)
        assert more, data
        data += more
    return data


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
    eventually(hub.take_place, "its place is free again")
    assert not hub.take_place()
    hub.give_back_place()
    hub.give_back_place()


def test_who_takes_nothing_is_cut_off(
    hub: Hub, client: tuple[Stream, socket.socket], time: list[float]
) -> None:
    stream, theirs = client
    hub.send(stream, b"x" * BACKLOG)
    theirs.recv(1)  # it is under way, and more than fits is left

    def is_cut_off() -> bool:
        time[0] += STALLED + 1
        hub.vouch(stream)
        return not stream.open

    eventually(is_cut_off)


def test_who_is_slow_but_goes_on_taking_is_not_cut_off(
    hub: Hub, client: tuple[Stream, socket.socket], time: list[float]
) -> None:
    stream, theirs = client
    hub.send(stream, b"x" * (BACKLOG - 100))
    assert theirs.recv(1)  # it is under way, and more than fits is left
    for seconds in (5, STALLED - 1, STALLED - 1):  # at first without a heartbeat
        time[0] += seconds
        hub.vouch(stream)
        eventually(lambda: theirs.recv(1 << 16) and stream.progress == time[0], "it is seen to take some")
    assert stream.open


def test_who_falls_too_far_behind_is_cut_off(hub: Hub, client: tuple[Stream, socket.socket]) -> None:
    stream, theirs = client
    for _ in range(4):
        hub.send(stream, b"x" * (BACKLOG // 2))
    eventually(lambda: not stream.open)  # who reads meanwhile is not behind
    assert ended(theirs)


def test_gunicorn_is_left_with_a_client_that_has_gone() -> None:
    theirs, ours = socket.socketpair()
    environ = {"gunicorn.socket": ours, "SERVER_PROTOCOL": "HTTP/1.1"}
    assert socket_handover.can_take(environ)
    taken = socket_handover.take(environ)
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
    assert not socket_handover.can_take(environ)


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
    class SilentChannel(Channel):
        def serve(self, watchers: Sequence[Any]) -> None:
            pass

    stream, theirs = client
    poller, answers = Poller(hub), iter([True, False])
    watcher = Watcher(stream, lambda: next(answers))
    for _ in range(2):
        watcher.vouched_at -= VOUCH_EVERY
        poller.serve(SilentChannel(cast("Any", None), cast("Any", None)), [watcher])
    assert ended(theirs)


def environ_of(app: Any, request: dict[str, Any]) -> Any:
    with app.test_request_context(**request) as context:
        return context.request.environ


def test_without_a_connection_to_hand_over_there_is_no_stream(
    visitor: Callable[[str], Browser], asking: leaseq.Queue, manager: Caller
) -> None:
    answer = manager("GET", f"/queues/{asking.name}/events")
    assert (answer.status_code, answer.json["code"]) == (503, "busy")
    page = visitor("manager").get(f"/manage/{asking.name}/live", headers={"Accept": "text/event-stream"})
    assert page.status_code == 503

"""Streams, their number for each person, their authorization, and the poller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import pytest

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.realtime.poller import (
    BACKLOG,
    CHECK_SECONDS,
    MAX_UNCHECKED_SECONDS,
    AccessCheck,
    Poller,
    QueueChannel,
    Stream,
    Watcher,
)
from leaseq.webapp.security.authorization import is_still_authorized
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.open_calls import COUNTED_SECONDS, OpenCalls, TooManyOpen
from leaseq.webapp.store.queue_access import Access, Group
from tests.support.refused import unavailable
from tests.web.conftest import Browser, Caller

# Streams


def test_stream_joins_pending_data_in_sequence() -> None:
    stream = Stream()
    events = stream.events()
    for data in (b"one", b"two"):
        stream.put(data)
    assert next(events) == b"onetwo"
    assert stream.pending == 0
    stream.put(b"three")
    assert next(events) == b"three"


def test_idle_stream_sends_heartbeat() -> None:
    assert next(Stream(heartbeat=0.01).events()) == b":\n\n"


def test_ended_stream_sends_nothing() -> None:
    stream = Stream()
    stream.put(b"one")
    stream.end()
    assert list(stream.events()) == []


def test_stream_with_full_backlog_is_closed() -> None:
    stream = Stream()
    for _ in range(2):
        stream.put(b"x" * (BACKLOG // 2))
    assert stream.open
    stream.put(b"x")
    assert not stream.open


# Open calls


def test_call_without_end_or_confirmation_stops_counting(server: Any, new_name: Callable[[str], str]) -> None:
    person, now = new_name("person"), [1_000.0]
    calls = OpenCalls(server.client, clock=lambda: now[0])
    first_call, *_ = [calls.begin("waits", person) for _ in range(4)]
    with pytest.raises(TooManyOpen, match="you have 4 waits open"):
        calls.begin("waits", person)
    now[0] += COUNTED_SECONDS - 1
    first_call.confirm()
    now[0] += 2
    for _ in range(3):
        calls.begin("waits", person)
    with pytest.raises(TooManyOpen):
        calls.begin("waits", person)
    first_call.end()
    calls.begin("waits", person)
    calls.begin("streams", person)
    calls.begin("waits", f"{person} 2")


def test_key_of_open_calls_expires(server: Any, new_name: Callable[[str], str]) -> None:
    person = new_name("person")
    OpenCalls(server.client).begin("exports", person)
    (key,) = server.redis.scan_iter(match=f"leaseq:{{@open}}:*:{person}", count=10_000)
    assert 0 < server.redis.ttl(key) <= COUNTED_SECONDS


def test_late_confirmation_does_not_count_ended_call(server: Any, new_name: Callable[[str], str]) -> None:
    """The poller may be about to check a stream when its client disconnects."""
    person, now = new_name("person"), [1_000.0]
    calls = OpenCalls(server.client, clock=lambda: now[0])
    call = calls.begin("exports", person)
    now[0] += COUNTED_SECONDS / 2
    call.end()
    call.confirm()
    for _ in range(2):
        calls.begin("exports", person)


# Authorization


def test_lost_access_role_token_or_session_ends_authorization(
    app: Any, accounts: Accounts, manager: Caller, sign_in_as: Callable[[str], Browser], queue: leaseq.Queue
) -> None:
    queue.configure()
    path = f"/api/v1/queues/{queue.name}/events"
    token_request = {"path": path, "headers": {"Authorization": f"Bearer {manager.token}"}}
    assert is_still_authorized(app, environ_of(app, token_request))
    access, eva = app.extensions[EXTENSION].access, Group(people=("eva",))
    for closed_access in (Access(eva, eva), Access(None, eva)):
        access.set(queue.name, closed_access)
        assert not is_still_authorized(app, environ_of(app, token_request))
    access.set(queue.name, Access())
    accounts.change(manager.name, by="test", role="worker")
    assert not is_still_authorized(app, environ_of(app, token_request))
    accounts.change(manager.name, by="test", role="manager")
    accounts.revoke_token(accounts.tokens(manager.name)[0].id, by="test")
    assert not is_still_authorized(app, environ_of(app, token_request))

    manager_browser = sign_in_as("manager")
    response = manager_browser.get(f"/manage/{queue.name}/live")
    assert response.status_code == 200
    environ = dict(response.request.environ)
    assert is_still_authorized(app, environ)
    accounts.end_sessions(manager_browser.name, by="test")
    assert not is_still_authorized(app, environ)


class SilentChannel(QueueChannel):
    def serve(self, watchers: Sequence[Any]) -> None:
        pass


def is_open_later(poller: Poller, watcher: Watcher, *, after: float) -> bool:
    """Whether the stream is still open this many seconds later."""
    watcher.access.checked_at -= after
    with suppress(leaseq.ServerUnavailable):
        poller.serve(SilentChannel(cast("Any", None)), [watcher])
    return watcher.stream.open


def test_stream_ends_when_authorization_is_lost() -> None:
    results = iter([True, False])
    watcher = Watcher(Stream(), AccessCheck(lambda: next(results)))
    assert is_open_later(Poller(dict.fromkeys), watcher, after=CHECK_SECONDS)
    assert not is_open_later(Poller(dict.fromkeys), watcher, after=CHECK_SECONDS)


def test_stream_ends_when_authorization_is_unknown_for_a_minute() -> None:
    def raise_unavailable() -> bool:
        raise unavailable()

    watcher = Watcher(Stream(), AccessCheck(raise_unavailable))
    assert is_open_later(Poller(dict.fromkeys), watcher, after=CHECK_SECONDS)
    assert not is_open_later(Poller(dict.fromkeys), watcher, after=MAX_UNCHECKED_SECONDS - CHECK_SECONDS)


def test_closing_poller_ends_all_streams(queue: leaseq.Queue) -> None:
    poller, streams = Poller(dict.fromkeys), [Stream(), Stream()]
    poller._is_started = True
    poller.watch(SilentChannel(queue), Watcher(streams[0], AccessCheck(lambda: True)))
    poller.close()
    poller.watch(SilentChannel(queue), Watcher(streams[1], AccessCheck(lambda: True)))
    assert [stream.open for stream in streams] == [False, False]


def environ_of(app: Any, request: dict[str, Any]) -> Any:
    with app.test_request_context(**request) as context:
        return context.request.environ

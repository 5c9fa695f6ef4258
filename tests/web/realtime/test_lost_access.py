"""What a client gets bit by bit is asked for again as it is sent: streams, dashboards and downloads.

Access is lost by another process here, so that nothing in this one is told of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, cast

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.context import EXTENSION
from leaseq.webapp.realtime.poller import AccessCheck, Channel, Poller, Stream, Watcher
from leaseq.webapp.rendering.downloads import PIECES_PER_CHECK
from leaseq.webapp.security.authorization import request_check
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.base import reader_of
from leaseq.webapp.store.queue_access import Access, Group, QueueAccess
from tests.support.leases import take
from tests.web.conftest import Browser, Caller

OTHERS = Group(people=("eva",))
LOSSES: dict[str, Callable[[Accounts, QueueAccess, str, str], object]] = {
    "disabled": lambda accounts, _, person, __: accounts.change(person, by="test", disabled=True),
    "role": lambda accounts, _, person, __: accounts.change(person, by="test", role="worker"),
    "access": lambda _, access, __, queue: access.set(queue, Access(OTHERS, OTHERS)),
    "sign-in": lambda accounts, _, person, __: (
        accounts.end_sessions(person, by="test"),
        accounts.revoke_tokens(person, by="test"),
    ),
}
STREAMS = {
    "/api/v1/queues/{q}/events": ("disabled", "role", "access", "sign-in"),
    "/manage/{q}/live": ("disabled", "role", "access", "sign-in"),
    "/q/{q}/live": ("disabled", "access", "sign-in"),
    "/people": ("disabled", "role", "sign-in"),
}


class NumberChannel(Channel):
    """Sends the next number with each poll."""

    name = "numbers"

    def __init__(self) -> None:
        self.number = 0

    def serve(self, watchers: Sequence[Watcher]) -> None:
        self.number += 1
        for watcher in watchers:
            watcher.stream.put(b"%d" % self.number)


@pytest.fixture
def lose(app: Flask, server: Any, queue_name: str) -> Iterator[Callable[[str, str, str], object]]:
    """Take a person's access to a queue away, as another web process would."""
    other_accounts, other_access = Accounts(server.client), QueueAccess(server.client)
    yield lambda loss, person, queue: LOSSES[loss](other_accounts, other_access, person, queue)
    app.extensions[EXTENSION].access.forget_queue(queue_name)  # also what the app has cached


def check_of(app: Flask, environ: dict[str, Any]) -> AccessCheck:
    """The check of a stream that this request opens."""
    with app.request_context(environ):
        assert app.preprocess_request() is None
        return request_check(lambda: None)


def environ_of(response: Any) -> dict[str, Any]:
    response.close()
    return dict(response.request.environ)


@pytest.mark.parametrize(
    ("path", "loss"), [(path, loss) for path, losses in STREAMS.items() for loss in losses]
)
def test_nothing_is_sent_to_a_stream_once_access_is_lost(
    app: Flask,
    server: Any,
    queue: leaseq.Queue,
    make_caller: Callable[[str], Caller],
    sign_in_as: Callable[[str], Browser],
    lose: Callable[[str, str, str], object],
    path: str,
    loss: str,
) -> None:
    """With the next poll, whatever the caches of this process say."""
    queue.configure()
    url = path.format(q=queue.name)
    if url.startswith("/api"):
        caller = make_caller("manager")
        name, response = caller.name, cast("Any", caller("HEAD", url.removeprefix("/api/v1")))
    else:
        browser = sign_in_as("manager")
        name, response = browser.name, browser.client.head(url, headers={"Accept": "text/event-stream"})
    assert response.status_code == 200
    stream, poller, channel = Stream(), Poller(reader_of(server.client)), NumberChannel()
    watcher = Watcher(stream, check_of(app, environ_of(response)))
    for _ in range(2):
        poller.serve(channel, [watcher])
    assert next(stream.events()) == b"12"
    lose(loss, name, queue.name)
    poller.serve(channel, [watcher])
    assert (stream.open, stream.pending) == (False, 0)


def test_unchanged_rights_cost_one_read_a_poll(
    app: Flask, server: Any, queue: leaseq.Queue, manager: Caller
) -> None:
    queue.configure()
    reads, read = [], reader_of(server.client)

    def counted(commands: Any) -> Any:
        reads.append(list(commands))
        return read(reads[-1])

    checks: list[bool] = []

    def is_allowed() -> bool:
        checks.append(True)
        return True

    check = check_of(app, environ_of(manager("HEAD", f"/queues/{queue.name}/events")))
    watchers = [Watcher(Stream(), AccessCheck(is_allowed, check.reads)) for _ in range(3)]
    poller = Poller(counted)
    for _ in range(5):
        poller.serve(NumberChannel(), watchers)
    assert (len(reads), len(checks)) == (5, 3)


@pytest.fixture
def answered_queue(queue: leaseq.Queue) -> leaseq.Queue:
    queue.configure()
    for number in range(3 * PIECES_PER_CHECK):
        queue.enqueue({"n": number})
        queue.finish(take(queue, "ann"), {"note": "x"})
    return queue


@pytest.mark.parametrize("format", ["jsonl", "csv"])
@pytest.mark.parametrize("loss", LOSSES)
def test_download_stops_once_access_is_lost(
    answered_queue: leaseq.Queue,
    make_caller: Callable[[str], Caller],
    lose: Callable[[str, str, str], object],
    loss: str,
    format: str,
) -> None:
    """And does not look complete: the connection breaks, instead of the response's end."""
    caller = make_caller("manager")
    response = caller("GET", f"/queues/{answered_queue.name}/answers?format={format}", buffered=False)
    pieces = response.iter_encoded()
    received = list(islice(pieces, PIECES_PER_CHECK + 10))
    lose(loss, caller.name, answered_queue.name)
    with pytest.raises(Problem):
        received.extend(pieces)
    assert len(received) <= 2 * PIECES_PER_CHECK


def test_download_of_the_page_stops_for_a_disabled_person(
    answered_queue: leaseq.Queue, manager_browser: Browser, lose: Callable[[str, str, str], object]
) -> None:
    url = f"/manage/{answered_queue.name}/export?format=jsonl"
    pieces = manager_browser.get(url, buffered=False).iter_encoded()
    assert json.loads(next(pieces))["payload"]
    lose("disabled", manager_browser.name, answered_queue.name)
    with pytest.raises(Problem):
        list(pieces)


def test_complete_download_is_complete(answered_queue: leaseq.Queue, manager: Caller) -> None:
    response = manager("GET", f"/queues/{answered_queue.name}/answers?format=json")
    assert len(json.loads(response.text)) == 3 * PIECES_PER_CHECK

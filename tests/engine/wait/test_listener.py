"""The connection over which a client is notified of items: when it breaks, falls silent, or ends."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import leaseq
from leaseq.engine.keys import Keys
from leaseq.engine.notifications import Listener
from tests.conftest import Server
from tests.engine.proxy import SilentProxy
from tests.engine.waiters import LONG, Start, granted_ids, in_line
from tests.support.waiting import eventually


def test_steady_wake_ups_of_others_do_not_put_off_the_check_on_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client whose waiter is woken and never calls must not keep this client's waiters from the item."""
    waiters = Listener(None)
    _, channel = waiters._add("q", None, None)
    message = {"type": "message", "channel": b"q", "data": b"of another client"}
    now = 1_000.0
    monkeypatch.setattr("leaseq.engine.notifications.time", SimpleNamespace(monotonic=lambda: now))
    waiters._handle(message)
    first = channel.check_at
    now += 0.1
    waiters._handle(message)
    assert now < channel.check_at == first


def test_waiter_gets_item_after_listener_connection_breaks(
    server: Server, queue: leaseq.Queue, start: Start
) -> None:
    queue.configure()
    ann = start("ann")
    server.redis.client_kill_filter(_type="pubsub")
    queue.enqueue({}, id="a")
    assert granted_ids(ann) == ["a"]


@pytest.mark.not_on("cluster", "sentinel")  # the proxy is in front of a single server's socket
def test_silent_listener_connection_is_replaced(
    server: Server, queue: leaseq.Queue, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other end may disappear without notice: a machine is switched off, a router loses its table."""
    monkeypatch.setattr("leaseq.engine.notifications._SILENCE", 0.1)
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (LONG, LONG))
    queue.configure()
    with (
        tempfile.TemporaryDirectory(prefix="leaseq") as folder,
        SilentProxy(server.url, Path(folder)) as proxy,
    ):
        client = leaseq.connect(proxy.url)
        ann = start("ann", on=leaseq.Queue(client, queue.name))
        eventually(lambda: len(proxy.listening) == 1)
        proxy.fall_silent()
        eventually(lambda: max(proxy.pongs.values(), default=0) > 2, "a connection that answers stays")
        monkeypatch.setattr(
            "leaseq.engine.notifications._SILENCE", LONG
        )  # from here on, however busy the machine is
        queue.enqueue({}, id="a")
        assert granted_ids(ann) == ["a"]
        client.close()


@pytest.mark.not_on("cluster")  # only one node knows the listeners, and it may be any
def test_listener_subscribes_only_to_queues_with_waiters(
    server: Server, queue: leaseq.Queue, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._IDLE_SECONDS", 0.0)
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (LONG, LONG))
    other = leaseq.Queue(server.client, f"{queue.name}.other")
    queue.configure()
    other.configure()

    def heard_channels() -> list[str]:
        channels = (Keys(one.name).wake for one in (queue, other))
        return [channel for channel in channels if server.redis.pubsub_numsub(channel)[0][1]]

    ann = start("ann")
    assert heard_channels() == [Keys(queue.name).wake]
    thread = threading.Thread(target=lambda: other.reserve("bob", wait=LONG))
    thread.start()
    eventually(lambda: len(heard_channels()) == 2)
    other.enqueue({})
    thread.join(LONG)
    eventually(lambda: heard_channels() == [Keys(queue.name).wake])
    assert server.redis.pubsub_numpat() == 0
    queue.enqueue({}, id="a")
    assert granted_ids(ann) == ["a"]


def test_listener_thread_ends_when_nobody_waits(
    server: Server, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.engine.notifications._IDLE_SECONDS", 0.0)
    client = leaseq.connect(server.url)
    leaseq.Queue(client, queue.name).reserve("ann", wait=0.01)
    eventually(lambda: "leaseq-waiting" not in {thread.name for thread in threading.enumerate()})


def test_closing_client_ends_only_its_own_waits(server: Server, queue: leaseq.Queue, start: Start) -> None:
    queue.configure()
    client = leaseq.connect(server.url)
    ann, bob = start("ann", on=leaseq.Queue(client, queue.name), wait=600), start("bob")
    client.close()
    assert ann.result(LONG) is None
    assert in_line(server, queue) == 1
    queue.enqueue({}, id="a")
    assert granted_ids(bob) == ["a"]

"""Limits of the caches of a process."""

from __future__ import annotations

import functools
import sys
from datetime import UTC, datetime
from typing import Any

import leaseq
from leaseq.engine import commands
from leaseq.engine.client import connection_of
from leaseq.webapp.realtime.poller import AccessCheck, Poller, QueueChannel, Stream, Watcher
from leaseq.webapp.realtime.rates import RateCounter
from leaseq.webapp.realtime.snapshot import Snapshots
from leaseq.webapp.realtime.staff import Staff
from leaseq.webapp.store.activity import Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.web.conftest import Caller


def test_unused_snapshot_is_dropped(server: Any, queue: leaseq.Queue) -> None:
    client = server.client
    staff = Staff(list, QueueAccess(client), OpenCalls(client), Breaks(client), Announcements(client))
    snapshots = Snapshots(Threads(client), staff)
    snapshots.get(queue).used_at -= 3_600
    other_queue = leaseq.Queue(server.client, f"{queue.name}.other")
    snapshots.get(other_queue)
    assert list(snapshots._snapshots) == [other_queue.name]


def test_number_of_open_grants_is_limited() -> None:
    now = datetime.now(UTC)
    tally = RateCounter(now)
    for token in range(21_000):
        tally.add(leaseq.Event(f"{token}.0", now, "reserved", "id", "ann", token, None))
    assert len(tally._open_grants) == 20_000
    assert 0 not in tally._open_grants


class SilentChannel(QueueChannel):
    def serve(self, watchers: Any) -> None: ...


def test_watcher_of_ended_stream_is_dropped(queue: leaseq.Queue) -> None:
    poller, stream = Poller(dict.fromkeys), Stream()
    poller._is_started = True  # the test polls, not a thread
    poller.watch(SilentChannel(queue), Watcher(stream, AccessCheck(lambda: True)))
    assert poller._open_channels()
    stream.end()
    assert not poller._open_channels()


def test_unknown_queue_names_are_not_cached(worker: Caller) -> None:
    client = worker.client.application.extensions["leaseq"].client
    before = len(connection_of(client).policies)
    for number in range(50):
        body = {"token": 1, "result": {}}
        response = worker("POST", f"/queues/made-up-{number}/items/one/finish", json=body)
        assert response.status_code == 404
    assert len(connection_of(client).policies) == before
    assert commands._bind.cache_info().maxsize == 4_096


def test_every_cache_has_maximum_size() -> None:
    """The caches of all modules of the app."""
    modules = [
        module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in ("leaseq", "webapp")
    ]
    caches = {
        f"{function.__module__}.{function.__qualname__}": function.cache_info().maxsize
        for module in modules
        for function in vars(module).values()
        if isinstance(function, functools._lru_cache_wrapper)
    }
    assert len(caches) > 4
    unbounded_names = {name for name, max_size in caches.items() if max_size is None}
    assert unbounded_names == {"leaseq.engine.scripts.load"}, "it contains only the existing scripts"

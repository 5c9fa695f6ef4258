"""Stopping a worker: current items, leases granted during the stop, closed clients, and errors."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

import leaseq
from tests.conftest import Server
from tests.engine.waiters import in_line
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import HeldFunction, Start, wait_for


def test_stopped_worker_finishes_current_item_and_takes_no_more(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue_many([{}, {}])
    at_work, go_on = threading.Event(), threading.Event()

    def handle(_: leaseq.Lease) -> None:
        at_work.set()
        assert go_on.wait(TIMEOUT)

    thread = start(handle, grace=TIMEOUT)
    wait_for(at_work)
    thread.worker.stop()
    go_on.set()
    assert thread.join() == leaseq.WorkerStats(finished=1)
    assert (queue.stats().inbound, queue.stats().reserved) == (1, 0)


def test_stopped_worker_waits_for_current_item_within_grace_time(
    queue: leaseq.Queue, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's clock is frozen, so the grace time never ends."""
    queue.enqueue({})
    at_work, go_on = threading.Event(), threading.Event()

    def handle(_: leaseq.Lease) -> None:
        at_work.set()
        assert go_on.wait(TIMEOUT)

    thread = start(handle, grace=0.5)
    wait_for(at_work)
    looks = threading.Semaphore(0)

    def now() -> float:
        looks.release()
        return 7

    monkeypatch.setattr("leaseq.worker.worker.time", SimpleNamespace(monotonic=now))
    thread.worker.stop()
    for _ in range(3):
        assert looks.acquire(timeout=TIMEOUT), "the worker checks repeatedly"
    go_on.set()
    assert thread.join() == leaseq.WorkerStats(finished=1)


def test_worker_ends_when_grace_time_is_over(
    queue: leaseq.Queue, start: Start, handle: HeldFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker does not wait for its next check for signals."""
    monkeypatch.setattr("leaseq.worker.worker._POLL", 10 * TIMEOUT)
    queue.enqueue({})
    thread = start(handle, grace=0.1)
    wait_for(handle.at_work)
    assert thread.stop() == leaseq.WorkerStats(given_back=1)
    handle.go_on.set()


def test_stop_ends_wait_for_items_immediately(
    server: Server, queue: leaseq.Queue, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.worker.source._WAIT", 10 * TIMEOUT)
    queue.configure()
    thread = start(lambda _: None, grace=10 * TIMEOUT)
    eventually(lambda: in_line(server, queue) == 1, "it waits")
    assert thread.stop() == leaseq.WorkerStats()
    assert in_line(server, queue) == 0
    queue.enqueue({}, id="one")
    assert queue.get("one").attempts == 0


def test_lease_granted_during_stop_is_given_back(
    queue: leaseq.Queue, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease is granted just before the stop."""
    reserve, workers = leaseq.Queue.reserve, SimpleQueue[leaseq.Worker]()

    def reserve_and_stop(self: leaseq.Queue, person: str, **options: Any) -> leaseq.Lease | None:
        lease = reserve(self, person, **options)
        if lease is not None:
            workers.get(timeout=TIMEOUT).stop()
        return lease

    monkeypatch.setattr(leaseq.Queue, "reserve", reserve_and_stop)
    queue.enqueue({})
    thread = start(lambda _: None, grace=TIMEOUT)
    workers.put(thread.worker)
    assert thread.join() == leaseq.WorkerStats(given_back=1)
    assert queue.stats().inbound == 1


def test_worker_ends_when_its_client_is_closed(queue: leaseq.Queue, server: Server, start: Start) -> None:
    """A closed client doesn't wait, so a running worker would reserve without a pause."""
    client = leaseq.connect(server.url)
    at_work = threading.Event()
    thread = start(lambda _: at_work.set(), client=client, concurrency=2)
    queue.enqueue({})
    wait_for(at_work)
    client.close()
    assert thread.join() == leaseq.WorkerStats(finished=1)


@pytest.mark.not_on("sentinel")  # its URL can't set a client name
def test_worker_of_a_closed_client_keeps_no_connection(
    queue: leaseq.Queue, server: Server, start: Start, handle: HeldFunction
) -> None:
    name = "closed-worker"
    client = leaseq.connect(f"{server.url}{'&' if '?' in server.url else '?'}client_name={name}")
    thread = start(handle, client=client, grace=TIMEOUT)
    queue.enqueue({})
    wait_for(handle.at_work)
    client.close()
    handle.go_on.set()
    assert thread.join() == leaseq.WorkerStats(finished=1)
    eventually(lambda: not any(one["name"] == name for one in server.redis.client_list()), "they are closed")


def test_current_item_is_finished_after_client_is_closed(
    queue: leaseq.Queue, server: Server, start: Start, handle: HeldFunction
) -> None:
    client = leaseq.connect(server.url)
    thread = start(handle, client=client, grace=TIMEOUT)
    queue.enqueue({}, id="one")
    wait_for(handle.at_work)
    client.close()
    handle.go_on.set()
    assert thread.join() == leaseq.WorkerStats(finished=1)
    assert queue.get("one").state == "finished"


def test_worker_cannot_be_run_twice(queue: leaseq.Queue, server: Server) -> None:
    worker = leaseq.Worker(server.client, {queue.name: lambda _: {}}, person="bot")
    worker.stop()
    worker.run()
    with pytest.raises(RuntimeError, match="create another one"):
        worker.run()


def test_result_of_a_given_back_item_is_dropped(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue({}, id="one")
    at_work, go_on, at_end = threading.Event(), threading.Event(), threading.Event()

    def handle(_: leaseq.Lease) -> str:
        at_work.set()
        assert go_on.wait(TIMEOUT)
        at_end.set()
        return "too late"

    thread = start(handle)
    wait_for(at_work)
    assert thread.stop() == leaseq.WorkerStats(given_back=1)
    go_on.set()
    wait_for(at_end)
    for live_thread in threading.enumerate():
        if live_thread.name.startswith("leaseq-worker"):
            live_thread.join(TIMEOUT)
    item = queue.get("one")
    assert (item.state, item.answers, item.late_answers) == ("inbound", (), ())


def test_worker_stopped_before_run_takes_nothing(queue: leaseq.Queue, server: Server) -> None:
    queue.enqueue({})
    worker = leaseq.Worker(server.client, {queue.name: lambda _: {}}, person="bot")
    worker.stop()
    worker.run()
    assert worker.stats == leaseq.WorkerStats()
    assert queue.stats().inbound == 1


def test_signal_handlers_are_restored_when_worker_ends(queue: leaseq.Queue, server: Server) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    test_worker_stopped_before_run_takes_nothing(queue, server)
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_unexpected_error_ends_worker_and_is_raised(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_bug(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(leaseq.Queue, "reserve", raise_bug)
    with pytest.raises(ZeroDivisionError):
        start(lambda _: {}).join()

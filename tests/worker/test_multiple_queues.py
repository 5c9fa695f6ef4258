"""Several queues: the order in which they are served, and waiting in all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import leaseq
from leaseq.queue.reserve_first import reserve_first
from leaseq.worker.handlers import QueueHandlers
from leaseq.worker.outcomes import Retry
from leaseq.worker.source import Reserver, Source
from tests.conftest import Server
from tests.engine.waiters import in_line
from tests.support.refused import unavailable
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import HeldFunction, Start, wait_for

Queues = dict[str, leaseq.Queue]


@pytest.fixture
def queues(server: Server, queue_name: str) -> Queues:
    by_name = {
        name: leaseq.Queue(server.client, f"{queue_name}.{name}") for name in ("high", "normal", "low")
    }
    for queue in by_name.values():
        queue.configure()
    return by_name


def handlers_of(queues: Queues, handle: Callable[[leaseq.Lease], object]) -> dict[str, Callable[..., object]]:
    return {queue.name: handle for queue in queues.values()}


def test_lease_from_lost_reply_of_multi_queue_wait_is_handled(
    queues: Queues, start: Start, handle: HeldFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker may hold more, so another reserve would return another item."""
    for queue in queues.values():
        queue.configure(holds=5)
    losses = iter([True])

    def lose_reply(*args: Any) -> leaseq.Lease | None:
        lease = reserve_first(*args)
        if lease is not None and next(losses, False):
            raise unavailable()
        return lease

    monkeypatch.setattr("leaseq.worker.source.reserve_first", lose_reply)
    handle.go_on.set()
    start(handlers_of(queues, handle))
    eventually(lambda: queues["low"].stats().waiting == 1, "it waits")
    queues["low"].enqueue({})
    eventually(lambda: queues["low"].stats().finished == 1, "worked, though the reply was lost")
    assert handle.tokens == [1]


def test_strict_order_takes_from_the_first_queue_with_items(queues: Queues, start: Start) -> None:
    for name in ("low", "normal", "high"):
        queues[name].enqueue_many([{}, {}])
    names: list[str] = []

    def handle(lease: leaseq.Lease) -> None:
        names.append(lease.queue.rpartition(".")[2])
        if len(names) == 4:  # an item is added to a queue that had become empty
            queues["high"].enqueue({})

    start(handlers_of(queues, handle), order="strict")
    eventually(lambda: len(names) == 7, "all are worked")
    assert names == ["high", "high", "normal", "normal", "high", "low", "low"]


@pytest.mark.parametrize("order", ["turn", "strict"])
def test_worker_waits_in_all_queues_at_once(
    server: Server, queues: Queues, start: Start, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    """The worker is woken; its next attempt without that would come after the end of the test."""
    monkeypatch.setattr("leaseq.worker.source._WAIT", 10 * TIMEOUT)
    monkeypatch.setattr("leaseq.engine.notifications._POLL_SECONDS", (10 * TIMEOUT, 10 * TIMEOUT))
    calls = threading.Semaphore(0)
    thread = start(handlers_of(queues, lambda _: calls.release()), order=order)
    for queue in [*queues.values()] * 2:
        eventually(lambda: [in_line(server, q) for q in queues.values()] == [1, 1, 1], "in line in all")
        queue.enqueue({})
        assert calls.acquire(timeout=TIMEOUT), "it is taken at once"
    eventually(lambda: [in_line(server, q) for q in queues.values()] == [1, 1, 1], "in line in all")
    assert thread.stop() == leaseq.WorkerStats(finished=6)
    assert [in_line(server, queue) for queue in queues.values()] == [0, 0, 0]


def test_waiting_thread_moves_to_a_queue_with_a_freed_slot(
    server: Server, queues: Queues, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person may hold one item of the first queue, so one of four threads waits there. If that thread
    gets an item of another queue, a thread that already waits elsewhere takes its place."""
    monkeypatch.setattr("leaseq.worker.source._WAIT", 10 * TIMEOUT)
    at_work, go_on = threading.Semaphore(0), threading.Event()

    def handle(_: leaseq.Lease) -> None:
        at_work.release()
        assert go_on.wait(TIMEOUT)

    def has_in_line(name: str, count: int) -> bool:
        return in_line(server, queues[name]) == count

    queues["low"].configure(holds=4)
    thread = start(
        {queues["high"].name: handle, queues["low"].name: handle},
        order="strict",
        concurrency=4,
        grace=TIMEOUT,
    )
    for thread_count in (4, 3, 2):
        eventually(partial(has_in_line, "low", thread_count), "the others wait")
        queues["low"].enqueue({})
        assert at_work.acquire(timeout=TIMEOUT)
        eventually(partial(has_in_line, "high", 1), "one waits in the first queue")
    queues["high"].enqueue({})
    assert at_work.acquire(timeout=TIMEOUT), "the last thread takes it"
    go_on.set()
    eventually(lambda: thread.worker.stats.finished == 4, "all are done")


def test_every_thread_takes_from_every_queue(queues: Queues, start: Start) -> None:
    queues["high"].configure(holds=2)
    at_work, go_on = threading.Semaphore(0), threading.Event()

    def handle(_: leaseq.Lease) -> None:
        at_work.release()
        assert go_on.wait(TIMEOUT)

    names = queues["high"].name, queues["low"].name
    thread = start(dict.fromkeys(names, handle), order="turn", concurrency=2, grace=TIMEOUT)
    queues["high"].enqueue_many([{}, {}])
    for _ in range(2):
        assert at_work.acquire(timeout=TIMEOUT), "both are at work, each in a thread"
    go_on.set()
    assert thread.stop() == leaseq.WorkerStats(finished=2)


class StoppingQueue(leaseq.Queue):
    """Stops the worker when it reserves here."""

    def __init__(self, client: leaseq.Client, name: str, stop: threading.Event) -> None:
        super().__init__(client, name)
        self._worker_stop = stop

    def reserve(self, *args: Any, **options: Any) -> leaseq.Lease | None:
        self._worker_stop.set()
        return super().reserve(*args, **options)


@pytest.mark.parametrize("last_name", ["high", "low"])
def test_stopped_worker_reserves_from_no_further_queue(
    server: Server, queues: Queues, monkeypatch: pytest.MonkeyPatch, last_name: str
) -> None:
    wait_calls: list[Any] = []
    monkeypatch.setattr("leaseq.worker.source.reserve_first", lambda *args: wait_calls.append(args))
    stop = threading.Event()
    all_queues = {**queues, last_name: StoppingQueue(server.client, queues[last_name].name, stop)}
    sources = [
        Source(all_queues[name], QueueHandlers(lambda _: None), "bot", 1)
        for name in ("high", "normal", "low")
    ]
    if last_name == "high":
        queues["normal"].enqueue({}, id="a")
    give_back_calls: list[Any] = []
    reserver = Reserver(
        sources,
        round_robin=False,
        skills=(),
        retry=Retry(),
        stop=stop,
        give_back=lambda *args: give_back_calls.append(args),
    )
    assert (reserver.take(), wait_calls, give_back_calls) == (None, [], [])


class UnavailableQueue(StoppingQueue):
    """Also simulates that the server is unavailable."""

    def reserve(self, *args: Any, **options: Any) -> leaseq.Lease | None:
        self._worker_stop.set()
        raise unavailable()


def test_worker_stopped_while_server_is_unavailable_takes_nothing(server: Server, queues: Queues) -> None:
    stop = threading.Event()
    queue = UnavailableQueue(server.client, queues["low"].name, stop)
    source = Source(queue, QueueHandlers(lambda _: None), "bot", 1)
    reserver = Reserver(
        [source], round_robin=False, skills=(), retry=Retry(), stop=stop, give_back=lambda *_: None
    )
    assert reserver.take() is None


def test_released_slot_notifies_a_thread_without_slot(queue: leaseq.Queue) -> None:
    queue.configure(holds=1)
    source, room = Source(queue, QueueHandlers(lambda _: None), "bot", 2), threading.Event()
    assert (source.acquire_slot(room), source.acquire_slot(room), room.is_set()) == (True, False, False)
    source.release_slot()
    assert room.is_set()


def test_paused_queue_does_not_block_other_queues(queues: Queues, start: Start) -> None:
    ids: list[str] = []
    queues["high"].pause("closed")
    queues["high"].enqueue({}, id="one")
    start(handlers_of(queues, lambda lease: ids.append(lease.id)), order="strict")
    queues["normal"].enqueue({}, id="two")
    eventually(lambda: ids == ["two"], "the open queue is worked")
    queues["high"].resume()
    eventually(lambda: ids == ["two", "one"], "both are worked")


def test_worker_continues_after_deletion_of_a_queue_during_wait(
    server: Server, queues: Queues, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.worker.source._WAIT", 10 * TIMEOUT)
    ids: list[str] = []
    start(handlers_of(queues, lambda lease: ids.append(lease.id)))
    eventually(lambda: in_line(server, queues["low"]) == 1, "it waits in all")
    queues["high"].delete()
    for name, id in (("low", "one"), ("high", "two")):
        queues[name].enqueue({}, id=id)
        eventually(partial(ids.__contains__, id), f"{id} is worked")


def test_worker_continues_after_deletion_of_a_queue_during_handling(
    queue: leaseq.Queue, start: Start, handle: HeldFunction
) -> None:
    queue.enqueue({}, id="one")
    thread = start(handle)
    wait_for(handle.at_work)
    queue.delete()
    handle.go_on.set()
    eventually(lambda: thread.worker.stats.lost == 1, "its result is lost")
    queue.enqueue({}, id="two")
    eventually(lambda: thread.worker.stats.finished == 1, "the new queue is worked")

"""Handlers that are coroutine functions: run concurrently on one loop, and cancelled if the lease is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from typing import Any

import pytest

import leaseq
from tests.support.waiting import TIMEOUT, eventually
from tests.worker.conftest import Start, wait_for


class HeldCoroutine:
    """A handler that waits until the test releases it, and records its cancellations."""

    def __init__(self) -> None:
        self.at_work = threading.Semaphore(0)
        self.cancellations = threading.Semaphore(0)
        self.thread_names: set[str] = set()
        self._go_on: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def __call__(self, lease: leaseq.Lease) -> dict[str, Any]:
        event = asyncio.Event()
        self._go_on.append((asyncio.get_running_loop(), event))
        self.thread_names.add(threading.current_thread().name)
        self.at_work.release()
        try:
            await event.wait()
        except asyncio.CancelledError:
            self.cancellations.release()
            raise
        return {"of": lease.id}

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.at_work.acquire(timeout=TIMEOUT), "it has not begun"

    def go_on(self) -> None:
        for loop, event in self._go_on:
            loop.call_soon_threadsafe(event.set)


def test_as_many_coroutines_run_at_once_as_concurrency_allows(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(holds=3)
    queue.enqueue_many(leaseq.NewItem({}, id=f"item-{n}") for n in range(4))
    handle = HeldCoroutine()
    thread = start(handle, concurrency=3, grace=TIMEOUT)
    handle.wait(3)
    assert (len(queue.mine("bot")), handle.thread_names) == (3, {"leaseq-worker-tasks"})
    thread.worker.stop()
    handle.go_on()
    assert thread.join() == leaseq.WorkerStats(finished=3)
    assert [answer.result["of"] for answer in queue.answers()] == [answer.id for answer in queue.answers()]
    assert queue.stats().inbound == 1
    assert not [
        live_thread for live_thread in threading.enumerate() if live_thread.name == "leaseq-worker-tasks"
    ]


def test_functions_and_coroutine_functions_work_side_by_side(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(holds=2)
    queue.enqueue_many([{"kind": "async"}, {"kind": "thread"}])
    barrier = threading.Barrier(2, timeout=TIMEOUT)

    async def run_on_loop(_: leaseq.Lease) -> str:
        await asyncio.to_thread(barrier.wait)
        return "async"

    def run_in_thread(_: leaseq.Lease) -> str:
        barrier.wait()
        return "thread"

    start({queue.name: {"async": run_on_loop, "thread": run_in_thread}}, by="kind", concurrency=2)
    eventually(lambda: queue.stats().finished == 2, "finished")
    assert all(answer.result == answer.payload["kind"] for answer in queue.answers())


def test_any_awaitable_result_is_awaited(queue: leaseq.Queue, start: Start) -> None:
    """By the type Handler, a function may return any awaitable."""

    class AwaitableResult:
        def __await__(self) -> Generator[Any, None, str]:
            yield from asyncio.sleep(0).__await__()
            return "done"

    queue.enqueue({}, id="one")
    start(lambda _: AwaitableResult())
    eventually(lambda: queue.stats().finished == 1, "finished")
    assert [answer.result for answer in queue.answers()] == ["done"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError("by itself"), "CancelledError"),
        (TimeoutError(), "TimeoutError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_exception_in_a_coroutine_fails_only_its_item(
    queue: leaseq.Queue, start: Start, error: BaseException, text: str
) -> None:
    queue.configure(max_attempts=1, holds=2)
    queue.enqueue({"fails": False}, id="good")
    queue.enqueue({"fails": True}, id="bad")
    handle = HeldCoroutine()

    async def fail_or_wait(lease: leaseq.Lease) -> Any:
        if not lease.payload["fails"]:
            return await handle(lease)
        raise error

    thread = start(fail_or_wait, concurrency=2, grace=TIMEOUT)
    handle.wait()
    eventually(lambda: queue.stats().dead == 1, "dead")
    assert queue.get("bad").last_error == text
    thread.worker.stop()
    handle.go_on()
    assert thread.join() == leaseq.WorkerStats(finished=1, failed=1)


def test_a_lease_is_renewed_while_its_coroutine_runs(queue: leaseq.Queue, start: Start) -> None:
    queue.configure(lease_seconds=0.3)
    queue.enqueue({})
    handle = HeldCoroutine()
    start(handle)
    eventually(lambda: sum(event.what == "renewed" for event in queue.journal(limit=1_000)) >= 3, "renewed")
    handle.go_on()
    eventually(lambda: queue.stats().finished == 1, "finished")


@pytest.mark.parametrize("how", ["released", "removed", "queue deleted"])
def test_the_task_of_a_lost_lease_is_cancelled(
    queue: leaseq.Queue, start: Start, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    queue.configure(lease_seconds=0.3)
    queue.enqueue({}, id="one")
    handle = HeldCoroutine()
    thread = start(handle)
    handle.wait()
    queue.pause("so that it isn't taken again")
    if how == "queue deleted":
        queue.delete()
    elif how == "removed":
        queue.remove("one")
    else:
        queue.release("one")
    assert handle.cancellations.acquire(timeout=TIMEOUT), "it is cancelled"
    eventually(lambda: thread.worker.stats.lost == 1, "lost")
    assert thread.stop() == leaseq.WorkerStats(lost=1)
    assert "the lease was lost, so its task was cancelled" in caplog.text


def test_task_of_a_given_back_item_is_cancelled(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue({}, id="one")
    handle = HeldCoroutine()
    thread = start(handle, grace=0)
    handle.wait()
    assert thread.stop() == leaseq.WorkerStats(given_back=1)
    assert handle.cancellations.acquire(blocking=False), "it is cancelled, and the worker waited for that"
    item = queue.get("one")
    assert (item.state, item.late_answers) == ("inbound", ())


def test_background_task_of_a_coroutine_ends_with_the_worker(queue: leaseq.Queue, start: Start) -> None:
    queue.enqueue({})
    task_end = threading.Event()
    tasks: list[asyncio.Task[None]] = []

    async def wait_forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            task_end.set()

    async def handle(_: leaseq.Lease) -> str:
        tasks.append(asyncio.create_task(wait_forever()))
        await asyncio.sleep(0)
        return "done"

    thread = start(handle)
    eventually(lambda: queue.stats().finished == 1, "finished")
    assert not task_end.is_set()
    thread.stop()
    wait_for(task_end)

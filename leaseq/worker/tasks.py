"""A worker's event loop, which runs the coroutines of its handlers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from concurrent.futures import Future

from leaseq.models import Json

RAISED = (SystemExit, KeyboardInterrupt)
"""If a handler raises one of these, the item fails, as with an Exception. Ctrl-C raises none in a handler."""


class RunningTask:
    """A coroutine on the loop. Threads wait for it with ``result()``, and may cancel it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, awaitable: Awaitable[Json]) -> None:
        self._loop = loop
        self._future: Future[Json] = Future()
        self._task: asyncio.Task[tuple[Json, BaseException | None]]
        loop.call_soon_threadsafe(self._start, awaitable)

    def result(self) -> Json:
        """Wait for the coroutine, and return or raise what it does; CancelledError if it was cancelled."""
        return self._future.result()

    def cancel(self) -> None:
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._task.cancel()

    def _start(self, awaitable: Awaitable[Json]) -> None:
        self._task = self._loop.create_task(_outcome(awaitable))
        self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[tuple[Json, BaseException | None]]) -> None:
        if task.cancelled():
            self._future.set_exception(asyncio.CancelledError())
            return
        result, error = task.result()
        if error is not None:
            self._future.set_exception(error)
        else:
            self._future.set_result(result)


async def _outcome(awaitable: Awaitable[Json]) -> tuple[Json, BaseException | None]:
    """Return the result and the exception: a task that raised SystemExit or KeyboardInterrupt would end the
    loop."""
    try:
        return await awaitable, None
    except (Exception, *RAISED) as error:  # noqa: BLE001 - it fails the item
        return None, error


class EventLoop:
    """An event loop in its own thread, started with the first coroutine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runtime: tuple[asyncio.AbstractEventLoop, asyncio.Event, threading.Thread] | None = None

    def run(self, awaitable: Awaitable[Json]) -> RunningTask:
        with self._lock:
            if self._runtime is None:
                self._runtime = self._begin()
            loop = self._runtime[0]
        return RunningTask(loop, awaitable)

    def end(self, seconds: float) -> None:
        """End the loop, cancel its coroutines, and wait at most ``seconds`` for them to end."""
        with self._lock:
            runtime = self._runtime
        if runtime is not None:
            loop, end_event, thread = runtime
            loop.call_soon_threadsafe(end_event.set)
            thread.join(seconds)

    def _begin(self) -> tuple[asyncio.AbstractEventLoop, asyncio.Event, threading.Thread]:
        runner, end_event = asyncio.Runner(loop_factory=asyncio.new_event_loop), asyncio.Event()
        loop = runner.get_loop()

        def run_loop() -> None:
            with runner:
                runner.run(end_event.wait())

        thread = threading.Thread(target=run_loop, name="leaseq-worker-tasks", daemon=True)
        thread.start()
        return loop, end_event, thread

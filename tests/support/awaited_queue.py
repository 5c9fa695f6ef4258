"""Synchronous calls of `leaseq.aio` for the tests of `leaseq`: each is awaited in a thread's event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import leaseq

T = TypeVar("T")
TIMEOUT = 60.0  # seconds for a call


class LoopThread:
    """An event loop in its own thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(TIMEOUT)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(TIMEOUT)
        self.loop.close()


class AwaitedQueue:
    """A queue of `leaseq.aio` with the calls of a `leaseq.Queue`. Its ``_client`` is one of `leaseq`."""

    def __init__(self, loop: LoopThread, queue: leaseq.aio.Queue, client: leaseq.Client) -> None:
        self.name = queue.name
        self._client = client
        self._loop = loop
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._queue, name)
        return self._await_value(value) if inspect.iscoroutine(value) else self._wrap(value)

    def _wrap(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if isinstance(options.get("stop"), threading.Event):
                options["stop"] = self._mirror_event(options["stop"])
            return self._await_value(method(*args, **options))

        return call

    def _await_value(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._loop.run(value)
        return self._iterate(value) if inspect.isasyncgen(value) else value

    def _iterate(self, items: Any) -> Iterator[Any]:
        while True:
            try:
                yield self._loop.run(anext(items))
            except StopAsyncIteration:
                return

    def _mirror_event(self, stop: threading.Event) -> asyncio.Event:
        """Return an event of the loop that is set when this one is."""
        event = asyncio.Event()

        def follow() -> None:
            stop.wait(TIMEOUT)
            self._loop.loop.call_soon_threadsafe(event.set)

        threading.Thread(target=follow, daemon=True).start()
        return event

"""Waiting for an item in an event loop: like `leaseq.engine.notifications`, but in a task."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from leaseq.engine import notifications as waiting
from leaseq.engine.notifications import NoItemYet, Waiter, Waiters
from leaseq.errors import Invalid, ServerUnavailable

T = TypeVar("T")
Attempt: TypeAlias = Callable[[str, bool], Awaitable[T | NoItemYet]]
"""One try: given the waiter's name and whether it was woken."""


class Listener(Waiters):
    """Receives the wake-ups of one client. Its task runs while there are waiters, and a little longer."""

    event = asyncio.Event

    async def join(self, name: str, stop: asyncio.Event | None = None, *, item: str = "") -> Waiter:
        """Add a waiter for the queue of this channel. Setting ``stop`` ends its wait. ``item``: for whose
        answer it waits, on a channel of answers."""
        waiter, channel = self._add(name, stop, None, item)
        if self._runner is None:
            self._runner = asyncio.create_task(self._run(), name="leaseq-waiting")
        try:
            # So as not to miss the first message, though missing one does no harm.
            await _wait(channel.subscribed, 1)
        except BaseException:  # the task was cancelled
            self.leave(waiter)
            raise
        return waiter

    async def end(self) -> None:
        """End all waits, and stop the task."""
        self.close()
        if (task := self._runner) is not None:
            self._runner = None
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except Exception:  # noqa: BLE001 - redis.asyncio's errors, or what its reader raises on a closed socket
                await asyncio.sleep(random.uniform(*waiting._RETRY_SECONDS))  # noqa: S311, SLF001 - not all at once
            if self._stop_if_idle():
                return

    async def _listen(self) -> None:
        """Receive messages until there have been no waiters for a while, or the connection breaks or
        stalls."""
        pubsub: Any = self._redis.pubsub()
        subscribed_names: set[str] = set()
        last_message_at, is_ping_sent = time.monotonic(), False
        try:
            while await self._subscribe(pubsub, subscribed_names):
                message = await pubsub.get_message(timeout=waiting._LISTEN_SECONDS)  # noqa: SLF001
                silence = time.monotonic() - last_message_at
                if message:
                    last_message_at, is_ping_sent = time.monotonic(), False
                    self._handle(message)
                elif is_ping_sent and silence > 2 * waiting._SILENCE:  # noqa: SLF001
                    raise ConnectionError("the server did not answer a ping in time")
                elif not is_ping_sent and silence > waiting._SILENCE:  # noqa: SLF001
                    await pubsub.ping()
                    is_ping_sent = True
        finally:
            with suppress(Exception):
                await pubsub.aclose()

    async def _subscribe(self, pubsub: Any, subscribed_names: set[str]) -> bool:
        """Subscribe to the queues that are, or just were, waited on. False if there are none."""
        names = self._refresh_channels()
        if new_names := names - subscribed_names:
            await pubsub.subscribe(*new_names)
        if names and (old_names := subscribed_names - names):
            await pubsub.unsubscribe(*old_names)
        subscribed_names.clear()
        subscribed_names.update(names)
        return bool(names)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def wait_for(
    listener: Listener, waiters: Sequence[Waiter], seconds: float, attempts: Sequence[Attempt[T]]
) -> T | None:
    """Try until there is an outcome, the time is up or the wait was ended. The caller then leaves the waiting
    list."""
    until = time.monotonic() + seconds
    stop, wake_event = waiters[0].stop, waiters[0].wake_event
    while not listener.has_ended(stop):
        poll_seconds = random.uniform(*waiting._POLL_SECONDS)  # noqa: S311, SLF001 - not all at once
        for waiter, attempt, woken in zip(waiters, attempts, listener.take_wake_ups(waiters), strict=True):
            outcome: T | NoItemYet
            try:
                outcome = await attempt(waiter.name, woken)
            except Invalid:
                if not listener.closed:
                    raise
                return None
            except ServerUnavailable:  # while there is time, it may come back or be replaced
                if time.monotonic() >= until or listener.has_ended(stop):
                    raise
                outcome = NoItemYet(random.uniform(*waiting._RETRY_SECONDS), 0)  # noqa: S311, SLF001 - not all at once
            if not isinstance(outcome, NoItemYet):
                return outcome
            poll_seconds = min(poll_seconds, max(outcome.seconds, 0.01))
        seconds_left = until - time.monotonic()
        if seconds_left <= 0:
            break
        await _wait(wake_event, min(seconds_left, poll_seconds))
    return None

"""Waiting for an item in an event loop: as `leaseq.engine.notifications`, with a task for the thread."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from leaseq.engine import notifications as waiting
from leaseq.engine.notifications import LookAgain, Waiter, Waiters
from leaseq.errors import Invalid, ServerUnavailable
from leaseq.models import Lease

Attempt = Callable[[str, bool], Awaitable[Lease | LookAgain]]
"""One try: given the waiter's name and whether it was woken."""


class Listener(Waiters):
    """Receives the wake-ups of one client. Its task runs while there are waiters, and a little longer."""

    event = asyncio.Event

    async def join(self, name: str, stop: asyncio.Event | None = None) -> Waiter:
        """Add a waiter on the queue of this channel, at most until ``stop`` is set."""
        waiter, channel = self._add(name, stop, None)
        if self._alive is None:
            self._alive = asyncio.create_task(self._live(), name="leaseq-waiting")
        try:
            await _wait(channel.heard, 1)  # not to miss the first message; it is no matter if one is missed
        except BaseException:  # the task was cancelled
            self.leave(waiter)
            raise
        return waiter

    async def end(self) -> None:
        """End all waits, and the task."""
        self.close()
        if (task := self._alive) is not None:
            self._alive = None
            task.cancel()
            await asyncio.wait({task})

    async def _live(self) -> None:
        while True:
            try:
                await self._listen()
            except Exception:  # noqa: BLE001 - redis.asyncio's errors, or what its reader raises on a closed socket
                await asyncio.sleep(random.uniform(*waiting._AWAY))  # noqa: S311, SLF001 - not all at once
            if self._is_left():
                return

    async def _listen(self) -> None:
        """Receive messages until there have been no waiters for a while, or the connection breaks or
        stalls."""
        pubsub: Any = self._redis.pubsub()
        subscribed: set[str] = set()
        heard_at, pinged = time.monotonic(), False
        try:
            while await self._subscribe(pubsub, subscribed):
                message = await pubsub.get_message(timeout=waiting._TICK)  # noqa: SLF001
                silence = time.monotonic() - heard_at
                if message:
                    heard_at, pinged = time.monotonic(), False
                    self._take(message)
                elif pinged and silence > 2 * waiting._SILENCE:  # noqa: SLF001
                    raise ConnectionError("the server did not answer a ping in time")
                elif not pinged and silence > waiting._SILENCE:  # noqa: SLF001
                    await pubsub.ping()
                    pinged = True
        finally:
            with suppress(Exception):
                await pubsub.aclose()

    async def _subscribe(self, pubsub: Any, subscribed: set[str]) -> bool:
        """Subscribe to the queues that are, or just were, waited on. False where there are none."""
        wanted = self._wanted()
        if new := wanted - subscribed:
            await pubsub.subscribe(*new)
        if wanted and (gone := subscribed - wanted):
            await pubsub.unsubscribe(*gone)
        subscribed.clear()
        subscribed.update(wanted)
        return bool(wanted)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def wait_for(
    listener: Listener, waiters: Sequence[Waiter], seconds: float, attempts: Sequence[Attempt]
) -> Lease | None:
    """Try until there is a lease, the time is over or the wait was ended. The caller then leaves the line."""
    until = time.monotonic() + seconds
    stop, roused = waiters[0].stop, waiters[0].roused
    while not listener.has_ended(stop):
        look_again = random.uniform(*waiting._LOOK_AGAIN)  # noqa: S311, SLF001 - not all at once
        for waiter, attempt, woken in zip(waiters, attempts, listener.take_turns(waiters), strict=True):
            try:
                outcome = await attempt(waiter.name, woken)
            except Invalid:
                if not listener.closed:
                    raise
                return None
            except ServerUnavailable:  # it may come back, or another take its place, while there is time
                # equivalent mutant: compare: a clock with nanoseconds is not read at that very moment
                if time.monotonic() >= until or listener.has_ended(stop):
                    raise
                outcome = LookAgain(random.uniform(*waiting._AWAY), 0)  # noqa: S311, SLF001 - not all at once
            if isinstance(outcome, Lease):
                return outcome
            look_again = min(look_again, max(outcome.seconds, 0.01))
        left = until - time.monotonic()
        # equivalent mutant: compare: with nothing left the next wait takes no time
        if left <= 0:
            break
        await _wait(roused, min(left, look_again))
    return None

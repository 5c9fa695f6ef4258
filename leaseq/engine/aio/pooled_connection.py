"""One connection of redis.asyncio, and what all its calls share: its event loop, its time limit, and work
that is finished even if its task is cancelled."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis import exceptions as rx

from leaseq.engine import transport
from leaseq.engine.transport import FAILURES, TIMEOUT
from leaseq.errors import Invalid

MAX_CALLS = 64
"""Calls that run at the same time by one client; others wait. Tasks are cheap, connections are not."""

_tasks: set[asyncio.Task[None]] = set()


async def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine in a task of its own, and wait for it even if the caller is cancelled, for at most
    TIMEOUT seconds. Then raise the cancellation."""
    task = asyncio.create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    loop = asyncio.get_running_loop()
    until = loop.time() + TIMEOUT
    cancelled: asyncio.CancelledError | None = None
    while not task.done() and (seconds_left := until - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=seconds_left)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    if task.done():
        task.result()


class CallLimiter:
    """Limits how many calls of a client run at the same time, and binds the client to one event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._semaphore = asyncio.Semaphore(MAX_CALLS)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise Invalid("client", "event_loop")
        async with self._semaphore:
            yield


async def with_timeout(seconds: float, work: Awaitable[Any]) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise rx.TimeoutError(f"no answer within {seconds:g} seconds") from None


async def read_reply(
    read: Callable[[float], Awaitable[Any]], seconds: float, is_replaced: Callable[[], Awaitable[bool]]
) -> Any:
    """Like `leaseq.engine.transport.read_reply`."""
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, transport.SILENCE
    while True:
        seconds_left = max(until - loop.time(), 0.001)
        try:
            return await read(min(pause, seconds_left))
        except rx.TimeoutError:
            if seconds_left <= pause:
                raise
            if await is_replaced():
                raise rx.ConnectionError("another server took the place of this one") from None
            pause = transport.CHECK_SECONDS


class PooledConnection:
    """A connection for a call, with its own timeout: redis.asyncio's, which starts a task for each write, is
    off. ``is_replaced``: whether another server took the place of this one."""

    def __init__(
        self, connection: Any, seconds: float, is_replaced: Callable[[], Awaitable[bool]] | None = None
    ) -> None:
        self.connection = connection
        self._own_timeout = connection.socket_timeout
        self._seconds, self._is_replaced = seconds, is_replaced

    async def open(self) -> None:
        try:
            await self.connection.connect()
        except BaseException:  # cancelled halfway
            await self.drop()
            raise
        self.connection.socket_timeout = None

    async def send_packed_command(self, commands: Sequence[bytes], *, check_health: bool = False) -> None:
        await with_timeout(
            self._seconds, self.connection.send_packed_command(commands, check_health=check_health)
        )

    async def read_response(self) -> Any:
        if self._is_replaced is None:
            return await self._read(self._seconds)
        return await read_reply(self._read, self._seconds, self._is_replaced)

    async def _read(self, seconds: float) -> Any:
        reading = self.connection.read_response(timeout=math.inf, disconnect_on_error=False)
        return await with_timeout(seconds, reading)

    def restore_timeout(self) -> None:
        """Restore the timeout for redis.asyncio's own commands, which would otherwise wait forever."""
        self.connection.socket_timeout = self._own_timeout

    async def drop(self) -> None:
        with suppress(*FAILURES):
            await self.connection.disconnect(nowait=True)

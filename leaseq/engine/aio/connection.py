"""The connection to the server: runs scripts, sends a lost call once more, translates errors.

The item's state or a request id makes every script idempotent, so a call whose reply was lost is sent
once more, but only once: redis-py's own retries are off.

Made of leaseq/engine/connection.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from redis import exceptions as rx

from leaseq.engine.aio.closed_transport import ClosedTransport
from leaseq.engine.aio.notifications import Listener
from leaseq.engine.aio.transport import Transport, transport_of
from leaseq.engine.closed_transport import refuse
from leaseq.engine.connection import (
    _BROKEN_LINK_ERRORS,
    _MAX_LOADS,
    _UNAVAILABLE_CODES,
    _UNAVAILABLE_ERRORS,
    _is_broken_link,
)
from leaseq.engine.durability import Wait
from leaseq.engine.replies import Reply
from leaseq.engine.script_errors import message_of
from leaseq.engine.scripts import BoundScript, Script
from leaseq.engine.transport import FAILURES, Command
from leaseq.engine.urls import without_password
from leaseq.errors import QueueUnreadable, ServerRefused, ServerUnavailable
from leaseq.policy import Durable


class Connection:
    """The internals of a `Client`: its connections, and its cache of facts about the server's queues."""

    def __init__(self, url: str, client: Any) -> None:
        self._url = url
        self._transport: Transport = transport_of(client)
        self.listener = Listener(client)
        self.names: set[str] = set()
        self.durable: dict[str, tuple[Durable, float]] = {}
        self.disks: dict[str, float] = {}
        self.majorities: dict[str, tuple[int, float]] = {}
        self.markers: list[str] = []
        self.wait_milliseconds = int(self._transport.timeout * 800)

    async def close(self) -> None:
        await self.listener.end()
        self._transport = ClosedTransport(self._transport)
        with self.translating():
            await self._transport.drop_idle()
            await self._transport.close()

    def check_open(self) -> None:
        """Raise Invalid if the client is closed. Calls to the server do so themselves."""
        if self.listener.closed:
            refuse()

    async def drop_idle_links(self) -> None:
        """Close the idle connections, also after ``close``; other threads may be in the middle of a call."""
        with self.translating():
            await self._transport.drop_idle()

    async def run_script(self, bound: BoundScript, args: tuple[str, ...], wait: Wait | None = None) -> Reply:
        """Run a script. Load it if the server doesn't have it; send it again if the reply was lost. With
        ``wait``, return only after the confirmation."""
        transport = self._transport
        try:
            reply = await transport.send(bound, args, wait)
        except FAILURES as error:
            return await self._retry(transport, bound, args, wait, error)
        return Reply(reply[0], reply[1:], False)

    async def _retry(
        self,
        transport: Transport,
        bound: BoundScript,
        args: tuple[str, ...],
        wait: Wait | None,
        error: Exception,
    ) -> Reply:
        """Load the script if the server doesn't have it, and send it once more after a broken connection, in
        whichever order these happen. A new connection may lead to another server, and a server may forget its
        scripts between a load and the call: after the first try, both are sent in one packet."""
        loads, resent = (0, False)
        while True:
            try:
                if isinstance(error, rx.NoScriptError) and loads < _MAX_LOADS:
                    loads += 1
                    if loads == 1:
                        await self._load(transport, bound)
                elif _is_broken_link(error) and (not resent):
                    resent = True
                    await transport.reset()
                else:
                    self._translate(error, bound.script)
                reply = await transport.send(bound, args, wait, loading=loads > 1)
            except FAILURES as next_error:
                error = next_error
            else:
                return Reply(reply[0], reply[1:], resent)

    async def ask(self, key: str, *words: str) -> Any:
        """Send a command to the server that has this key, and once more if the connection breaks. An error
        reply is raised as redis-py's ResponseError."""
        try:
            try:
                return await self._transport.ask(key, *words)
            except _BROKEN_LINK_ERRORS:
                await self._transport.reset()
                return await self._transport.ask(key, *words)
        except rx.ResponseError:
            raise
        except FAILURES as error:
            self._translate(error)

    async def scan(self, key: str, cursor: int, pattern: str, count: int) -> tuple[int, list[bytes]]:
        """One step of a scan of the keys in the server that has this key: returns the cursor of the next step
        (0: none), and the keys that match."""
        with self.translating():
            try:
                next_cursor, names = await self._transport.scan(key, cursor, pattern, count)
            except _BROKEN_LINK_ERRORS:
                await self._transport.reset()
                next_cursor, names = await self._transport.scan(key, cursor, pattern, count)
        return (int(next_cursor), names)

    async def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one packet, and once more if the connection breaks."""
        with self.translating():
            try:
                return await self._replies(commands)
            except _BROKEN_LINK_ERRORS:
                await self._transport.reset()
                return await self._replies(commands)

    async def _replies(self, commands: Sequence[Command]) -> list[Any]:
        """The replies. Raises the first error; a cluster's pipeline returns broken connections as replies."""
        replies = await self._transport.ask_all(commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    async def replicas(self, key: str) -> int:
        """The number of replicas of the server that has this key."""
        with self.translating():
            return await self._transport.replicas(key)

    async def _load(self, transport: Transport, bound: BoundScript) -> None:
        """Load the script in a separate call, since a reply lost here is not a lost reply of the call."""
        with self.translating(bound.script):
            try:
                await transport.load(bound)
            except _BROKEN_LINK_ERRORS:
                await transport.reset()
                await transport.load(bound)

    @contextmanager
    def translating(self, script: Script | None = None) -> Iterator[None]:
        """Translate redis-py's exceptions to ServerUnavailable or ServerRefused. ``script``: the one run."""
        try:
            yield
        except FAILURES as error:
            self._translate(error, script)

    def _translate(self, error: Exception, script: Script | None = None) -> NoReturn:
        if isinstance(error, (rx.AuthenticationError, rx.AuthorizationError)):
            raise ServerRefused(f"the server did not accept the user or password: {error}") from error
        message = message_of(error, script)
        if isinstance(error, _UNAVAILABLE_ERRORS) or str(error).startswith(_UNAVAILABLE_CODES):
            raise ServerUnavailable(f"no answer from {without_password(self._url)}: {message}") from error
        code, _, problem = message.partition(" ")
        if code in ("NEWER", "OLDER"):
            raise QueueUnreadable(problem, newer=code == "NEWER") from error
        raise ServerRefused(f"the server refused: {message}") from error

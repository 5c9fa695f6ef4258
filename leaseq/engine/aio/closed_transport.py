"""The transport of a closed client: it refuses every call.

Made of leaseq/engine/closed_transport.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from leaseq.engine.aio.transport import Transport
from leaseq.engine.closed_transport import refuse
from leaseq.engine.durability import Wait
from leaseq.engine.scripts import BoundScript
from leaseq.engine.transport import Command


class ClosedTransport:
    """Replaces a client's transport when it is closed, so that an open client needs no check. Only waits that
    the close ended can still use it, to leave the queue's waiting list."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.timeout = transport.timeout

    async def send(
        self, bound: BoundScript, args: tuple[str, ...], wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        if bound.script.name != "leave_line":
            refuse()
        return await self._transport.send(bound, args, wait, loading=loading)

    async def load(self, bound: BoundScript) -> None:
        await self._transport.load(bound)

    async def reset(self) -> None:
        await self._transport.reset()

    async def drop_idle(self) -> None:
        await self._transport.drop_idle()

    def ask(self, _key: str, /, *_words: str) -> NoReturn:
        refuse()

    def scan(self, _key: str, /, _cursor: int, _pattern: str, _count: int) -> NoReturn:
        refuse()

    def ask_all(self, _commands: Sequence[Command]) -> NoReturn:
        refuse()

    def replicas(self, _key: str, /) -> NoReturn:
        refuse()

    async def close(self) -> None:
        await self._transport.close()

"""The transport of a closed client: it refuses every call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from leaseq.engine.durability import Wait
from leaseq.engine.scripts import BoundScript
from leaseq.engine.transport import Command, Transport
from leaseq.errors import Invalid


def refuse() -> NoReturn:
    """Raise the error of every call on a closed client."""
    raise Invalid("client", "an open client; this one was closed: connect again")


class ClosedTransport:
    """Replaces a client's transport when it is closed, so that an open client needs no check. Only waits that
    the close ended can still use it, to leave the queue's waiting list."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.timeout = transport.timeout

    def send(
        self, bound: BoundScript, args: tuple[str, ...], wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        if bound.script.name != "leave_line":
            refuse()
        return self._transport.send(bound, args, wait, loading=loading)

    def load(self, bound: BoundScript) -> None:
        self._transport.load(bound)

    def reset(self) -> None:
        self._transport.reset()

    def drop_idle(self) -> None:
        self._transport.drop_idle()

    def ask(self, _key: str, /, *_words: str) -> NoReturn:
        refuse()

    def scan(self, _key: str, /, _cursor: int, _pattern: str, _count: int) -> NoReturn:
        refuse()

    def ask_all(self, _commands: Sequence[Command]) -> NoReturn:
        refuse()

    def replicas(self, _key: str, /) -> NoReturn:
        refuse()

    def close(self) -> None:
        self._transport.close()

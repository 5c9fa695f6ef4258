"""leaseq for asyncio: the same names, guarantees and errors, as coroutines.

    async with leaseq.aio.connect(url) as client:
        queue = leaseq.aio.Queue(client, "reviews")
        lease = await queue.reserve("ann", wait=20)

Everything else is imported from `leaseq`: the errors, and the types that calls accept and return.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from leaseq.engine.aio.client import Client, check_client, connect, connection_of
from leaseq.errors import QueueUnreadable
from leaseq.queue.aio import lifecycle
from leaseq.queue.aio.admin import Admin, Late
from leaseq.queue.aio.asking import Asking
from leaseq.queue.aio.consumer import Consumer
from leaseq.queue.aio.deciding import Deciding
from leaseq.queue.aio.inspection import Following, Inspection
from leaseq.queue.aio.lifecycle import Deleting, Erasing, Restoring

__all__ = ["Client", "Queue", "connect", "queues", "read_queues"]

T = TypeVar("T")


class Queue(Asking, Consumer, Admin, Deciding, Inspection, Late, Following, Restoring, Deleting, Erasing):
    """A queue of work items in a server, like `leaseq.Queue` with ``await`` before each call. Creating one
    does no I/O; tasks of one event loop may share it.

    Properties are awaited as well: ``await queue.policy``. Methods that return an iterator there return an
    asynchronous iterator here: ``async for answer in queue.answers()``. A call whose task is cancelled raises
    CancelledError; a cancelled `reserve` has left the line and holds nothing.

    ``clock`` (microseconds since the epoch) is for tests; by default the server's clock is used.
    """

    def __repr__(self) -> str:
        return f"<leaseq.aio.Queue {self.name}>"


async def queues(client: Client) -> list[str]:
    """The names of the queues in a server, sorted: see `leaseq.queues`."""
    return await lifecycle.names(connection_of(check_client(client)))


async def read_queues(
    client: Client, read: Callable[[Queue], Awaitable[T]], names: Iterable[str] | None = None
) -> tuple[dict[str, T], dict[str, QueueUnreadable]]:
    """Call ``read`` with each queue, or only with those in ``names``. Returns the results by queue name, and
    the errors, also by name, of the queues that this version of leaseq can't read."""
    values: dict[str, T] = {}
    unreadable: dict[str, QueueUnreadable] = {}
    for name in await queues(client) if names is None else names:
        try:
            values[name] = await read(Queue(client, name))
        except QueueUnreadable as error:
            unreadable[name] = error
    return values, unreadable

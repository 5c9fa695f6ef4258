"""The queue: its methods, grouped by who calls them. Most methods run one script in the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from leaseq.engine.client import Client, check_client, connection_of
from leaseq.errors import QueueUnreadable
from leaseq.queue import lifecycle
from leaseq.queue.admin import Admin, Late
from leaseq.queue.asking import Asking
from leaseq.queue.consumer import Consumer
from leaseq.queue.deciding import Deciding
from leaseq.queue.inspection import Following, Inspection
from leaseq.queue.lifecycle import Deleting, Erasing, Restoring

__all__ = ["Queue", "queues", "read_queues"]

T = TypeVar("T")


class Queue(Asking, Consumer, Admin, Deciding, Inspection, Late, Following, Restoring, Deleting, Erasing):
    """A queue of work items in a server. Creating one does no I/O; threads may share it.

    ``clock`` (microseconds since the epoch) is for tests; by default the server's clock is used.
    """


def queues(client: Client) -> list[str]:
    """The names of the queues in a server, sorted.

    In a cluster this list is in a slot of its own. If the primary of that slot is lost, the latest names may
    be lost with it, but not their queues. `configure` adds a name again, and so does each process that knew
    it when it next lists the queues, as the clear job and the pages do.
    """
    return lifecycle.names(connection_of(check_client(client)))


def read_queues(
    client: Client, read: Callable[[Queue], T], names: Iterable[str] | None = None
) -> tuple[dict[str, T], dict[str, QueueUnreadable]]:
    """Call ``read`` with each queue, or only with those in ``names``. Returns the results by queue name, and
    the errors, also by name, of the queues that this version of leaseq can't read."""
    values: dict[str, T] = {}
    errors: dict[str, QueueUnreadable] = {}
    for name in queues(client) if names is None else names:
        try:
            values[name] = read(Queue(client, name))
        except QueueUnreadable as error:
            errors[name] = error
    return values, errors

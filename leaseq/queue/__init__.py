"""The queue: what people and programs call. Each call is one move in the server."""

from __future__ import annotations

from leaseq.connection import Client
from leaseq.keys import QUEUES
from leaseq.queue.filling import Filling
from leaseq.queue.looking import Looking
from leaseq.queue.managing import Managing
from leaseq.queue.working import Working

__all__ = ["Queue", "queues"]


class Queue(Filling, Working, Managing, Looking):
    """A queue of work items in a server. Making one does no I/O; threads may share it.

    ``clock`` (microseconds since the epoch) is for tests: without it the server's clock counts.
    """


def queues(client: Client) -> list[str]:
    """The names of the queues in a server, sorted."""
    with client.translating():
        found = client.redis.smembers(QUEUES)
    names = sorted(name.decode() if isinstance(name, bytes) else name for name in found)
    return [name for name in names if Queue(client, name).exists()]

"""The queue: the methods that people and programs call. Each method runs one script in the server."""

from __future__ import annotations

from contextlib import suppress

from leaseq.engine.client import Client, checked, connection_of
from leaseq.engine.keys import QUEUES
from leaseq.errors import LeaseqError
from leaseq.queue.admin import Admin
from leaseq.queue.consumer import Consumer
from leaseq.queue.inspection import Inspection
from leaseq.queue.producer import Producer

__all__ = ["Queue", "queues"]


class Queue(Producer, Consumer, Admin, Inspection):
    """A queue of work items in a server. Making one does no I/O; threads may share it.

    ``clock`` (microseconds since the epoch) is for tests: without it the server's clock counts.
    """


def queues(client: Client) -> list[str]:
    """The names of the queues in a server, sorted.

    A cluster has this list in a slot of its own, and may lose the latest names with that slot's primary
    though their queues are whole. They are entered again by `configure`, and by each process that knew them
    and lists queues once more, as the clear job and the pages do.
    """
    connection = connection_of(checked(client))
    with client.translating():
        found = client.redis.smembers(QUEUES)
    names = {name.decode() if isinstance(name, bytes) else name for name in found}
    missing = connection.names - names
    there = sorted(name for name in names | missing if Queue(client, name).exists())
    if lost := missing.intersection(there):
        with suppress(LeaseqError), client.translating():  # who may only read has the list all the same
            client.redis.sadd(QUEUES, *lost)
    connection.names.update(there)
    connection.names.difference_update(missing - lost)
    return there

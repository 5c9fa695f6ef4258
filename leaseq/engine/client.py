"""The client that `connect` returns: one server and its queues."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Self

import redis
from redis.cluster import RedisCluster
from redis.retry import Retry

from leaseq.discovery import server_url_from_environment
from leaseq.engine.connection import Connection
from leaseq.engine.transport import Command
from leaseq.engine.urls import (
    Classes,
    SentinelClient,
    SentinelConnection,
    SentinelTLSConnection,
    redis_of,
    without_password,
)
from leaseq.errors import Invalid

_CLASSES = Classes(
    redis.Redis, RedisCluster, SentinelClient, SentinelConnection, SentinelTLSConnection, Retry
)


class Client:
    """A client for a server with queues. Threads may share it; after a fork, the child opens its own
    connections. It is closed at the end of a ``with`` block.

    ``redis`` is redis-py's client, for keys that don't belong to a queue; use it inside ``translating()``.
    """

    def __init__(self, url: str, client: redis.Redis | RedisCluster) -> None:
        self.url = url
        self.redis = client
        self._connection = Connection(url, client)

    def __repr__(self) -> str:
        return f"<leaseq.Client {without_password(self.url)}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def ping(self) -> None:
        """Check that the server answers. Raises ServerUnavailable or ServerRefused."""
        with self.translating():
            self.redis.ping()

    def close(self) -> None:
        """Close the connections. Calls of other threads that wait for an item return None, without a lease.
        Every later call on the client and its queues raises Invalid (field ``client``)."""
        self._connection.close()

    @property
    def closed(self) -> bool:
        """Whether the client has been closed."""
        return self._connection.listener.closed

    def ask(self, *commands: Command) -> list[Any]:
        """Send commands, such as ``("HGET", key, field)``, in one round trip, and return their replies in
        order: as the server sent them, except from a cluster, where redis-py converts them (HGETALL to a
        dict).

        The keys must not belong to a queue, and must all be in one slot of a cluster. If the connection
        breaks, all commands are sent once more, so repeating each must give the same result. Raises
        ServerUnavailable or ServerRefused.
        """
        return self._connection.ask_all(commands)

    def translating(self) -> AbstractContextManager[None]:
        """Return a context manager that translates redis-py's exceptions into ServerUnavailable or
        ServerRefused. Raises Invalid if the client is closed, since redis-py would connect again."""
        self._connection.check_open()
        return self._connection.translating()


def check_client(client: object) -> Client:
    """Return ``client``. Raises Invalid if it is not a Client."""
    if not isinstance(client, Client):
        raise Invalid("client", "type", what="client", call="leaseq.connect(url)", kind=type(client).__name__)
    return client


def connection_of(client: Client) -> Connection:
    """The internal connection of a client, for the library itself."""
    return client._connection  # noqa: SLF001 - all other code of the library calls this function


def copy_for_worker(client: Client) -> Client:
    """A copy of the client for a worker, which can still end its leases after the client is closed. Raises
    Invalid if the client is already closed."""
    client._connection.check_open()  # noqa: SLF001
    clone = copy(client)
    clone._connection = copy(client._connection)  # noqa: SLF001
    return clone


def connect(url: str | None = None) -> Client:
    """Return a client for a URL with ``redis://``, ``rediss://`` (TLS), ``unix://``, ``redis+sentinel://`` or
    ``redis+cluster://``.

    Without a URL, it uses the same server as the command line: the one in LEASEQ_REDIS_URL, else the server
    of the `leaseq up` that is running for the data directory LEASEQ_DATA (``leaseq-data`` if not set).
    Raises Invalid (field ``url``) if there is none.

    No connection is opened before the first call. A Sentinel URL names the sentinels and the service:
    ``redis+sentinel://:password@host1:26379,host2:26379/mymaster/0``. With ``rediss+sentinel://`` or
    ``rediss+cluster://``, all connections use TLS.
    """
    return Client(*redis_of(server_url_from_environment() if url is None else url, _CLASSES))

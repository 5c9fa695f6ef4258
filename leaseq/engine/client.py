"""The client that `connect` returns: one server and its queues."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from types import TracebackType
from typing import Any, Self

import redis
from redis.cluster import RedisCluster
from redis.retry import Retry

from leaseq.discovery import server_url_from_environment
from leaseq.engine.connection import Connection
from leaseq.engine.sentinel import SentinelClient, SentinelConnection, SentinelTLSConnection
from leaseq.engine.transport import Command
from leaseq.engine.urls import Classes, redis_of, without_password
from leaseq.errors import Invalid

_CLASSES = Classes(
    redis.Redis, RedisCluster, SentinelClient, SentinelConnection, SentinelTLSConnection, Retry
)


class Client:
    """A server with queues. Threads may share one; after a fork, the child opens its own connections. At the
    end of a ``with`` it is closed.

    ``redis`` is redis-py's client, for keys that are not a queue's; wrap its use in ``translating()``.
    """

    def __init__(self, url: str, client: redis.Redis | RedisCluster) -> None:
        self.url = url
        self.redis = client
        self._connection = Connection(url, client)

    def __repr__(self) -> str:
        return f"<leaseq.Client {without_password(self.url)}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ping(self) -> None:
        """Return when the server answers; else raise ServerUnavailable or ServerRefused."""
        with self.translating():
            self.redis.ping()

    def close(self) -> None:
        """Close the connections. Waits of other threads on this client end with None, and hold nothing; every
        later call on it and its queues raises Invalid (field ``client``)."""
        self._connection.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._connection.listener.closed

    def ask(self, *commands: Command) -> list[Any]:
        """Send commands, such as ``("HGET", key, field)``, in one round trip; returns their replies in
        order: as the server sent them, but from a cluster as redis-py shapes them (HGETALL as a dict).

        For keys that are not a queue's, all in one slot of a cluster. Where the connection breaks, all are
        sent once more: each must give the same when it is repeated. Raises ServerUnavailable or
        ServerRefused.
        """
        return self._connection.ask_all(commands)

    def translating(self) -> AbstractContextManager[None]:
        """Turn what redis-py raises into ServerUnavailable or ServerRefused. Raises Invalid where the client
        was closed: redis-py itself would connect again."""
        self._connection.check_open()
        return self._connection.translating()


def check_client(client: object) -> Client:
    """``client``, or Invalid where it is not a Client."""
    if not isinstance(client, Client):
        raise Invalid("client", f"what leaseq.connect(url) gives; this is a {type(client).__name__}")
    return client


def connection_of(client: Client) -> Connection:
    """The internal connection of a client, for the library itself."""
    return client._connection  # noqa: SLF001 - the one place that reaches into it


def copy_for_worker(client: Client) -> Client:
    """The same client for a worker, which ends what it holds after the client was closed. Raises Invalid
    where it is closed already."""
    client._connection.check_open()  # noqa: SLF001
    clone = copy(client)
    clone._connection = copy(client._connection)  # noqa: SLF001
    return clone


def connect(url: str | None = None) -> Client:
    """A client for a URL of ``redis://``, ``rediss://`` (TLS), ``unix://``, ``redis+sentinel://`` or
    ``redis+cluster://``.

    Without a URL it uses the server that the command line finds: the one that LEASEQ_REDIS_URL names, else
    that of the `leaseq up` which is running for the data directory LEASEQ_DATA (``leaseq-data`` if not set).
    Raises Invalid (field ``url``) where there is none.

    No connection is made before the first call. A Sentinel URL names the sentinels and the service:
    ``redis+sentinel://:password@host1:26379,host2:26379/mymaster/0``. With TLS to all of them:
    ``rediss+sentinel://`` or ``rediss+cluster://``.
    """
    return Client(*redis_of(server_url_from_environment() if url is None else url, _CLASSES))

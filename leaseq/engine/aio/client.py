"""The client that `leaseq.aio.connect` returns: one server and its queues, in one event loop."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Self

import redis.asyncio
from redis.asyncio.cluster import RedisCluster

from leaseq.discovery import server_url_from_environment
from leaseq.engine.aio.connection import Connection
from leaseq.engine.aio.urls import CLASSES
from leaseq.engine.transport import Command
from leaseq.engine.urls import redis_of, without_password
from leaseq.errors import Invalid


class Client:
    """A server with queues. Tasks of one event loop may share one: it belongs to the loop in which it is
    first used, and raises Invalid (field ``client``) in another.

    ``redis`` is redis.asyncio's client, for keys that are not a queue's; wrap its use in ``translating()``.
    """

    def __init__(self, url: str, client: redis.asyncio.Redis | RedisCluster) -> None:
        self.url = url
        self.redis = client
        self._connection = Connection(url, client)

    def __repr__(self) -> str:
        return f"<leaseq.aio.Client {without_password(self.url)}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def ping(self) -> None:
        """Return when the server answers; otherwise raise ServerUnavailable or ServerRefused."""
        with self.translating():
            await self.redis.ping()

    async def close(self) -> None:
        """Close the connections. Waits of other tasks on this client return None and hold nothing; every
        later call on it and its queues raises Invalid (field ``client``)."""
        await self._connection.close()

    @property
    def closed(self) -> bool:
        return self._connection.listener.closed

    async def ask(self, *commands: Command) -> list[Any]:
        """Send commands, such as ``("HGET", key, field)``, in one round trip; returns their replies in
        order: as the server sent them, or from a cluster as redis-py decodes them (HGETALL as a dict).

        For keys that are not a queue's, all in one slot of a cluster. If the connection breaks, all are sent
        once more, so each must be idempotent. Raises ServerUnavailable or ServerRefused.
        """
        return await self._connection.ask_all(commands)

    def translating(self) -> AbstractContextManager[None]:
        """Turn what redis.asyncio raises into ServerUnavailable or ServerRefused. Raises Invalid if the
        client was closed: redis.asyncio itself would connect again."""
        self._connection.check_open()
        return self._connection.translating()


def check_client(client: object) -> Client:
    """``client``; raises Invalid if it is not a Client."""
    if not isinstance(client, Client):
        raise Invalid(
            "client", "type", what="client", call="leaseq.aio.connect(url)", kind=type(client).__name__
        )
    return client


def connection_of(client: Client) -> Connection:
    """The internal connection of a client, for the library itself."""
    return client._connection  # noqa: SLF001 - the one place that reaches into it


def connect(url: str | None = None) -> Client:
    """A client for the server at this URL, or for the one that `leaseq.connect` finds without a URL.

    No connection is made before the first call. Use it as ``async with leaseq.aio.connect(url) as client``,
    or call its ``close`` at the end.
    """
    return Client(*redis_of(server_url_from_environment() if url is None else url, CLASSES))

"""Sends a script call to the server in an event loop: like `leaseq.engine.transport`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import choice
from time import monotonic
from typing import Any, TypeAlias

from redis import exceptions as rx
from redis.asyncio.cluster import RedisCluster

from leaseq.engine import transport
from leaseq.engine.aio import durability
from leaseq.engine.aio.durability import exchange
from leaseq.engine.aio.pooled_connection import CallLimiter, PooledConnection
from leaseq.engine.durability import Wait
from leaseq.engine.scripts import BoundScript, Words, pack
from leaseq.engine.transport import FAILURES, TIMEOUT, Command
from leaseq.errors import ServerRefused, ServerUnavailable

Transport: TypeAlias = "PooledTransport | ClusterTransport"


def transport_of(client: Any) -> Transport:
    """The transport over a client of redis.asyncio."""
    return ClusterTransport(client) if isinstance(client, RedisCluster) else PooledTransport(client)


class PooledTransport:
    """Standalone servers and Sentinel: connections of a pool, each used by one call at a time."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._pool = client.connection_pool
        self._sentinels = getattr(self._pool, "sentinel_manager", None)
        self._call_slot = CallLimiter().slot
        self.timeout = self._pool.connection_kwargs.get("socket_timeout") or TIMEOUT
        self._idle: list[PooledConnection] = []

    async def send(
        self, bound: BoundScript, args: Words, wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        if wait is not None:
            return await self._use(lambda pooled: exchange(pooled, bound, args, wait, loading=loading))
        return await self._use(lambda pooled: durability.send(pooled, bound, args, loading=loading))

    async def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        return await self._use(lambda pooled: durability.send_all(pooled, *map(pack, commands)))

    async def _use(self, talk: Callable[[PooledConnection], Awaitable[list[Any]]]) -> list[Any]:
        """Call ``talk`` with a connection, which is kept for the next call unless it may be broken."""
        async with self._call_slot():
            pooled = await self._acquire_connection()
            try:
                replies = await talk(pooled)
            except rx.ResponseError:
                self._idle.append(pooled)
                raise
            except (rx.TimeoutError, ServerUnavailable, ServerRefused):
                await pooled.drop()  # no answer, or no confirmation: the primary may have been replaced
                await self.reset()
                raise
            except BaseException:
                await pooled.drop()
                raise
            self._idle.append(pooled)
            return replies

    async def _acquire_connection(self) -> PooledConnection:
        """An idle connection, or a new one, made without the pool: the pool's own count only grows."""
        if self._idle:
            return self._idle.pop()
        connection = self._pool.connection_class(**self._pool.connection_kwargs)
        is_replaced = None if self._sentinels is None else partial(self._is_replaced, connection)
        pooled = PooledConnection(connection, self.timeout, is_replaced)
        await pooled.open()
        return pooled

    async def _is_replaced(self, connection: Any) -> bool:
        """Whether a sentinel names another primary; False if none is named."""
        try:
            return bool(await self._pool.get_master_address() != (connection.host, connection.port))
        except FAILURES:
            return False

    async def load(self, bound: BoundScript) -> None:
        async with self._call_slot():
            await self._redis.script_load(bound.script.source)

    async def reset(self) -> None:
        while self._idle:
            await self._idle.pop().drop()
        await self._pool.disconnect(inuse_connections=False)

    async def drop_idle(self) -> None:
        await self.reset()
        for sentinel in self._sentinels.sentinels if self._sentinels is not None else ():
            await sentinel.connection_pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        await self._redis.aclose()
        await self._pool.disconnect()
        if self._sentinels is not None:
            await self._sentinels.aclose()

    async def ask(self, _key: str, /, *words: str) -> Any:
        async with self._call_slot():
            return await self._redis.execute_command(*words)

    async def scan(self, _key: str, cursor: int, pattern: str, count: int, /) -> Any:
        async with self._call_slot():
            return await self._redis.scan(cursor, match=pattern, count=count)

    async def replicas(self, _key: str, /) -> int:
        """Sentinels count disconnected replicas too; a standalone server counts only connected ones."""
        async with self._call_slot():
            if self._sentinels is not None:
                return int(await self._sentinels.replica_count(self._pool.service_name))
            return int((await self._redis.info("replication"))["connected_slaves"])


class ClusterTransport:
    """A cluster: a call goes to the slot's primary. While the slot is being migrated, the call waits,
    since a script must not run on a part of a queue (``BoundScript.for_cluster``)."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._failed_node = ""  # the node whose connection broke: asked last for the slots
        self._call_slot = CallLimiter().slot
        self.timeout = client.get_connection_kwargs().get("socket_timeout") or TIMEOUT

    async def send(
        self, bound: BoundScript, args: Words, wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        """Send a call, following redirects. A reply that redirects the call or asks for a retry means that
        nothing has changed."""
        async with self._call_slot():
            cluster_script, wait = bound.for_cluster, wait and wait._replace(mark=wait.mark.for_cluster)
            until = monotonic() + transport._MIGRATION_SECONDS  # noqa: SLF001
            node, tries = await self._node(bound.keys[0]), 0
            while True:
                try:
                    return await self._send_to(node, cluster_script, args, wait, loading)
                except (rx.AskError, rx.TryAgainError) as error:  # MovedError is an AskError
                    if isinstance(error, rx.MovedError):
                        await self._redis.nodes_manager.move_slot(error)
                    if monotonic() > until:
                        raise
                    await asyncio.sleep(min(tries * 0.005, 0.05))
                    tries += 1
                    node = await self._node(bound.keys[0])
                except (rx.ClusterDownError, rx.TimeoutError, ServerUnavailable, ServerRefused):
                    self._failed_node = node.name  # no answer, or no confirmation, as above
                    with suppress(*FAILURES):
                        await self.reset()
                    raise
                except rx.ConnectionError:
                    self._failed_node = node.name
                    raise

    async def _send_to(
        self, node: Any, bound: BoundScript, args: Words, wait: Wait | None, loading: bool
    ) -> list[Any]:
        async with self._connected(node, partial(self._is_replaced, node, bound.keys[0])) as pooled:
            if wait is not None:
                return await exchange(pooled, bound, args, wait, loading=loading)
            return await durability.send(pooled, bound, args, loading=loading)

    async def _ask_node(self, node: Any, *words: str) -> Any:
        """The reply of one node, as the node sent it."""
        async with self._connected(node) as pooled:
            await pooled.send_packed_command([pack(words)])
            return await pooled.read_response()

    @asynccontextmanager
    async def _connected(
        self, node: Any, is_replaced: Callable[[], Awaitable[bool]] | None = None
    ) -> AsyncIterator[PooledConnection]:
        """A connection to a node, shared with redis.asyncio's own commands."""
        pooled = PooledConnection(node.acquire_connection(), self.timeout, is_replaced)
        try:
            await pooled.open()
            yield pooled
        except rx.ResponseError:
            raise
        except BaseException:
            await pooled.drop()
            raise
        finally:
            pooled.restore_timeout()
            node.release(pooled.connection)

    async def _is_replaced(self, node: Any, key: str) -> bool:
        """Whether another node, chosen at random, names another primary; False if it doesn't answer."""
        others = [other for other in self._redis.get_nodes() if other.name != node.name]
        slot = self._redis.keyslot(key)
        try:
            shards = await self._ask_node(choice(others), "CLUSTER", "SLOTS")  # noqa: S311 - no secret
        except (IndexError, *FAILURES):
            return False
        primaries = [shard[2] for shard in shards if shard[0] <= slot <= shard[1]]
        return any(host and f"{host.decode()}:{port}" != node.name for host, port, *_ in primaries)

    async def _node(self, key: str) -> Any:
        await self._redis.initialize()  # does nothing if already done
        try:
            return self._redis.get_node_from_key(key)
        except rx.SlotNotCoveredError:
            await self.reset()
            return self._redis.get_node_from_key(key)

    async def ask(self, key: str, /, *words: str) -> Any:
        async with self._call_slot():
            return await self._redis.execute_command(*words, target_nodes=await self._node(key))

    async def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        async with self._call_slot():
            await self._redis.initialize()
            pipe = self._redis.pipeline()
            for command in commands:
                pipe.execute_command(*command)
            replies: list[Any] = await pipe.execute(raise_on_error=False)
            return replies

    async def scan(self, key: str, cursor: int, pattern: str, count: int, /) -> Any:
        """Scan one node: redis.asyncio's own method scans all nodes, and returns a cursor for each."""
        async with self._call_slot():
            return await self._ask_node(
                await self._node(key), "SCAN", str(cursor), "MATCH", pattern, "COUNT", str(count)
            )

    async def replicas(self, key: str, /) -> int:
        """The number of replicas as the primary counts them: for a while, this includes disconnected ones."""
        async with self._call_slot():
            node, slot = await self._node(key), self._redis.keyslot(key)
            shards = await self._ask_node(node, "CLUSTER", "SLOTS")
            return next((len(shard) - 3 for shard in shards if shard[0] <= slot <= shard[1]), 0)

    async def load(self, bound: BoundScript) -> None:
        """Load the script on one node only: if another does not answer, this node's queues still work."""
        async with self._call_slot():
            await self._ask_node(await self._node(bound.keys[0]), "SCRIPT", "LOAD", bound.script.source)

    async def reset(self) -> None:
        """Drop idle connections: if one connection broke, they may be broken, too."""
        for node in self._redis.get_nodes():
            for connection in tuple(node._free):  # noqa: SLF001 - its own method lets a call take one midway
                await connection.disconnect(nowait=True)
        await self._redis.nodes_manager.initialize(last_failed_node_name=self._failed_node)

    async def drop_idle(self) -> None:
        for node in self._redis.get_nodes():
            await node.disconnect_free_connections()

    async def close(self) -> None:
        await self._redis.aclose()

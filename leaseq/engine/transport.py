"""The transport of commands: to one server, a Cluster, or Sentinel's; and the limit of their silence."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import choice
from time import monotonic
from typing import Any, TypeAlias
from weakref import WeakSet

from redis import exceptions as rx
from redis.cluster import RedisCluster

from leaseq.engine import durability
from leaseq.engine.durability import Wait, exchange
from leaseq.engine.scripts import BoundScript, Words, pack
from leaseq.errors import ServerRefused, ServerUnavailable

SILENCE = 0.5  # seconds of silence after which others are asked whether the server was replaced
CHECK_SECONDS = 0.2  # seconds until they are asked again: a silence that long is seldom just a slow answer


def read_reply(read: Callable[..., Any], timeout: float, is_replaced: Callable[[], bool]) -> Any:
    """Return what ``read`` returns; raise ConnectionError if the server stops answering and another took its
    place. So a call leaves a server that hangs, or is cut off from its replicas, before the timeout is
    over."""
    until, pause = monotonic() + timeout, SILENCE
    while True:
        seconds_left = max(until - monotonic(), 0.001)
        try:
            return read(timeout=min(pause, seconds_left))
        except rx.TimeoutError:
            if seconds_left <= pause:
                raise
            if is_replaced():
                raise rx.ConnectionError("another server took the place of this one") from None
            pause = CHECK_SECONDS


TIMEOUT = 5.0  # seconds for a connect and for a reply
_MIGRATION_SECONDS = 2.0  # seconds for which a call waits for a slot that is being migrated
FAILURES = (rx.RedisError, rx.RedisClusterException, OSError)  # the second is not a subclass of the first


Command: TypeAlias = tuple[str | bytes | int | float, ...]
"""A command's name and arguments."""


Transport: TypeAlias = "PooledTransport | ClusterTransport"


def transport_of(client: Any) -> Transport:
    """The transport for a redis-py client."""
    return ClusterTransport(client) if isinstance(client, RedisCluster) else PooledTransport(client)


def _send(connection: Any, bound: BoundScript, args: Words, wait: Wait | None, loading: bool) -> Any:
    if wait is not None:
        return exchange(connection, bound, args, wait, loading=loading)
    if loading:
        return durability.send(connection, bound, args, loading=True)
    connection.send_packed_command((pack(bound.words + args),), check_health=False)
    return connection.read_response()


class PooledTransport:
    """Standalone servers and Sentinel: connections of a pool, each used by one thread at a time."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._pool = client.connection_pool
        self._sentinels = getattr(self._pool, "sentinel_manager", None)
        self.timeout = self._pool.connection_kwargs.get("socket_timeout") or TIMEOUT
        self._idle: list[Any] = []
        _pooled_transports.add(self)

    def send(self, bound: BoundScript, args: Words, wait: Wait | None, *, loading: bool = False) -> list[Any]:
        return self._use(_send, bound, args, wait, loading)

    def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands without redis-py's pipeline, which takes three times as long
        (docs/decisions/0023-request-cost.md)."""
        return self._use(durability.send_all, *map(pack, commands))

    def _use(self, talk: Callable[..., list[Any]], *values: Any) -> list[Any]:
        """Call ``talk`` with a connection and these values, and keep it unless it may be broken."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._new()
            connection.connect()
        try:
            replies = talk(connection, *values)
        except rx.ResponseError:
            self._idle.append(connection)
            raise
        except (rx.TimeoutError, ServerUnavailable, ServerRefused):
            connection.disconnect()  # no answer, or no confirmation: the primary may have been replaced
            self.reset()
            raise
        except BaseException:
            connection.disconnect()
            raise
        self._idle.append(connection)
        return replies

    def _new(self) -> Any:
        """Create a connection without counting it in the pool: that count only grows, so broken connections
        would use it up."""
        return self._pool.connection_class(**self._pool.connection_kwargs)

    def load(self, bound: BoundScript) -> None:
        self._redis.script_load(bound.script.source)

    def reset(self) -> None:
        with suppress(IndexError):  # other threads also take from it
            while True:
                self._idle.pop().disconnect()
        self._pool.disconnect(inuse_connections=False)

    def drop_idle(self) -> None:
        self.reset()
        for sentinel in self._sentinels.sentinels if self._sentinels is not None else ():
            sentinel.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        self._redis.close()

    def ask(self, _key: str, /, *words: str) -> Any:
        return self._redis.execute_command(*words)

    def scan(self, _key: str, cursor: int, pattern: str, count: int, /) -> Any:
        return self._redis.scan(cursor, match=pattern, count=count)

    def replicas(self, _key: str, /) -> int:
        """The number of replicas. Sentinels also count disconnected ones, a server alone does not."""
        sentinels = getattr(self._pool, "sentinel_manager", None)
        if sentinels is not None:
            return int(sentinels.replica_count(self._pool.service_name))
        return int(self._redis.info("replication")["connected_slaves"])

    def reset_after_fork(self) -> None:
        """Leave the sockets to the parent; called in the child of a fork."""
        self._idle = []


_pooled_transports: WeakSet[PooledTransport] = WeakSet()


def _reset_all_after_fork() -> None:
    for transport in _pooled_transports:
        transport.reset_after_fork()


os.register_at_fork(after_in_child=_reset_all_after_fork)


class ClusterTransport:
    """A cluster: a call is sent to the slot's primary. While the slot is being migrated, the call waits,
    since a script must not run on a part of a queue (``BoundScript.for_cluster``)."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._failed_node = ""  # the node whose connection last broke; it is asked for the slots last
        self.timeout = client.get_connection_kwargs().get("socket_timeout") or TIMEOUT

    def send(self, bound: BoundScript, args: Words, wait: Wait | None, *, loading: bool = False) -> list[Any]:
        """Send a call, following redirects. If a reply redirects it or asks for a retry, the call has changed
        nothing."""
        cluster_script, wait = bound.for_cluster, wait and wait._replace(mark=wait.mark.for_cluster)
        node, tries, until = self._node(bound.keys[0]), 0, monotonic() + _MIGRATION_SECONDS
        while True:
            try:
                return self._send_to(node, cluster_script, args, wait, loading)
            except (rx.AskError, rx.TryAgainError) as error:  # MovedError is an AskError
                if isinstance(error, rx.MovedError):
                    self._redis.nodes_manager.move_slot(error)
                if monotonic() > until:
                    raise
                time.sleep(min(tries * 0.005, 0.05))
                tries += 1
                node = self._node(bound.keys[0])
            except (rx.ClusterDownError, rx.TimeoutError, ServerUnavailable, ServerRefused):
                self._failed_node = node.name  # no answer, or no confirmation: it may have been replaced
                with suppress(*FAILURES):
                    self.reset()
                raise
            except rx.ConnectionError:
                self._failed_node = node.name
                raise

    def _send_to(
        self, node: Any, bound: BoundScript, args: Words, wait: Wait | None, loading: bool
    ) -> list[Any]:
        """Send everything to one node on one connection, which redis-py's own commands don't guarantee."""
        pool = self._redis.get_redis_connection(node).connection_pool
        connection = pool.get_connection()
        node_connection = _NodeConnection(
            connection, self.timeout, partial(self._is_replaced, node, bound.keys[0])
        )
        try:
            if wait is not None:
                return exchange(node_connection, bound, args, wait, loading=loading)
            return durability.send(node_connection, bound, args, loading=loading)
        except rx.ResponseError:
            raise
        except BaseException:
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    def _is_replaced(self, node: Any, key: str) -> bool:
        """Whether another node, chosen at random, names another primary; False if it doesn't answer."""
        others = [other for other in self._redis.get_nodes() if other.name != node.name]
        slot = self._redis.keyslot(key)
        try:
            other = self._redis.get_redis_connection(choice(others))  # noqa: S311 - no secret
            shards = other.execute_command("CLUSTER SLOTS")
        except (IndexError, *FAILURES):
            return False
        primaries = [shard[2] for shard in shards if shard[0] <= slot <= shard[1]]
        return any(host and f"{host.decode()}:{port}" != node.name for host, port, *_ in primaries)

    def _node(self, key: str) -> Any:
        try:
            return self._redis.get_node_from_key(key)
        except rx.SlotNotCoveredError:
            self.reset()
            return self._redis.get_node_from_key(key)

    def ask(self, key: str, /, *words: str) -> Any:
        return self._redis.execute_command(*words, target_nodes=self._node(key))

    def scan(self, key: str, cursor: int, pattern: str, count: int, /) -> Any:
        """Scan one node: redis-py's own scan covers all nodes, and returns a cursor for each."""
        connection = self._redis.get_redis_connection(self._node(key))
        return connection.scan(cursor, match=pattern, count=count)

    def ask_all(self, commands: Sequence[Command]) -> list[Any]:
        pipe = self._redis.pipeline()
        for command in commands:
            pipe.execute_command(*command)
        replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def replicas(self, key: str, /) -> int:
        """The primary's count of its replicas, which for a while includes disconnected ones."""
        slot = self._redis.keyslot(key)
        shards = self._redis.get_redis_connection(self._node(key)).execute_command("CLUSTER SLOTS")
        return next((len(shard) - 3 for shard in shards if shard[0] <= slot <= shard[1]), 0)

    def load(self, bound: BoundScript) -> None:
        """Load the script on one node only: if another doesn't answer, this node's queues still work."""
        self._redis.get_redis_connection(self._node(bound.keys[0])).script_load(bound.script.source)

    def close(self) -> None:
        self._redis.close()

    def reset(self) -> None:
        self._redis.nodes_manager.initialize(last_failed_node_name=self._failed_node)

    def drop_idle(self) -> None:
        for node in self._redis.get_nodes():
            if node.redis_connection is not None:
                node.redis_connection.connection_pool.disconnect(inuse_connections=False)


class _NodeConnection:
    """A connection to a node of a cluster, with the methods that a move needs."""

    def __init__(self, connection: Any, timeout: float, is_replaced: Callable[[], bool]) -> None:
        self.send_packed_command = connection.send_packed_command
        self._read = partial(connection.read_response, disconnect_on_error=False)
        self._timeout, self._is_replaced = timeout, is_replaced

    def read_response(self) -> Any:
        return read_reply(self._read, self._timeout, self._is_replaced)

"""How a move gets to the server: over a connection of redis-py's pool, or to the slot's node of a cluster.

A move is sent as one packed command, past redis-py's command layer: that takes half the time of
``evalsha`` (``docs/benchmarks.md``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol
from weakref import WeakSet

from redis import exceptions as rx

from leaseq.durable import Wait, exchange, exchange_loading
from leaseq.errors import ServerRefused, ServerUnavailable
from leaseq.scripts import Bound

TIMEOUT = 5.0  # seconds for a connect and for a reply
FAILURES = (rx.RedisError, rx.RedisClusterException, OSError)  # the second is not one of the first


class Link(Protocol):
    timeout: float

    def send(
        self, bound: Bound, args: Sequence[str], wait: Wait | None, *, loading: bool = False
    ) -> list[Any]: ...

    def load(self, bound: Bound) -> None: ...

    def reset(self) -> None: ...

    def ask(self, key: str, /, *words: str) -> Any: ...


class Pooled:
    """Standalone servers and Sentinel: connections of a pool, each used by one thread at a time."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._pool = client.connection_pool
        self.timeout = self._pool.connection_kwargs.get("socket_timeout") or TIMEOUT
        self._idle: list[Any] = []
        _pooled.add(self)

    def send(
        self, bound: Bound, args: Sequence[str], wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._new()
            connection.connect()
        try:
            if loading:
                reply = exchange_loading(connection, bound, args, wait)
            elif wait is not None:
                reply = exchange(connection, bound.pack(args), wait)
            else:
                connection.send_packed_command((bound.pack(args),), check_health=False)
                reply = connection.read_response()
        except rx.ResponseError:
            self._idle.append(connection)
            raise
        except (ServerUnavailable, ServerRefused):  # not confirmed: this may be a primary that was replaced
            connection.disconnect()
            self.reset()
            raise
        except BaseException:
            connection.disconnect()
            raise
        self._idle.append(connection)
        return reply

    def _new(self) -> Any:
        """Past the pool's own count, which only grows: broken links would use it up."""
        return self._pool.connection_class(**self._pool.connection_kwargs)

    def load(self, bound: Bound) -> None:
        self._redis.script_load(bound.script.source)

    def reset(self) -> None:
        with suppress(IndexError):  # other threads take from it, too
            while True:
                self._idle.pop().disconnect()
        self._pool.disconnect(inuse_connections=False)

    def ask(self, _key: str, /, *words: str) -> Any:
        return self._redis.execute_command(*words)

    def forget(self) -> None:
        """In a fork's child: leave the parent its sockets."""
        self._idle = []


_pooled: WeakSet[Pooled] = WeakSet()


def _forget_all() -> None:
    for link in _pooled:
        link.forget()


os.register_at_fork(after_in_child=_forget_all)


class Clustered:
    """A cluster: redis-py finds the slot's primary and follows it."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self.timeout = client.get_connection_kwargs().get("socket_timeout") or TIMEOUT

    def send(
        self, bound: Bound, args: Sequence[str], wait: Wait | None, *, loading: bool = False
    ) -> list[Any]:
        if wait is not None or loading:
            return self._send_at_once(bound, args, wait, loading)
        reply: list[Any] = self._redis.evalsha(bound.script.sha, len(bound.keys), *bound.keys, *args)
        return reply

    def _send_at_once(self, bound: Bound, args: Sequence[str], wait: Wait | None, loading: bool) -> list[Any]:
        """All on one connection to the slot's primary, which redis-py's own commands don't promise."""
        node = self._node(bound.keys[0])
        pool = self._redis.get_redis_connection(node).connection_pool
        connection = pool.get_connection()
        try:
            if loading or wait is None:
                return exchange_loading(connection, bound, args, wait)
            return exchange(connection, bound.pack(args), wait)
        except rx.ResponseError:
            raise
        except BaseException as error:
            connection.disconnect()
            if isinstance(error, (ServerUnavailable, ServerRefused)):  # not confirmed, as above
                with suppress(*FAILURES):
                    self.reset()
            raise
        finally:
            pool.release(connection)

    def _node(self, key: str) -> Any:
        return self._redis.get_node_from_key(key)

    def ask(self, key: str, /, *words: str) -> Any:
        return self._redis.execute_command(*words, target_nodes=self._node(key))

    def load(self, bound: Bound) -> None:
        self._redis.script_load(bound.script.source)  # goes to every primary

    def reset(self) -> None:
        self._redis.nodes_manager.initialize()

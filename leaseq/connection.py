"""The link to the server: where it is, how a move is sent, what an error of it means.

A move is sent as one packed command over a connection of redis-py's pool, past redis-py's command
layer: that takes half the time of ``evalsha`` (``docs/benchmarks.md``). Every move is idempotent by
its state or its request id, so a move whose reply was lost is sent once more, and never more often:
redis-py's own retries are off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit
from weakref import WeakSet

import redis
from redis import exceptions as rx
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry
from redis.sentinel import Sentinel

from leaseq.durable import Wait, exchange
from leaseq.errors import Invalid, ServerRefused, ServerUnavailable
from leaseq.policy import Durable
from leaseq.scripts import Bound
from leaseq.waiting import Listener

SCHEMES = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
_TIMEOUT = 5.0  # seconds for a connect and for a reply
_TIMEOUTS = ("socket_timeout", "socket_connect_timeout")

_FAILURES = (rx.RedisError, rx.RedisClusterException, OSError)  # the second is not one of the first
_AWAY = (
    rx.ConnectionError,
    rx.TimeoutError,
    rx.ClusterDownError,
    rx.MasterDownError,
    rx.AskError,  # and what is moved by it: a slot on its way to another node
    rx.RedisClusterException,
    OSError,
)
_AWAY_FOR_NOW = ("BUSY", "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS")
# A new link may lead to a server that answers.
_BROKEN_LINK = (rx.ConnectionError, rx.ReadOnlyError, rx.MovedError)


class Reply(NamedTuple):
    """What a move answered. ``resent``: the first reply was lost, so it may have acted before."""

    code: bytes
    rest: list[Any]
    resent: bool


class _Link(Protocol):
    timeout: float

    def send(self, bound: Bound, args: Sequence[str], wait: Wait | None) -> list[Any]: ...

    def load(self, bound: Bound) -> None: ...

    def reset(self) -> None: ...

    def ask(self, key: str, /, *words: str) -> Any: ...


class _Pooled:
    """Standalone servers and Sentinel: connections of a pool, each used by one thread at a time."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self._pool = client.connection_pool
        self.timeout = self._pool.connection_kwargs.get("socket_timeout") or _TIMEOUT
        self._idle: list[Any] = []
        _pooled.add(self)

    def send(self, bound: Bound, args: Sequence[str], wait: Wait | None) -> list[Any]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._new()
            connection.connect()
        try:
            if wait is not None:
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


_pooled: WeakSet[_Pooled] = WeakSet()


def _forget_all() -> None:
    for link in _pooled:
        link.forget()


os.register_at_fork(after_in_child=_forget_all)


class _Clustered:
    """A cluster: redis-py finds the slot's primary and follows it."""

    def __init__(self, client: Any) -> None:
        self._redis = client
        self.timeout = client.get_connection_kwargs().get("socket_timeout") or _TIMEOUT

    def send(self, bound: Bound, args: Sequence[str], wait: Wait | None) -> list[Any]:
        if wait is not None:
            return self._send_and_wait(bound, args, wait)
        reply: list[Any] = self._redis.evalsha(bound.script.sha, len(bound.keys), *bound.keys, *args)
        return reply

    def _send_and_wait(self, bound: Bound, args: Sequence[str], wait: Wait) -> list[Any]:
        """All on one connection to the slot's primary, which redis-py's own commands don't promise."""
        node = self._node(bound.keys[0])
        pool = self._redis.get_redis_connection(node).connection_pool
        connection = pool.get_connection()
        try:
            return exchange(connection, bound.pack(args), wait)
        except rx.ResponseError:
            raise
        except BaseException as error:
            connection.disconnect()
            if isinstance(error, (ServerUnavailable, ServerRefused)):  # not confirmed, as above
                with suppress(*_FAILURES):
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


class Client:
    """A server that holds queues. Threads may share one; a fork's child gets links of its own.

    ``redis`` is redis-py's client, for keys that are not a queue's; wrap its use in ``translating()``.
    """

    def __init__(self, url: str, client: redis.Redis | RedisCluster) -> None:
        self.url = url
        self.redis = client
        self._link: _Link = _Clustered(client) if isinstance(client, RedisCluster) else _Pooled(client)
        self.listener = Listener(client)
        self.durable: dict[str, tuple[Durable, float]] = {}  # by ledger; and until when it counts
        self.disks: dict[str, float] = {}  # by ledger: until when its server's setting of fsync counts
        self.wait_milliseconds = int(self._link.timeout * 800)  # ahead of the link's own timeout

    def __repr__(self) -> str:
        return f"<leaseq.Client {_without_password(self.url)}>"

    def ping(self) -> None:
        """Return when the server answers; else raise ServerUnavailable or ServerRefused."""
        with self.translating():
            self.redis.ping()

    def close(self) -> None:
        """Let go of the server. Whoever waits for an item by this client gets nothing now."""
        self.listener.close()
        with self.translating():
            self._link.reset()
            self.redis.close()

    def move(self, bound: Bound, args: Sequence[str], wait: Wait | None = None) -> Reply:
        """Run a script; load it where the server doesn't have it; send it again where the reply was lost.
        With ``wait``, return only when that is over."""
        try:
            reply = self._link.send(bound, args, wait)
        except _FAILURES as error:
            return self._again(bound, args, wait, error)
        return Reply(reply[0], reply[1:], False)

    def _again(self, bound: Bound, args: Sequence[str], wait: Wait | None, error: Exception) -> Reply:
        """Load the script where the server doesn't have it, and send once more after a broken link, in
        whichever order these happen. A new link may lead to another server, hence two loads."""
        loads, resent = 0, False
        while True:
            try:
                if isinstance(error, rx.NoScriptError) and loads < 2:
                    loads += 1
                    self._load(bound)
                elif _is_broken_link(error) and not resent:
                    resent = True
                    self._link.reset()
                else:
                    self._translate(error)
                reply = self._link.send(bound, args, wait)
            except _FAILURES as following:
                error = following
            else:
                return Reply(reply[0], reply[1:], resent)

    def ask(self, key: str, *words: str) -> Any:
        """A command about the server that has this key; what it refuses stays redis-py's ResponseError."""
        try:
            return self._link.ask(key, *words)
        except rx.ResponseError:
            raise
        except _FAILURES as error:
            self._translate(error)

    def _load(self, bound: Bound) -> None:
        """By itself, since a reply that is lost here is no lost reply of the move."""
        with self.translating():
            try:
                self._link.load(bound)
            except _BROKEN_LINK:
                self._link.reset()
                self._link.load(bound)

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Turn what redis-py raises into ServerUnavailable or ServerRefused."""
        try:
            yield
        except _FAILURES as error:
            self._translate(error)

    def _translate(self, error: Exception) -> NoReturn:
        if isinstance(error, (rx.AuthenticationError, rx.AuthorizationError)):
            raise ServerRefused(f"the server did not accept the user or password: {error}") from error
        if isinstance(error, _AWAY) or str(error).startswith(_AWAY_FOR_NOW):
            raise ServerUnavailable(f"no answer from {_without_password(self.url)}: {error}") from error
        raise ServerRefused(f"the server refused: {error}") from error


def _is_broken_link(error: Exception) -> bool:
    broken = isinstance(error, _BROKEN_LINK) or str(error).startswith("NOREPLICAS")
    return broken and not isinstance(error, rx.AuthenticationError)


def connect(url: str) -> Client:
    """A client for ``redis://`` ``rediss://`` ``unix://`` ``redis+sentinel://`` or ``redis+cluster://``.

    No connection is made before the first call. A Sentinel URL names the sentinels and the service:
    ``redis+sentinel://:password@host1:26379,host2:26379/mymaster/0``.
    """
    if not isinstance(url, str):
        raise Invalid("url", f"a URL that begins with {SCHEMES}")
    scheme = url.partition("://")[0]
    try:
        if scheme in ("redis", "rediss", "unix"):
            client = redis.Redis.from_url(url, **_options())
            client.connection_pool.make_connection()  # does no I/O; an option that isn't one shows here
            return Client(url, client)
        if scheme == "redis+sentinel":
            return Client(url, _sentinel(url))
        if scheme in ("redis+cluster", "rediss+cluster"):
            return Client(url, _cluster(url))
    except (ValueError, TypeError):  # what they say may have a piece of the password in it
        limit = "a URL that redis-py understands, a password's special characters percent-encoded"
        raise Invalid("url", limit) from None
    raise Invalid("url", f"a URL that begins with {SCHEMES}")


def _options() -> dict[str, Any]:
    return {
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": _TIMEOUT,
        "socket_connect_timeout": _TIMEOUT,
        # Valkey has no CLIENT MAINT_NOTIFICATIONS, and they need RESP 3.
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
    }


def _sentinel(url: str) -> redis.Redis:
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2].split(",")
    hosts = [(host or "localhost", int(port or 26379)) for host, _, port in (w.partition(":") for w in where)]
    service, _, database = parts.path.strip("/").partition("/")
    if not service:
        raise Invalid("url", "a Sentinel URL that names the service: redis+sentinel://host:26379/mymaster/0")
    login = {
        "username": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or None,
    }
    asked = dict(parse_qsl(parts.query))
    sentinel_login = {
        name.removeprefix("sentinel_"): asked.pop(name)
        for name in ("sentinel_username", "sentinel_password")
        if name in asked
    }
    timeouts = {name: float(asked.pop(name)) for name in _TIMEOUTS if name in asked}
    if asked:
        known = "sentinel_username, sentinel_password, socket_timeout and socket_connect_timeout"
        raise Invalid("url", f"a Sentinel URL with no options but {known}")
    options = {**_options(), **timeouts, "db": int(database or 0), **{k: v for k, v in login.items() if v}}
    sentinel_options = {**_options(), **timeouts, **sentinel_login}
    sentinel: Any = Sentinel(hosts, sentinel_kwargs=sentinel_options, **options)  # type: ignore[no-untyped-call]
    found: redis.Redis = sentinel.master_for(service)
    return found


def _cluster(url: str) -> RedisCluster:
    try:
        return RedisCluster.from_url(url.replace("+cluster", "", 1), **_options())
    except _FAILURES as error:  # a cluster is asked for its slots at once
        raise ServerUnavailable(f"no answer from {_without_password(url)}: {error}") from error


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("?")[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"

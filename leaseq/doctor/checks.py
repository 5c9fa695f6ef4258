"""The results of checks, and a server's own information."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import redis
from redis import exceptions as rx

Level = Literal["error", "warning", "unchecked"]
"""An error loses data, lets someone in or stops work; a warning may; unchecked: could not be checked."""

Group = Literal[
    "append-only file", "memory", "access", "server", "permissions", "replication", "queues", "pages"
]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a server; ``where`` is its address, without a password."""

    check: str
    level: Level
    where: str
    problem: str
    fix: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check; ``problem`` and ``fix`` have ``{names}`` as placeholders for the facts."""

    name: str
    level: Level
    problem: str
    fix: str

    def finding(self, where: str, **facts: object) -> Finding:
        return Finding(self.name, self.level, where, self.problem.format(**facts), self.fix.format(**facts))


_OPTIONS = (
    "appendonly",
    "appendfsync",
    "no-appendfsync-on-rewrite",
    "aof-load-truncated",
    "save",
    "maxmemory",
    "maxmemory-policy",
    "bind",
    "port",
    "tls-port",
    "protected-mode",
    "unixsocket",
    "timeout",
    "tcp-keepalive",
    "min-replicas-to-write",
    "cluster-require-full-coverage",
)
_LOGIN = ("username", "password", "credential_provider")


class Node:
    """One server. ``where`` is its name in findings; ``replica``: it is meant to be a replica."""

    def __init__(self, client: redis.Redis, where: str, *, replica: bool = False) -> None:
        self.redis = client
        self.where = where
        self.replica = replica
        self.unreadable: list[tuple[str, str]] = []  # what can't be read: the command, and which part

    @property
    def settings(self) -> dict[str, Any]:
        """redis-py's connection settings: host and port, or path; username and password."""
        kwargs: dict[str, Any] = self.redis.connection_pool.connection_kwargs
        return kwargs

    @property
    def tls(self) -> bool:
        return issubclass(self.redis.connection_pool.connection_class, redis.SSLConnection)

    @property
    def path(self) -> str | None:
        """The path of the unix socket in the URL."""
        return self.settings.get("path")

    @cached_property
    def is_remote(self) -> bool:
        """Whether our connection to it leaves this machine."""
        return not is_loopback(str(self.settings.get("host", "localhost")))

    @cached_property
    def info(self) -> dict[str, Any]:
        """The fields of INFO; empty if the user may not read it."""
        try:
            info: dict[str, Any] = self.redis.info()
        except rx.ResponseError:
            return {}
        return info

    @cached_property
    def hello(self) -> dict[str, Any]:
        """The reply to HELLO: server, version, role. It needs no rule of the ACL."""
        with self.connection() as connection:
            try:
                words = send_command(connection, "HELLO")
            except rx.ResponseError:
                return {}
        texts = [word.decode() if isinstance(word, bytes) else word for word in words]
        return dict(zip(texts[::2], texts[1::2], strict=True))

    @cached_property
    def _config(self) -> dict[str, str] | None:
        try:
            options: Any = self.redis.config_get(*_OPTIONS)
        except rx.ResponseError:
            return None
        return dict(options)

    def config(self, option: str, *, else_info: str = "") -> str | None:
        """An option's value, from CONFIG or from the INFO field ``else_info``. None if it can't be read,
        which is reported at the end, or if this server has no such option."""
        if self._config is not None:
            return self._config.get(option)
        if else_info in self.info:
            return str(self.info[else_info])
        self.note_unreadable("CONFIG GET", option)
        return None

    def info_field(self, field: str) -> Any:
        """A field of INFO; None if it can't be read."""
        if not self.info:
            self.note_unreadable("INFO", field)
        return self.info.get(field)

    def note_unreadable(self, command: str, part: str) -> None:
        """Note what could not be read, for the end of the report."""
        self.unreadable.append((command, part))

    def ask(self, *words: str) -> Any:
        """Send a command, and return its reply as redis-py parses it."""
        return self.redis.execute_command(*words)

    @contextmanager
    def connection(self, *, login: bool = True) -> Iterator[Any]:
        """A connection below redis-py's command layer, opened by its first command; ``login=False``: without
        authentication."""
        kwargs = {name: value for name, value in self.settings.items() if login or name not in _LOGIN}
        connection: Any = self.redis.connection_pool.connection_class(**kwargs)
        try:
            yield connection
        finally:
            connection.disconnect()


def send_command(connection: Any, *words: str) -> Any:
    """Send a command and return its reply; raises ResponseError if the server refuses it."""
    connection.send_command(*words, check_health=False)
    return connection.read_response()


def is_loopback(host: str) -> bool:
    """Whether all addresses of the host are loopback addresses."""
    try:
        addresses = addresses_of(host)
    except OSError:
        return False
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def addresses_of(host: str) -> list[str]:
    """The IP addresses of a host, without IPv6 scopes."""
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]).partition("%")[0] for *_, address in infos]

"""The base of stores: their connection, locks, and writes that wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias

from leaseq import Client, LeaseqError

Command: TypeAlias = tuple[str | int | float, ...]
"""A command for the server, such as ``("HGET", key, field)``: see `Client.ask`."""

ReadAll: TypeAlias = Callable[[Iterable[Command]], Mapping[Command, Any]]
"""Sends commands that only read, each once, and returns their replies."""

_SCANNED = 500


class KeyPrefix(str):
    """The beginning of the keys of one kind; called with what tells them apart, it is a whole key."""

    __slots__ = ()

    def __call__(self, *parts: str | int) -> str:
        return self + ":".join(map(str, parts))


def reader_of(client: Client) -> ReadAll:
    """A function that reads in one round trip, also keys in different slots of a cluster."""

    def read(commands: Iterable[Command]) -> Mapping[Command, Any]:
        unique_commands = list(dict.fromkeys(commands))
        pipe = _Commands(client, client.redis).pipeline(transaction=False)
        for command in unique_commands:
            pipe.execute_command(*command)
        return dict(zip(unique_commands, pipe.execute(), strict=True))

    return read


class _Commands:
    """redis-py's commands, or a pipeline of them, with the library's errors. Values are bytes."""

    def __init__(self, client: Client, commands: Any) -> None:
        self._client, self._commands = client, commands

    def __getattr__(self, name: str) -> Any:
        command = getattr(self._commands, name)

        def call(*args: Any, **options: Any) -> Any:
            with self._client.translating():
                reply = command(*args, **options)
            return _Commands(self._client, reply) if name == "pipeline" else reply

        return call


class Store:
    """``clock`` returns the seconds since the epoch; only tests pass one."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._redis = _Commands(client, client.redis)
        self._clock = clock

    def _keys_like(self, pattern: str) -> Iterator[list[str]]:
        """The server's keys that match a pattern, a few hundred at a time."""
        with self._client.translating():  # the iterator sends commands
            keys = self._redis.scan_iter(match=pattern, count=_SCANNED)
            while batch := [key.decode() for key in islice(keys, _SCANNED)]:
                yield batch

    def _hashes_where(self, pattern: str, field: str, value: str) -> Iterator[str]:
        """The keys, among those that match a pattern, of the hashes whose field has this value."""
        for keys in self._keys_like(pattern):
            values = self._client.ask(*(("HGET", key, field) for key in keys))
            yield from (key for key, found in zip(keys, values, strict=True) if found == value.encode())

    def _hashes(self, hash_keys: Iterable[str]) -> list[dict[bytes, bytes]]:
        """Whole hashes, in one round trip."""
        pipe = self._redis.pipeline(transaction=False)
        for key in hash_keys:
            pipe.hgetall(key)
        hashes: list[dict[bytes, bytes]] = pipe.execute()
        return hashes


MARKED_SECONDS = 4
_RENEWAL_SECONDS = 1.0


class Locks(Store):
    """The locks of one process. The first lock starts the thread that renews them."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._marks: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, mark: str) -> None:
        with self._lock:
            self._marks.add(mark)
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="running", daemon=True)
                self._thread.start()

    def end(self, mark: str) -> None:
        with self._lock:
            self._marks.discard(mark)

    def _renew(self) -> None:
        pause = threading.Event()
        while not pause.wait(_RENEWAL_SECONDS):
            with self._lock:
                marks = tuple(self._marks)
            with suppress(LeaseqError):  # the requests report that the server is unavailable
                for mark in marks:
                    self._redis.expire(mark, MARKED_SECONDS)

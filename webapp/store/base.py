"""The base of stores: their connection, what they cache, locks, and writes that wait."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from leaseq import Client, LeaseqError

log = logging.getLogger(__name__)

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


class CachedHash(Store):
    """A hash that almost every page needs: it is read as a whole and used for ``fresh_seconds``, after which
    changes of other processes take effect. A change by this process calls `expire`."""

    key: ClassVar[str]
    fresh_seconds: ClassVar[float]

    def __init__(
        self,
        client: Client,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, clock=clock)
        self._monotonic = monotonic
        self._entries: Mapping[bytes, bytes] = {}
        self._until = 0.0

    def expire(self) -> None:
        """Read the hash again when it is needed next."""
        self._until = 0.0

    def _read(self) -> Mapping[bytes, bytes]:
        if self._until <= self._monotonic():
            self._entries = self._redis.hgetall(self.key)
            self._until = self._monotonic() + self.fresh_seconds
        return self._entries


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


GATHERED_SECONDS = 0.1
"""How long entries are gathered before they are written, unless somebody waits for them."""
_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """Entries for ``write``, which is called by one thread at a time. On an orderly exit of the process, all
    are written first. Exceptions of ``write`` are logged."""

    def __init__(self, write: Callable[[Sequence[_T]], None]) -> None:
        self._write = write
        self._lock = threading.Condition()
        self._entries: list[_T] = []
        self._batch: list[_T] = []
        self._added_count = self._written_count = 0  # entries, so far
        self._executor: ThreadPoolExecutor | None = None
        self._is_running = False
        self._is_awaited = threading.Event()

    def add(self, entry: _T) -> None:
        with self._lock:
            self._entries.append(entry)
            self._added_count += 1
            if self._is_running:
                return
            self._is_running = True
            try:
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(1, "leaseq-deferred")
                self._executor.submit(self._write_all)
                return
            except RuntimeError:  # the process is at its end, and starts nothing any more
                self._is_awaited.set()
        self._write_all()

    def pending(self) -> list[_T]:
        """The entries that are not written yet."""
        with self._lock:
            return [*self._batch, *self._entries]

    def flush(self) -> None:
        """Wait until all entries added before this call are written."""
        with self._lock:
            target = self._added_count
            if self._written_count < target:
                self._is_awaited.set()
                self._lock.wait_for(lambda: self._written_count >= target)

    def _write_all(self) -> None:
        while True:
            self._is_awaited.wait(GATHERED_SECONDS)
            with self._lock:
                self._is_awaited.clear()
                self._batch, self._entries = self._entries, []
            try:
                self._write(self._batch)
            except Exception:  # one failed batch must not stop the next
                log.exception("deferred entries could not be written: %s", self._batch)
            with self._lock:
                self._written_count += len(self._batch)
                self._batch = []
                self._lock.notify_all()
                if not self._entries:
                    self._is_running = False
                    return

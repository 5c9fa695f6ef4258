"""The base of the web app's stores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from leaseq import Client

Command: TypeAlias = tuple[str | int | float, ...]
"""A command for the server, such as ``("HGET", key, field)``: see `Client.ask`."""

ReadAll: TypeAlias = Callable[[Iterable[Command]], Mapping[Command, Any]]
"""Sends commands that only read, each once, and returns their replies."""

_SCANNED = 500


def reader_of(client: Client) -> ReadAll:
    """A function that reads in one round trip, also keys in different slots of a cluster."""

    def read(commands: Iterable[Command]) -> Mapping[Command, Any]:
        unique_commands = list(dict.fromkeys(commands))
        with client.translating():
            pipe: Any = client.redis.pipeline(transaction=False)
            for command in unique_commands:
                pipe.execute_command(*command)
            return dict(zip(unique_commands, pipe.execute(), strict=True))

    return read


class Store:
    """``clock`` returns the seconds since the epoch; only tests pass one."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._redis: Any = client.redis  # returns bytes, which redis-py's types don't cover
        self._clock = clock

    def _keys_like(self, pattern: str) -> Iterator[list[str]]:
        """The server's keys that match a pattern, a few hundred at a time."""
        with self._client.translating():
            keys = self._redis.scan_iter(match=pattern, count=_SCANNED)
            while batch := [key.decode() for key in islice(keys, _SCANNED)]:
                yield batch

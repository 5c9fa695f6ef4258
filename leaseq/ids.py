"""Identifiers made by the client before it sends, so that a call sent twice is known to be one.

Item ids sort by time: 44 bits of milliseconds, then 44 bits that begin at random and count up, as in
ULID's monotonic form (github.com/ulid/spec), in hexadecimal.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
import time


class _ItemIds:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def __call__(self, count: int) -> list[str]:
        """``count`` new ids in rising order."""
        fresh = int(time.time() * 1000) << 44 | secrets.randbits(43)
        with self._lock:
            # The same millisecond, or a clock that stepped back: go on counting.
            first = fresh if fresh >> 44 > self._last >> 44 else self._last + 1 + secrets.randbits(8)
            self._last = first + count - 1
        return [f"{number:022x}" for number in range(first, first + count)]


class _RequestIds:
    def __init__(self) -> None:
        self._pid = 0
        self._process = ""
        self._count = itertools.count()  # next() is atomic, also between threads

    def __call__(self) -> str:
        """A new name for one call: what this process is called, and a count."""
        if self._pid != os.getpid():  # a fork's child is another process
            self._process = secrets.token_hex(6)
            self._pid = os.getpid()
        return f"{self._process}{next(self._count):x}"


item_ids = _ItemIds()
request_id = _RequestIds()

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

_lock = threading.Lock()
_last = 0
_requests = itertools.count()  # next() is atomic, also between threads
_process = ("", 0)


def item_ids(count: int) -> list[str]:
    """``count`` new ids in rising order."""
    global _last
    fresh = int(time.time() * 1000) << 44 | secrets.randbits(43)
    with _lock:
        # The same millisecond, or a clock that stepped back: go on counting.
        first = fresh if fresh >> 44 > _last >> 44 else _last + 1 + secrets.randbits(8)
        _last = first + count - 1
    return [f"{number:022x}" for number in range(first, first + count)]


def request_id() -> str:
    """A new name for one call: what this process is called, and a count."""
    global _process
    name, pid = _process
    if pid != os.getpid():
        name, _ = _process = (secrets.token_hex(6), os.getpid())
    return f"{name}{next(_requests):x}"

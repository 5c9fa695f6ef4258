"""Item ids and request ids, created by the client before it sends, so that a repeated call can be recognised.

Item ids sort by time: 44 bits of milliseconds, then 46 bits that begin at random and count up, as in
ULID's monotonic form (github.com/ulid/spec), in the digits of base32hex (RFC 4648). The length of 18
characters was chosen by measurement: above 20, an item takes 16 bytes more in the server. An id derived from
a request id has the same length, does not sort by time, and begins with a digit that times reach in 2248.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
import time
from collections.abc import Iterator
from hashlib import blake2b

_RANDOM_BITS = 46
_ID_BITS = 90
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]


class _ItemIdGenerator:
    """Creates item ids that sort by time; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_id = 0

    def __call__(self, count: int) -> list[str]:
        """``count`` new ids in ascending order."""
        candidate = int(time.time() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS - 1)
        with self._lock:
            # In the same millisecond, or if the clock stepped back, continue counting.
            is_later = candidate >> _RANDOM_BITS > self._last_id >> _RANDOM_BITS
            first = candidate if is_later else self._last_id + 1 + secrets.randbits(8)
            self._last_id = first + count - 1
        return _encode_ids(first, count)


def _encode_ids(first: int, count: int) -> list[str]:
    ids: list[str] = []
    stop = first + count
    while first < stop:
        high = first >> 20  # the part shared by up to a million ids
        prefix = "".join(_PAIRS[high >> shift & 1023] for shift in range(60, -1, -10))
        until = min(stop, high + 1 << 20)
        ids += [prefix + _PAIRS[n >> 10 & 1023] + _PAIRS[n & 1023] for n in range(first, until)]
        first = until
    return ids


def derived_id(queue: str, request: str, place: int) -> str:
    """The id of the item at ``place`` (from 0) in this request: the same in every process."""
    digest = blake2b(f"{queue}\0{request}\0{place}".encode(), digest_size=12).digest()
    derived_bit = 1 << _ID_BITS - 1  # never set in an id made from the time
    return _encode_ids(derived_bit | int.from_bytes(digest) % derived_bit, 1)[0]


class _RequestIds:
    """The random prefix and the counter of this process's request ids; a forked child gets new ones."""

    name: str
    calls: Iterator[int]  # next() is atomic across threads


def _name_process() -> None:
    _RequestIds.name = secrets.token_hex(6)
    _RequestIds.calls = itertools.count()


def request_id() -> str:
    """A new request id."""
    return f"{_RequestIds.name}{next(_RequestIds.calls):x}"


_name_process()
os.register_at_fork(after_in_child=_name_process)
item_ids = _ItemIdGenerator()

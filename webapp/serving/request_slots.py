"""Request slots: how many requests of a web process are handled at a time; the others wait, in order.

A request that only waits for something lends its slot to others meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gevent.lock import Semaphore


class RequestSlots:
    """The slots of one web process."""

    def __init__(self, count: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = Semaphore(count)  # fair, and a tenth of the time of threading's
        self._clock = clock

    def acquire(self) -> float:
        """Wait for a slot. Returns for how many seconds."""
        if self._free.acquire(blocking=False):
            return 0.0
        began = self._clock()
        self._free.acquire()
        return self._clock() - began

    def release(self) -> None:
        self._free.release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold a slot: for the pieces of a long answer, which are made after its request was handled."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lend this request's slot to others. It needs one again to go on."""
        self.release()
        try:
            yield
        finally:
            self.acquire()

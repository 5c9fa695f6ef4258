"""Request slots: they limit how many requests a web process handles at a time; the others wait in order.

A request that only waits for something releases its slot until then.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HOLDS_SLOT = "leaseq.slot"
"""Whether the request of this WSGI environment holds a slot."""


class RequestSlots:
    """The slots of one web process. A released slot goes to the first request in line: no later request can
    take it."""

    def __init__(self, count: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._free_count = count
        self._line: deque[threading.Event] = deque()
        self._clock = clock

    def acquire(self, *, at_front: bool = False) -> float:
        """Wait for a slot, after all others in line or before them. Returns the seconds waited."""
        with self._lock:
            if self._free_count:
                self._free_count -= 1
                return 0.0
            turn = threading.Event()
            if at_front:
                self._line.appendleft(turn)
            else:
                self._line.append(turn)
        start = self._clock()
        try:
            turn.wait()
        except BaseException:  # this request ends here
            with self._lock:
                has_slot = turn.is_set()
                if not has_slot:
                    self._line.remove(turn)
            if has_slot:
                self.release()
            raise
        return self._clock() - start

    def release(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free_count += 1

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold a slot, for the pieces of a long response, which are produced after its request was
        handled."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    @contextmanager
    def release_temporarily(self) -> Iterator[None]:
        """Release this request's slot. It continues with the next free one."""
        self.release()
        try:
            yield
        finally:
            self.acquire(at_front=True)

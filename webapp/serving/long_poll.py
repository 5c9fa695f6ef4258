"""Long-poll slots: the number of requests that may wait for an item at a time.

Each waiting request occupies a thread. Requests beyond the limit are answered at once and ask again, and the
process goes on serving others.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

LONGEST = 30  # seconds


class LongPollSlots:
    """The long-poll slots of one web process."""

    def __init__(self, places: int) -> None:
        self._free = threading.BoundedSemaphore(places) if places else None

    @contextmanager
    def seconds(self, wanted: float) -> Iterator[float]:
        """How long a request that asks for so many seconds may wait: all of it, or not at all."""
        if not wanted or self._free is None or not self._free.acquire(blocking=False):
            yield 0
            return
        try:
            yield wanted
        finally:
            self._free.release()


def end_at_a_stop(*ends: Callable[[], object]) -> None:
    """Call each of ``ends`` at SIGTERM, when a web process finishes its requests: waiting requests are
    answered, not cut off when the grace period is over; event streams reconnect to another process."""
    before = signal.getsignal(signal.SIGTERM)
    if not callable(before):
        return  # nothing here finishes anything

    def stop(number: int, frame: FrameType | None) -> None:
        before(number, frame)  # first: what a thread takes up that is let go finds that the process stops
        for end in ends:
            threading.Thread(target=end).start()  # what it locks may be locked where the signal came

    signal.signal(signal.SIGTERM, stop)

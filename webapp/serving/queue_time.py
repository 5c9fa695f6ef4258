"""The limit on the time that a request may wait for a slot (CoDel)."""

from __future__ import annotations

import threading

SHARE = 20


class QueueTimeLimit:
    """Decides which requests have waited too long.

    A short burst is served: the limit is ``seconds``. If requests have been queueing that long already, more
    arrive than can be served, and a long queue only delays all of them: the limit drops to a twentieth.
    (After CoDel, RFC 8289, as in "Fail at Scale", ACM Queue 13/8, which has 100 and 5 ms.)
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._taken_at = 0.0  # when the last request got its slot
        self._empty_at = 0.0  # the last time that no request was waiting

    def is_over(self, wait: float, now: float) -> bool:
        """Whether a request that gets its slot now has waited too long. Call this for each request, in
        order."""
        arrival = now - wait
        with self._lock:
            if arrival >= self._taken_at:  # all earlier requests had already got their slots
                self._empty_at = arrival
            self._taken_at = now
            queueing_time = now - self._empty_at
        return 0 < (self._seconds / SHARE if queueing_time > self._seconds else self._seconds) < wait

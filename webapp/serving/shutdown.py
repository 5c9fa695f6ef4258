"""The stop of a web process: at first it is not ready any more, then what waits is ended.

A load balancer sees at ``/readyz`` that it is to send no more requests here, and has LEASEQ_DRAIN_SECONDS
for that; meanwhile all are served.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

VARIABLE = "LEASEQ_DRAIN_SECONDS"
_stop = threading.Event()
_callbacks: list[Callable[[], object]] = []


def drain_seconds() -> int:
    """How long requests are accepted after a stop began; webapp/settings.py refuses a wrong value."""
    text = os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() else 0


def has_begun() -> bool:
    return _stop.is_set()


def begin() -> None:
    _stop.set()


def at_end(end: Callable[[], object]) -> None:
    """Have ``end`` called when the process accepts no more connections: waiting requests are then answered,
    not cut off when the grace period is over; event streams reconnect to another process."""
    _callbacks.append(end)


def end_waits() -> None:
    for end in _callbacks:
        end()

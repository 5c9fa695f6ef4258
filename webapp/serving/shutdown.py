"""The end of a web process. It imports little, since gunicorn's main process has it, too."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

DRAIN_VARIABLE = "LEASEQ_DRAIN_SECONDS"
_stop = threading.Event()
_callbacks: list[Callable[[], object]] = []


def drain_seconds() -> int:
    """The seconds for which requests are accepted after a stop began; webapp/settings.py refuses a wrong
    value."""
    text = os.environ.get(DRAIN_VARIABLE, "")
    return int(text) if text.isdecimal() else 0


def has_begun() -> bool:
    return _stop.is_set()


def begin() -> None:
    _stop.set()


def on_shutdown(callback: Callable[[], object]) -> None:
    """Register a function to call when the process no longer accepts connections: waiting requests then get a
    response, instead of being cut off after the grace period, and event streams reconnect to another
    process."""
    _callbacks.append(callback)


def end_waits() -> None:
    for callback in _callbacks:
        callback()

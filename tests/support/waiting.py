"""Wait for other processes and threads: check a condition repeatedly, up to a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import redis

import leaseq

T = TypeVar("T")

TIMEOUT = 60  # seconds; only a failing test waits that long


def eventually(
    condition: Callable[[], object], description: str = "what is waited for", *, seconds: float = TIMEOUT
) -> None:
    """Return once the condition is true. A refused connection or a missing file counts as not yet true."""
    deadline, pause = time.monotonic() + seconds, 0.002
    while True:
        try:
            if condition():
                return
            error: Exception | None = None
        except (redis.RedisError, OSError) as exception:
            error = exception
        if time.monotonic() > deadline:
            raise TimeoutError(f"never happened: {description}") from error
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)  # short waits end quickly, long waits cause no load


def retry_while_unavailable(call: Callable[[], T], *, pause: float = 0.02) -> T:
    """Repeat a call until the server answers, as a program does with a call that was not acknowledged."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return call()
        except leaseq.ServerUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(pause)

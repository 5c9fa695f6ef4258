"""Waiting for other processes and threads: a test polls until a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import redis

import leaseq

T = TypeVar("T")

PATIENCE = 60  # seconds, only ever waited out by a test that fails


def eventually(
    condition: Callable[[], object], description: str = "what is waited for", *, seconds: float = PATIENCE
) -> None:
    """Return once it is true. Errors of a server that still starts or of a missing file count as not yet."""
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
        pause = min(pause * 1.5, 0.05)  # short waits end soon, long waits cause no load


def patiently(call: Callable[[], T], *, pause: float = 0.02) -> T:
    """Call it as a program does that sends unacknowledged calls again."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except leaseq.ServerUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(pause)

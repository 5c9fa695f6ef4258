"""Waits for a reply from a server that may be replaced while it is silent."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from redis import exceptions as rx

SILENCE = 0.5  # seconds of silence after which others are asked whether the server was replaced
CHECK_SECONDS = 0.2  # seconds until they are asked again: a silence that long is seldom just a slow answer


def read_reply(read: Callable[..., Any], timeout: float, is_replaced: Callable[[], bool]) -> Any:
    """Return what ``read`` returns; raise ConnectionError if the server stops answering and another took its
    place. So a call leaves a server that hangs, or is cut off from its replicas, before the timeout is
    over."""
    until, pause = monotonic() + timeout, SILENCE
    while True:
        seconds_left = max(until - monotonic(), 0.001)
        try:
            return read(timeout=min(pause, seconds_left))
        except rx.TimeoutError:
            if seconds_left <= pause:
                raise
            if is_replaced():
                raise rx.ConnectionError("another server took the place of this one") from None
            pause = CHECK_SECONDS

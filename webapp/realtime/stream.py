"""The event stream of one client, into which the poller puts events, and the check whether the client may
still get the rest of a response that is sent bit by bit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from leaseq.webapp.store.base import Command

HEARTBEAT = 15.0  # seconds; proxies close connections that are idle for 60
BACKLOG = 1 << 20  # bytes that may wait for one client
_BEAT = b":\n\n"


class Stream:
    """An event stream. Any thread may put events into it; one thread reads them."""

    def __init__(self, *, heartbeat: float = HEARTBEAT) -> None:
        self.open = True
        self._heartbeat = heartbeat
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._change = threading.Event()

    @property
    def pending(self) -> int:
        """The bytes that wait for the client."""
        return len(self._buffer)

    def put(self, data: bytes) -> None:
        """Add events. A client that falls too far behind is cut off."""
        with self._lock:
            self._buffer += data
        if self.pending > BACKLOG:
            self.end()
        self._change.set()

    def end(self) -> None:
        self.open = False
        self._change.set()

    def events(self) -> Iterator[bytes]:
        """The events put into it, until it ends; a heartbeat if there are none for a while."""
        while self.open:
            if not self._change.wait(self._heartbeat):
                yield _BEAT
            self._change.clear()
            with self._lock:
                data, self._buffer = bytes(self._buffer), bytearray()
            if data and self.open:
                yield data


CHECK_SECONDS = 20.0  # seconds between two checks if nothing has changed: tokens expire


class AccessCheck:
    """A check that is repeated outside the request. ``reads`` are commands that read all on which the answer
    depends, but for the time: as long as the replies are the same, ``is_allowed`` is called every 20 seconds
    only."""

    def __init__(self, is_allowed: Callable[[], bool], reads: Sequence[Command] = ()) -> None:
        self.reads = reads
        self.checked_at = time.monotonic()
        self._is_allowed = is_allowed
        self._rights: Sequence[Any] | None = None  # the replies to the reads when it was checked last

    def passes(self, replies: Mapping[Command, Any]) -> bool:
        """Whether the client is allowed, now that the reads have these replies."""
        now, rights = time.monotonic(), [replies[command] for command in self.reads]
        if rights == self._rights and now - self.checked_at < CHECK_SECONDS:
            return True
        if not self._is_allowed():
            return False
        self._rights, self.checked_at = rights, now
        return True

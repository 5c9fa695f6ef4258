"""The event stream of one client: the poller puts events into it, and the client's response reads them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

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

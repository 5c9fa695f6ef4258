"""The event stream of one client: the poller puts events into it, the client's response takes them out."""

from __future__ import annotations

import threading
from collections.abc import Iterator

HEARTBEAT = 15.0  # seconds; proxies close connections that are idle for 60
BACKLOG = 1 << 20  # bytes that may wait for one client
_BEAT = b":\n\n"


class Stream:
    """Any thread may put events into it; one takes them."""

    def __init__(self, *, heartbeat: float = HEARTBEAT) -> None:
        self.open = True
        self._heartbeat = heartbeat
        self._waiting = bytearray()
        self._lock = threading.Lock()
        self._changed = threading.Event()

    @property
    def pending(self) -> int:
        """The bytes that wait for the client."""
        return len(self._waiting)

    def put(self, data: bytes) -> None:
        """Add events. A client that falls too far behind is cut off."""
        with self._lock:
            self._waiting += data
        if self.pending > BACKLOG:
            self.end()
        self._changed.set()

    def end(self) -> None:
        self.open = False
        self._changed.set()

    def events(self) -> Iterator[bytes]:
        """What is put into it, until it ends; a heartbeat where nothing comes for long."""
        while self.open:
            if not self._changed.wait(self._heartbeat):
                yield _BEAT
            self._changed.clear()
            with self._lock:
                data, self._waiting = bytes(self._waiting), bytearray()
            if data and self.open:
                yield data

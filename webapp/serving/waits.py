"""The requests of a web process that wait for an item."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from leaseq.webapp.serving.disconnect import at_disconnect


class Waits:
    """Ends a wait early where its client closes the connection, and all of them when the process stops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: set[threading.Event] = set()
        self._is_closed = False

    @contextmanager
    def track(self, environ: Mapping[str, Any]) -> Iterator[threading.Event]:
        """The event that is set when this request is to wait no longer."""
        stop = threading.Event()
        with self._lock:
            self._events.add(stop)
            if self._is_closed:
                stop.set()
        try:
            with at_disconnect(environ, stop.set):
                yield stop
        finally:
            with self._lock:
                self._events.remove(stop)

    def close(self) -> None:
        """End all waits, and those that are still to begin."""
        with self._lock:
            self._is_closed = True
            for stop in self._events:
                stop.set()

"""The requests of a web process that wait for an item."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from leaseq.webapp.serving.disconnect import on_disconnect


class Waits:
    """Ends a wait early if its client closes the connection, and all waits when the process stops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: set[threading.Event] = set()
        self._is_closed = False

    @contextmanager
    def track(self, environ: Mapping[str, Any]) -> Iterator[threading.Event]:
        """An event that is set when this request must stop waiting."""
        stop = threading.Event()
        with self._lock:
            self._events.add(stop)
            if self._is_closed:
                stop.set()
        try:
            with on_disconnect(environ, stop.set):
                yield stop
        finally:
            with self._lock:
                self._events.remove(stop)

    def close(self) -> None:
        """End all waits, including later ones."""
        with self._lock:
            self._is_closed = True
            for stop in self._events:
                stop.set()

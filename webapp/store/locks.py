"""Locks of requests in progress: each expires after a few seconds, and is renewed while its request runs.

So a dead process blocks nobody, and a request may take as long as it needs.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from leaseq import Client, LeaseqError
from leaseq.webapp.store.base import Store

MARKED_SECONDS = 4
_RENEWAL_SECONDS = 1.0


class Locks(Store):
    """The locks of one process. The first lock starts the thread that renews them."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._marks: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, mark: str) -> None:
        with self._lock:
            self._marks.add(mark)
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="running", daemon=True)
                self._thread.start()

    def end(self, mark: str) -> None:
        with self._lock:
            self._marks.discard(mark)

    def _renew(self) -> None:
        pause = threading.Event()
        while not pause.wait(_RENEWAL_SECONDS):
            with self._lock:
                marks = tuple(self._marks)
            with (
                suppress(LeaseqError),
                self._client.translating(),
            ):  # the requests report that the server is unavailable
                for mark in marks:
                    self._redis.expire(mark, MARKED_SECONDS)

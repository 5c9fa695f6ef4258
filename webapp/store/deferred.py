"""Deferred writes: a thread writes the entries of requests in batches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

GATHERED_SECONDS = 0.1
"""How long entries are gathered before they are written, unless somebody waits for them."""

_T = TypeVar("_T")


class Deferred(Generic[_T]):
    """Entries for ``write``, which is called by one thread at a time. On an orderly exit of the process, all
    are written first. Exceptions of ``write`` are logged."""

    def __init__(self, write: Callable[[Sequence[_T]], None]) -> None:
        self._write = write
        self._lock = threading.Condition()
        self._entries: list[_T] = []
        self._batch: list[_T] = []
        self._added_count = self._written_count = 0  # entries, so far
        self._executor: ThreadPoolExecutor | None = None
        self._is_running = False
        self._is_awaited = threading.Event()

    def add(self, entry: _T) -> None:
        with self._lock:
            self._entries.append(entry)
            self._added_count += 1
            if not self._is_running:
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(1, "leaseq-deferred")
                self._executor.submit(self._write_all)
                self._is_running = True

    def pending(self) -> list[_T]:
        """The entries that are not written yet."""
        with self._lock:
            return [*self._batch, *self._entries]

    def flush(self) -> None:
        """Wait until all entries added before this call are written."""
        with self._lock:
            target = self._added_count
            if self._written_count < target:
                self._is_awaited.set()
                self._lock.wait_for(lambda: self._written_count >= target)

    def _write_all(self) -> None:
        while True:
            self._is_awaited.wait(GATHERED_SECONDS)
            with self._lock:
                self._is_awaited.clear()
                self._batch, self._entries = self._entries, []
            try:
                self._write(self._batch)
            except Exception:  # one failed batch must not stop the next
                log.exception("deferred entries could not be written: %s", self._batch)
            with self._lock:
                self._written_count += len(self._batch)
                self._batch = []
                self._lock.notify_all()
                if not self._entries:
                    self._is_running = False
                    return

"""Repeats calls while the server is unavailable."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from typing import TypeVar

from leaseq.errors import LeaseqError, ServerRefused, ServerUnavailable

T = TypeVar("T")

_log = logging.getLogger("leaseq.worker")
_RETRY = (0.1, 5.0)  # the first and the longest wait, in seconds
_REFUSALS = 8  # refusals by the server after which a call is not repeated


class Retry:
    """Repeats a call until the server is available. Logs once when the server becomes unavailable, and once
    when it is back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_unavailable = False

    def call(self, call: Callable[[], T], until: threading.Event) -> T:
        """Return the call's result. Raises ServerUnavailable once ``until`` is set, and ServerRefused then or
        after eight refusals."""
        wait, longest_wait = _RETRY
        refusals = 0
        while True:
            try:
                result = call()
            except (ServerUnavailable, ServerRefused) as error:
                self._log_change(error)
                refusals += isinstance(error, ServerRefused)
                if refusals == _REFUSALS or until.wait(wait * random.uniform(0.5, 1)):  # noqa: S311
                    raise
                wait = min(2 * wait, longest_wait)
            else:
                self._log_change(None)
                return result

    def _log_change(self, error: LeaseqError | None) -> None:
        with self._lock:
            has_changed, self._is_unavailable = self._is_unavailable != (error is not None), error is not None
        if has_changed and error is not None:
            _log.warning("%s; trying again", error)
        elif has_changed:
            _log.warning("the server is back")

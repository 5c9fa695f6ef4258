"""The outcome of an item that a handler had, with retries of calls."""

from __future__ import annotations

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from leaseq import validation
from leaseq.errors import (
    Invalid,
    ItemNotFound,
    LeaseLost,
    LeaseqError,
    QueueNotFound,
    ServerRefused,
    ServerUnavailable,
)
from leaseq.models import Json, Lease
from leaseq.queue import Queue
from leaseq.worker.handlers import NoHandler

T = TypeVar("T")

_log = logging.getLogger("leaseq.worker")
_RETRY = (0.1, 5.0)  # the first and the longest wait, in seconds
_REFUSALS = 8  # refusals by the server after which a call is not repeated


class Retry:
    """A repetition of calls until the server is available. Logs once when the server becomes unavailable, and
    once when it is back."""

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


_CALLER_MODULES = ("leaseq.worker.", "asyncio.", "concurrent.futures.")
LOST_ERRORS = (LeaseLost, ItemNotFound, QueueNotFound)
"""Raised by calls whose lease is lost, or whose item or queue was deleted."""


@dataclass(frozen=True, slots=True)
class WorkerStats:
    """The numbers of a worker's leases that ended in each way."""

    finished: int = 0
    failed: int = 0
    lost: int = 0  # results and failures not accepted: lease lost, item deleted, server unavailable
    given_back: int = 0


class OutcomeSender:
    """The sender of each lease's outcome to the server. Once ``over`` is set, no call is repeated."""

    def __init__(self, retry: Retry, stop_retrying: threading.Event) -> None:
        self._retry = retry
        self._stop_retrying = stop_retrying
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def stats(self) -> WorkerStats:
        with self._lock:
            return WorkerStats(**self._counts)

    def finish(self, queue: Queue, lease: Lease, result: Json, *, retry: bool) -> None:
        """Finish the item with its result. A result that doesn't fit the queue's form fails the item, which
        is tried again if ``retry`` is true."""
        with self._losses_counted(queue, lease):
            try:
                outcome = self._retry.call(lambda: queue.finish(lease, result), self._stop_retrying)
            except Invalid as misfit:
                _log.warning("%s: %s failed: %s", queue.name, lease.id, error_text(misfit))
                self._fail(queue, lease, error_text(misfit), retry)
                return
            self._count("finished")
            if outcome.late:
                _log.info("%s: %s was finished after its lease expired", queue.name, lease.id)

    def fail(self, queue: Queue, lease: Lease, exception: BaseException, *, retry: bool) -> None:
        """Fail the item with the exception that its function raised."""
        if isinstance(exception, NoHandler):
            _log.warning("%s: %s failed: %s", queue.name, lease.id, exception)
        else:
            exception.__traceback__ = _handler_traceback(exception.__traceback__)
            _log.warning("%s: %s failed", queue.name, lease.id, exc_info=exception)
        with self._losses_counted(queue, lease):
            self._fail(queue, lease, error_text(exception), retry)

    def count_cancelled(self, queue: Queue, lease: Lease) -> None:
        """Count a lost lease whose task was cancelled."""
        _log.warning("%s: %s: the lease was lost, so its task was cancelled", queue.name, lease.id)
        self._count("lost")

    def give_back(self, queue: Queue, lease: Lease) -> None:
        try:
            queue.abandon(lease, "the worker stopped")
        except LeaseqError as error:
            _log.warning(
                "%s: %s could not be given back; its lease will expire: %s", queue.name, lease.id, error
            )
        else:
            self._count("given_back")
            _log.info("%s: %s given back", queue.name, lease.id)

    def _fail(self, queue: Queue, lease: Lease, text: str, retry: bool) -> None:
        outcome = self._retry.call(lambda: queue.fail(lease, text, retry=retry), self._stop_retrying)
        self._count("failed")
        if outcome.retry_at is None:
            _log.warning("%s: %s is dead", queue.name, lease.id)

    @contextmanager
    def _losses_counted(self, queue: Queue, lease: Lease) -> Iterator[None]:
        try:
            yield
        except LOST_ERRORS as error:
            _log.warning("%s: %s: %s", queue.name, lease.id, error)
            self._count("lost")
        except (ServerUnavailable, ServerRefused) as error:
            _log.error("%s: %s: result not accepted; the item will return: %s", queue.name, lease.id, error)
            self._count("lost")

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1


def _handler_traceback(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the handler's frame on, without the frames of leaseq and asyncio that called it."""
    current = trace
    while current is not None and current.tb_frame.f_globals.get("__name__", "").startswith(_CALLER_MODULES):
        current = current.tb_next
    return current or trace


def error_text(error: BaseException) -> str:
    """The error as text for people: type and message, without a traceback, which may contain secrets."""
    if isinstance(error, Invalid) and error.errors:
        text = "; ".join(f"{path}: {message}" for path, message in error.errors.items())
        text = f"the result does not fit the form: {text}"
    elif isinstance(error, NoHandler):
        text = str(error)
    else:
        try:
            text = f"{type(error).__name__}: {error}".removesuffix(": ")
        except Exception:  # noqa: BLE001 - the str() of the handler's exception may itself raise
            text = type(error).__name__
    return text.encode(errors="replace").decode()[: validation.MAX_TEXT]

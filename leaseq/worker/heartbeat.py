"""The renewal of leases in the background while programs work on them."""

from __future__ import annotations

import heapq
import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from leaseq.errors import LeaseqError, ServerRefused, ServerUnavailable
from leaseq.models import Lease
from leaseq.queue import Queue
from leaseq.worker.outcomes import LOST_ERRORS

_log = logging.getLogger("leaseq.worker")
_SHARE = 1 / 3  # share of the remaining lease time until it is renewed: two renewals may fail
_JITTER = (0.8, 1.0)  # random factor, so that leases taken together are not renewed together
_LONGEST_RETRY = 5.0  # seconds, while the server is unavailable
_MIN_WAIT = 0.01  # seconds; an expired lease is tried without delay, but not in a tight loop

_Key = tuple[str, int]


@dataclass(slots=True)
class _RenewedLease:
    """A lease that the renewer extends."""

    queue: Queue
    lease: Lease
    since: float  # this machine's monotonic time at the server's time `lease.reserved_at`
    on_lost: Callable[[], object] | None  # called if the lease is lost, or the item or queue deleted

    def seconds_left(self) -> float:
        """Seconds until the lease expires, from the server's time at the grant and the time elapsed since."""
        now = self.lease.reserved_at + timedelta(seconds=time.monotonic() - self.since)
        return (self.lease.expires_at - now).total_seconds()


class Renewer:
    """A thread that renews each added lease until it is dropped or lost, or can't be renewed again."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._entries: dict[_Key, _RenewedLease] = {}
        self._due: list[tuple[float, _Key]] = []  # a heap; entries of dropped leases are skipped
        self._has_ended = False
        self._thread = threading.Thread(target=self._run, name="leaseq-renewing", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        with self._condition:
            self._has_ended = True
            self._condition.notify()
        self._thread.join()

    def add(self, queue: Queue, lease: Lease, on_lost: Callable[[], object] | None = None) -> None:
        """Renew this lease from now on. Call it right after the grant. ``on_lost`` is called in the renewer's
        thread if somebody else has the item, or the item or its queue was deleted."""
        entry = _RenewedLease(queue, lease, time.monotonic(), on_lost)
        self._plan(entry, lease.lease_seconds * _SHARE, new=True)

    def drop(self, lease: Lease) -> None:
        with self._condition:
            self._entries.pop((lease.queue, lease.token), None)

    def _plan(self, entry: _RenewedLease, seconds: float, *, new: bool = False) -> None:
        """Schedule a renewal in ``seconds``, unless the lease was dropped during the last one."""
        key = (entry.lease.queue, entry.lease.token)
        at = time.monotonic() + max(_MIN_WAIT, seconds * random.uniform(*_JITTER))  # noqa: S311
        with self._condition:
            if new or key in self._entries:
                self._entries[key] = entry
                heapq.heappush(self._due, (at, key))
                self._condition.notify()

    def _run(self) -> None:
        while (entry := self._next()) is not None:
            self._renew(entry)

    def _next(self) -> _RenewedLease | None:
        """Wait for the next lease that is due; None once the renewer has ended."""
        with self._condition:
            while not self._has_ended:
                wait = self._due[0][0] - time.monotonic() if self._due else None
                if wait is None or wait > 0:
                    self._condition.wait(wait)
                    continue
                entry = self._entries.get(heapq.heappop(self._due)[1])
                if entry is not None:
                    return entry
        return None

    def _renew(self, entry: _RenewedLease) -> None:
        lease = entry.lease
        try:
            renewed_lease = entry.queue.renew(lease)
        except (ServerUnavailable, ServerRefused):
            self._plan(entry, min(_LONGEST_RETRY, lease.lease_seconds / 10))
        except LeaseqError as error:  # lost, deleted, or already renewed as often as the policy allows
            with self._condition:
                removed_entry = self._entries.pop((lease.queue, lease.token), None)
            if removed_entry and isinstance(error, LOST_ERRORS):
                if removed_entry.on_lost is not None:
                    removed_entry.on_lost()
                _log.info("%s: %s is no longer renewed: %s", lease.queue, lease.id, error)
            elif removed_entry:
                _log.warning(
                    "%s: %s is no longer renewed, so it returns to the queue if its function is not done "
                    "by %s: %s",
                    lease.queue,
                    lease.id,
                    f"{lease.expires_at:%H:%M:%S} UTC",
                    error,
                )
        else:
            entry.lease = renewed_lease
            self._plan(entry, entry.seconds_left() * _SHARE)

"""One queue of a worker: how many of its items may be in work, and which grants of it are known already."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from leaseq.model import Json, Lease
from leaseq.queue import Queue

Handler = Callable[[Lease], Json]

_log = logging.getLogger("leaseq.worker")
_RULES = 5.0  # seconds between two looks at a queue's policy
_PAST = 1_000  # grants remembered after their end


class Source:
    """One queue of a worker. A slot enters before it asks for an item, and leaves when it has none or is
    done with it; no more are inside than the person may hold."""

    def __init__(self, queue: Queue, handle: Handler, person: str, concurrency: int) -> None:
        self.queue = queue
        self.handle = handle
        self._person = person
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._holds = 1
        self._inside = 0
        self._told = False
        self._left: frozenset[int] | None = None  # tokens held before the first item was asked for
        self._held: set[int] = set()  # tokens in work here
        self._past: deque[int] = deque(maxlen=_PAST)

    def enter(self) -> bool:
        """Whether one more item may be in work now; reads the policy anew from time to time."""
        with self._lock:
            if self._left is None:
                self._left = frozenset(lease.token for lease in self.queue.mine(self._person))
            if time.monotonic() - self._read_at > _RULES:
                self._holds = self.queue.policy.holds
                self._read_at = time.monotonic()
                self._tell()
            if self._inside >= self._holds:
                return False
            self._inside += 1
            return True

    def leave(self, lease: Lease | None = None) -> None:
        with self._lock:
            self._inside -= 1
            if lease is not None:  # it is remembered: a reply that still has it may be under way
                self._held.discard(lease.token)
                self._past.append(lease.token)

    def was_left(self, lease: Lease) -> bool:
        """Whether the person held it before this worker began: one that was killed left it."""
        return self._left is not None and lease.token in self._left

    def is_new(self, lease: Lease) -> bool:
        """Whether this grant is seen for the first time: full hands get one back that they hold."""
        with self._lock:
            if lease.token in self._held or lease.token in self._past:
                self._read_at = float("-inf")  # fewer may be held than when last looked
                return False
            self._held.add(lease.token)
            return True

    def _tell(self) -> None:
        if self._concurrency > self._holds and not self._told:
            self._told = True
            _log.warning(
                "%s: concurrency is %d, but one person may hold %d of its items at once (holds); "
                "no more than that are in work",
                self.queue.name,
                self._concurrency,
                self._holds,
            )

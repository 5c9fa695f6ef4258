"""One queue of a worker: its concurrency limit, and the leases that the worker already has."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence

from leaseq.errors import QueueNotFound, ServerRefused, ServerUnavailable
from leaseq.models import Lease
from leaseq.policy import Policy
from leaseq.queue import Queue
from leaseq.worker.handlers import QueueHandlers

_log = logging.getLogger("leaseq.worker")
_POLICY_SECONDS = 5.0  # seconds between two reads of a queue's policy
_MAX_PAST_TOKENS = 1_000  # tokens remembered after their lease ended


class Source:
    """One queue of a worker. A thread enters before it reserves, and leaves if it gets no item or when it is
    done with the item; at most as many threads are inside as the person may hold items."""

    def __init__(self, queue: Queue, handlers: QueueHandlers, person: str, concurrency: int) -> None:
        self.queue = queue
        self.handlers = handlers
        self.person = person
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._holds = 1
        self._slot_count = 0
        self._room_events: set[threading.Event] = set()  # of threads that found no room; set when one leaves
        self._has_warned = False
        self._is_missing = False  # whether the queue did not exist when its policy was last read
        self._is_unsure = True  # whether the person may hold leases that no thread here has
        self._left_tokens: frozenset[int] | None = None  # tokens held before the first reserve
        self._held_tokens: set[int] = set()  # tokens being worked on here
        self._past_tokens: deque[int] = deque(maxlen=_MAX_PAST_TOKENS)

    def enter(self, room: threading.Event | None = None) -> bool:
        """Enter, and return True, if one more item may be worked on now; if not, ``room`` is set when a
        thread leaves. Rereads the policy from time to time."""
        with self._lock:
            # equivalent mutant: compare: the clock hardly ever shows exactly the limit
            if time.monotonic() - self._read_at > _POLICY_SECONDS:
                policy = self.queue.find_policy()
                self._log_missing(is_missing=policy is None)
                self._holds = (policy or Policy()).holds
                self._read_at = time.monotonic()
                if policy is not None:
                    self._warn()
            if self._slot_count >= self._holds:
                if room is not None:
                    self._room_events.add(room)
                return False
            self._slot_count += 1
            return True

    def reserve(self, skills: Sequence[str], wait: float, stop: threading.Event) -> tuple[Lease | None, bool]:
        """Return a lease, and whether it is new to the worker: a person who holds as many items as allowed
        gets one of those leases again.

        Leases left by a crash, or by a reserve whose reply was lost, come first.
        """
        if self._is_unsure and (lease := self._find_unknown()) is not None:
            return lease, True
        try:
            lease = self.queue.reserve(self.person, skills=skills, wait=wait, stop=stop)
        except (ServerUnavailable, ServerRefused):
            self.doubt()
            raise
        except QueueNotFound:  # it has been deleted, and may be created again
            lease = None
        return lease, lease is not None and self.is_new(lease)

    def doubt(self) -> None:
        """Note that the reply of a reserve was lost: the person may hold an item that no thread has."""
        self._is_unsure = True

    def _find_unknown(self) -> Lease | None:
        with self._lock:
            leases = self._held_leases()
            if self._left_tokens is None:
                self._left_tokens = frozenset(lease.token for lease in leases)
            for lease in leases:
                if self._is_unknown(lease):
                    self._held_tokens.add(lease.token)
                    return lease
            self._is_unsure = False
            return None

    def _held_leases(self) -> list[Lease]:
        try:
            return self.queue.mine(self.person)
        except QueueNotFound:  # a worker may start before its queue is created
            return []

    def is_new(self, lease: Lease) -> bool:
        """Whether a granted lease is not already being worked on here."""
        with self._lock:
            if self._is_unknown(lease):
                self._held_tokens.add(lease.token)
                return True
            self._read_at = float("-inf")  # the policy may allow fewer than when it was last read
            return False

    def _is_unknown(self, lease: Lease) -> bool:
        return lease.token not in self._held_tokens and lease.token not in self._past_tokens

    def leave(self, lease: Lease | None = None) -> None:
        with self._lock:
            self._slot_count -= 1
            for room in self._room_events:
                room.set()
            self._room_events.clear()
            if lease is not None:  # remembered, since a reply that contains it may still arrive
                self._held_tokens.discard(lease.token)
                self._past_tokens.append(lease.token)

    def is_leftover(self, lease: Lease) -> bool:
        """Whether the person already held it when this worker started, because an earlier one was killed."""
        return self._left_tokens is not None and lease.token in self._left_tokens

    def _log_missing(self, *, is_missing: bool) -> None:
        if is_missing and not self._is_missing:
            _log.warning(
                "%s: there is no queue of this name: the worker waits until it is created", self.queue.name
            )
        elif self._is_missing and not is_missing:
            _log.info("%s: the queue has been created", self.queue.name)
        self._is_missing = is_missing

    def _warn(self) -> None:
        if self._concurrency > self._holds and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: concurrency is %d, but one person may hold %d of its items at once (holds); "
                "the worker works on no more than that",
                self.queue.name,
                self._concurrency,
                self._holds,
            )

"""One queue of a worker: its concurrency limit, and the grants that the worker already has."""

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
_MAX_PAST_TOKENS = 1_000  # grants remembered after their end


class Source:
    """One queue of a worker. A slot enters before it reserves, and leaves when it has no item or is done
    with it; no more slots are inside than the person may hold items."""

    def __init__(self, queue: Queue, handlers: QueueHandlers, person: str, concurrency: int) -> None:
        self.queue = queue
        self.handlers = handlers
        self.person = person
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._holds = 1
        self._slot_count = 0
        self._room_events: set[threading.Event] = set()  # of slots that found no room here, set when there is
        self._has_warned = False
        self._is_missing = False  # whether there was no queue of this name when its policy was read
        self._is_unsure = True  # whether the person may hold what no thread here knows of
        self._left_tokens: frozenset[int] | None = None  # tokens held before the first item was asked for
        self._held_tokens: set[int] = set()  # tokens in work here
        self._past_tokens: deque[int] = deque(maxlen=_MAX_PAST_TOKENS)

    def enter(self, room: threading.Event | None = None) -> bool:
        """Whether one more item may be in work now; rereads the policy from time to time. Where not, ``room``
        is set once one is done."""
        with self._lock:
            # equivalent mutant: compare: a minute or so is over, to the clock's last digit or not
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
        """A lease, and whether this grant is new to the worker: a person who holds as many as allowed gets
        one of those again.

        First the leases that a crash left, or a reserve whose reply was lost.
        """
        if self._is_unsure and (lease := self._find_unknown()) is not None:
            return lease, True
        try:
            lease = self.queue.reserve(self.person, skills=skills, wait=wait, stop=stop)
        except (ServerUnavailable, ServerRefused):
            self.doubt()
            raise
        except QueueNotFound:  # it was deleted meanwhile, and may be made again
            lease = None
        return lease, lease is not None and self.is_new(lease)

    def doubt(self) -> None:
        """The reply of a reserve was lost: the person may hold an item by it."""
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
        except QueueNotFound:  # a worker may be there before its queue
            return []

    def is_new(self, lease: Lease) -> bool:
        """Whether a granted lease is not in work here already."""
        with self._lock:
            if self._is_unknown(lease):
                self._held_tokens.add(lease.token)
                return True
            self._read_at = float("-inf")  # fewer may be held than when last looked
            return False

    def _is_unknown(self, lease: Lease) -> bool:
        return lease.token not in self._held_tokens and lease.token not in self._past_tokens

    def leave(self, lease: Lease | None = None) -> None:
        with self._lock:
            self._slot_count -= 1
            for room in self._room_events:
                room.set()
            self._room_events.clear()
            if lease is not None:  # it is remembered: a reply that still has it may be under way
                self._held_tokens.discard(lease.token)
                self._past_tokens.append(lease.token)

    def is_leftover(self, lease: Lease) -> bool:
        """Whether the person held it before this worker began, because an earlier one was killed."""
        return self._left_tokens is not None and lease.token in self._left_tokens

    def _log_missing(self, *, is_missing: bool) -> None:
        if is_missing and not self._is_missing:
            _log.warning(
                "%s: there is no queue of this name: the worker waits until it is created", self.queue.name
            )
        elif self._is_missing and not is_missing:
            _log.info("%s: the queue is created", self.queue.name)
        self._is_missing = is_missing

    def _warn(self) -> None:
        if self._concurrency > self._holds and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: concurrency is %d, but one person may hold %d of its items at once (holds); "
                "no more than that are in work",
                self.queue.name,
                self._concurrency,
                self._holds,
            )

"""The queues from which a worker takes items."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import partial

from leaseq.errors import QueueNotFound, ServerRefused, ServerUnavailable
from leaseq.models import Lease
from leaseq.policy import Policy
from leaseq.queue import Queue
from leaseq.queue.reserve_first import reserve_first
from leaseq.worker.handlers import QueueHandlers
from leaseq.worker.outcomes import Retry

_log = logging.getLogger("leaseq.worker")
_POLICY_SECONDS = 5.0  # seconds between two reads of a queue's policy
_MAX_PAST_TOKENS = 1_000  # tokens remembered after their lease ended


class Source:
    """One queue of a worker. A thread acquires a slot before it reserves, and releases it if it gets no
    item or when it is done with the item; there are as many slots as the person may hold items."""

    def __init__(self, queue: Queue, handlers: QueueHandlers, person: str, concurrency: int) -> None:
        self.queue = queue
        self.handlers = handlers
        self.person = person
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._policy_read_at = float("-inf")
        self._holds = 1
        self._slot_count = 0
        self._free_slot_events: set[threading.Event] = (
            set()
        )  # of threads that found no slot; set when one is released
        self._has_warned = False
        self._is_missing = False  # whether the queue did not exist when its policy was last read
        self._may_have_unknown_leases = True  # whether the person may hold leases that no thread here has
        self._leftover_tokens: frozenset[int] | None = None  # tokens held before the first reserve
        self._held_tokens: set[int] = set()  # tokens being worked on here
        self._past_tokens: deque[int] = deque(maxlen=_MAX_PAST_TOKENS)

    def acquire_slot(self, free_event: threading.Event | None = None) -> bool:
        """Acquire a slot, and return True, if one more item may be worked on now; if not, ``free_event`` is
        set when a slot is released. Rereads the policy from time to time."""
        with self._lock:
            if time.monotonic() - self._policy_read_at > _POLICY_SECONDS:
                policy = self.queue.find_policy()
                self._log_missing(is_missing=policy is None)
                self._holds = (policy or Policy()).holds
                self._policy_read_at = time.monotonic()
                if policy is not None:
                    self._warn_of_concurrency()
            if self._slot_count >= self._holds:
                if free_event is not None:
                    self._free_slot_events.add(free_event)
                return False
            self._slot_count += 1
            return True

    def reserve(
        self, skills: Collection[str], wait: float, stop: threading.Event
    ) -> tuple[Lease | None, bool]:
        """Return a lease, and whether it is new to the worker: a person who holds as many items as allowed
        gets one of those leases again.

        Leases left by a crash, or by a reserve whose reply was lost, come first.
        """
        if self._may_have_unknown_leases and (lease := self._find_unknown()) is not None:
            return lease, True
        try:
            lease = self.queue.reserve(self.person, skills=skills, wait=wait, stop=stop)
        except (ServerUnavailable, ServerRefused):
            self.note_lost_reply()
            raise
        except QueueNotFound:  # it has been deleted, and may be created again
            lease = None
        return lease, lease is not None and self.add_if_new(lease)

    def note_lost_reply(self) -> None:
        """Note that the reply of a reserve was lost: the person may hold an item that no thread has."""
        self._may_have_unknown_leases = True

    def _find_unknown(self) -> Lease | None:
        with self._lock:
            leases = self._held_leases()
            if self._leftover_tokens is None:
                self._leftover_tokens = frozenset(lease.token for lease in leases)
            for lease in leases:
                if self._is_unknown(lease):
                    self._held_tokens.add(lease.token)
                    return lease
            self._may_have_unknown_leases = False
            return None

    def _held_leases(self) -> list[Lease]:
        try:
            return self.queue.mine(self.person)
        except QueueNotFound:  # a worker may start before its queue is created
            return []

    def add_if_new(self, lease: Lease) -> bool:
        """Note a granted lease as being worked on here. Returns False if it already is."""
        with self._lock:
            if self._is_unknown(lease):
                self._held_tokens.add(lease.token)
                return True
            self._policy_read_at = float("-inf")  # the policy may allow fewer than when it was last read
            return False

    def _is_unknown(self, lease: Lease) -> bool:
        return lease.token not in self._held_tokens and lease.token not in self._past_tokens

    def release_slot(self, lease: Lease | None = None) -> None:
        with self._lock:
            self._slot_count -= 1
            for free_event in self._free_slot_events:
                free_event.set()
            self._free_slot_events.clear()
            if lease is not None:  # remembered, since a reply that contains it may still arrive
                self._held_tokens.discard(lease.token)
                self._past_tokens.append(lease.token)

    def is_leftover(self, lease: Lease) -> bool:
        """Whether the person already held it when this worker started, because an earlier one was killed."""
        return self._leftover_tokens is not None and lease.token in self._leftover_tokens

    def _log_missing(self, *, is_missing: bool) -> None:
        if is_missing and not self._is_missing:
            _log.warning(
                "%s: there is no queue of this name: the worker waits until it is created", self.queue.name
            )
        elif self._is_missing and not is_missing:
            _log.info("%s: the queue has been created", self.queue.name)
        self._is_missing = is_missing

    def _warn_of_concurrency(self) -> None:
        if self._concurrency > self._holds and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: concurrency is %d, but one person may hold %d of its items at once (holds); "
                "the worker works on no more than that",
                self.queue.name,
                self._concurrency,
                self._holds,
            )


_WAIT = 2.0  # seconds to wait for an item


class Reserver:
    """Reserves the items of one thread: from the first queue in its order that has one. With
    ``round_robin``, that queue then moves to the end of the order."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        round_robin: bool,
        skills: Collection[str],
        retry: Retry,
        stop: threading.Event,
        give_back: Callable[[Source, Lease], object],
    ) -> None:
        self._order = list(sources)
        self._round_robin = round_robin
        self._skills = skills
        self._retry = retry
        self._stop = stop
        self._give_back = give_back
        # Ends a wait for several queues: another queue has a free slot, or the worker is to stop.
        self._wake_event = threading.Event()

    def stop(self) -> None:
        """End a wait immediately. The worker's ``stop`` is already set."""
        self._wake_event.set()

    def take(self) -> tuple[Source, Lease] | None:
        """Return a new lease, from the first queue that has one; if none has, wait for one from any queue."""
        grant = self._take()
        if grant is not None and self._round_robin:
            self._order.remove(grant[0])
            self._order.append(grant[0])
        return grant

    def _take(self) -> tuple[Source, Lease] | None:
        has_several, has_waited = len(self._order) > 1, False
        for source in self._order:
            if self._stop.is_set():
                return None
            lease, was_empty = self._reserve_from(source, 0 if has_several else _WAIT)
            if lease is not None:
                return source, lease
            has_waited = has_waited or was_empty
        if not has_waited:  # no queue can give this thread an item now
            self._stop.wait(random.uniform(0.1, 0.5))  # noqa: S311 - threads don't all retry together
        return self._wait_for_any() if has_several and has_waited else None

    def _wait_for_any(self) -> tuple[Source, Lease] | None:
        """Wait for an item in the queues that have room for this thread, until another one has room too."""
        self._wake_event.clear()
        if self._stop.is_set():
            return None
        sources: list[Source] = []
        grant: tuple[Source, Lease] | None = None
        try:
            retry_call = self._retry.call
            sources.extend(
                source
                for source in self._order
                if retry_call(partial(source.acquire_slot, self._wake_event), self._stop)
            )
            lease = self._retry.call(partial(self._reserve_first, sources), self._stop) if sources else None
            for source in sources:
                if lease is not None and source.queue.name == lease.queue and source.add_if_new(lease):
                    grant = source, lease
        except (ServerUnavailable, ServerRefused):
            pass  # the log has it
        finally:
            for source in sources:
                if grant is None or source is not grant[0]:
                    source.release_slot()
        return self._give_back_if_stopped(*grant) if grant is not None else None

    def _reserve_first(self, sources: Sequence[Source]) -> Lease | None:
        try:
            queues = [source.queue for source in sources]
            return reserve_first(queues, sources[0].person, self._skills, _WAIT, self._wake_event)
        except (ServerUnavailable, ServerRefused):
            for source in sources:
                source.note_lost_reply()
            raise

    def _give_back_if_stopped(self, source: Source, lease: Lease) -> tuple[Source, Lease] | None:
        if not self._stop.is_set():
            return source, lease
        self._give_back(source, lease)
        return None

    def _reserve_from(self, source: Source, wait: float) -> tuple[Lease | None, bool]:
        """Return a lease to work on, and whether a reserve returned nothing."""
        lease: Lease | None = None
        has_slot = is_new = False
        try:
            has_slot = self._retry.call(source.acquire_slot, self._stop)
            if has_slot:
                reserve = partial(source.reserve, self._skills, wait, self._stop)
                lease, is_new = self._retry.call(reserve, self._stop)
        except (ServerUnavailable, ServerRefused):
            pass  # the log has it
        finally:
            if has_slot and not is_new:
                source.release_slot()
        if lease is None or not is_new:
            return None, has_slot and lease is None
        return (lease if self._give_back_if_stopped(source, lease) else None), True

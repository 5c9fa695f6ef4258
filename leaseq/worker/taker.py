"""Takes the next item for a worker's thread, from one of the worker's queues."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial

from leaseq.errors import ServerRefused, ServerUnavailable
from leaseq.models import Lease
from leaseq.queue.reserve_first import reserve_first
from leaseq.worker.retry import Retry
from leaseq.worker.source import Source

_WAIT = 2.0  # seconds to wait for an item


class Taker:
    """Takes items for one thread, from the first queue in its order that has one. With ``round_robin``, that
    queue then moves to the end of the order."""

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

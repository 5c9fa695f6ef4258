"""Takes the next item for a worker's thread, from one of the worker's queues."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from functools import partial

from leaseq.errors import ServerRefused, ServerUnavailable
from leaseq.models import Lease
from leaseq.queue.first import reserve_first
from leaseq.worker.retry import Retry
from leaseq.worker.source import Source

_WAIT = 2.0  # seconds to wait for an item


class Taker:
    """Takes items for one thread, from the first queue in its order that has one. With ``turns``, that queue
    then moves to the end of the order."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        turns: bool,
        skills: Sequence[str],
        retry: Retry,
        stop: threading.Event,
        give_back: Callable[[Source, Lease], object],
    ) -> None:
        self._order = list(sources)
        self._turns = turns
        self._skills = skills
        self._retry = retry
        self._stop = stop
        self._give_back = give_back
        # Ends a wait for several queues: another queue has room, or the worker is to stop.
        self._room = threading.Event()

    def stop(self) -> None:
        """End a wait immediately. The worker's ``stop`` is already set."""
        self._room.set()

    def take(self) -> tuple[Source, Lease] | None:
        """Return a new lease, from the first queue that has one; if none has, wait for one from any queue."""
        grant = self._take()
        if grant is not None and self._turns:
            self._order.remove(grant[0])
            self._order.append(grant[0])
        return grant

    def _take(self) -> tuple[Source, Lease] | None:
        has_several, has_waited = len(self._order) > 1, False
        for source in self._order:
            if self._stop.is_set():
                return None
            lease, was_empty = self._ask(source, 0 if has_several else _WAIT)
            if lease is not None:
                return source, lease
            has_waited = has_waited or was_empty
        if not has_waited:  # no queue can give this thread an item now
            self._stop.wait(random.uniform(0.1, 0.5))  # noqa: S311 - threads don't all retry together
        return self._wait_for_any() if has_several and has_waited else None

    def _wait_for_any(self) -> tuple[Source, Lease] | None:
        """Wait for an item in the queues that have room for this thread, until another one has room too."""
        self._room.clear()
        if self._stop.is_set():
            return None
        sources: list[Source] = []
        grant: tuple[Source, Lease] | None = None
        try:
            enter = self._retry.call
            sources.extend(
                source for source in self._order if enter(partial(source.enter, self._room), self._stop)
            )
            lease = self._retry.call(partial(self._reserve_first, sources), self._stop) if sources else None
            for source in sources:
                if lease is not None and source.queue.name == lease.queue and source.is_new(lease):
                    grant = source, lease
        except (ServerUnavailable, ServerRefused):
            pass  # the log has it
        finally:
            for source in sources:
                if grant is None or source is not grant[0]:
                    source.leave()
        return self._unless_stopped(*grant) if grant is not None else None

    def _reserve_first(self, sources: Sequence[Source]) -> Lease | None:
        try:
            queues = [source.queue for source in sources]
            return reserve_first(queues, sources[0].person, self._skills, _WAIT, self._room)
        except (ServerUnavailable, ServerRefused):
            for source in sources:
                source.doubt()
            raise

    def _unless_stopped(self, source: Source, lease: Lease) -> tuple[Source, Lease] | None:
        if not self._stop.is_set():
            return source, lease
        self._give_back(source, lease)
        return None

    def _ask(self, source: Source, wait: float) -> tuple[Lease | None, bool]:
        """Return a lease to work on, and whether a reserve returned nothing."""
        lease: Lease | None = None
        is_inside = is_new = False
        try:
            is_inside = self._retry.call(source.enter, self._stop)
            if is_inside:
                reserve = partial(source.reserve, self._skills, wait, self._stop)
                lease, is_new = self._retry.call(reserve, self._stop)
        except (ServerUnavailable, ServerRefused):
            pass  # the log has it
        finally:
            if is_inside and not is_new:
                source.leave()
        if lease is None or not is_new:
            return None, is_inside and lease is None
        return (lease if self._unless_stopped(source, lease) else None), True

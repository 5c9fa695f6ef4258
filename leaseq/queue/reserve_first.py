"""The wait for the first item of several queues, on the waiting lists of all of them at the same time."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from leaseq import validation
from leaseq.engine import arguments
from leaseq.engine.notifications import Attempt, Listener, NoItemYet, Waiter, wait_for
from leaseq.errors import LeaseqError
from leaseq.models import Lease
from leaseq.queue import Queue


class _Place:
    """A place on one queue's waiting list, for a call that waits in several."""

    def __init__(self, queue: Queue, person: str, skills: str, request: str) -> None:
        self.queue = queue
        self.waiter: Waiter | None = None
        self._call = person, request, skills
        self._last_token = 0

    @property
    def listener(self) -> Listener:
        return self.queue._connection.listener  # noqa: SLF001 - of this package

    def join(self, stop: threading.Event, wake_event: threading.Event) -> Waiter:
        channel = self.queue._keys.wake  # noqa: SLF001 - of this package
        self.waiter = self.listener.join(channel, stop, wake_event)
        return self.waiter

    def attempt(self, name: str, woken: bool) -> Lease | NoItemYet:
        outcome = self.queue._reserve(*self._call, name, woken)  # noqa: SLF001 - of this package
        if isinstance(outcome, NoItemYet):
            self._last_token = max(self._last_token, outcome.last_token)
        return outcome

    def leave(self, *, interrupted: bool) -> None:
        """Leave the waiting list, and give back an item that was granted in the meantime."""
        if self.waiter is not None:
            person, request, _ = self._call
            end_wait = self.queue._end_wait  # noqa: SLF001 - of this package
            end_wait(self.waiter.name, person, request, self._last_token, interrupted=interrupted)

    def end(self) -> None:
        if self.waiter is not None:
            self.listener.leave(self.waiter)
        if self.listener.closed:
            self.queue._connection.drop_idle_connections()  # noqa: SLF001 - the one that end_wait used


def reserve_first(
    queues: Sequence[Queue], person: str, skills: Collection[str], wait: float, stop: threading.Event
) -> Lease | None:
    """Reserve an item from the first of the queues that has one for this person; wait up to ``wait`` seconds
    for one, on the waiting lists of all queues at the same time. All queues must have the same client.

    As after `Queue.reserve`, the caller has then left every waiting list, and holds nothing from this call
    except the lease."""
    person, skills_text = validation.person_name(person), ",".join(validation.skills(skills))
    request = arguments.request_id()
    places, wake_event = [_Place(queue, person, skills_text, request) for queue in queues], threading.Event()
    attempts: list[Attempt[Lease]] = [place.attempt for place in places]
    listener = places[0].listener
    lease: Lease | None = None
    try:
        waiters = [place.join(stop, wake_event) for place in places]
        lease = wait_for(listener, waiters, wait, attempts)
        if listener.has_ended(stop):
            lease = None
    except BaseException as error:
        for place in places:
            place.leave(interrupted=not isinstance(error, LeaseqError))
        raise
    else:
        for place in places:
            if lease is None or place.queue.name != lease.queue:
                place.leave(interrupted=False)
        return lease
    finally:
        for place in places:
            place.end()

"""The queue's method `reserve`, and the wait for an item."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.notifications import NoItemYet, Waiter, wait_for
from leaseq.errors import Invalid, LeaseqError, QueueNotFound
from leaseq.models import Lease
from leaseq.queue.base import Base

MAX_WAIT = 3_600  # seconds


class Reserving(Base):
    def reserve(
        self,
        person: str,
        *,
        skills: Collection[str] = (),
        wait: float = 0,
        stop: threading.Event | None = None,
        request_id: str | None = None,
    ) -> Lease | None:
        """Reserve an item that nobody else has, or return None if there is none now (see ``why_nothing``).

        ``wait``: wait up to this many seconds for one, in line with all other waiting calls. Setting ``stop``
        ends the wait immediately, as do closing the client and an exception: the caller has then left the
        line, and holds nothing from this call. Raises QueueNotFound if the queue is deleted during the wait.

        A person who holds as many items as allowed gets one of those again. ``request_id`` identifies this
        call: repeating it returns the same lease, if the person has reserved nothing else since.
        """
        person, skills_text = validation.person_name(person), ",".join(validation.skills(skills))
        request = arguments.request(request_id)
        if stop is not None and not isinstance(stop, threading.Event):
            raise Invalid("stop", "a threading.Event, or None")
        if wait != 0:
            self._connection.check_open()
            return self._reserve_waiting(
                person, request, skills_text, validation.number(wait, "wait", 0, MAX_WAIT), stop
            )
        try:
            outcome = self._reserve(person, request, skills_text)
        except LeaseqError:
            raise
        except BaseException:  # Ctrl-C
            self._leave_line("", person, request, 0, interrupted=True)
            raise
        return outcome if isinstance(outcome, Lease) else None

    def _reserve_waiting(
        self, person: str, request: str, skills: str, seconds: float, stop: threading.Event | None
    ) -> Lease | None:
        """Wait for an item. However this ends, either the caller has the lease or the queue has the item."""
        listener, last_token, queue_existed = self._connection.listener, 0, False
        waiter: Waiter | None = None

        def attempt(name: str | None = None, woken: bool = False) -> Lease | NoItemYet:
            nonlocal last_token, queue_existed
            outcome = self._reserve(person, request, skills, name, woken)
            if isinstance(outcome, NoItemYet):
                last_token = max(last_token, outcome.last_token)
                queue_existed = self._check_queue_exists(queue_existed, outcome)
            return outcome

        def leave_line(interrupted: bool) -> None:
            name = waiter.name if waiter is not None else ""
            self._leave_line(name, person, request, last_token, interrupted=interrupted)

        if listener.has_ended(stop):
            return None
        try:
            outcome: Lease | NoItemYet | None = attempt()
            if not isinstance(outcome, Lease):
                waiter = listener.join(self._keys.wake, stop)
                outcome = wait_for(listener, [waiter], seconds, [attempt])
            if outcome is None or listener.has_ended(stop):
                leave_line(interrupted=False)
                return None
            return outcome
        except BaseException as error:
            leave_line(interrupted=not isinstance(error, LeaseqError))
            raise
        finally:
            if waiter is not None:
                listener.leave(waiter)
            if listener.closed:
                self._connection.drop_idle_links()  # the one that _leave_line used

    def _check_queue_exists(self, queue_existed: bool, outcome: NoItemYet) -> bool:
        if queue_existed and not outcome.queue_exists:
            raise QueueNotFound(self.name, deleted=True)
        return outcome.queue_exists

    def _leave_line(
        self, waiter: str, person: str, request: str, last_token: int, *, interrupted: bool
    ) -> None:
        """Leave the line, and give back an item that was granted in the meantime. The server may not have
        read an ``interrupted`` call yet, but it has once it has answered another call: so this leaves
        twice."""
        with suppress(LeaseqError):
            for _ in range(2 if interrupted else 1):
                self._commands.leave_line(waiter, person, request, last_token)

    def _reserve(
        self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
    ) -> Lease | NoItemYet:
        reply = self._commands.reserve(person, request, skills, waiter, woken)
        while reply.code == replies.MORE:
            reply = self._commands.reserve(person, request, skills, waiter, woken)
        if reply.code == replies.LEASED:
            return codec.lease(self.name, reply.rest)
        microseconds, last_token = reply.rest or (b"", 0)  # empty if there is no queue
        return NoItemYet(int(microseconds or MAX_WAIT * 1_000_000) / 1e6, int(last_token), bool(reply.rest))

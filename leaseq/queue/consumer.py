"""A worker's methods of a queue: reserve, renew, finish, give back."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, Unpack, overload

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.arguments import LeaseParts
from leaseq.engine.notifications import NoItemYet, Waiter, wait_for
from leaseq.errors import Invalid, LeaseqError, QueueNotFound
from leaseq.models import Abandoned, Failed, Finished, Json, Lease, WhyNothing
from leaseq.queue.base import Base

MAX_WAIT = 3_600  # seconds
_MOVES = 40  # items moved by one call of clear: about a millisecond of the server's time


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

        ``wait``: wait up to this many seconds for one, on the waiting list of the queue. Setting ``stop``
        ends the wait immediately, as do closing the client and an exception: the caller has then left the
        waiting list, and holds nothing from this call. Raises QueueNotFound if the queue is deleted during
        the wait.

        A person who holds as many items as allowed gets one of those again. ``request_id`` identifies this
        call: repeating it returns the same lease, if the person has reserved nothing else since.
        """
        person, skills_text = validation.person_name(person), ",".join(validation.skills(skills))
        request = arguments.request(request_id)
        if stop is not None and not isinstance(stop, threading.Event):
            raise Invalid("stop", "type", what="event", type="threading.Event", kind=type(stop).__name__)
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
            self._end_wait("", person, request, 0, interrupted=True)
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

        def end_wait(interrupted: bool) -> None:
            name = waiter.name if waiter is not None else ""
            self._end_wait(name, person, request, last_token, interrupted=interrupted)

        if listener.has_ended(stop):
            return None
        try:
            outcome: Lease | NoItemYet | None = attempt()
            if not isinstance(outcome, Lease):
                waiter = listener.join(self._keys.wake, stop)
                outcome = wait_for(listener, [waiter], seconds, [attempt])
            if outcome is None or listener.has_ended(stop):
                end_wait(interrupted=False)
                return None
            return outcome
        except BaseException as error:
            end_wait(interrupted=not isinstance(error, LeaseqError))
            raise
        finally:
            if waiter is not None:
                listener.leave(waiter)
            if listener.closed:
                self._connection.drop_idle_connections()  # the one that _end_wait used

    def _check_queue_exists(self, queue_existed: bool, outcome: NoItemYet) -> bool:
        if queue_existed and not outcome.queue_exists:
            raise QueueNotFound(self.name, deleted=True)
        return outcome.queue_exists

    def _end_wait(
        self, waiter: str, person: str, request: str, last_token: int, *, interrupted: bool
    ) -> None:
        """Leave the waiting list, and give back an item that was granted in the meantime. The server may not
        have read an ``interrupted`` call yet, but it has once it has answered another call: so this leaves
        twice."""
        with suppress(LeaseqError):
            for _ in range(2 if interrupted else 1):
                self._commands.run("end_wait", waiter, person, request, last_token)

    def _reserve(
        self, person: str, request: str, skills: str, waiter: str | None = None, woken: bool = False
    ) -> Lease | NoItemYet:
        words: tuple[str | int, ...] = (person, request, skills) if skills else (person, request)
        if waiter is not None:
            words = (person, request, skills, waiter, int(woken))
        while (reply := self._commands.run("reserve", *words)).code in (replies.MORE, replies.CLEAR):
            if reply.code == replies.CLEAR:
                self._commands.run("clear", _MOVES)
        if reply.code == replies.LEASED:
            return self._lease(reply.rest)
        microseconds, last_token = reply.rest or (b"", 0)  # empty if there is no queue
        return NoItemYet(int(microseconds or MAX_WAIT * 1_000_000) / 1e6, int(last_token), bool(reply.rest))


UNDO_SECONDS = 15
"""How long a finish, an abandon or a fail can be undone. Pages offer it for ten seconds; the rest is for the
request to arrive."""


def _reserve_words(then_reserve: bool, skills: Collection[str], request_id: str | None) -> tuple[str, ...]:
    """The arguments of a script for the reserve that follows: the request id, and the skills if there are
    any."""
    checked_skills = validation.skills(skills)
    if not then_reserve:
        return ()
    request = arguments.request(request_id)
    return (request, ",".join(checked_skills)) if checked_skills else (request,)


class Consumer(Reserving):
    """Methods on a lease accept the Lease, or its ``id=``, ``token=`` and ``person=``: see
    `arguments.lease_key`."""

    @overload
    def renew(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...
    @overload
    def renew(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...
    def renew(self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object) -> Lease:
        """Extend a lease to the full lease time from now; never shortens one.

        Also possible after the lease expired, if nobody else was granted the item. Raises LeaseLost, or
        Invalid if the policy allows no more renewals, or if the lease expired and the person holds as many
        items as allowed.
        """
        key = arguments.lease_key(self.name, lease, parts)
        return self._lease(self._commands.run("renew", *key, arguments.request(request_id)).rest)

    @overload
    def save_draft(self, lease: Lease, draft: Json) -> None: ...
    @overload
    def save_draft(self, *, draft: Json, **parts: Unpack[LeaseParts]) -> None: ...
    def save_draft(self, lease: Lease | None = None, draft: Json = ..., **parts: object) -> None:
        """Save a draft of the answer. The person gets it again with the item; a finish deletes it."""
        key = arguments.lease_key(self.name, lease, parts)
        self._commands.run("save_draft", *key, validation.dump_json(draft, "draft"))

    @overload
    def finish(
        self,
        lease: Lease,
        result: Json,
        *,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        expected_form: Json = ...,
        request_id: str | None = None,
    ) -> Finished: ...
    @overload
    def finish(
        self,
        *,
        result: Json,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        expected_form: Json = ...,
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Finished: ...
    def finish(
        self,
        lease: Lease | None = None,
        result: Json = ...,
        *,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        expected_form: Json = ...,
        request_id: str | None = None,
        **parts: object,
    ) -> Finished:
        """Finish the item with its result; with ``then_reserve``, also reserve the next one in the same round
        trip.

        ``expected_form``: the form that the person answered. If it is no longer the queue's, raises
        PolicyChanged, and the person keeps the lease; without it, a result that fits the new form is
        accepted.

        Raises Invalid (field ``result``, with ``errors``) if the result doesn't fit the queue's form; the
        person keeps the lease. Raises LeaseLost if somebody else was granted the item, a manager ended the
        lease, or the item is finished; if ``answer_kept`` is true, the refused answer was kept as a late
        answer. Raises ItemNotFound if the item was removed.
        """
        key = arguments.lease_key(self.name, lease, parts)
        text = validation.dump_json(result, "result")
        reserve_words = _reserve_words(then_reserve, skills, request_id)
        reply = self._send_checked(
            key[0],
            result,
            expected_form,
            lambda version: self._commands.run("finish", *key, text, version, *reserve_words),
        )
        late, replayed, held_microseconds, finished_at, *reserve_replies = reply.rest
        next_lease = self._next(reserve_replies, key[2], reserve_words)
        at = codec.to_datetime(finished_at)
        return Finished(key[0], bool(late), bool(replayed), next_lease, int(held_microseconds) / 1e6, at)

    def _next(
        self, reserve_replies: Sequence[Sequence[Any]], person: str, reserve_words: Sequence[str]
    ) -> Lease | None:
        """The lease in the last part of a reply, if it has one."""
        if not reserve_replies:
            return None
        code, *parts = reserve_replies[0]
        if code == replies.LEASED:
            return self._lease(parts)
        if code in (replies.MORE, replies.CLEAR):
            request, *skills_texts = reserve_words
            skills = skills_texts[0].split(",") if skills_texts else ()
            return self.reserve(person, skills=skills, request_id=request)
        return None

    @overload
    def undo_finish(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...
    @overload
    def undo_finish(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...
    def undo_finish(
        self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object
    ) -> Lease:
        """Undo a finish, at most 15 seconds after it: the person who finished the item holds it again,
        under a new token, with the answer as its draft.

        They may then hold more items than allowed. Raises Invalid (field ``undo``) if it is too late, or the
        program that asked a question has been told the answer, and
        LeaseLost if this lease was not finished, or a manager has changed its answer since.
        """
        key = arguments.lease_key(self.name, lease, parts)
        request = arguments.request(request_id)
        reply = self._commands.run("undo_finish", *key, request, UNDO_SECONDS * 1_000_000)
        return self._lease(reply.rest)

    @overload
    def abandon(
        self,
        lease: Lease,
        reason: str | None = None,
        *,
        again: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
    ) -> Abandoned: ...
    @overload
    def abandon(
        self,
        *,
        reason: str | None = None,
        again: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Abandoned: ...
    def abandon(
        self,
        lease: Lease | None = None,
        reason: str | None = None,
        *,
        again: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: object,
    ) -> Abandoned:
        """Give an item back. It returns to the front of the queue. ``then_reserve``: as for ``finish``.

        ``again`` True: others get it first; this person gets it again only if nothing else waits for them.
        False: this person never gets it again.
        """
        key = arguments.lease_key(self.name, lease, parts)
        validation.boolean(again, "again")
        reserve_words = _reserve_words(then_reserve, skills, request_id)
        text = arguments.text(reason, "reason")
        reply = self._commands.run("abandon", *key, text, "later" if again else "never", *reserve_words)
        return Abandoned(key[0], self._next(reply.rest, key[2], reserve_words))

    @overload
    def fail(
        self,
        lease: Lease,
        error: str = "",
        *,
        retry: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
    ) -> Failed: ...
    @overload
    def fail(
        self,
        *,
        error: str = "",
        retry: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Failed: ...
    def fail(
        self,
        lease: Lease | None = None,
        error: str = "",
        *,
        retry: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: object,
    ) -> Failed:
        """Report that an item can't be done. It is retried after a delay, or is dead when its attempts are
        used up (``retry_at`` is None then, also if the item has enough answers without this one). ``retry``
        False: it is dead immediately, even if attempts are left. ``then_reserve``: as for ``finish``."""
        key = arguments.lease_key(self.name, lease, parts)
        validation.boolean(retry, "retry")
        reserve_words = _reserve_words(then_reserve, skills, request_id)
        text = arguments.text(error, "error")
        reply = self._commands.run("fail", *key, text, "retry" if retry else "die", *reserve_words)
        due, *reserve_replies = reply.rest
        next_lease = self._next(reserve_replies, key[2], reserve_words)
        return Failed(key[0], codec.to_datetime(due) if due else None, next_lease)

    @overload
    def take_back(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...
    @overload
    def take_back(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...
    def take_back(
        self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object
    ) -> Lease:
        """Take an abandon or a fail back, at most 15 seconds after it: the person holds the item again,
        under a new token.

        They may then hold more items than allowed. Raises Invalid (field ``undo``) if it is too late. Raises
        LeaseLost if somebody else was granted the item since, this lease ended in another way, the person
        has the item by another assignment, or an item with several answers died of it.
        """
        key = arguments.lease_key(self.name, lease, parts)
        request = arguments.request(request_id)
        reply = self._commands.run("take_back", *key, request, UNDO_SECONDS * 1_000_000)
        return self._lease(reply.rest)

    def mine(self, person: str) -> list[Lease]:
        """The leases of a person that have not expired, in the order in which they got them; one that
        `undo_finish` or `take_back` returned is first."""
        reply = self._commands.run("mine", validation.person_name(person))
        return [self._lease(parts) for parts in reply.rest]

    def why_nothing(self, person: str, skills: Collection[str] = ()) -> WhyNothing:
        """The reason why a reserve would return nothing now: the queue is empty or paused, others hold all
        items, or the person is stopped or not eligible for those that wait."""
        reply = self._commands.run(
            "why_nothing", validation.person_name(person), ",".join(validation.skills(skills))
        )
        if reply.code == replies.SOMETHING:
            return WhyNothing(None)
        if reply.code == replies.PAUSED:
            return WhyNothing("paused", detail=json.loads(reply.rest[0]))
        if reply.code == replies.STOPPED:
            return WhyNothing("stopped", detail=json.loads(reply.rest[0]))
        free_at = codec.to_datetime(reply.rest[0]) if reply.rest[0] else None
        if reply.code == replies.NOT_ELIGIBLE:
            return WhyNothing("not-eligible", free_at, ineligibility=codec.ineligibility(reply.rest[1:]))
        return WhyNothing("held" if reply.code == replies.HELD else "empty", free_at)

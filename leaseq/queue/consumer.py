"""The queue's methods for people who work: reserve, renew, finish, give back."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Unpack, overload

from leaseq import form, validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.arguments import LeaseParts
from leaseq.engine.notifications import LookAgain, Waiter, wait_for
from leaseq.engine.replies import Reply
from leaseq.errors import Invalid, LeaseqError
from leaseq.models import Failed, Finished, Held, Json, Lease, WhyNothing
from leaseq.queue.base import Base

MAX_WAIT = 3_600  # seconds
UNDO_SECONDS = 15
"""How long a finish can be undone. Pages offer ten of them; the rest is for the way here."""


class Consumer(Base):
    """A verb on a lease takes the Lease, or its ``id=``, ``token=`` and ``person=``: see `arguments.held`."""

    def reserve(
        self,
        person: str,
        *,
        skills: Sequence[str] = (),
        wait: float = 0,
        stop: threading.Event | None = None,
        request_id: str | None = None,
    ) -> Lease | None:
        """Reserve an item that nobody else has, or return None where there is none now (see ``why_nothing``).

        ``wait``: wait up to so many seconds for one, in line with all other waiters. ``stop``, once set, ends
        that wait at once, as closing the client and an exception do: then the caller has left the line, and
        holds nothing by this call. A person who holds as many as allowed gets one of those again.
        ``request_id`` names this call, so that repeating it returns the same lease.
        """
        who, can = validation.person_name(person), ",".join(validation.skills(skills))
        request = arguments.request(request_id)
        if stop is not None and not isinstance(stop, threading.Event):
            raise Invalid("stop", "a threading.Event, or None")
        if wait != 0:
            return self._reserve_waiting(
                who, request, can, validation.number(wait, "wait", 0, MAX_WAIT), stop
            )
        try:
            outcome = self._reserve(who, request, can)
        except LeaseqError:
            raise
        except BaseException:  # Ctrl-C
            self._leave_line("", who, request, 0, broken_off=True)
            raise
        return outcome if isinstance(outcome, Lease) else None

    def _reserve_waiting(
        self, who: str, request: str, can: str, seconds: float, stop: threading.Event | None
    ) -> Lease | None:
        """However it ends: either the caller has the lease, or the queue has the item."""
        listener, last_token = self._connection.listener, 0
        waiter: Waiter | None = None

        def attempt(name: str | None = None, woken: bool = False) -> Lease | LookAgain:
            nonlocal last_token
            outcome = self._reserve(who, request, can, name, woken)
            if isinstance(outcome, LookAgain):
                last_token = max(last_token, outcome.last_token)
            return outcome

        def leave_line(broken_off: bool) -> None:
            name = waiter.name if waiter is not None else ""
            self._leave_line(name, who, request, last_token, broken_off=broken_off)

        if listener.has_ended(stop):
            return None
        try:
            outcome: Lease | LookAgain | None = attempt()
            if not isinstance(outcome, Lease):
                waiter = listener.join(self._keys.wake, stop)
                outcome = wait_for(listener, waiter, seconds, attempt)
            if outcome is None or listener.has_ended(stop):
                leave_line(broken_off=False)
                return None
            return outcome
        except BaseException as error:
            leave_line(broken_off=not isinstance(error, LeaseqError))
            raise
        finally:
            if waiter is not None:
                listener.leave(waiter)
            if listener.closed:
                self._connection.drop_idle_links()  # the one by which the line was left

    def _leave_line(self, waiter: str, who: str, request: str, last_token: int, *, broken_off: bool) -> None:
        """Leave the line, and give back an item that came meanwhile. A call that was ``broken_off`` may
        still be unread at the server: once it has answered another one, it has read that one, too."""
        with suppress(LeaseqError):
            for _ in range(2 if broken_off else 1):
                self._commands.leave_line(waiter, who, request, last_token)

    def _reserve(
        self, who: str, request: str, can: str, waiter: str | None = None, woken: bool = False
    ) -> Lease | LookAgain:
        reply = self._commands.reserve(who, request, can, waiter, woken)
        while reply.code == replies.MORE:
            reply = self._commands.reserve(who, request, can, waiter, woken)
        if reply.code == replies.LEASED:
            return codec.lease(self.name, reply.rest)
        again, last_token = reply.rest or (b"", 0)  # there is no queue
        return LookAgain(int(again or MAX_WAIT * 1_000_000) / 1e6, int(last_token))

    @overload
    def renew(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...
    @overload
    def renew(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...
    def renew(self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object) -> Lease:
        """Extend a lease to the full lease time from now; never shortens one.

        Also accepted after the lease expired, if nobody else was granted the item. Raises LeaseLost, or
        Invalid where the policy allows no more renewals or the person holds as many items as allowed.
        """
        held = arguments.held(self.name, lease, parts)
        return codec.lease(self.name, self._commands.renew(held, arguments.request(request_id)).rest)

    @overload
    def save_draft(self, lease: Lease, draft: Json) -> None: ...
    @overload
    def save_draft(self, *, draft: Json, **parts: Unpack[LeaseParts]) -> None: ...
    def save_draft(self, lease: Lease | None = None, draft: Json = ..., **parts: object) -> None:
        """Save a draft of the answer. The person gets it back with the item; a finish deletes it."""
        held = arguments.held(self.name, lease, parts)
        self._commands.save_draft(held, validation.dump_json(draft, "draft"))

    @overload
    def finish(
        self,
        lease: Lease,
        result: Json,
        *,
        then_reserve: bool = False,
        skills: Sequence[str] = (),
        request_id: str | None = None,
    ) -> Finished: ...
    @overload
    def finish(
        self,
        *,
        result: Json,
        then_reserve: bool = False,
        skills: Sequence[str] = (),
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Finished: ...
    def finish(
        self,
        lease: Lease | None = None,
        result: Json = ...,
        *,
        then_reserve: bool = False,
        skills: Sequence[str] = (),
        request_id: str | None = None,
        **parts: object,
    ) -> Finished:
        """Finish the item with its result; with ``then_reserve`` reserve the next one in the same round trip.

        Raises Invalid (field ``result``, with ``errors``) where the result doesn't fit the queue's form: the
        lease stays. Raises LeaseLost where somebody else was granted the item, or it is finished or removed;
        the refused answer is then kept as a late answer (``answer_kept``).
        """
        held = arguments.held(self.name, lease, parts)
        text = validation.dump_json(result, "result")
        can = validation.skills(skills)
        request = arguments.request(request_id) if then_reserve else None
        reply = self._send_finish(held, result, text, request, ",".join(can))
        late, replayed, lasted, ended, *then_given = reply.rest
        following = then_given[0] if then_given else None
        then: Lease | None = None
        if following and following[0] == replies.LEASED:
            then = codec.lease(self.name, following[1:])
        elif following and following[0] == replies.MORE:
            then = self.reserve(held[2], skills=can, request_id=request)
        at = codec.when(ended)
        return Finished(held[0], bool(late), bool(replayed), then, int(lasted) / 1e6, at)

    def _send_finish(self, held: Held, result: Json, text: str, request: str | None, can: str) -> Reply:
        """Check the result against the form as last read; the server says if it was changed since.

        A result that doesn't fit is sent as well: it may be one that was taken before the form changed, or
        belong to a lost lease, and then it is kept. In no other case is it taken.
        """
        while True:
            version, wanted = self._form
            misfit: Invalid | None = None
            if wanted is not None:
                try:
                    form.check_result(wanted, result)
                except Invalid as error:
                    version, misfit = "misfit", error
            reply = self._commands.finish(held, text, version, request, can)
            if reply.code != replies.FORM:
                return reply
            self.find_policy()  # read the form anew
            if misfit is not None and self._form[1] == wanted:
                raise misfit

    @overload
    def undo_finish(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...
    @overload
    def undo_finish(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...
    def undo_finish(
        self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object
    ) -> Lease:
        """Undo a finish, at most UNDO_SECONDS after it: the person who finished the item holds it again,
        under a new token, with the answer as its draft.

        This may exceed the number of items that they may hold. Raises Invalid (field ``undo``) where it is
        too late, and LeaseLost where this lease was not finished or a manager adopted its answer.
        """
        held = arguments.held(self.name, lease, parts)
        request = arguments.request(request_id)
        reply = self._commands.undo_finish(held, request, UNDO_SECONDS * 1_000_000)
        return codec.lease(self.name, reply.rest)

    @overload
    def abandon(self, lease: Lease, reason: str | None = None, *, again: bool = True) -> None: ...
    @overload
    def abandon(
        self, *, reason: str | None = None, again: bool = True, **parts: Unpack[LeaseParts]
    ) -> None: ...
    def abandon(
        self,
        lease: Lease | None = None,
        reason: str | None = None,
        *,
        again: bool = True,
        **parts: object,
    ) -> None:
        """Give an item back. It returns to the front of the queue.

        ``again`` True: others go first; this person sees it again only when nothing else waits for them.
        False: never this person again.
        """
        held = arguments.held(self.name, lease, parts)
        if not isinstance(again, bool):
            raise Invalid("again", "true or false")
        self._commands.abandon(held, arguments.text(reason, "reason"), again)

    @overload
    def fail(self, lease: Lease, error: str = "") -> Failed: ...
    @overload
    def fail(self, *, error: str = "", **parts: Unpack[LeaseParts]) -> Failed: ...
    def fail(self, lease: Lease | None = None, error: str = "", **parts: object) -> Failed:
        """Report that an item can't be done. It is retried after a delay, or is dead when its attempts are
        used up (``retry_at`` is None then)."""
        held = arguments.held(self.name, lease, parts)
        reply = self._commands.fail(held, arguments.text(error, "error"))
        return Failed(held[0], codec.when(reply.rest[0]) if reply.code == replies.RETRY else None)

    def mine(self, person: str) -> list[Lease]:
        """The leases that a person holds, oldest first."""
        reply = self._commands.mine(validation.person_name(person))
        return [codec.lease(self.name, parts) for parts in reply.rest]

    def why_nothing(self, person: str, skills: Sequence[str] = ()) -> WhyNothing:
        """Why a reserve would get nothing now: empty, held by others, not eligible, or paused."""
        reply = self._commands.why_nothing(
            validation.person_name(person), ",".join(validation.skills(skills))
        )
        if reply.code == replies.SOMETHING:
            return WhyNothing(None)
        if reply.code == replies.PAUSED:
            return WhyNothing("paused", detail=json.loads(reply.rest[0]))
        free_at = codec.when(reply.rest[0]) if reply.rest[0] else None
        if reply.code == replies.NOT_ELIGIBLE:
            return WhyNothing("not-eligible", free_at, ineligibility=codec.ineligibility(reply.rest[1:]))
        return WhyNothing("held" if reply.code == replies.HELD else "empty", free_at)

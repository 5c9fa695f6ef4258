"""The queue's methods for people who work: reserve, renew, finish, give back.

Made of leaseq/queue/consumer.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Unpack, overload

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.arguments import LeaseParts
from leaseq.models import Abandoned, Failed, Finished, Json, Lease, WhyNothing
from leaseq.queue.aio.reserving import Reserving
from leaseq.queue.consumer import UNDO_SECONDS


class Consumer(Reserving):
    """Methods on a lease accept the Lease, or its ``id=``, ``token=`` and ``person=``: see
    `arguments.lease_key`."""

    @overload
    async def renew(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...

    @overload
    async def renew(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...

    async def renew(
        self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object
    ) -> Lease:
        """Extend a lease to the full lease time from now; never shortens one.

        Also possible after the lease expired, if nobody else was granted the item. Raises LeaseLost, or
        Invalid if the policy allows no more renewals, or if the lease expired and the person holds as many
        items as allowed.
        """
        key = arguments.lease_key(self.name, lease, parts)
        return codec.lease(self.name, (await self._commands.renew(key, arguments.request(request_id))).rest)

    @overload
    async def save_draft(self, lease: Lease, draft: Json) -> None: ...

    @overload
    async def save_draft(self, *, draft: Json, **parts: Unpack[LeaseParts]) -> None: ...

    async def save_draft(self, lease: Lease | None = None, draft: Json = ..., **parts: object) -> None:
        """Save a draft of the answer. The person gets it again with the item; a finish deletes it."""
        key = arguments.lease_key(self.name, lease, parts)
        await self._commands.save_draft(key, validation.dump_json(draft, "draft"))

    @overload
    async def finish(
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
    async def finish(
        self,
        *,
        result: Json,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        expected_form: Json = ...,
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Finished: ...

    async def finish(
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
        skills = validation.skills(skills)
        request = arguments.request(request_id) if then_reserve else None
        skills_text = ",".join(skills)
        reply = await self._send_checked(
            result,
            expected_form,
            lambda version: self._commands.finish(key, text, version, request, skills_text),
        )
        late, replayed, held_microseconds, finished_at, *reserve_replies = reply.rest
        next_lease = await self._next(reserve_replies, key[2], skills, request)
        at = codec.to_datetime(finished_at)
        return Finished(
            key[0], bool(late), bool(replayed), next_lease, int(held_microseconds) / 1000000.0, at
        )

    async def _next(
        self,
        reserve_replies: Sequence[Sequence[Any]],
        person: str,
        skills: Collection[str],
        request: str | None,
    ) -> Lease | None:
        """The lease in the last part of a reply, if it has one."""
        if not reserve_replies:
            return None
        code, *parts = reserve_replies[0]
        if code == replies.LEASED:
            return codec.lease(self.name, parts)
        if code == replies.MORE:
            return await self.reserve(person, skills=skills, request_id=request)
        return None

    @overload
    async def undo_finish(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...

    @overload
    async def undo_finish(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...

    async def undo_finish(
        self, lease: Lease | None = None, *, request_id: str | None = None, **parts: object
    ) -> Lease:
        """Undo a finish, at most 15 seconds after it: the person who finished the item holds it again,
        under a new token, with the answer as its draft.

        They may then hold more items than allowed. Raises Invalid (field ``undo``) if it is too late, and
        LeaseLost if this lease was not finished, or a manager has changed its answer since.
        """
        key = arguments.lease_key(self.name, lease, parts)
        request = arguments.request(request_id)
        reply = await self._commands.undo_finish(key, request, UNDO_SECONDS * 1000000)
        return codec.lease(self.name, reply.rest)

    @overload
    async def abandon(
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
    async def abandon(
        self,
        *,
        reason: str | None = None,
        again: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Abandoned: ...

    async def abandon(
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
        skills = validation.skills(skills)
        request = arguments.request(request_id) if then_reserve else None
        text = arguments.text(reason, "reason")
        reply = await self._commands.abandon(key, text, again, request, ",".join(skills))
        return Abandoned(key[0], await self._next(reply.rest, key[2], skills, request))

    @overload
    async def fail(
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
    async def fail(
        self,
        *,
        error: str = "",
        retry: bool = True,
        then_reserve: bool = False,
        skills: Collection[str] = (),
        request_id: str | None = None,
        **parts: Unpack[LeaseParts],
    ) -> Failed: ...

    async def fail(
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
        skills = validation.skills(skills)
        request = arguments.request(request_id) if then_reserve else None
        text = arguments.text(error, "error")
        due, *reserve_replies = (await self._commands.fail(key, text, retry, request, ",".join(skills))).rest
        next_lease = await self._next(reserve_replies, key[2], skills, request)
        return Failed(key[0], codec.to_datetime(due) if due else None, next_lease)

    @overload
    async def take_back(self, lease: Lease, *, request_id: str | None = None) -> Lease: ...

    @overload
    async def take_back(self, *, request_id: str | None = None, **parts: Unpack[LeaseParts]) -> Lease: ...

    async def take_back(
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
        reply = await self._commands.take_back(key, request, UNDO_SECONDS * 1000000)
        return codec.lease(self.name, reply.rest)

    async def mine(self, person: str) -> list[Lease]:
        """The leases of a person that have not expired, in the order in which they got them; one that
        `undo_finish` or `take_back` returned is first."""
        reply = await self._commands.mine(validation.person_name(person))
        return [codec.lease(self.name, parts) for parts in reply.rest]

    async def why_nothing(self, person: str, skills: Collection[str] = ()) -> WhyNothing:
        """Why a reserve would return nothing now: the queue is empty or paused, others hold all items, or the
        person is not eligible for those that wait."""
        reply = await self._commands.why_nothing(
            validation.person_name(person), ",".join(validation.skills(skills))
        )
        if reply.code == replies.SOMETHING:
            return WhyNothing(None)
        if reply.code == replies.PAUSED:
            return WhyNothing("paused", detail=json.loads(reply.rest[0]))
        free_at = codec.to_datetime(reply.rest[0]) if reply.rest[0] else None
        if reply.code == replies.NOT_ELIGIBLE:
            return WhyNothing("not-eligible", free_at, ineligibility=codec.ineligibility(reply.rest[1:]))
        return WhyNothing("held" if reply.code == replies.HELD else "empty", free_at)

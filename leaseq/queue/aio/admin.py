"""The queue's methods for managers and the clear job.

Made of leaseq/queue/admin.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, Unpack

from leaseq import validation
from leaseq.engine import arguments, ids
from leaseq.errors import Invalid, ItemNotFound
from leaseq.models import STATES, Cleared, Filter, Item, ItemChanges, Json, State
from leaseq.queue.admin import _LATER_STATES, _LOOK, _MOVES, OnRemoved, _matches
from leaseq.queue.aio.inspection import Inspection


class Admin(Inspection):
    async def clear(self, limit: int = 1000) -> Cleared:
        """Move items whose lease expired back to inbound, release items that are due, and delete finished and
        dead items that the policy no longer keeps: at most ``limit`` items; ``more`` is true if there are
        others. Also raises and resolves alerts by the rules of the policy's ``alerts``: see `alerts`."""
        remaining = validation.integer(limit, "limit", 1, 1000000)
        returned = released = died = forgotten = 0
        has_more = True
        while has_more and remaining > 0:
            reply = await self._commands.clear(min(remaining, _MOVES))
            counts = [int(n) for n in reply.rest]
            returned, released, died = (returned + counts[0], released + counts[1], died + counts[2])
            forgotten += counts[4]
            remaining -= sum(counts[:3]) + counts[4]
            has_more = bool(counts[3])
        if counts[5]:
            await self._commands.check_alerts()
        return Cleared(returned, released, died, has_more, forgotten)

    async def check_alerts(self, *, unreachable: int) -> None:
        """Apply the policy's ``alerts`` with a figure that only the caller knows: how many waiting items
        nobody may have (`waiting_rows` says who may have them). `stats` returns it for ten minutes. The web
        app calls this every minute; `clear` applies all other rules."""
        count = validation.integer(unreachable, "unreachable", 0, 2**53)
        await self._commands.check_alerts(str(count))

    async def pause(self, reason: str | None = None, *, by: str | None = None) -> None:
        """Stop handing out items. Held items may still be finished."""
        await self._commands.pause(arguments.author(by), arguments.text(reason, "reason"))

    async def resume(self, *, by: str | None = None) -> None:
        """End a pause."""
        await self._commands.resume(arguments.author(by))

    async def revive(self, id: str, *, by: str | None = None) -> Item:
        """Move a dead item back to inbound, and reset its failures. Raises Invalid for a finished item; items
        in other states are not changed."""
        return self._item(await self._commands.revive(validation.item_id(id), arguments.author(by)), id)

    async def revive_all(
        self, *, error: str | None = None, person: str | None = None, limit: int = 1000, by: str | None = None
    ) -> int:
        """Revive at most ``limit`` dead items, the longest dead first; returns their number.

        ``error``: only those whose last error contains this text. ``person``: only those that this person had
        last. A number below ``limit`` means that none is left. Items that another caller revives or removes
        at the same time are skipped.
        """
        return await self._move_all("dead", lambda id: self.revive(id, by=by), error, person, limit, by)

    async def remove_all(
        self,
        state: State,
        *,
        error: str | None = None,
        person: str | None = None,
        limit: int = 1000,
        by: str | None = None,
        on_removed: OnRemoved | None = None,
    ) -> int:
        """Delete at most ``limit`` items in a state, in the order of `items`; returns their number.

        ``error``, ``person``: as for `revive_all`. A number below ``limit`` means that none is left. An item
        with several assignments is deleted as a whole if one of them is in the state. An item that leaves the
        state meanwhile, because somebody finished it for instance, is kept. ``on_removed`` is called with the
        id of each deleted item.
        """
        if state not in STATES:
            raise Invalid("state", "one of " + ", ".join(STATES))
        manager = arguments.author(by)

        async def remove(id: str) -> None:
            await self._commands.remove(id, manager, "if", state)
            if on_removed:
                on_removed(id)

        return await self._move_all(state, remove, error, person, limit, by)

    async def _move_all(
        self,
        state: State,
        move: Callable[[str], Awaitable[object]],
        error: str | None,
        person: str | None,
        limit: int,
        by: str | None,
    ) -> int:
        """Call ``move`` for the matching items in a state; returns the number of items moved."""
        max_count = validation.integer(limit, "limit", 1, 1000000)
        error_text = None if error is None else validation.text(error, "error")
        person_name = None if person is None else validation.person_name(person)
        arguments.author(by)
        moved_ids: set[str] = set()
        async for item in self._walk(state, _LOOK):
            if item.id in moved_ids or not _matches(item, error_text, person_name):
                continue
            try:
                await move(item.id)
            except (ItemNotFound, Invalid):
                continue
            moved_ids.add(item.id)
            if len(moved_ids) == max_count:
                break
        return len(moved_ids)

    async def release(self, id: str, *, person: str | None = None, by: str | None = None) -> Item:
        """End all leases of an item, or only this person's; the item returns to the front of the queue."""
        holder = validation.person_name(person) if person is not None else ""
        return self._item(
            await self._commands.release(validation.item_id(id), arguments.author(by), holder), id
        )

    async def assign(self, id: str, person: str, *, by: str | None = None) -> Item:
        """Let only this person reserve an item, until they give it back. It returns to the front of the
        queue.

        Raises Invalid if no assignment of the item waits, or if the person holds or has answered it.
        """
        assignee = validation.person_name(person)
        return self._item(
            await self._commands.assign(validation.item_id(id), arguments.author(by), assignee), id
        )

    async def unassign(self, id: str, *, by: str | None = None) -> Item:
        """Let anybody have an item again that is assigned to somebody. If it waits, it goes to the front of
        the queue; who holds it keeps it. An item that is assigned to nobody is not changed."""
        return self._item(await self._commands.unassign(validation.item_id(id), arguments.author(by), ""), id)

    async def unassign_all(self, person: str, *, by: str | None = None) -> int:
        """Let anybody have what is assigned to a person, in whatever state; returns the number of items."""
        assignee, author = (validation.person_name(person), arguments.author(by))
        count, has_more = (0, True)
        while has_more:
            reply = await self._commands.unassign_person(assignee, author, _MOVES)
            count += int(reply.rest[0])
            has_more = bool(reply.rest[1])
        where = Filter(person=assignee, outcome="assigned")
        ids: set[str] = set()
        for state in _LATER_STATES:
            async for item in self._walk(state, _LOOK, where):
                ids.add(item.id)
        for id in ids:
            with suppress(ItemNotFound):
                await self._commands.unassign(id, author, assignee)
                count += 1
        return count

    async def change(self, id: str, *, by: str | None = None, **changes: Unpack[ItemChanges]) -> Item:
        """Change an item that is inbound, scheduled or dead; fields that are not named stay as they are.

        With another priority or other skills, it is placed by its age among the items already there. If an
        item has several assignments, at least one must be in one of these states: it is moved, and those that
        are held stay with their people. ``due=None`` removes the date. ``delay``, in seconds from now,
        schedules the item; 0 makes it inbound immediately. A dead item stays dead until it is revived, and a
        ``delay`` is refused for it.

        ``answers``, without other changes, lowers the number of answers that the item needs, in any state:
        what is no longer needed is closed, so an item that has as many is finished. A person who holds an
        assignment that is no longer needed may finish it, and the answer counts; it is closed when it comes
        back.

        Raises Invalid for an item in another state, and for a ``payload`` while somebody holds or has
        answered the item. An answer to the earlier payload that still arrives is kept as a late answer.
        """
        fields = arguments.changes(changes)
        reply = await self._commands.change(
            validation.item_id(id), arguments.author(by), ids.request_id(), fields
        )
        return self._item(reply, id)

    async def remove(
        self, id: str, *, unless: Literal["finished"] | None = None, by: str | None = None
    ) -> None:
        """Delete an item, whatever its state, with all its answers: also one that was given a moment ago.

        ``unless="finished"`` deletes it only while nobody has finished it, or one of its assignments.
        Otherwise it raises ItemFinished, with the item, and nothing changes.
        """
        if unless not in (None, "finished"):
            raise validation.refusal("unless", "None or 'finished'", unless)
        condition = () if unless is None else ("unless", unless)
        await self._commands.remove(validation.item_id(id), arguments.author(by), *condition)

    async def adopt(self, id: str, token: int, *, by: str | None = None) -> Item:
        """Turn a late answer (named by its token) into an answer of the item. It fills an assignment that
        nobody holds or has answered. If there is none, it ends the lease of the assignment that it was given
        for, or replaces that assignment's answer, which becomes a late answer."""
        number = validation.integer(token, "token", 1, 2**53)
        reply = await self._commands.adopt(
            validation.item_id(id), number, arguments.author(by), ids.request_id()
        )
        return self._item(reply, id)

    async def reopen(
        self, id: str, token: int, *, to: str | None = None, reason: str | None = None, by: str | None = None
    ) -> Item:
        """Take back an answer (named by its token): its item is inbound again, at the front of its priority
        band, for anybody, or with ``to`` for this person only. The answer is kept as a late answer, and as
        the draft of the person who gave it. The next person reads ``reason``.

        Raises Invalid if no answer of the item has the token, if ``to`` holds or has answered another
        assignment of the item, or if another assignment is dead.
        """
        number = validation.integer(token, "token", 1, 2**53)
        assignee = "" if to is None else validation.person_name(to, "to")
        reason_text = arguments.text(reason, "reason")
        reply = await self._commands.reopen(
            validation.item_id(id), number, arguments.author(by), assignee, reason_text
        )
        return self._item(reply, id)

    async def correct(self, id: str, token: int, result: Json, *, by: str, expected_form: Json = ...) -> Item:
        """Replace an answer (named by its token) with one by the manager ``by``. The replaced answer is kept
        as a late answer. Repeating the same correction changes nothing. ``expected_form``: the form that
        the manager answered; if it is no longer the queue's, raises PolicyChanged, and nothing changes.

        Raises Invalid (field ``result``, with ``errors``) if the result doesn't fit the queue's form, and
        Invalid if no answer of the item has the token, or if ``by`` holds or has answered another assignment
        of the item.
        """
        item, number = (validation.item_id(id), validation.integer(token, "token", 1, 2**53))
        manager, text = (validation.person_name(by, "by"), validation.dump_json(result, "result"))
        reply = await self._send_checked(
            result,
            expected_form,
            lambda version: self._commands.correct(item, number, manager, text, version),
        )
        return self._item(reply, id)

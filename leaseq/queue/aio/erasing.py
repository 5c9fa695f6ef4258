"""The queue's methods about one person: what it stores about them, and the replacement of their name.

Made of leaseq/queue/erasing.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.aio.server_marker import ServerMarker
from leaseq.errors import Invalid
from leaseq.persons import SIGNS, Erased, PersonItem
from leaseq.queue.aio.base import Base
from leaseq.queue.erasing import _ROUNDS, _STEP, _person_item


class Erasing(Base):
    def person_items(self, person: str) -> AsyncIterator[PersonItem]:
        """Each item that names a person, in no particular order, with their leases, answers and draft of it.
        The items are read in bounded steps."""
        return self._person_items(validation.person_name(person))

    async def _person_items(self, person: str) -> AsyncIterator[PersonItem]:
        step, seen_ids = ("0", set[str]())
        marker = ServerMarker(self._connection, self._keys.ledger)
        await marker.load()
        while True:
            next_step, *rows = (await self._commands.person_items(person, step, _STEP)).rest
            for name, parts, sign, is_assigned, *draft in rows:
                id = name.decode()
                if id not in seen_ids:
                    seen_ids.add(id)
                    item, text = (codec.item(id, parts), draft[0] if draft else None)
                    relation = SIGNS.get(sign.decode())
                    yield _person_item(item, person, relation, bool(is_assigned), text)
            step = next_step.decode()
            if step == "0":
                if await marker.is_present():
                    return
                await marker.load()

    async def erase_person(self, person: str, to: str, *, by: str | None = None) -> Erased:
        """Replace a person's name with another, ``to``, in every item, in bounded steps.

        ``to`` must be nobody else's name, such as a new random one: their answers still belong to one person,
        and nobody gets an item twice. Their leases end, their drafts are deleted, and items that were
        assigned to them may go to anybody. The journal is not changed, so it contains the name until it is
        trimmed; texts that they wrote stay. If this is interrupted, call it again with the same ``to``.
        Raises Invalid if they continue to reserve items, or are assigned some, while this runs.
        """
        person, new_name = (validation.person_name(person), validation.person_name(to, "to"))
        if new_name == person:
            raise Invalid("to", "a name other than the person's")
        manager, items, leases = (arguments.author(by), 0, 0)
        marker = ServerMarker(self._connection, self._keys.ledger)
        for _ in range(_ROUNDS):
            await marker.load()
            step: str | None = ""
            while step is not None:
                reply = await self._commands.erase_person(person, new_name, manager, step, _STEP)
                if reply.code == replies.AGAIN:
                    break
                next_step, item_count, lease_count = reply.rest
                items, leases = (items + int(item_count), leases + int(lease_count))
                step = next_step.decode() or None
            if step is None and await marker.is_present():
                return Erased(items, leases)
        limit = f"a person who reserves nothing during this call; {person!r} did {_ROUNDS} times"
        raise Invalid("person", f"{limit}: stop what works under this name, and erase it again")

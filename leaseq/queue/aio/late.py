"""The queue's methods about late answers: the items that have some, all or by pages.

Made of leaseq/queue/late.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.engine.aio.witness import Witness
from leaseq.errors import Invalid, ItemNotFound
from leaseq.models import Item, Page
from leaseq.queue.aio.base import Base
from leaseq.queue.late import _FIRST, _STEP, LatePlace


class Late(Base):
    def late_items(self, since: datetime | None = None) -> AsyncIterator[Item]:
        """Each item that has late answers, in any state and in no order; ``since``: only items with one
        from then on."""
        least = arguments.bound(since, "since")
        return self._late_items(least)

    async def _late_items(self, least: str) -> AsyncIterator[Item]:
        step, seen = (_FIRST, set[str]())
        witness = Witness(self._connection, self._keys.ledger)
        await witness.load()
        while True:
            following, *rows = (await self._commands.late_items(step, _STEP, least)).rest
            for name, known in rows:
                id = name.decode()
                if id not in seen:
                    seen.add(id)
                    yield codec.item(id, known)
            step = following.decode()
            if step == _FIRST:
                if await witness.is_there():
                    return
                await witness.load()

    async def late_page(self, *, limit: int = 100, after: str | None = None) -> Page:
        """Like ``late_items``, by pages. An item may be on two of them, if the server was replaced in between
        or reordered its items; one that has late answers all the time is on at least one page."""
        most = validation.integer(limit, "limit", 1, 1000)
        place = LatePlace.read(after)
        witness = Witness(self._connection, self._keys.ledger, place.witness)
        if not place.witness or not await witness.is_there():
            await witness.load()
            place = LatePlace(witness.word, past=place.past)
        found: dict[str, Item] = {}
        for id in place.left[:most]:
            item = await self._late_item(id)
            if item is not None:
                found[id] = item
        place = replace(place, left=place.left[most:])
        while place.step is not None and (not place.left) and (len(found) < most):
            items, place = await self._late_step(place, place.step, most - len(found))
            for item in items:
                found[item.id] = item
        if place.step is None and (not place.left):
            if await witness.is_there():
                return Page(tuple(found.values()), None, len(found))
            place = replace(place, step=_FIRST)
        return Page(tuple(found.values()), place.text(), len(found))

    async def _late_step(self, place: LatePlace, step: str, most: int) -> tuple[list[Item], LatePlace]:
        """The first items of a step, and where to go on: behind the last of them where the step has all that
        there are, else with those that are left of it."""
        following, *rows = (await self._commands.late_items(step, min(most, _STEP), "")).rest
        known = sorted(((name.decode(), item) for name, item in rows if name.decode() > place.past))
        items = [codec.item(id, item) for id, item in known[:most]]
        left = tuple((id for id, _ in known[most:]))
        goes_on = following.decode() != _FIRST
        if left and step == _FIRST and (not goes_on):
            return (items, replace(place, past=items[-1].id))
        return (items, replace(place, step=following.decode() if goes_on else None, left=left))

    async def _late_item(self, id: str) -> Item | None:
        try:
            item = codec.item(id, (await self._commands.get(validation.item_id(id))).rest[0])
        except (ItemNotFound, Invalid):
            return None
        return item if item.late_answers else None

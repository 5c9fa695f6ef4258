"""The queue's methods for late answers: the items that have some, in one iterator or page by page.

Made of leaseq/queue/late_answers.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.engine.aio.server_marker import ServerMarker
from leaseq.errors import Invalid, ItemNotFound
from leaseq.models import Item, Page
from leaseq.queue.aio.base import Base
from leaseq.queue.late_answers import _FIRST, _STEP, LateCursor


class Late(Base):
    def late_items(self, since: datetime | None = None) -> AsyncIterator[Item]:
        """Each item that has late answers, in any state and in no particular order; ``since``: only items
        with a late answer at or after this time."""
        since_text = arguments.time_bound(since, "since")
        return self._late_items(since_text)

    async def _late_items(self, since: str) -> AsyncIterator[Item]:
        step, seen_ids = (_FIRST, set[str]())
        marker = ServerMarker(self._connection, self._keys.ledger)
        await marker.load()
        while True:
            next_step, *rows = (await self._commands.late_items(step, _STEP, since)).rest
            for name, parts in rows:
                id = name.decode()
                if id not in seen_ids:
                    seen_ids.add(id)
                    yield codec.item(id, parts)
            step = next_step.decode()
            if step == _FIRST:
                if await marker.is_present():
                    return
                await marker.load()

    async def late_page(self, *, limit: int = 100, after: str | None = None) -> Page:
        """Like ``late_items``, page by page. An item may be on two pages if the server was replaced or
        reordered its items in between; one that has late answers throughout is on at least one page."""
        max_items = validation.integer(limit, "limit", 1, 1000)
        place = LateCursor.read(after)
        marker = ServerMarker(self._connection, self._keys.ledger, place.marker)
        if not place.marker or not await marker.is_present():
            await marker.load()
            place = LateCursor(marker.text, past_id=place.past_id)
        page_items: dict[str, Item] = {}
        for id in place.remaining_ids[:max_items]:
            item = await self._late_item(id)
            if item is not None:
                page_items[id] = item
        place = replace(place, remaining_ids=place.remaining_ids[max_items:])
        while place.step is not None and (not place.remaining_ids) and (len(page_items) < max_items):
            items, place = await self._late_step(place, place.step, max_items - len(page_items))
            for item in items:
                page_items[item.id] = item
        if place.step is None and (not place.remaining_ids):
            if await marker.is_present():
                return Page(tuple(page_items.values()), None, len(page_items))
            place = replace(place, step=_FIRST)
        return Page(tuple(page_items.values()), place.text(), len(page_items))

    async def _late_step(self, place: LateCursor, step: str, max_items: int) -> tuple[list[Item], LateCursor]:
        """The first items of a step, and where to continue: after the last of them if the step has all that
        there are, otherwise with those left over from the step."""
        next_step, *rows = (await self._commands.late_items(step, min(max_items, _STEP), "")).rest
        entries = sorted(((name.decode(), item) for name, item in rows if name.decode() > place.past_id))
        items = [codec.item(id, item) for id, item in entries[:max_items]]
        ids = tuple((id for id, _ in entries[max_items:]))
        has_more = next_step.decode() != _FIRST
        if ids and step == _FIRST and (not has_more):
            return (items, replace(place, past_id=items[-1].id))
        return (items, replace(place, step=next_step.decode() if has_more else None, remaining_ids=ids))

    async def _late_item(self, id: str) -> Item | None:
        try:
            item = codec.item(id, (await self._commands.get(validation.item_id(id))).rest[0])
        except (ItemNotFound, Invalid):
            return None
        return item if item.late_answers else None

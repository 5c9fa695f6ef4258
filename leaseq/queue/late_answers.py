"""The queue's methods for late answers: the items that have some, in one iterator or page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote, unquote

from leaseq import validation
from leaseq.engine import arguments, codec
from leaseq.engine.server_marker import ServerMarker
from leaseq.errors import Invalid, ItemNotFound
from leaseq.models import Item, Page
from leaseq.queue.base import Base

_STEP = 20  # items per call, about
_FIRST = "0"  # HSCAN's cursor at its beginning, which it returns at its end


@dataclass(frozen=True, slots=True)
class LateCursor:
    """Where a page begins. The server decides how many items a step returns, so some may be left over."""

    marker: str = ""  # of the server whose HSCAN returned the step; '': none yet
    step: str | None = _FIRST  # HSCAN's cursor for the next step; None: there is none
    past_id: str = ""  # skip items up to this id: they were on earlier pages
    remaining_ids: tuple[str, ...] = ()  # ids left over from the previous step

    _TEXT = re.compile(r"([0-9a-f]{16})/([0-9]{1,19}|end)/([^/]*)/([^/]*)")

    @classmethod
    def read(cls, cursor: object) -> LateCursor:
        if cursor is None:
            return cls()
        match = cls._TEXT.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise Invalid("after", "a cursor from an earlier page of late answers")
        marker, step, past_id, id_list = match.groups()
        ids = tuple(unquote(id) for id in id_list.split(",") if id)
        return cls(marker, None if step == "end" else step, unquote(past_id), ids)

    def text(self) -> str:
        ids = ",".join(quote(id, safe="") for id in self.remaining_ids)
        return f"{self.marker}/{self.step or 'end'}/{quote(self.past_id, safe='')}/{ids}"


class Late(Base):
    def late_items(self, since: datetime | None = None) -> Iterator[Item]:
        """Each item that has late answers, in any state and in no particular order; ``since``: only items
        with a late answer at or after this time."""
        since_text = arguments.time_bound(since, "since")
        return self._late_items(since_text)

    def _late_items(self, since: str) -> Iterator[Item]:
        step, seen_ids = _FIRST, set[str]()  # a step may repeat items of an earlier one
        marker = ServerMarker(self._connection, self._keys.ledger)
        marker.load()
        while True:
            next_step, *rows = self._commands.late_items(step, _STEP, since).rest
            for name, parts in rows:
                id = name.decode()
                if id not in seen_ids:
                    seen_ids.add(id)
                    yield codec.item(id, parts)
            step = next_step.decode()
            if step == _FIRST:
                if marker.is_present():
                    return
                marker.load()  # and start over: a cursor of one server means nothing to another

    def late_page(self, *, limit: int = 100, after: str | None = None) -> Page:
        """Like ``late_items``, page by page. An item may be on two pages if the server was replaced or
        reordered its items in between; one that has late answers throughout is on at least one page."""
        max_items = validation.integer(limit, "limit", 1, 1_000)
        place = LateCursor.read(after)
        marker = ServerMarker(self._connection, self._keys.ledger, place.marker)
        if not place.marker or not marker.is_present():
            marker.load()
            place = LateCursor(marker.text, past_id=place.past_id)
        page_items: dict[str, Item] = {}
        for id in place.remaining_ids[:max_items]:
            item = self._late_item(id)
            if item is not None:
                page_items[id] = item
        place = replace(place, remaining_ids=place.remaining_ids[max_items:])
        while place.step is not None and not place.remaining_ids and len(page_items) < max_items:
            items, place = self._late_step(place, place.step, max_items - len(page_items))
            for item in items:
                page_items[item.id] = item
        if place.step is None and not place.remaining_ids:
            if marker.is_present():
                return Page(tuple(page_items.values()), None, len(page_items))
            place = replace(place, step=_FIRST)  # another server: the next page starts over
        return Page(tuple(page_items.values()), place.text(), len(page_items))

    def _late_step(self, place: LateCursor, step: str, max_items: int) -> tuple[list[Item], LateCursor]:
        """The first items of a step, and where to continue: after the last of them if the step has all that
        there are, otherwise with those left over from the step."""
        next_step, *rows = self._commands.late_items(step, min(max_items, _STEP), "").rest
        entries = sorted((name.decode(), item) for name, item in rows if name.decode() > place.past_id)
        items = [codec.item(id, item) for id, item in entries[:max_items]]
        ids = tuple(id for id, _ in entries[max_items:])
        has_more = next_step.decode() != _FIRST
        if ids and step == _FIRST and not has_more:
            return items, replace(place, past_id=items[-1].id)
        return items, replace(place, step=next_step.decode() if has_more else None, remaining_ids=ids)

    def _late_item(self, id: str) -> Item | None:
        try:
            item = codec.item(id, self._commands.get(validation.item_id(id)).rest[0])
        except (ItemNotFound, Invalid):
            return None
        return item if item.late_answers else None

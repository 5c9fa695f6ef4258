"""What is there, and what happened. Nothing here changes anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from leaseq import arguments, records, strict
from leaseq.errors import Invalid
from leaseq.model import STATES, Answer, Event, Item, Page, State, Stats
from leaseq.queue.base import Base

COUNTERS = (
    "enqueued",
    "reserved",
    "finished",
    "late",
    "abandoned",
    "expired",
    "failed",
    "died",
    "revived",
    "released",
    "assigned",
    "deduped",
    "undone",
    "forgotten",
)
_PAGE = 50  # items of one call to the server: about a millisecond of it
_ENTRIES = 1_000  # journal entries of one call


class Looking(Base):
    def get(self, id: str) -> Item:
        """All that is known of an item. Raises ItemNotFound."""
        return self._item(self._moves.get(strict.item_id(id)), id)

    def items(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> list[Item]:
        """Items in one state: inbound in the order in which they are handed out, the others by time."""
        return list(self.page(state, limit=limit, after=after).items)

    def by_due(self, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Items with a due date that are neither finished nor dead, what is due first first."""
        return self._page("due", limit, after)

    def page(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Like ``items``, with the cursor that leads on. ``after`` takes that, or an Item of the page."""
        if state not in STATES:
            raise Invalid("state", "one of " + ", ".join(STATES))
        return self._page(state, limit, after)

    def _page(self, state: State | Literal["due"], limit: int, after: str | Item | None) -> Page:
        left = strict.integer(limit, "limit", 1, 1_000)
        cursor = after.cursor if isinstance(after, Item) else after
        found: list[Item] = []
        while left > 0:
            shelf, score, id = arguments.cursor(cursor, state)
            asked = min(left, _PAGE)
            reply = self._moves.items(state, asked, shelf, score, id)
            batch = [records.item(item_id.decode(), known) for item_id, _, known in reply.rest[1:]]
            found += batch
            left -= len(batch)
            if len(batch) < asked and not reply.rest[0]:
                return Page(tuple(found), None)
            cursor = batch[-1].cursor if state != "due" else records.due_cursor(batch[-1])
        return Page(tuple(found), cursor)

    def answers(self, *, with_late: bool = False, chunk: int = 500) -> Iterator[Answer]:
        """Every answer in the order of finishing, in constant memory; ``with_late`` adds the late answers
        of items in any state, after them."""
        for state in STATES if with_late else ("finished",):
            for item in self._walk(state, chunk):
                yield from item.answers
                if with_late:
                    yield from item.late_answers

    def _walk(self, state: State, chunk: int) -> Iterator[Item]:
        page = self.page(state, limit=chunk)
        yield from page.items
        while page.after is not None:
            page = self.page(state, limit=chunk, after=page.after)
            yield from page.items

    def stats(self) -> Stats:
        """Counts of the five states, the age of the oldest in inbound, and what happened so far."""
        counts = self._moves.stats(COUNTERS).rest
        inbound, reserved, scheduled, finished, dead = (int(n) for n in counts[:5])
        return Stats(
            inbound,
            reserved,
            scheduled,
            finished,
            dead,
            oldest_inbound_seconds=None if counts[5] is None else int(counts[5]) / 1e6,
            paused=None if counts[6] is None else json.loads(counts[6]) or "",
            overdue=int(counts[7]),
            waiting=int(counts[8]),
            counters={name: int(n) for name, n in zip(COUNTERS, counts[9:], strict=True)},
        )

    def journal(self, after: str | None = None, limit: int = 100) -> list[Event]:
        """What happened, the oldest first; ``after`` is the cursor of the last event seen."""
        most = strict.integer(limit, "limit", 1, 10_000)
        asked = min(most + 1, _ENTRIES)
        found: list[Event] = []
        while True:
            entry, seen = arguments.journal_cursor(found[-1].cursor if found else after)
            entries = self._moves.journal(entry, asked).rest
            for name, fields in entries:
                moves = records.events(name, fields)
                found += moves[seen:] if moves[0].cursor.rpartition(".")[0] == entry else moves
            if len(found) >= most or len(entries) < asked:
                return found[:most]

"""The queue's read-only methods: items, counts, answers, events.

Made of leaseq/queue/inspection.py by ``python -m tests.meta.asynchronous``; not to be edited.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import get_args

from leaseq import validation
from leaseq.checkpoints import with_checkpoints
from leaseq.engine import arguments, codec
from leaseq.errors import Invalid
from leaseq.events import Event, EventRow, History
from leaseq.models import (
    STATES,
    Alert,
    Answer,
    Filter,
    Item,
    ListName,
    Page,
    State,
    Stats,
    WaitingRow,
)
from leaseq.queue.aio.base import Base
from leaseq.queue.inspection import (
    _ENTRIES,
    _ENTRIES_AT_TIME,
    _ENTRIES_BACK,
    _LOOK,
    _PAGE,
    _WALK,
    COUNTERS,
    EVERYTHING,
    MAX_LOOK,
    _matches,
)


class Inspection(Base):
    async def get(self, id: str) -> Item:
        """An item with everything that is known about it. Raises ItemNotFound."""
        return self._item(await self._commands.get(validation.item_id(id)), id)

    async def items(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> list[Item]:
        """Items in one state: inbound in the order in which they are handed out, the others by time."""
        return list((await self.page(state, limit=limit, after=after)).items)

    async def by_due(self, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Items with a due date that are neither finished nor dead, earliest first."""
        return await self._page("due", limit, after)

    async def page(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Like ``items``, with the cursor of the next page. ``after`` accepts it, or an Item of the page."""
        if state not in STATES:
            raise Invalid("state", "one of " + ", ".join(STATES))
        return await self._page(state, limit, after)

    async def find(
        self,
        state: ListName,
        where: Filter = EVERYTHING,
        *,
        limit: int = 100,
        after: str | Item | None = None,
        look: int = 10000,
        backwards: bool = False,
    ) -> Page:
        """The items of a list that match a filter: at most ``limit``, among the next ``look`` entries of
        it. ``backwards`` begins at the list's end. If the page's ``after`` is not None, there are more
        entries, even if the page is empty."""
        if state not in get_args(ListName):
            raise Invalid("state", "one of " + ", ".join(get_args(ListName)))
        return await self._page(
            state, limit, after, where, validation.integer(look, "look", 1, MAX_LOOK), backwards
        )

    async def _page(
        self,
        state: ListName,
        limit: int,
        after: str | Item | None,
        where: Filter = EVERYTHING,
        look: int = MAX_LOOK,
        backwards: bool = False,
    ) -> Page:
        max_items = validation.integer(limit, "limit", 1, 1000)
        criteria = arguments.criteria(where, backwards)
        cursor = after.cursor if isinstance(after, Item) else after
        items: list[Item] = []
        scanned = 0
        while True:
            place = arguments.cursor(cursor, state)
            max_entries = min(max_items - len(items), _PAGE)
            reply = await self._commands.items(
                state, max_entries, min(look - scanned, _LOOK), place, criteria
            )
            count, row_and_shelf, score, last_member, *entries = reply.rest
            batch = [
                codec.item(item_id.decode(), parts, is_whole=False)
                for item_id, _, parts in with_checkpoints(entries)
            ]
            items += map(codec.in_list_by_due, batch) if state == "due" else batch
            scanned += int(count)
            cursor = codec.cursor(row_and_shelf, score, last_member)
            if cursor is None or len(items) == max_items or scanned >= look:
                return Page(tuple(items), cursor, scanned)

    def answers(
        self,
        *,
        with_late: bool = False,
        person: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        late: bool | None = None,
        chunk: int = 500,
    ) -> AsyncIterator[Answer]:
        """Every answer in the order of finishing, in constant memory. ``with_late`` adds the late answers of
        items in any state; the order is then by state first.

        ``person``, ``since`` (inclusive), ``until`` (exclusive) and ``late`` (True: only late ones; False:
        only those in time) restrict the answers.
        """
        where = Filter(person=person, outcome="finished" if person else None, since=since, until=until)
        arguments.criteria(where, backwards=False)
        item_filter = replace(where, until=None)
        matches = partial(_matches, person=person, since=since, until=until, late=late)
        if with_late:
            return self._answers(STATES, chunk, EVERYTHING, matches, with_late)
        return self._answers(("finished",), chunk, item_filter, matches, with_late)

    async def _answers(
        self,
        states: Iterable[State],
        chunk: int,
        where: Filter,
        matches: Callable[[Answer], bool],
        with_late: bool,
    ) -> AsyncIterator[Answer]:
        for state in states:
            async for item in self._walk(state, chunk, where):
                for answer in (*item.answers, *(item.late_answers if with_late else ())):
                    if matches(answer):
                        yield answer

    async def _walk(self, state: State, chunk: int, where: Filter = EVERYTHING) -> AsyncIterator[Item]:
        after = None
        while True:
            page = await self._page(state, chunk, after, where, _WALK)
            for one in page.items:
                yield one
            after = page.after
            if after is None:
                return
            del page

    async def stats(self) -> Stats:
        """Counts of the five states, the age of the oldest inbound item, the counters, and the alerts."""
        counts = (await self._commands.stats(COUNTERS)).rest
        inbound, reserved, scheduled, finished, dead = (int(n) for n in counts[:5])
        return Stats(
            inbound,
            reserved,
            scheduled,
            finished,
            dead,
            oldest_inbound_seconds=None if counts[5] is None else int(counts[5]) / 1000000.0,
            paused=None if counts[6] is None else json.loads(counts[6]) or "",
            overdue=int(counts[7]),
            waiting=int(counts[8]),
            counters={name: int(n) for name, n in zip(COUNTERS, counts[11:], strict=True)},
            alerts=codec.alerts(counts[9] or b""),
            unreachable=None if counts[10] is None else int(counts[10]),
        )

    async def waiting_rows(self) -> tuple[WaitingRow, ...]:
        """How many items wait, for each set of people who may have them: a row for each set of skills that
        waiting items require, one for each person to whom some are assigned, and one for all others. Its cost
        depends on the number of rows, not on the number of items."""
        counts: dict[bytes, int] = {}
        step = "0"
        while True:
            next_step, *rows = (await self._commands.waiting_rows(step, _LOOK)).rest
            counts.update(rows)
            step = next_step.decode()
            if step == "0":
                return tuple([codec.waiting_row(row, counts[row]) for row in sorted(counts)])

    async def alerts(self) -> tuple[Alert, ...]:
        """The alerts that are raised now, in the order of the policy's rules. The clear job raises and
        resolves them."""
        return (await self.stats()).alerts

    async def journal(self, after: str | None = None, limit: int = 100) -> list[Event]:
        """The queue's events, oldest first; ``after`` is the cursor of the last event seen."""
        max_events = validation.integer(limit, "limit", 1, 10000)
        rows = await self._event_rows(after, max_events, min(max_events + 1, _ENTRIES))
        return [codec.event(row) for row in with_checkpoints(rows[:max_events])]

    async def event_rows(self, after: str | None = None, limit: int = 10000) -> list[EventRow]:
        """Like `journal`, but undecoded, in a third of the time: for programs that store events. Always ends
        with a whole journal entry, and so may return more than ``limit`` events."""
        return await self._event_rows(after, validation.integer(limit, "limit", 1, 10000), _ENTRIES)

    async def _event_rows(self, after: str | None, max_rows: int, batch_size: int) -> list[EventRow]:
        rows: list[EventRow] = []
        while True:
            entry, seen_count = arguments.journal_cursor(rows[-1].cursor if rows else after)
            entries = (await self._commands.journal(entry, batch_size)).rest
            for name, fields in with_checkpoints(entries):
                events = codec.event_rows(name, fields)
                rows += events[seen_count:] if str(events[0].position) == entry else events
                if len(rows) >= max_rows:
                    return rows
            if len(entries) < batch_size:
                return rows

    async def latest_events(self, limit: int = 100, before: str | None = None) -> list[Event]:
        """The queue's latest events, latest first; ``before`` is the cursor of the last event seen."""
        max_events = validation.integer(limit, "limit", 1, 10000)
        max_entries = min(max_events + 1, _ENTRIES_BACK)
        events: list[Event] = []
        while True:
            entry, count = arguments.journal_cursor_back(events[-1].cursor if events else before)
            entries = (await self._commands.journal(entry, max_entries, "back")).rest
            for name, fields in with_checkpoints(entries):
                entry_events = codec.events(name, fields)
                events += reversed(
                    entry_events[:count]
                    if entry_events[0].cursor.rpartition(".")[0] == entry
                    else entry_events
                )
                if len(events) >= max_events:
                    return events[:max_events]
            if len(entries) < max_entries:
                return events

    async def history(self, id: str, *, look: int = 10000) -> History:
        """The journal's events about an item, among the ``look`` entries since it was enqueued; and, from any
        later time, the events of managers who ended its leases."""
        item = await self.get(id)
        remaining = validation.integer(look, "look", 1, MAX_LOOK)
        start, known_events = (str(codec.microseconds(item.enqueued_at)), list[Event]())
        while start and remaining > 0:
            scanned, start, events = await self._item_events(item.id, start, min(remaining, _ENTRIES_BACK))
            known_events += events
            remaining -= scanned
        known_tokens = {event.token for event in known_events if event.what == "released"}
        for grant in item.history if start else ():
            if grant.how == "released" and grant.ended_at and (grant.token not in known_tokens):
                events = (
                    await self._item_events(
                        item.id, str(codec.microseconds(grant.ended_at)), _ENTRIES_AT_TIME
                    )
                )[2]
                known_events += [one for one in events if one.what == "released" and one.token == grant.token]
        return History(tuple(known_events), whole=not start)

    async def _item_events(self, id: str, start: str, look: int) -> tuple[int, str, list[Event]]:
        """The number of entries scanned, the entry to continue with, and the item's events in them."""
        scanned, next_entry, *entries = (await self._commands.history(start, look, id)).rest
        entry_events = [event for entry in with_checkpoints(entries) for event in codec.events(*entry)]
        return (int(scanned), next_entry.decode(), [event for event in entry_events if event.id == id])

"""Reading a queue: items, counts, answers, events, and the places of those who follow its journal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
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
    CounterName,
    Filter,
    Item,
    ListName,
    Outcome,
    OutcomeRow,
    Page,
    State,
    Stats,
    WaitingRow,
)
from leaseq.queue.base import Base

COUNTERS: tuple[CounterName, ...] = get_args(CounterName)
EVERYTHING = Filter()
MAX_LOOK = 1_000_000
_PAGE = 50  # items per call: about a millisecond of the server's time
_LOOK = 250  # entries that one call scans for a filter: also about a millisecond
_ENTRIES_AT_TIME = 5  # journal entries to read to find one whose time is known
_WALK = 5_000  # entries that one page of answers scans
_ENTRIES = 1_000  # journal entries per call
_ENTRIES_BACK = 200  # the same if few events may be needed: an import has hundreds in one entry


class Inspection(Base):
    def get(self, id: str) -> Item:
        """An item with everything that is known about it. Raises ItemNotFound."""
        return self._run_on_item("get", id)

    def items(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> list[Item]:
        """Items in one state: inbound in the order in which they are handed out, the others by time."""
        return list(self.page(state, limit=limit, after=after).items)

    def by_due(self, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Items with a due date that are neither finished nor dead, earliest first."""
        return self._page("due", limit, after)

    def page(self, state: State, *, limit: int = 100, after: str | Item | None = None) -> Page:
        """Like ``items``, with the cursor of the next page. ``after`` accepts it, or an Item of the page."""
        if state not in STATES:
            raise Invalid("state", "one_of", choices=STATES, value=state)
        return self._page(state, limit, after)

    def find(
        self,
        state: ListName,
        where: Filter = EVERYTHING,
        *,
        limit: int = 100,
        after: str | Item | None = None,
        look: int = 10_000,
        backwards: bool = False,
    ) -> Page:
        """The items of a list that match a filter: at most ``limit``, among the next ``look`` entries of
        it. ``backwards`` begins at the list's end. If the page's ``after`` is not None, there are more
        entries, even if the page is empty."""
        if state not in get_args(ListName):
            raise Invalid("state", "one_of", choices=get_args(ListName), value=state)
        return self._page(
            state, limit, after, where, validation.integer(look, "look", 1, MAX_LOOK), backwards
        )

    def _page(
        self,
        state: ListName,
        limit: int,
        after: str | Item | None,
        where: Filter = EVERYTHING,
        look: int = MAX_LOOK,
        backwards: bool = False,
    ) -> Page:
        max_items = validation.integer(limit, "limit", 1, 1_000)
        criteria = arguments.criteria(where, backwards)
        cursor = after.cursor if isinstance(after, Item) else after
        items: list[Item] = []
        scanned = 0
        while True:
            place = arguments.cursor(cursor, state)
            max_entries = min(max_items - len(items), _PAGE)
            reply = self._commands.run(
                "items", state, max_entries, min(look - scanned, _LOOK), *place, *criteria
            )
            count, row_and_shelf, score, last_member, *entries = reply.rest
            batch = [
                codec.item(item_id.decode(), parts, is_whole=False)
                for item_id, _, parts in with_checkpoints(entries)
            ]
            items += self._compared(list(map(codec.in_list_by_due, batch)) if state == "due" else batch)
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
    ) -> Iterator[Answer]:
        """Every answer in the order of finishing, in constant memory. ``with_late`` adds the late answers of
        items in any state; the order is then by state first.

        ``person``, ``since`` (inclusive), ``until`` (exclusive) and ``late`` (True: only late ones; False:
        only those in time) restrict the answers.
        """
        where = Filter(person=person, outcome="finished" if person else None, since=since, until=until)
        arguments.criteria(where, backwards=False)  # refuse now, not when the first answer is requested
        # An adopted answer was given before its item was finished.
        item_filter = EVERYTHING if with_late else replace(where, until=None)
        matches = partial(_matches, person=person, since=since, until=until, late=late)
        return self._answers(chunk, item_filter, matches, with_late)

    def _answers(
        self, chunk: int, where: Filter, matches: Callable[[Answer], bool], with_late: bool
    ) -> Iterator[Answer]:
        states: tuple[State, ...] = STATES if with_late else ("finished",)
        for state in states:
            for item in self._walk(state, chunk, where):
                for answer in (*item.answers, *(item.late_answers if with_late else ())):
                    if matches(answer):
                        yield answer

    def _walk(self, state: State, chunk: int, where: Filter = EVERYTHING) -> Iterator[Item]:
        after = None
        while True:
            page = self._page(state, chunk, after, where, _WALK)
            yield from page.items
            after = page.after
            if after is None:
                return
            del page  # only one page in memory at a time

    def stats(self) -> Stats:
        """Counts of the five states, the age of the oldest inbound item, the counters, and the alerts."""
        counts = self._commands.run("stats", *COUNTERS).rest
        inbound, reserved, scheduled, finished, dead = (int(n) for n in counts[:5])
        places, times = counts[12][::2], counts[12][1::2]
        answer_times = sorted(int(n) for place, n in zip(places, times, strict=True) if place != b"count")
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
            counters={name: int(n) for name, n in zip(COUNTERS, counts[13:], strict=True)},
            alerts=codec.alerts(counts[9] or b""),
            unreachable=None if counts[10] is None else int(counts[10]),
            questions=int(counts[11]),
            answer_seconds=answer_times[len(answer_times) // 2] / 1e6 if answer_times else None,
        )

    def waiting_rows(self) -> tuple[WaitingRow, ...]:
        """The numbers of waiting items, for each set of people who may have them: a row for each set of
        skills that waiting items require, one for each person to whom some are assigned, and one for all
        others. Its cost depends on the number of rows, not on the number of items."""
        counts: dict[bytes, int] = {}
        step = "0"
        while True:
            next_step, *rows = self._commands.run("waiting_rows", step, _LOOK).rest
            counts.update(rows)
            step = next_step.decode()
            if step == "0":
                return tuple([codec.waiting_row(row, counts[row]) for row in sorted(counts)])

    def alerts(self) -> tuple[Alert, ...]:
        """The alerts that are raised now, in the order of the policy's rules. The clear job raises and
        resolves them."""
        return self.stats().alerts

    def journal(self, after: str | None = None, limit: int = 100) -> list[Event]:
        """The queue's events, oldest first; ``after`` is the cursor of the last event seen."""
        max_events = validation.integer(limit, "limit", 1, 10_000)
        rows = self._event_rows(after, max_events, min(max_events + 1, _ENTRIES))
        return [codec.event(row) for row in with_checkpoints(rows[:max_events])]

    def event_rows(self, after: str | None = None, limit: int = 10_000) -> list[EventRow]:
        """Like `journal`, but undecoded, in a third of the time: for programs that store events. Always ends
        with a whole journal entry, and so may return more than ``limit`` events."""
        return self._event_rows(after, validation.integer(limit, "limit", 1, 10_000), _ENTRIES)

    def _event_rows(self, after: str | None, max_rows: int, batch_size: int) -> list[EventRow]:
        rows: list[EventRow] = []
        while True:
            entry, seen_count = arguments.journal_cursor(rows[-1].cursor if rows else after)
            entries = self._commands.run("journal", entry, batch_size, "").rest
            for name, fields in with_checkpoints(entries):
                events = codec.event_rows(name, fields)
                rows += events[seen_count:] if str(events[0].position) == entry else events
                if len(rows) >= max_rows:
                    return rows
            if len(entries) < batch_size:
                return rows

    def latest_events(self, limit: int = 100, before: str | None = None) -> list[Event]:
        """The queue's latest events, latest first; ``before`` is the cursor of the last event seen."""
        max_events = validation.integer(limit, "limit", 1, 10_000)
        max_entries = min(max_events + 1, _ENTRIES_BACK)
        events: list[Event] = []
        while True:
            entry, count = arguments.journal_cursor_back(events[-1].cursor if events else before)
            entries = self._commands.run("journal", entry, max_entries, "back").rest
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

    def history(self, id: str, *, look: int = 10_000) -> History:
        """The journal's events about an item, among the ``look`` entries since it was enqueued; and, from any
        later time, the events of managers who ended its leases."""
        item = self.get(id)
        remaining = validation.integer(look, "look", 1, MAX_LOOK)
        start, known_events = str(codec.microseconds(item.enqueued_at)), list[Event]()
        while start and remaining > 0:
            scanned, start, events = self._item_events(item.id, start, min(remaining, _ENTRIES_BACK))
            known_events += events
            remaining -= scanned
        known_tokens = {event.token for event in known_events if event.what == "released"}
        for grant in item.history if start else ():
            if grant.how == "released" and grant.ended_at and grant.token not in known_tokens:
                events = self._item_events(
                    item.id, str(codec.microseconds(grant.ended_at)), _ENTRIES_AT_TIME
                )[2]
                known_events += [
                    event for event in events if event.what == "released" and event.token == grant.token
                ]
        return History(tuple(known_events), whole=not start)

    def _item_events(self, id: str, start: str, look: int) -> tuple[int, str, list[Event]]:
        """The number of entries scanned, the entry to continue with, and the item's events in them."""
        scanned, next_entry, *entries = self._commands.run("history", start, look, id).rest
        entry_events = [event for entry in with_checkpoints(entries) for event in codec.events(*entry)]
        return int(scanned), next_entry.decode(), [event for event in entry_events if event.id == id]


def _matches(
    answer: Answer, *, person: str | None, since: datetime | None, until: datetime | None, late: bool | None
) -> bool:
    """Whether an answer matches each criterion that is not None."""
    return (
        late in (None, answer.late)
        and (person is None or answer.person == person)
        and (since is None or answer.finished_at >= since)
        and (until is None or answer.finished_at < until)
    )


_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
_OUTCOMES = 250  # items per call
_ENTRY_END = 999_999_999  # after the last event of any entry


class Following(Base):
    def follow(self, name: str, *, read: str | None = None, keep: int | None = None) -> str:
        """The position in the journal from which the follower of this name continues: a cursor for the
        ``after`` of `journal`.

        Entries that a follower has not read are kept: the journal is not trimmed past its position, up to
        four million entries, and finished and dead items are not deleted. A new name begins with the oldest
        event. ``read``: the cursor of the last event that the follower has processed.

        The position never moves back, and is always between two journal entries. An entry has the events of
        one call: if only some of them were read, all of them are returned again. So get the position once, at
        the start, and then continue from the cursor of the last event: a call may have more events than a
        page of `journal`. Pass cursors back as they are; don't compare them. ``keep``: keep only about this
        many of the entries that all followers have read.
        """
        keep_text = "" if keep is None else str(validation.integer(keep, "keep", 0, 10**9))
        entry, number = ("", 0) if read is None else arguments.event(read, "read")
        reply = self._commands.run(
            "follow", _follower(name), entry, "" if read is None else number, keep_text
        )
        return f"{reply.rest[0].decode()}.{_ENTRY_END}"

    def unfollow(self, name: str) -> None:
        """Remove a follower: nothing is kept for it from then on."""
        self._commands.run("unfollow", _follower(name))

    def outcomes(self, ids: Iterable[str]) -> list[Outcome | None]:
        """The state and the answers of many items; None for each that doesn't exist."""
        return [row and codec.outcome(row) for row in self.outcome_rows(ids)]

    def outcome_rows(self, ids: Iterable[str]) -> list[OutcomeRow | None]:
        """Like `outcomes`, but payloads and results are JSON texts, exactly as the server has them: for
        programs that store them."""
        item_ids = [validation.item_id(id, "ids") for id in ids]
        rows: list[OutcomeRow | None] = []
        while len(rows) < len(item_ids):
            batch = item_ids[len(rows) : len(rows) + _OUTCOMES]
            reply = self._commands.run("outcomes", *batch)
            rows += [
                parts and codec.outcome_row(id, parts) for id, parts in zip(batch, reply.rest, strict=False)
            ]
        return rows


def _follower(name: object) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise Invalid("name", "format", what="follower_name", value=name)
    return name

"""A manager's methods of a queue: its policy, its items, late answers, followers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Literal, Unpack
from urllib.parse import quote, unquote

from leaseq import validation
from leaseq.engine import arguments, codec, replies
from leaseq.engine.connection import ServerMarker
from leaseq.errors import Invalid, ItemNotFound, QueueNotFound
from leaseq.models import (
    STATES,
    Cleared,
    Filter,
    GivenAnswer,
    GivenAnswerRow,
    Item,
    ItemChanges,
    Json,
    Page,
    State,
    Stopped,
)
from leaseq.queue.base import FIRST_STEP, Base
from leaseq.queue.inspection import Inspection

_BATCH = 250  # items per call


_STEP = 20  # items per call, about


@dataclass(frozen=True, slots=True)
class LateCursor:
    """The place at which a page begins. The server decides how many items a step returns, so some may be left
    over."""

    marker: str = ""  # of the server whose HSCAN returned the step; '': none yet
    step: str | None = FIRST_STEP  # HSCAN's cursor for the next step; None: there is none
    past_id: str = ""  # skip items up to this id: they were on earlier pages
    remaining_ids: tuple[str, ...] = ()  # ids left over from the previous step

    _TEXT = re.compile(r"([0-9a-f]{16})/([0-9]{1,19}|end)/([^/]*)/([^/]*)")

    @classmethod
    def read(cls, cursor: object) -> LateCursor:
        if cursor is None:
            return cls()
        match = cls._TEXT.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise Invalid("after", "format", what="cursor")
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
        return self._late_items(arguments.time_bound(since, "since"))

    def _late_items(self, since: str) -> Iterator[Item]:
        for item, _ in self._scan(lambda step: self._commands.run("late_items", step, _STEP, since)):
            yield item

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
            place = replace(place, step=FIRST_STEP)  # another server: the next page starts over
        return Page(tuple(page_items.values()), place.text(), len(page_items))

    def _late_step(self, place: LateCursor, step: str, max_items: int) -> tuple[list[Item], LateCursor]:
        """The first items of a step, and where to continue: after the last of them if the step has all that
        there are, otherwise with those left over from the step."""
        next_step, *rows = self._commands.run("late_items", step, min(max_items, _STEP), "").rest
        entries = sorted((name.decode(), item) for name, item in rows if name.decode() > place.past_id)
        items = self._compared([codec.item(id, item) for id, item in entries[:max_items]])
        ids = tuple(id for id, _ in entries[max_items:])
        has_more = next_step.decode() != FIRST_STEP
        if ids and step == FIRST_STEP and not has_more:
            return items, replace(place, past_id=items[-1].id)
        return items, replace(place, step=next_step.decode() if has_more else None, remaining_ids=ids)

    def _late_item(self, id: str) -> Item | None:
        try:
            item = self._run_on_item("get", id)
        except (ItemNotFound, Invalid):
            return None
        return item if item.late_answers else None


_MOVES = 40  # items moved by one call: about a millisecond of the server's time
_LOOK = 250  # items read by one call
_LATER_STATES: tuple[State, ...] = ("scheduled", "dead")  # from which items come back to inbound
OnRemoved = Callable[[str], object]


class Admin(Inspection):
    def clear(self, limit: int = 1000) -> Cleared:
        """Move items whose lease expired back to inbound, release items that are due, and delete finished and
        dead items that the policy no longer keeps: at most ``limit`` items; ``more`` is true if there are
        others. Also raises and resolves alerts by the rules of the policy's ``alerts``: see `alerts`."""
        remaining = validation.integer(limit, "limit", 1, 1_000_000)
        returned = released = died = forgotten = 0
        has_more = True
        while has_more and remaining > 0:
            reply = self._commands.run("clear", min(remaining, _MOVES))
            counts = [int(n) for n in reply.rest]
            returned, released, died = returned + counts[0], released + counts[1], died + counts[2]
            forgotten += counts[4]
            remaining -= sum(counts[:3]) + counts[4]
            has_more = bool(counts[3])
        if counts[5]:
            self._commands.run("check_alerts", "")
        return Cleared(returned, released, died, has_more, forgotten)

    def check_alerts(self, *, unreachable: int) -> None:
        """Apply the policy's ``alerts`` with a figure that only the caller knows: how many waiting items
        nobody may have (`waiting_rows` says who may have them). `stats` returns it for ten minutes. The web
        app calls this every minute; `clear` applies all other rules."""
        count = validation.integer(unreachable, "unreachable", 0, 2**53)
        self._commands.run("check_alerts", count)

    def pause(self, reason: str | None = None, *, by: str | None = None) -> None:
        """Stop handing out items. Held items may still be finished."""
        self._commands.run("pause", arguments.author(by), arguments.text(reason, "reason"))

    def resume(self, *, by: str | None = None) -> None:
        """End a pause."""
        self._commands.run("resume", arguments.author(by))

    def stop(self, person: str, reason: str | None = None, *, by: str | None = None) -> None:
        """Give a person no further item of this queue until `let_work`, and show them the reason. What they
        hold they may still finish; what is assigned to them stays so."""
        words = validation.person_name(person), arguments.author(by), arguments.text(reason, "reason")
        self._commands.run("stop", *words)

    def let_work(self, person: str, *, by: str | None = None) -> None:
        """Let a stopped person have items again."""
        self._commands.run("stop", validation.person_name(person), arguments.author(by), "")

    def stopped(self) -> list[Stopped]:
        """The stopped people, by name."""
        (fields,) = self._commands.run("stopped").rest
        return sorted(map(codec.stopped, fields[::2], fields[1::2]), key=attrgetter("person"))

    def revive(self, id: str, *, by: str | None = None) -> Item:
        """Move a dead item back to inbound, and reset its failures. Raises Invalid for a finished item; items
        in other states are not changed."""
        return self._run_on_item("revive", id, arguments.author(by))

    def revive_all(
        self, *, error: str | None = None, person: str | None = None, limit: int = 1000, by: str | None = None
    ) -> int:
        """Revive at most ``limit`` dead items, the longest dead first; returns their number.

        ``error``: only those whose last error contains this text. ``person``: only those that this person had
        last. A number below ``limit`` means that none is left. Items that another caller revives or removes
        at the same time are skipped.
        """
        return self._move_all("dead", lambda id: self.revive(id, by=by), error, person, limit, by)

    def remove_all(
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
            raise Invalid("state", "one_of", choices=STATES, value=state)

        manager = arguments.author(by)

        def remove(id: str) -> None:
            self._commands.run("remove", id, manager, "if", state)
            if on_removed:
                on_removed(id)

        return self._move_all(state, remove, error, person, limit, by)

    def _move_all(
        self,
        state: State,
        move: Callable[[str], object],
        error: str | None,
        person: str | None,
        limit: int,
        by: str | None,
    ) -> int:
        """Call ``move`` for the matching items in a state; returns the number of items moved."""
        max_count = validation.integer(limit, "limit", 1, 1_000_000)
        error_text = None if error is None else validation.text(error, "error")
        person_name = None if person is None else validation.person_name(person)
        arguments.author(by)
        moved_ids: set[str] = set()  # with several answers, an item is listed once for each assignment
        for item in self._walk(state, _LOOK):
            if item.id in moved_ids or not _matches(item, error_text, person_name):
                continue
            try:
                move(item.id)
            except (ItemNotFound, Invalid):
                continue
            moved_ids.add(item.id)
            if len(moved_ids) == max_count:
                break
        return len(moved_ids)

    def cancel(self, id: str, reason: str | None = None, *, by: str | None = None) -> Item:
        """End an item that nobody needs any more: it is dead immediately, also if somebody holds it; an
        answer of theirs that still arrives is kept as a late answer. Returns the item; a dead one is not
        changed. Raises Invalid if it is finished."""
        return self._run_on_item("cancel", id, arguments.author(by), arguments.text(reason, "reason"))

    def release(self, id: str, *, person: str | None = None, by: str | None = None) -> Item:
        """End all leases of an item, or only this person's; the item returns to the front of the queue."""
        holder = validation.person_name(person) if person is not None else ""
        return self._run_on_item("release", id, arguments.author(by), holder)

    def assign(
        self, id: str, person: str, *, unless: Literal["assigned"] | None = None, by: str | None = None
    ) -> Item:
        """Let only this person reserve an item, until they give it back. It returns to the front of the
        queue.

        Raises Invalid if no assignment of the item waits, or if the person holds or has answered it; with
        ``unless="assigned"`` also if what waits of it is assigned to somebody else, who would lose it.
        """
        assignee = validation.person_name(person)
        if unless not in (None, "assigned"):
            raise Invalid("unless", "one_of", choices=("None", "assigned"), value=unless)
        return self._run_on_item("assign", id, arguments.author(by), assignee, unless or "")

    def unassign(self, id: str, *, person: str | None = None, by: str | None = None) -> Item:
        """Let anybody have an item again that is assigned to somebody, or only what is assigned to this
        person. If it waits, it goes to the front of the queue; who holds it keeps it. An item that is not
        assigned to them is not changed."""
        assignee = validation.person_name(person) if person is not None else ""
        return self._run_on_item("unassign", id, arguments.author(by), assignee)

    def unassign_all(self, person: str, *, by: str | None = None) -> int:
        """Let anybody have what is assigned to a person, in whatever state; returns the number of items."""
        assignee, author = validation.person_name(person), arguments.author(by)
        count, has_more = 0, True
        while has_more:
            reply = self._commands.run("unassign_person", assignee, author, _MOVES)
            count += int(reply.rest[0])
            has_more = bool(reply.rest[1])
        where = Filter(person=assignee, outcome="assigned")
        assigned: set[str] = set()  # with several answers, an item is listed once for each assignment
        for state in _LATER_STATES:
            for item in self._walk(state, _LOOK, where):
                assigned.add(item.id)
        for id in assigned:
            with suppress(ItemNotFound):
                self._commands.run("unassign", id, author, assignee)
                count += 1
        return count

    def change(
        self,
        id: str,
        *,
        expected: Item | None = None,
        by: str | None = None,
        **changes: Unpack[ItemChanges],
    ) -> Item:
        """Change an item that is inbound, scheduled or dead; fields that are not named stay as they are.

        With another priority or other skills, it is placed by its age among the items already there. If an
        item has several assignments, at least one must be in one of these states: it is moved, and those that
        are held stay with their people. ``due=None`` removes the date. ``delay``, in seconds from now,
        schedules the item; 0 makes it inbound immediately. A dead item stays dead until it is revived, and a
        ``delay`` is refused for it.

        ``answers``, without other changes, sets the number of answers that the item needs, in any state. With
        more, the item waits for further people, each of whom gives one answer; a dead item waits for them
        after it is revived. With fewer, what is no longer needed is closed, so an item that has as many is
        finished. A person who holds such an assignment may finish it, and the answer counts; it is closed
        when it comes back.

        Raises Invalid for an item in another state, and for a ``payload`` while somebody holds or has
        answered the item. An answer to the earlier payload that still arrives is kept as a late answer.

        ``expected``, the item as it was read: raises Invalid, and changes nothing, unless the named ones of
        priority, due, requires and delay still have its values.
        """
        fields = arguments.changes(changes)
        if expected is not None:
            fields += arguments.expected_values(expected, changes)
        return self._run_on_item("change", id, arguments.author(by), arguments.request_id(), *fields)

    def remove(self, id: str, *, unless: Literal["finished"] | None = None, by: str | None = None) -> None:
        """Delete an item, whatever its state, with all its answers: also one that was given a moment ago.

        ``unless="finished"`` deletes it only while nobody has finished it, or one of its assignments.
        Otherwise it raises ItemFinished, with the item, and nothing changes.
        """
        if unless not in (None, "finished"):
            raise Invalid("unless", "one_of", choices=("None", "finished"), value=unless)
        condition = () if unless is None else ("unless", unless)
        self._commands.run("remove", validation.item_id(id), arguments.author(by), *condition)

    def remove_read(
        self, id: str, answers: Iterable[GivenAnswer | GivenAnswerRow], *, by: str | None = None
    ) -> bool:
        """Delete an item, unless it has an answer that was given after all of ``answers``. Returns whether
        the item is gone.

        For programs that keep the answers elsewhere and pass those that they have stored: an answer that
        somebody gives in the meantime is not deleted.
        """
        times = (codec.microseconds(answer.finished_at) for answer in answers)
        condition = ("unread", str(max(times, default=0)))
        try:
            reply = self._commands.run("remove", validation.item_id(id), arguments.author(by), *condition)
        except (ItemNotFound, QueueNotFound):
            return True
        return reply.code != replies.UNREAD

    def adopt(self, id: str, token: int, *, by: str | None = None) -> Item:
        """Turn a late answer (named by its token) into an answer of the item. It fills an assignment that
        nobody holds or has answered. If there is none, it ends the lease of the assignment that it was given
        for, or replaces that assignment's answer, which becomes a late answer."""
        number = validation.integer(token, "token", 1, 2**53)
        return self._run_on_item("adopt", id, number, arguments.author(by), arguments.request_id())

    def reopen(
        self,
        id: str,
        token: int,
        *,
        to: str | None = None,
        reason: str | None = None,
        by: str | None = None,
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
        return self._run_on_item("reopen", id, number, arguments.author(by), assignee, reason_text)

    def correct(self, id: str, token: int, result: Json, *, by: str, expected_form: Json = ...) -> Item:
        """Replace an answer (named by its token) with one by the manager ``by``. The replaced answer is kept
        as a late answer. Repeating the same correction changes nothing. ``expected_form``: the form that
        the manager answered; if it is no longer the queue's, raises PolicyChanged, and nothing changes.

        Raises Invalid (field ``result``, with ``errors``) if the result doesn't fit the queue's form, and
        Invalid if no answer of the item has the token, or if ``by`` holds or has answered another assignment
        of the item.
        """
        item, number = validation.item_id(id), validation.integer(token, "token", 1, 2**53)
        manager, text = validation.person_name(by, "by"), validation.dump_json(result, "result")
        reply = self._send_checked(
            item,
            result,
            expected_form,
            lambda version: self._commands.run("correct", item, number, manager, text, version),
        )
        return self._compared([codec.item(id, reply.rest[0])])[0]


def _matches(item: Item, error: str | None, person: str | None) -> bool:
    """Whether an item's last error contains ``error`` and its last grant was the person's."""
    if error is not None and error not in (item.last_error or ""):
        return False
    return person is None or (item.history != () and item.history[-1].person == person)

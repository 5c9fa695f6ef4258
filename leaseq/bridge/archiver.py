"""The archiver, which writes what happens in queues to the database: events, answers, and the status of each
item.

The journal cursor is stored in the database, in the same transaction as the events up to it, so each event is
written once, even if the archiver is interrupted. The server gets the cursor afterwards, and keeps the events
after it. Statuses and answers are an item's current ones, not those of an event, so the order of events does
not matter for them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Engine, Text, cast, delete, literal, select, update

from leaseq.bridge import registry
from leaseq.bridge.migrator import BY, differences, new_item
from leaseq.bridge.outcomes import outcomes_of, write_answers, write_details, write_ends
from leaseq.bridge.statements import Statements, statements_on
from leaseq.bridge.tables import STATUS_OF, ItemRow, answer, change, event, item, item_row
from leaseq.errors import Invalid, QueueNotFound
from leaseq.events import EventKind, EventRow
from leaseq.followers import Lag, read_on
from leaseq.models import OutcomeRow
from leaseq.queue import Queue

FOLLOWER = "bridge"
"""The archiver's name among the followers of a queue's journal."""

_EVENTS = 10_000  # per transaction
_OUTCOMES = 500  # per call
_SETTLING_EVENTS: frozenset[EventKind] = frozenset(
    {"finished", "undone", "late", "adopted", "reopened", "corrected", "died", "revived", "removed", "closed"}
)
"""Events that change an item's status or answers."""
_NEEDING_EVENTS: frozenset[EventKind] = frozenset({"revived", "reopened", "removed", "forgotten"})
"""Events after which an item, or a new one with its id, may have another deadline or form."""
_DETAIL_EVENTS: frozenset[EventKind] = frozenset(
    {"assigned", "unassigned", "changed", "abandoned", "failed", "expired", "released"}
)
"""Other events that change an item's details."""

log = logging.getLogger(__name__)


class _DatabasePlace:
    """The archiver's place in a queue's journal. It is saved in the transaction that writes the events up to
    it, and locks out other archivers until that ends."""

    def __init__(self, statements: Statements, queue: Queue) -> None:
        self.cursor = statements.lock()
        self._statements = statements
        self._queue = queue

    def load(self) -> str:
        return self.cursor or self._queue.follow(FOLLOWER)

    def save(self, cursor: str) -> None:
        registry.save_cursor(self._statements, cursor)
        self.cursor = cursor

    def moves_back(self) -> bool:
        """Move the place back if the journal ends before it; return whether it does."""
        cursor = self.cursor and _find_cursor(self._statements, self._queue, self.cursor)
        if cursor:
            self.save(cursor)
        return bool(cursor)


class Archiver:
    def __init__(self, engine: Engine, keep_events: int = 100_000) -> None:
        self._keep_events = keep_events
        self._engine = engine
        self._lag = Lag("the bridge", log)

    def archive(self, queue: Queue) -> int:
        """Write the queue's next events, and return their number."""
        with statements_on(self._engine, queue.name) as statements:
            place, write = _DatabasePlace(statements, queue), partial(_write, statements, queue)
            try:
                count = read_on(queue.event_rows, place, write, _EVENTS)
                if not count and place.moves_back():
                    count = read_on(queue.event_rows, place, write, _EVENTS)
            except QueueNotFound:
                return 0
        if place.cursor:  # without events, too: the server may have lost it
            queue.follow(FOLLOWER, read=place.cursor, keep=self._keep_events)
            self._lag.check(queue, place.cursor, has_more=count >= _EVENTS)
        return count


def _write(statements: Statements, queue: Queue, events: Sequence[EventRow]) -> None:
    statements.add_events(events)
    removed_ids = {event.id for event in events if event.what == "removed" and event.id}
    settling_ids = {event.id: None for event in events if _is_settling(event) and event.id}
    added_ids = [event.id for event in events if event.what == "enqueued" and event.id]
    foreign_ids: list[str] = []
    new_ids: list[str] = []  # of rows that are those of an earlier item
    if added_ids:
        foreign_ids = statements.missing_ids(added_ids)
        new_ids = statements.ended_ids(added_ids)
        settling_ids |= dict.fromkeys(new_ids)
    detail_ids = {event.id for event in events if event.what in _DETAIL_EVENTS and event.id}
    ids = list(settling_ids | dict.fromkeys(foreign_ids) | dict.fromkeys(detail_ids))
    outcomes = dict(zip(ids, queue.outcome_rows(ids), strict=True))
    by_id = {id: outcome for id, outcome in outcomes.items() if outcome is not None}
    _delete_undone_answers(statements, events)
    write_answers(statements, list(by_id.values()))
    rows = [(item_row(by_id[id]), STATUS_OF[by_id[id].state]) for id in foreign_ids if id in by_id]
    statements.add_items(rows)
    settled = [by_id[id] for id in settling_ids if id in by_id]
    _set_statuses(statements, settled)
    needed_ids = {event.id for event in events if event.what in _NEEDING_EVENTS or _is_about_answers(event)}
    write_ends(statements, settled, needed_ids.union(new_ids))
    write_details(statements, by_id.values(), detail_ids)
    changed_ids = {event.id for event in events if event.what == "changed" and event.person != BY}
    _write_changes(statements, [by_id[id] for id in changed_ids if id in by_id])
    if deleted_ids := [id for id in removed_ids if outcomes.get(id) is None]:
        statements.set_status(deleted_ids, "cancelled")
        # These include the record of what was just written, which would remove an item that gets the id
        # in the meantime.
        statements.execute(delete(change).where(change.c.queue == queue.name, change.c.id.in_(deleted_ids)))
    if any(event.what in ("created", "configured") for event in events):
        registry.save_policy(statements, queue.policy)
    if any(event.what in ("created", "paused", "resumed") for event in events):
        registry.save_pause(statements, queue.stats().paused)
    if any(event.what == "created" for event in events):
        _warn_of_missing_items(statements, queue)


def _is_settling(event: EventRow) -> bool:
    return event.what in _SETTLING_EVENTS or _is_about_answers(event)


def _is_about_answers(event: EventRow) -> bool:
    """Whether it may have changed how many answers an item needs: a finished one then waits again."""
    return event.what == "changed" and "answers" in (event.detail or "")


def _write_changes(statements: Statements, outcomes: Sequence[OutcomeRow]) -> None:
    """Write the columns of items that somebody changed in the queue. Rows that were changed in the
    database just now are left to the migrator."""
    by_id = {outcome.id: outcome for outcome in outcomes if outcome.state != "finished"}
    queue, execute = statements.queue, statements.execute
    clause = (item.c.queue == queue) & item.c.id.in_(by_id) & item.c.status.in_(("queued", "dead"))
    ids = set(execute(select(item.c.id).where(clause).with_for_update()).scalars())
    is_recorded = (change.c.queue == queue) & change.c.id.in_(ids)
    ids -= set(execute(select(change.c.id).where(is_recorded)).scalars())
    for row in statements.items(list(ids)):
        if values := _changed_columns(by_id[row.id], row):
            is_row = (item.c.queue == queue) & (item.c.id == row.id)
            execute(update(item).where(is_row).values(values | {"error": None}))
    record = (change.c.queue == queue) & change.c.id.in_(ids)
    execute(delete(change).where(record))  # of what was just written


def _changed_columns(outcome: OutcomeRow, row: ItemRow) -> dict[str, object]:
    try:
        names = differences(outcome, new_item(row)).keys()
    except Invalid:  # its error says why: the queue has not got it
        return {}
    values = {
        "priority": outcome.priority,
        "requires": outcome.requires,
        "due": outcome.due,
        "payload": cast(literal(outcome.payload, Text), item.c.payload.type),  # the exact text
    }
    return {name: value for name, value in values.items() if name in names}


def _warn_of_missing_items(statements: Statements, queue: Queue) -> None:
    """Log how many items the queue lacks after it was deleted, or lost, and created again."""
    ids = statements.ids_with("queued")
    batches = (ids[start : start + _OUTCOMES] for start in range(0, len(ids), _OUTCOMES))
    missing_count = sum(outcomes_of(queue, batch).count(None) for batch in batches)
    if missing_count:
        log.warning(
            "queue %s: it was created again, without %d of the items that it had: run `leaseq "
            "bridge rebuild %s` to add them again, or set their rows to cancelled",
            queue.name,
            missing_count,
            queue.name,
        )


def _set_statuses(statements: Statements, outcomes: Sequence[OutcomeRow]) -> None:
    for status in ("queued", "finished", "dead"):
        ids = [outcome.id for outcome in outcomes if STATUS_OF[outcome.state] == status]
        if ids:
            statements.set_status(ids, status)


def _find_cursor(statements: Statements, queue: Queue, cursor: str) -> str | None:
    """The cursor to continue from if the journal ends before this one; None if it does not. Either the server
    lost the journal's end, or the queue was created again, by a clock that is behind: then no event of the
    journal is archived."""
    latest_events = queue.latest_events(1)
    if not latest_events or _entry(latest_events[0].cursor) >= _entry(cursor):
        return None
    latest = latest_events[0]
    position, number = map(int, latest.cursor.split("."))
    archived = select(event.c.what).where(
        event.c.queue == queue.name, event.c.position == position, event.c.number == number
    )
    is_archived = statements.execute(archived).scalar() == latest.what
    return latest.cursor if is_archived else registry.BEGINNING


def _entry(cursor: str) -> int:
    return int(cursor.partition(".")[0])


def _delete_undone_answers(statements: Statements, events: Sequence[EventRow]) -> None:
    """Delete answers that were undone. An answer that was sent under the same token, too, was refused, and is
    not deleted."""
    for entry in events:
        if entry.what == "undone":
            is_answer = (answer.c.id == entry.id) & (answer.c.token == entry.token)
            undone = delete(answer).where(answer.c.queue == statements.queue, is_answer, answer.c.accepted)
            statements.execute(undone)

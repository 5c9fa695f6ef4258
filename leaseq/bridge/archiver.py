"""Writes what happens in queues to the database: events, answers, and the status of each item.

The journal cursor is stored in the database, in the same transaction as the events up to it, so each event is
written once, even if the archiver is interrupted. The server gets the cursor afterwards, and keeps the events
after it. Statuses and answers are an item's current ones, not those of an event, so the order of events does
not matter for them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine, delete, update

from leaseq.bridge.database import transaction
from leaseq.bridge.dialects import dialect_of
from leaseq.bridge.registry import save_policy
from leaseq.bridge.rows import AnswerRow, ItemRow
from leaseq.bridge.tables import answer, bridge
from leaseq.errors import QueueNotFound
from leaseq.events import EventKind, EventRow
from leaseq.models import OutcomeRow, State
from leaseq.queue import Queue

FOLLOWER = "bridge"
"""The archiver's name among the followers of a queue's journal."""

_EVENTS = 10_000  # per transaction
_OUTCOMES = 500  # per call
_SETTLING_EVENTS: frozenset[EventKind] = frozenset(
    {"finished", "undone", "late", "adopted", "reopened", "corrected", "died", "revived", "removed"}
)
"""Events that change an item's status or answers."""
_STATUS: dict[State, str] = {
    "inbound": "queued",
    "reserved": "queued",
    "scheduled": "queued",
    "finished": "finished",
    "dead": "dead",
}

log = logging.getLogger(__name__)


class Archiver:
    def __init__(self, engine: Engine, keep_events: int = 100_000) -> None:
        self._keep_events = keep_events
        self._engine = engine
        self._dialect = dialect_of(engine)

    def archive(self, queue: Queue) -> int:
        """Write the queue's next events, and return their number."""
        with transaction(self._engine) as connection:
            cursor = self._dialect.lock(connection, queue.name)
            try:
                start = cursor or queue.follow(FOLLOWER)
                events = queue.event_rows(after=start, limit=_EVENTS)
                if events:
                    self._write(connection, queue, events)
                if any(event.what == "created" for event in events):
                    self._warn_of_missing_items(connection, queue)
            except QueueNotFound:
                return 0
        if events or cursor:  # without events, too: the server may have lost it
            queue.follow(FOLLOWER, read=events[-1].cursor if events else cursor, keep=self._keep_events)
        return len(events)

    def _write(self, connection: Connection, queue: Queue, events: Sequence[EventRow]) -> None:
        self._dialect.add_events(connection, queue.name, events)
        removed_ids = {event.id for event in events if event.what == "removed" and event.id}
        settling_ids = {event.id: None for event in events if event.what in _SETTLING_EVENTS and event.id}
        added_ids = [event.id for event in events if event.what == "enqueued" and event.id]
        foreign_ids = self._dialect.missing_ids(connection, queue.name, added_ids) if added_ids else []
        ids = list(settling_ids | dict.fromkeys(foreign_ids))
        outcomes = dict(zip(ids, queue.outcome_rows(ids), strict=True))
        self._drop_undone_answers(connection, queue, events, outcomes)
        by_id = {id: one for id, one in outcomes.items() if one is not None}
        self._dialect.put_answers(connection, queue.name, list(_answer_rows(by_id.values())))
        rows = [(_item_row(by_id[id]), _STATUS[by_id[id].state]) for id in foreign_ids if id in by_id]
        self._dialect.add_items(connection, queue.name, rows)
        self._set_statuses(connection, queue.name, [by_id[id] for id in settling_ids if id in by_id])
        if deleted_ids := [id for id in removed_ids if outcomes.get(id) is None]:
            self._dialect.set_status(connection, queue.name, deleted_ids, "cancelled")
        if any(event.what in ("created", "configured") for event in events):
            save_policy(connection, queue.name, queue.policy)
        connection.execute(
            update(bridge).where(bridge.c.queue == queue.name).values(cursor=events[-1].cursor)
        )

    def _warn_of_missing_items(self, connection: Connection, queue: Queue) -> None:
        """Log how many items the queue lacks after it was deleted, or lost, and created again."""
        ids = self._dialect.queued_ids(connection, queue.name)
        batches = (ids[start : start + _OUTCOMES] for start in range(0, len(ids), _OUTCOMES))
        missing_count = sum(queue.outcome_rows(batch).count(None) for batch in batches)
        if missing_count:
            log.warning(
                "queue %s: it was created again, without %d of the items that it had: run `leaseq "
                "bridge rebuild %s` to add them again, or set their rows to cancelled",
                queue.name,
                missing_count,
                queue.name,
            )

    def _drop_undone_answers(
        self,
        connection: Connection,
        queue: Queue,
        events: Iterable[EventRow],
        outcomes: dict[str, OutcomeRow | None],
    ) -> None:
        """Delete undone answers, except those that have been given again."""
        for event in events:
            if event.what != "undone" or event.id is None:
                continue
            outcome = outcomes.get(event.id)
            if outcome is None or all(one.token != event.token for one in outcome.answers):
                clause = (answer.c.queue == queue.name) & (answer.c.id == event.id)
                connection.execute(delete(answer).where(clause, answer.c.token == event.token))

    def _set_statuses(self, connection: Connection, queue: str, outcomes: Sequence[OutcomeRow]) -> None:
        for status in ("queued", "finished", "dead"):
            ids = [one.id for one in outcomes if _STATUS[one.state] == status]
            if ids:
                self._dialect.set_status(connection, queue, ids, status)


def _answer_rows(outcomes: Iterable[OutcomeRow]) -> Iterable[AnswerRow]:
    for outcome in outcomes:
        for given_answer in outcome.answers:
            yield AnswerRow(
                outcome.id,
                given_answer.token,
                given_answer.person,
                given_answer.result,
                given_answer.finished_at,
                given_answer.late,
                given_answer.stands,
            )


def _item_row(outcome: OutcomeRow) -> ItemRow:
    return ItemRow(outcome.id, outcome.payload, outcome.priority, outcome.requires, outcome.due)

"""Moves waiting rows from the database into queues, and passes on later changes of the rows."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Connection, Engine, delete, update

from leaseq.bridge.database import transaction
from leaseq.bridge.dialects import dialect_of
from leaseq.bridge.registry import Window
from leaseq.bridge.rows import ChangeRow, ItemRow
from leaseq.bridge.tables import change, item
from leaseq.errors import Invalid, ItemNotFound, QueueNotFound
from leaseq.models import ItemChanges, NewItem, OutcomeRow
from leaseq.queue import Queue

BY = "bridge"
"""The author of the bridge's changes in the journal."""

_BATCH = 1_000  # rows per transaction
_CHANGES = 500
_WAITING_STATES = ("inbound", "scheduled")
_DUPLICATE_MESSAGE = (
    "an item with the same payload was added within the policy's dedupe_seconds: this one was not added"
)

log = logging.getLogger(__name__)


class Migrator:
    def __init__(self, engine: Engine, window: Window) -> None:
        self._engine = engine
        self._dialect = dialect_of(engine)
        self._window = window

    def fill(self, queue: Queue) -> int:
        """Move rows until the window is full, and return how many were processed.

        Each batch is one transaction, which is committed after the queue has the items. If it fails, its rows
        still wait and are moved again: the queue recognizes items that it has by their ids.
        """
        room, count = self._count_to_move(queue), 0
        while room > 0:
            with transaction(self._engine) as connection:
                rows = self._dialect.waiting_rows(connection, queue.name, min(room, _BATCH))
                if rows:
                    self._move(connection, queue, rows)
            count, room = count + len(rows), room - len(rows)
            if not rows:
                break
        return count

    def _count_to_move(self, queue: Queue) -> int:
        try:
            waiting = queue.stats().inbound
        except QueueNotFound:  # deleted since this step began: the next step reports it as lost
            return 0
        return self._window.high - waiting if waiting <= self._window.low else 0

    def _move(self, connection: Connection, queue: Queue, rows: Sequence[ItemRow]) -> None:
        errors: dict[str, str] = {}
        items: list[NewItem] = []
        for row in rows:
            try:
                items.append(new_item(row))
            except Invalid as error:
                errors[row.id] = str(error)
        duplicates = _enqueue(queue, items, errors)
        moved_ids = [one.id for one in items if one.id and one.id not in errors]
        finished_ids = self._handle_duplicates(queue, items, moved_ids, errors) if duplicates else []
        for ids, status in (
            ([id for id in moved_ids if id not in errors], "queued"),
            (finished_ids, "finished"),
        ):
            if ids:
                self._dialect.set_status(connection, queue.name, ids, status)
        for id, message in errors.items():
            log.warning("queue %s, row %r is refused: %s", queue.name, id, message)
            clause = (item.c.queue == queue.name) & (item.c.id == id)
            connection.execute(update(item).where(clause).values(status="refused", error=message))

    def _handle_duplicates(
        self, queue: Queue, items: Sequence[NewItem], ids: Sequence[str], errors: dict[str, str]
    ) -> list[str]:
        """Update items that the queue already had, revive dead ones, and return the finished ones' ids."""
        finished_ids: list[str] = []
        by_id = {one.id: one for one in items}
        for id, outcome in zip(ids, queue.outcome_rows(ids), strict=True):
            if outcome is None:
                errors[id] = _DUPLICATE_MESSAGE
            elif outcome.state == "finished":
                finished_ids.append(id)
            elif outcome.state == "dead":
                _change(queue, id, outcome, by_id[id], errors)  # first, so that nobody gets it unchanged
                if id not in errors:
                    queue.revive(id, by=BY)
            elif json.loads(outcome.payload) != by_id[id].payload:
                _change(queue, id, outcome, by_id[id], errors)
        return finished_ids

    def change(self, queue: Queue) -> int:
        """Pass on changes made in the database, and return how many were processed.

        A change of a held item waits until the item is given back, and is dropped if the item is finished.
        """
        after, count = "", 0
        while True:
            with transaction(self._engine) as connection:
                changes = self._dialect.changes(connection, queue.name, after, _CHANGES)
                count += self._apply(connection, queue, changes)
            if len(changes) < _CHANGES:
                return count
            after = changes[-1].id

    def _apply(self, connection: Connection, queue: Queue, changes: Sequence[ChangeRow]) -> int:
        count = 0
        outcomes = _outcomes(queue, [change_row.id for change_row in changes])
        for change_row, outcome in zip(changes, outcomes, strict=True):
            errors: dict[str, str] = {}
            if change_row.status in (None, "cancelled"):
                _remove(queue, change_row.id)
            elif (
                change_row.status == "queued"
                and change_row.row
                and outcome
                and not _update_item(queue, outcome, change_row.row, errors)
            ):
                continue
            change_clause = (change.c.queue == queue.name) & (change.c.id == change_row.id)
            connection.execute(delete(change).where(change_clause, change.c.number == change_row.number))
            message = errors.get(change_row.id)
            if message is not None:
                log.warning("queue %s, row %r: %s", queue.name, change_row.id, message)
            item_clause = (item.c.queue == queue.name) & (item.c.id == change_row.id)
            connection.execute(
                update(item).where(item_clause, item.c.error.is_distinct_from(message)).values(error=message)
            )
            count += 1
        return count


def new_item(row: ItemRow) -> NewItem:
    """Return the item that a row describes. Raises Invalid if the row is not valid."""
    if row.problem is not None:
        raise Invalid(*row.problem.split(": ", 1))
    try:
        payload = json.loads(row.payload)
    except (ValueError, RecursionError, TypeError):
        raise Invalid("payload", "JSON") from None
    priority = row.priority
    return NewItem(payload, row.id, priority, 0, _skills(row.requires), row.due)  # type: ignore[arg-type]


def _skills(requires: str) -> tuple[str, ...]:
    """Parse skills: a comma-separated list, or a JSON array."""
    if not requires.lstrip().startswith("["):
        return tuple(word.strip() for word in requires.split(",") if word.strip())
    try:
        return tuple(json.loads(requires))
    except (ValueError, TypeError):
        raise Invalid("requires", "comma-separated skills, or a JSON array of skills") from None


def _enqueue(queue: Queue, items: Sequence[NewItem], errors: dict[str, str]) -> int:
    """Add items, refuse invalid ones, and return how many the queue already had."""

    def refuse(place: int, error: Invalid) -> None:
        errors[str(items[place].id)] = str(error)

    try:
        return queue.enqueue_many(items, on_invalid=refuse).duplicates
    except Invalid as error:  # of the batch as a whole: too many sets of skills
        if len(items) <= 1:
            errors[str(items[0].id)] = str(error)
            return 0
        half = len(items) // 2
        return _enqueue(queue, items[:half], errors) + _enqueue(queue, items[half:], errors)


def _outcomes(queue: Queue, ids: Sequence[str]) -> Sequence[OutcomeRow | None]:
    try:
        return queue.outcome_rows(ids) if ids else []
    except QueueNotFound:
        return [None] * len(ids)


def _update_item(queue: Queue, outcome: OutcomeRow, row: ItemRow, errors: dict[str, str]) -> bool:
    """Change an item to match its row. Returns False if the change must wait."""
    if outcome.state not in _WAITING_STATES:
        return outcome.state != "reserved"
    try:
        return _change(queue, row.id, outcome, new_item(row), errors)
    except Invalid as error:
        errors[row.id] = str(error)
        return True


def _change(queue: Queue, id: str, outcome: OutcomeRow, target: NewItem, errors: dict[str, str]) -> bool:
    changes: ItemChanges = {}
    if target.priority != outcome.priority:
        changes["priority"] = target.priority
    if tuple(sorted(target.requires)) != tuple(filter(None, outcome.requires.split(","))):
        changes["requires"] = target.requires
    if target.due != outcome.due:
        changes["due"] = target.due
    if target.payload != json.loads(outcome.payload):
        changes["payload"] = target.payload
    try:
        if changes:
            queue.change(id, by=BY, **changes)
    except ItemNotFound:
        return True
    except Invalid as error:
        now = _outcomes(queue, [id])[0]
        if now is not None and now.state == "reserved":
            return False
        errors[id] = str(error)
    return True


def _remove(queue: Queue, id: str) -> None:
    with suppress(ItemNotFound, QueueNotFound):  # already gone
        queue.remove(id, by=BY)

"""Moves waiting rows from the database into queues, and what was changed in the database since."""

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
from leaseq.models import ItemChanges, NewItem, Outcome
from leaseq.queue import Queue

BY = "bridge"
"""Who the journal says it was."""

_BATCH = 1_000  # rows of one transaction
_CHANGES = 500
_WAITS = ("inbound", "scheduled")
_TWIN = "an item with the same payload entered within the policy's dedupe_seconds: this one was not added"

log = logging.getLogger(__name__)


class Migrator:
    def __init__(self, engine: Engine, window: Window) -> None:
        self._engine = engine
        self._dialect = dialect_of(engine)
        self._window = window

    def fill(self, queue: Queue) -> int:
        """Move rows until the window is full; how many rows were dealt with.

        Each batch is one transaction, which ends after the queue has the items. Where it breaks off, the rows
        still wait: moved again, their items are known by their ids.
        """
        room, dealt = self._room(queue), 0
        while room > 0:
            with transaction(self._engine) as connection:
                rows = self._dialect.waiting(connection, queue.name, min(room, _BATCH))
                if rows:
                    self._move(connection, queue, rows)
            dealt, room = dealt + len(rows), room - len(rows)
            if not rows:
                break
        return dealt

    def _room(self, queue: Queue) -> int:
        try:
            waiting = queue.stats().inbound
        except QueueNotFound:  # deleted since this step began: the next one finds it lost
            return 0
        return self._window.high - waiting if waiting <= self._window.low else 0

    def _move(self, connection: Connection, queue: Queue, rows: Sequence[ItemRow]) -> None:
        refused: dict[str, str] = {}
        entering: list[NewItem] = []
        for row in rows:
            try:
                entering.append(new_item(row))
            except Invalid as error:
                refused[row.id] = str(error)
        duplicates = _enqueue(queue, entering, refused)
        moved = [one.id for one in entering if one.id and one.id not in refused]
        finished = self._look(queue, entering, moved, refused) if duplicates else []
        for ids, status in ([id for id in moved if id not in refused], "queued"), (finished, "finished"):
            if ids:
                self._dialect.set_status(connection, queue.name, ids, status)
        for id, why in refused.items():
            log.warning("queue %s, row %r is refused: %s", queue.name, id, why)
            here = (item.c.queue == queue.name) & (item.c.id == id)
            connection.execute(update(item).where(here).values(status="refused", error=why))

    def _look(
        self, queue: Queue, entering: Sequence[NewItem], moved: Sequence[str], refused: dict[str, str]
    ) -> list[str]:
        """Some of the items are there: bring dead ones back, and give the finished ones."""
        finished: list[str] = []
        by_id = {one.id: one for one in entering}
        for id, outcome in zip(moved, queue.outcomes(moved), strict=True):
            if outcome is None:
                refused[id] = _TWIN
            elif outcome.state == "finished":
                finished.append(id)
            elif outcome.state == "dead":
                _change(queue, id, outcome, by_id[id], refused)  # first: nobody gets it as it was
                if id not in refused:
                    queue.revive(id, by=BY)
            elif json.loads(outcome.payload) != by_id[id].payload:
                _change(queue, id, outcome, by_id[id], refused)
        return finished

    def change(self, queue: Queue) -> int:
        """Pass on what was changed in the database; how many changes were dealt with.

        A change of an item that somebody holds waits until it comes back, and is dropped when it is finished.
        """
        after, dealt = "", 0
        while True:
            with transaction(self._engine) as connection:
                changes = self._dialect.changes(connection, queue.name, after, _CHANGES)
                dealt += self._apply(connection, queue, changes)
            if len(changes) < _CHANGES:
                return dealt
            after = changes[-1].id

    def _apply(self, connection: Connection, queue: Queue, changes: Sequence[ChangeRow]) -> int:
        dealt = 0
        outcomes = _outcomes(queue, [one.id for one in changes])
        for one, outcome in zip(changes, outcomes, strict=True):
            refused: dict[str, str] = {}
            if one.status in (None, "cancelled"):
                _remove(queue, one.id)
            elif (
                one.status == "queued"
                and one.row
                and outcome
                and not _changed(queue, outcome, one.row, refused)
            ):
                continue
            here = (change.c.queue == queue.name) & (change.c.id == one.id)
            connection.execute(delete(change).where(here, change.c.number == one.number))
            why = refused.get(one.id)
            if why is not None:
                log.warning("queue %s, row %r: %s", queue.name, one.id, why)
            row = (item.c.queue == queue.name) & (item.c.id == one.id)
            connection.execute(update(item).where(row, item.c.error.is_distinct_from(why)).values(error=why))
            dealt += 1
        return dealt


def new_item(row: ItemRow) -> NewItem:
    """The item that a row describes. Raises Invalid."""
    if row.wrong is not None:
        raise Invalid(*row.wrong.split(": ", 1))
    try:
        payload = json.loads(row.payload)
    except (ValueError, RecursionError, TypeError):
        raise Invalid("payload", "JSON") from None
    priority = row.priority
    return NewItem(payload, row.id, priority, 0, _skills(row.requires), row.due)  # type: ignore[arg-type]


def _skills(requires: str) -> tuple[str, ...]:
    """Skills with commas between, or a JSON array."""
    if not requires.lstrip().startswith("["):
        return tuple(word.strip() for word in requires.split(",") if word.strip())
    try:
        return tuple(json.loads(requires))
    except (ValueError, TypeError):
        raise Invalid("requires", "skills with commas between, or a JSON array of skills") from None


def _enqueue(queue: Queue, items: Sequence[NewItem], refused: dict[str, str]) -> int:
    """Add items; those that are invalid are refused. How many were there already."""

    def refuse(place: int, error: Invalid) -> None:
        refused[str(items[place].id)] = str(error)

    try:
        return queue.enqueue_many(items, on_invalid=refuse).duplicates
    except Invalid as error:  # about all together: too many sets of skills
        if len(items) <= 1:
            refused[str(items[0].id)] = str(error)
            return 0
        half = len(items) // 2
        return _enqueue(queue, items[:half], refused) + _enqueue(queue, items[half:], refused)


def _outcomes(queue: Queue, ids: Sequence[str]) -> Sequence[Outcome | None]:
    try:
        return queue.outcomes(ids) if ids else []
    except QueueNotFound:
        return [None] * len(ids)


def _changed(queue: Queue, outcome: Outcome, row: ItemRow, refused: dict[str, str]) -> bool:
    """Change an item as its row says. False where that must wait."""
    if outcome.state not in _WAITS:
        return outcome.state != "reserved"
    try:
        return _change(queue, row.id, outcome, new_item(row), refused)
    except Invalid as error:
        refused[row.id] = str(error)
        return True


def _change(queue: Queue, id: str, outcome: Outcome, wanted: NewItem, refused: dict[str, str]) -> bool:
    changes: ItemChanges = {}
    if wanted.priority != outcome.priority:
        changes["priority"] = wanted.priority
    if tuple(sorted(wanted.requires)) != tuple(filter(None, outcome.requires.split(","))):
        changes["requires"] = wanted.requires
    if wanted.due != outcome.due:
        changes["due"] = wanted.due
    if wanted.payload != json.loads(outcome.payload):
        changes["payload"] = wanted.payload
    try:
        if changes:
            queue.change(id, by=BY, **changes)
    except ItemNotFound:
        return True
    except Invalid as error:
        now = _outcomes(queue, [id])[0]
        if now is not None and now.state == "reserved":
            return False
        refused[id] = str(error)
    return True


def _remove(queue: Queue, id: str) -> None:
    with suppress(ItemNotFound, QueueNotFound):  # it is gone already
        queue.remove(id, by=BY)

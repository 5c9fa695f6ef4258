"""The migrator, which moves waiting rows into queues, and passes on later changes of the rows."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Engine

from leaseq.bridge.outcomes import outcomes_of, write_answers, write_details, write_fixed_columns
from leaseq.bridge.registry import Window
from leaseq.bridge.statements import Statements, statements_on
from leaseq.bridge.tables import STATUS_OF, ChangeRow, ItemRow, item_row
from leaseq.errors import Invalid, ItemNotFound, QueueNotFound
from leaseq.models import ItemChanges, NewItem, OutcomeRow
from leaseq.queue import Queue
from leaseq.validation import is_same_json, load_json, skills

BY = "bridge"
"""The author of the bridge's changes in the journal."""

_BATCH = 1_000  # rows per transaction
_CHANGES = 500
_WAITING_STATES = ("inbound", "scheduled")

log = logging.getLogger(__name__)


class Migrator:
    def __init__(self, engine: Engine, window: Window) -> None:
        self._engine = engine
        self._window = window

    def fill(self, queue: Queue) -> int:
        """Move rows until the window is full, and return how many were processed.

        Each batch is one transaction, which is committed after the queue has the items. If it fails, its rows
        still wait and are moved again: the queue recognizes items that it has by their ids.
        """
        room, count = self._count_to_move(queue), 0
        while room:
            with statements_on(self._engine, queue.name) as statements:
                rows = statements.waiting_rows(min(room, _BATCH))
                if rows:
                    self._move(statements, queue, rows)
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

    def _move(self, statements: Statements, queue: Queue, rows: Sequence[ItemRow]) -> None:
        errors: dict[int, Invalid] = {}  # by the place among the rows
        items: dict[int, NewItem] = {}
        for place, row in enumerate(rows):
            try:
                items[place] = new_item(row)
            except Invalid as error:
                errors[place] = error
        duplicate_count = _enqueue(queue, items, errors) if items else 0
        moved = {place: item for place, item in items.items() if place not in errors}
        has_details = duplicate_count or any(item.to for item in moved.values())
        outcomes = queue.outcome_rows([str(item.id) for item in moved.values()]) if has_details else []
        finished = self._handle_duplicates(queue, moved, outcomes, errors) if duplicate_count else set()
        for places, status in ((moved.keys() - errors.keys() - finished, "queued"), (finished, "finished")):
            if places:
                statements.set_moved([rows[place].id for place in places], status)
        write_details(statements, filter(None, outcomes), ())
        if duplicate_count:
            write_fixed_columns(statements, list(filter(None, outcomes)))
        self._refuse(statements, queue, [(rows[place], error) for place, error in errors.items()])

    def _refuse(
        self, statements: Statements, queue: Queue, refused: Sequence[tuple[ItemRow, Invalid]]
    ) -> None:
        """Set the errors of rows that were refused. A row whose item the queue has keeps the item's status,
        since a rebuild restores no refused rows."""
        outcomes = outcomes_of(queue, [row.id for row, _ in refused])
        for (row, error), outcome in zip(refused, outcomes, strict=True):
            log.warning("queue %s, row %r is refused: %s", queue.name, row.id, error)
            status = STATUS_OF[outcome.state] if outcome else "refused"
            statements.set_error(row, str(error), status)

    def _handle_duplicates(
        self,
        queue: Queue,
        items: Mapping[int, NewItem],
        outcomes: Sequence[OutcomeRow | None],
        errors: dict[int, Invalid],
    ) -> set[int]:
        """Update items that the queue already had, revive dead ones, and return the finished ones' places."""
        finished_places: set[int] = set()
        for (place, target), outcome in zip(items.items(), outcomes, strict=True):
            if outcome is None:
                errors[place] = Invalid("payload", "duplicate")
            elif outcome.state == "finished":
                finished_places.add(place)
            else:
                try:
                    self._update_duplicate(queue, outcome, target)
                except Invalid as error:
                    errors[place] = error
        return finished_places

    def _update_duplicate(self, queue: Queue, outcome: OutcomeRow, target: NewItem) -> None:
        if outcome.state == "dead":
            _change(queue, outcome, target)  # first, so that nobody gets it unchanged
            queue.revive(outcome.id, by=BY)
        elif not is_same_json(target.payload, json.loads(outcome.payload)):
            with suppress(_Held):
                _change(queue, outcome, target)

    def change(self, queue: Queue) -> int:
        """Pass on changes made in the database, and return how many were processed.

        A change of a held item waits until the item is given back, and is dropped if the item is finished.
        """
        after, count = "", 0
        while True:
            with statements_on(self._engine, queue.name) as statements:
                changes = statements.changes(after, _CHANGES)
                count += self._apply(statements, queue, changes)
            if len(changes) < _CHANGES:
                return count
            after = changes[-1].id

    def _apply(self, statements: Statements, queue: Queue, changes: Sequence[ChangeRow]) -> int:
        """Pass changes on, and return how many were processed; the others wait."""
        if not changes:
            return 0
        statements.lock()  # since answers are written, as by an archiver
        count = 0
        outcomes = outcomes_of(queue, [change_row.id for change_row in changes])
        for change_row, outcome in zip(changes, outcomes, strict=True):
            try:
                self._apply_one(statements, queue, change_row, outcome)
                count += 1
            except _Held:
                pass
        return count

    def _apply_one(
        self, statements: Statements, queue: Queue, change_row: ChangeRow, outcome: OutcomeRow | None
    ) -> None:
        """Pass a change on. Raises _Held if it must wait."""
        is_withdrawn, is_finished = change_row.status in (None, "cancelled"), False
        error: Invalid | None = None
        if is_withdrawn and outcome:
            write_answers(statements, [outcome])
            is_finished = outcome.state == "finished"
            if not is_finished and not queue.remove_read(outcome.id, outcome.answers, by=BY):
                raise _Held  # somebody has answered it meanwhile
        elif change_row.status == "queued" and change_row.row and outcome:
            try:
                _update_item(queue, outcome, change_row.row)
            except Invalid as refusal:
                log.warning("queue %s, row %r: %s", queue.name, change_row.id, refusal)
                error = refusal
        statements.forget_change(change_row)
        if outcome and is_finished:  # the answer counts: a row that was deleted comes back
            statements.add_items([(item_row(outcome), "finished")])
            statements.set_status([outcome.id], "finished")
        elif change_row.row and change_row.status:
            message = None if error is None else str(error)
            statements.set_error(change_row.row, message, change_row.status)


class _Held(Exception):
    """Somebody holds the item: it can't be changed now."""


def new_item(row: ItemRow) -> NewItem:
    """Return the item that a row describes. Raises Invalid if the row is not valid."""
    if row.problem is not None:
        raise row.problem
    payload = load_json(row.payload, "payload")
    form = None if row.form is None else load_json(row.form, "form")
    priority: Any = row.priority
    return NewItem(
        payload,
        row.id,
        priority,
        requires=_skills(row.requires),
        due=row.due,
        form=form,
        expires=row.expires_at,
        to=row.assignee,
    )


def _skills(requires: object) -> tuple[str, ...]:
    """Parse skills: a comma-separated list, or a JSON array."""
    if not isinstance(requires, str):
        raise Invalid("requires", "format", what="requires")
    if not requires.lstrip().startswith("["):
        return skills([word.strip() for word in requires.split(",") if word.strip()], "requires")
    try:
        return skills(load_json(requires, "requires"), "requires")
    except Invalid:
        raise Invalid("requires", "format", what="requires") from None


def _enqueue(queue: Queue, items: Mapping[int, NewItem], errors: dict[int, Invalid]) -> int:
    """Add items, note the errors of invalid ones, and return how many the queue already had."""
    places = list(items)

    def refuse(number: int, error: Invalid) -> None:
        errors[places[number]] = error

    try:
        counts = queue.enqueue_many(items.values(), on_invalid=refuse)
        return counts.duplicates + counts.conflicts
    except Invalid as error:  # of the batch as a whole: too many sets of skills
        if len(places) == 1:
            errors[places[0]] = error
            return 0
        halves = places[: len(places) // 2], places[len(places) // 2 :]
        return sum(_enqueue(queue, {place: items[place] for place in half}, errors) for half in halves)


def _update_item(queue: Queue, outcome: OutcomeRow, row: ItemRow) -> None:
    """Change an item to match its row, unless it has ended. Raises Invalid, or _Held."""
    if outcome.state == "reserved":
        raise _Held
    if outcome.state in _WAITING_STATES:
        _change(queue, outcome, new_item(row))


def differences(outcome: OutcomeRow, target: NewItem) -> ItemChanges:
    """The fields of ``target`` that are different in the queue."""
    changes: ItemChanges = {}
    if target.priority != outcome.priority:
        changes["priority"] = target.priority
    if target.requires != tuple(filter(None, outcome.requires.split(","))):
        changes["requires"] = target.requires
    if target.due != outcome.due:
        changes["due"] = target.due
    if not is_same_json(target.payload, json.loads(outcome.payload)):
        changes["payload"] = target.payload
    return changes


def _change(queue: Queue, outcome: OutcomeRow, target: NewItem) -> None:
    """Change an item. Raises Invalid, or _Held."""
    changes = differences(outcome, target)
    try:
        if changes:
            queue.change(outcome.id, by=BY, **changes)
    except ItemNotFound:
        return
    except Invalid:
        (now,) = outcomes_of(queue, [outcome.id])
        if now is not None and now.state == "reserved":
            raise _Held from None
        raise

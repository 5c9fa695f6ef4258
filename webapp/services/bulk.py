"""A manager's acts on many items: each item by itself, in steps, with what is needed to undo them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

import leaseq
from leaseq import Invalid, Item, ItemFinished, ItemNotFound, Json, LeaseqError, Queue
from leaseq.webapp.context import note, person, state
from leaseq.webapp.services import items
from leaseq.webapp.store.jobs.undo import Changed

Act: TypeAlias = Literal["release", "assign", "unassign", "reopen", "revive", "cancel", "change", "remove"]
ACTS: tuple[Act, ...] = get_args(Act)
_LOGGED: dict[Act, str] = {
    "release": "released",
    "assign": "assigned",
    "unassign": "unassigned",
    "reopen": "reopened",
    "revive": "revived",
    "cancel": "cancelled",
    "change": "changed",
    "remove": "removed",
}


@dataclass(frozen=True, slots=True)
class Bulk:
    """An act on many items. ``person``: who gets them, for assign and reopen. ``reason``: what to do again,
    for reopen, or why nobody needs them any more, for cancel. ``unless``: finished items are not removed.
    ``began``: when the manager asked for it: what got an answer since is neither removed nor reopened, and an
    item that stays as it is counts as refused."""

    act: Act
    person: str = ""
    reason: str | None = None
    changes: leaseq.ItemChanges = field(default_factory=leaseq.ItemChanges)
    unless: Literal["finished"] | None = None
    began: datetime | None = None

    @property
    def undoable(self) -> tuple[str, ...]:
        """The names of the values that the act replaces, if it can be undone."""
        if self.act in ("assign", "unassign"):
            return ("assigned_to",)
        if self.act != "change" or "answers" in self.changes:
            return ()
        return tuple("at" if name == "delay" else name for name in self.changes)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item that was not changed. ``error`` is None if there was nothing to change."""

    id: str
    item: Item | None  # None: it doesn't exist
    error: LeaseqError | None


@dataclass(frozen=True, slots=True)
class Result:
    """The items of a step that were changed, and the refusals."""

    changed: list[Changed] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def run_bulk(queue: Queue, bulk: Bulk, ids: Iterable[str], *, undo: str = "", earlier: int = 0) -> Result:
    """Change each of these items by itself, and log it. If the server fails half-way, what was done until
    then is logged. ``undo``: the id under which the store keeps what undo needs; ``earlier``: how many items
    earlier calls changed under it."""
    result = Result()
    try:
        _run(queue, bulk, ids, result)
    finally:
        _keep(queue, undo, result, earlier)
        if result.changed:
            ids_text = ids_in_words([changed.id for changed in result.changed])
            _log(queue, bulk, text=ids_text, count=len(result.changed))
    return result


@dataclass(frozen=True, slots=True)
class Step:
    """A request of an act on all items of a search, which takes many."""

    search: Mapping[str, str]  # its arguments
    done: int  # the number changed by earlier steps
    is_first: bool
    is_last: bool
    undo: str = ""  # as for `run_bulk`


def run_step(queue: Queue, bulk: Bulk, ids: Iterable[str], step: Step) -> Result:
    """Run one step of an act, whose beginning and end are logged. What undo needs is kept, unless there is
    too much of it."""
    if step.is_first:
        _log(queue, bulk, search=step.search)
    result = Result()
    try:
        _run(queue, bulk, ids, result)
    finally:
        _keep(queue, step.undo, result, step.done)
    if step.is_last:
        _log(queue, bulk, search=step.search, count=step.done + len(result.changed))
    return result


def _keep(queue: Queue, undo: str, result: Result, earlier: int) -> None:
    if undo:
        state().undo.add(queue.name, undo, result.changed, earlier=earlier)


def undo_step(queue: Queue, undo: str, count: int, *, earlier: int, is_last: bool) -> Result:
    """Put the earlier values of some items of an act back, where nobody has changed them since. ``earlier``:
    how many items the earlier steps put back."""
    result = Result()
    records = state().undo.some(queue.name, undo, count)
    for record in records:
        before: Item | None = None
        try:
            before = queue.get(record.id)
            item = _put_back(queue, record, before)
        except (Invalid, ItemNotFound) as error:
            result.refusals.append(Refusal(record.id, before, None if _is_changed(error) else error))
            continue
        if item is None:
            result.refusals.append(Refusal(record.id, before, None))
        else:
            result.changed.append(record)
    state().undo.settle(queue.name, undo, [record.id for record in records])
    if is_last:
        note("item.put-back", queue.name, count=earlier + len(result.changed))
    return result


def _put_back(queue: Queue, record: Changed, item: Item) -> Item | None:
    """Put the values before an act back. Returns the item, or None if it has other values than those after
    the act. Raises Invalid if somebody changes them meanwhile."""
    values = _values(item, record.after)
    if values == record.before:
        return item
    if values != record.after:
        return None
    if "assigned_to" in record.before:
        before, after = record.before["assigned_to"], record.after["assigned_to"]
        for assignee in after:
            if assignee not in before:
                item = queue.unassign(record.id, person=assignee, by=_by())
        for assignee in before:
            if assignee not in after:
                item = queue.assign(record.id, assignee, unless="assigned", by=_by())
        return item if _values(item, record.before) == record.before else None
    changes = dict(record.before)
    if "at" in changes:
        at = changes.pop("at")
        changes["delay"] = seconds_until(datetime.fromisoformat(at)) if at else 0
    if changes.get("due"):
        changes["due"] = datetime.fromisoformat(changes["due"])
    return queue.change(record.id, expected=item, by=_by(), **changes)


def _is_changed(error: LeaseqError) -> bool:
    """Whether a call was refused because somebody has changed the item since it was read."""
    return isinstance(error, Invalid) and error.rule in ("item_changed", "assigned")


def seconds_until(time: datetime) -> float:
    """The seconds from now until a time; 0 for a time in the past."""
    return max((time - datetime.now(UTC)).total_seconds(), 0)


def _values(item: Item, names: Iterable[str]) -> dict[str, Json]:
    """Some values of an item, as JSON."""
    values: dict[str, Json] = {
        "assigned_to": list(item.assigned_to),
        "priority": item.priority,
        "requires": sorted(item.requires),
        "due": item.due.isoformat() if item.due else None,
        "at": item.state_since.isoformat() if item.state == "scheduled" else None,
    }
    return {name: values[name] for name in names}


def _by() -> str:
    return person().name


def _log(queue: Queue, bulk: Bulk, **values: Any) -> None:
    """Write an act on many items to the audit log; the queue's journal has an event for each."""
    changes = items.logged_changes(bulk.changes)
    note(f"item.{_LOGGED[bulk.act]}", queue.name, person=bulk.person, **values, **changes)


def _run(queue: Queue, bulk: Bulk, ids: Iterable[str], result: Result) -> None:
    move, pending = _MOVES[bulk.act], deque(dict.fromkeys(ids))
    while pending:
        id = pending.popleft()
        before: Item | None = None
        try:
            before = queue.get(id) if bulk.began or bulk.act == "reopen" else None
            after = move(queue, bulk, id, before)
        except (Invalid, ItemNotFound, ItemFinished) as error:
            if _is_changed(error):
                pending.appendleft(id)  # undo needs the values that are replaced: read them again
                continue
            item = error.item if isinstance(error, ItemFinished) else before
            result.refusals.append(Refusal(id, None if isinstance(error, ItemNotFound) else item, error))
            continue
        if before is not None and before == after:
            result.refusals.append(Refusal(id, after, None))
            continue
        values = (_values(item, bulk.undoable) if item else {} for item in (before, after))
        result.changed.append(Changed(id, *values))


def _remove(queue: Queue, bulk: Bulk, id: str, before: Item | None) -> None:
    unless = bulk.unless
    if bulk.began:
        answers = before.answers if before else ()
        is_known = answers and all(answer.finished_at <= bulk.began for answer in answers)
        unless = None if is_known else "finished"
    items.delete(queue, id, unless)


def _reopen(queue: Queue, bulk: Bulk, id: str, before: Item | None) -> Item | None:
    """Take back all answers of an item."""
    answers = before.answers if before else ()
    if before and bulk.began and any(answer.finished_at > bulk.began for answer in answers):
        raise ItemFinished(queue.name, before)
    if before and not answers:
        raise Invalid("id", "state", states=("finished",), id=id, state=before.state)
    item = before
    for answer in answers:
        item = queue.reopen(id, answer.token, to=bulk.person or None, reason=bulk.reason, by=_by())
        state().activity.count(answer.person, queue.name, "reopened")
    return item


_MOVES: dict[Act, Callable[[Queue, Bulk, str, Item | None], Item | None]] = {
    "release": lambda queue, _bulk, id, _before: queue.release(id, by=_by()),
    "assign": lambda queue, bulk, id, _before: queue.assign(id, bulk.person, by=_by()),
    "unassign": lambda queue, _bulk, id, _before: queue.unassign(id, by=_by()),
    "reopen": _reopen,
    "revive": lambda queue, _bulk, id, _before: queue.revive(id, by=_by()),
    "cancel": lambda queue, bulk, id, _before: queue.cancel(id, bulk.reason, by=_by()),
    "change": lambda queue, bulk, id, before: queue.change(id, expected=before, by=_by(), **bulk.changes),
    "remove": _remove,
}
"""By act: the call, which returns the item after it, or None if it is removed."""


def adopt_each(queue: Queue, answers: Iterable[tuple[str, int]]) -> tuple[int, list[Refusal]]:
    """Accept late answers, each named by its item and token. Returns their number, and the refusals."""
    done_ids: list[str] = []
    refusals: list[Refusal] = []
    try:
        for id, token in answers:
            try:
                queue.adopt(id, token, by=_by())
                done_ids.append(id)
            except (Invalid, ItemNotFound) as error:
                refusals.append(Refusal(id, None, error))
    finally:
        if done_ids:
            note("item.adopted", queue.name, ids_in_words(done_ids), count=len(done_ids))
    return len(done_ids), refusals


def ids_in_words(ids: Sequence[str]) -> str:
    """The first ten ids, and the number of the others."""
    text = ", ".join(ids[:10])
    return text if len(ids) <= 10 else f"{text} + {len(ids) - 10}"

"""The verbs of a manager on items, on one or on many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, Unpack, get_args

import leaseq
from leaseq import Invalid, Item, ItemFinished, ItemNotFound, Json, LeaseqError, Queue
from leaseq.webapp.context import note, person, state
from leaseq.webapp.services.queues import detail_of, shortened, worker_name

Move: TypeAlias = Literal["release", "assign", "unassign", "revive", "remove", "lower"]
MOVES: tuple[Move, ...] = get_args(Move)
_LOGGED: dict[Move, str] = {
    "release": "released",
    "assign": "assigned",
    "unassign": "unassigned",
    "revive": "revived",
    "remove": "removed",
    "lower": "changed",
}


def _by() -> str:
    return person().name


def _log(act: str, queue: Queue, id: str, detail: str = "") -> None:
    note(f"item.{act}", f"{queue.name} / {id}", detail)


def _logged(act: str, queue: Queue, item: Item, detail: str = "") -> Item:
    _log(act, queue, item.id, detail)
    return item


def enqueue(
    queue: Queue,
    item: leaseq.NewItem,
    *,
    request_id: str | None,
    on_conflict: Callable[[leaseq.Conflict], None] | None = None,
) -> leaseq.Enqueued:
    """Add one item. The items of producers are not in the audit log, which has no room for them; each is in
    the queue's journal."""
    return queue.enqueue(
        item.payload,
        id=item.id,
        priority=item.priority,
        delay=item.delay,
        at=item.at,
        requires=item.requires,
        due=item.due,
        max_attempts=item.max_attempts,
        request_id=request_id,
        on_conflict=on_conflict,
    )


def enqueue_many(
    queue: Queue, items: Iterable[leaseq.NewItem], on_conflict: Callable[[leaseq.Conflict], None]
) -> leaseq.EnqueuedMany:
    """Add many items of a producer: see `enqueue`."""
    return queue.enqueue_many(items, on_conflict=on_conflict)


def add(queue: Queue, item: leaseq.NewItem, *, request_id: str | None) -> leaseq.Enqueued:
    """Add one item that a manager wrote by hand."""
    result = enqueue(queue, item, request_id=request_id)
    if result.added:
        _log("added", queue, result.id)
    return result


def change(queue: Queue, id: str, **changes: Unpack[leaseq.ItemChanges]) -> Item:
    return _logged("changed", queue, queue.change(id, by=_by(), **changes), _item_changes(changes))


def remove(queue: Queue, id: str, *, unless: Literal["finished"] | None = None) -> None:
    """Delete an item, with its thread."""
    _remove(queue, id, unless)
    _log("removed", queue, id)


def _remove(queue: Queue, id: str, unless: Literal["finished"] | None) -> None:
    queue.remove(id, unless=unless, by=_by())
    state().threads.forget(queue.name, id)


def revive(queue: Queue, id: str) -> Item:
    return _logged("revived", queue, queue.revive(id, by=_by()))


def make_available(queue: Queue, id: str) -> Item:
    """Hand a dead item out again, or a scheduled item now. Returns the item as it was revived."""
    item = queue.revive(id, by=_by())
    if item.state == "scheduled":
        change(queue, id, delay=0)
    else:
        _log("revived", queue, id)
    return item


def release(queue: Queue, id: str) -> Item:
    return _logged("released", queue, queue.release(id, by=_by()))


def assign(queue: Queue, id: str, name: str) -> Item:
    """Assign an item to a person. Raises Invalid unless they may work on the queue."""
    assignee = worker_name(queue.name, name)
    return _logged("assigned", queue, queue.assign(id, assignee, by=_by()), detail_of(person=assignee))


def unassign(queue: Queue, id: str) -> Item:
    return _logged("unassigned", queue, queue.unassign(id, by=_by()))


def adopt(queue: Queue, id: str, token: int) -> Item:
    return _logged("adopted", queue, queue.adopt(id, token, by=_by()), detail_of(token=token))


def reopen(queue: Queue, id: str, token: int, *, to: str | None, reason: str | None) -> Item:
    """Take an answer back. ``to``: who gets the item, if anybody in particular."""
    assignee = None if to is None else worker_name(queue.name, to, "to")
    author = _author(queue, id, token)
    item = queue.reopen(id, token, to=assignee, reason=reason, by=_by())
    if author is not None:
        state().activity.count(author, queue.name, "reopened")
    return _logged("reopened", queue, item, detail_of(reason=reason, to=assignee, token=token))


def correct(
    queue: Queue,
    id: str,
    token: int,
    result: Json,
    *,
    expected_form: Json = ...,  # any form
) -> Item:
    """Replace an answer by the manager's."""
    author = _author(queue, id, token)
    item = queue.correct(id, token, result, by=_by(), expected_form=expected_form)
    if author is not None:
        state().activity.count(author, queue.name, "corrected")
    return _logged("corrected", queue, item, detail_of(token=token))


def _author(queue: Queue, id: str, token: int) -> str | None:
    """Whose answer it is, for their figures; None if there is none that counts, such as when a request that
    was carried out is sent again."""
    return next((answer.person for answer in queue.get(id).answers if answer.token == token), None)


def answer(queue: Queue, id: str, text: str, *, message: str) -> None:
    """Write to the person who has the item, and to those who get it next. ``message``: the id of the message,
    which is sent once."""
    queue.get(id)  # raises ItemNotFound
    state().threads.answer(queue.name, id, _by(), text, message=message)
    _log("answered", queue, id)


def settle(queue: Queue, id: str) -> None:
    """Remove the item's question from those that need an answer."""
    queue.get(id)  # raises ItemNotFound
    state().threads.settle(queue.name, id)
    _log("settled", queue, id)


@dataclass(frozen=True, slots=True)
class Bulk:
    """An action on many items. ``answers``: how many each then needs, to lower that. ``unless``: finished
    items are not removed. ``began``: when the manager asked for it: what got an answer since is not removed,
    and an item that stays as it is counts as refused."""

    move: Move
    assignee: str = ""
    answers: int | None = None
    unless: Literal["finished"] | None = None
    began: datetime | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item that was not changed. ``error`` is None if there was nothing to change."""

    id: str
    item: Item | None  # None: it doesn't exist
    error: LeaseqError | None


def run_bulk(queue: Queue, bulk: Bulk, ids: Iterable[str]) -> tuple[int, list[Refusal]]:
    """Change each of these items by itself. Returns the number of those changed, and the refusals."""
    done_ids: list[str] = []
    try:
        refusals = _run(queue, bulk, ids, done_ids)
    finally:  # also if the server fails half-way
        if done_ids:
            _log_bulk(queue, bulk, f"{len(done_ids)}: {ids_in_words(done_ids)}")
    return len(done_ids), refusals


@dataclass(frozen=True, slots=True)
class Step:
    """A request of an action that takes many."""

    description: str  # of all items
    done: int  # the number changed by earlier steps
    is_first: bool
    is_last: bool


def run_step(queue: Queue, bulk: Bulk, ids: Iterable[str], step: Step) -> tuple[int, list[Refusal]]:
    """Run one step of an action, whose beginning and end are logged. Returns the number of items changed so
    far, and the refusals of this step."""
    if step.is_first:
        _log_bulk(queue, bulk, step.description)
    done_ids: list[str] = []
    refusals = _run(queue, bulk, ids, done_ids)
    count = step.done + len(done_ids)
    if step.is_last:
        _log_bulk(queue, bulk, f"{count}: {step.description}")
    return count, refusals


def _log_bulk(queue: Queue, bulk: Bulk, detail: str) -> None:
    """Write an action on many items to the audit log; the queue's journal has an event for each."""
    detail = f"{detail} → {bulk.assignee}" if bulk.assignee else detail
    note(f"item.{_LOGGED[bulk.move]}", queue.name, detail)


def _run(queue: Queue, bulk: Bulk, ids: Iterable[str], done_ids: list[str]) -> list[Refusal]:
    refusals: list[Refusal] = []
    for id in dict.fromkeys(ids):
        before: Item | None = None
        try:
            before = queue.get(id) if bulk.began else None
            after = _move(queue, bulk, id, before)
        except (Invalid, ItemNotFound, ItemFinished) as error:
            item = error.item if isinstance(error, ItemFinished) else before
            refusals.append(Refusal(id, None if isinstance(error, ItemNotFound) else item, error))
            continue
        if before is not None and before == after:
            refusals.append(Refusal(id, after, None))
        else:
            done_ids.append(id)
    return refusals


def _move(queue: Queue, bulk: Bulk, id: str, before: Item | None) -> Item | None:
    """The item after the action; None if it is removed."""
    match bulk.move:
        case "release":
            return queue.release(id, by=_by())
        case "assign":
            return queue.assign(id, bulk.assignee, by=_by())
        case "unassign":
            return queue.unassign(id, by=_by())
        case "revive":
            return queue.revive(id, by=_by())
        case "lower":
            return queue.change(id, by=_by(), answers=bulk.answers or 1)
        case "remove":
            _remove(queue, id, bulk.unless if bulk.began is None else _unless(bulk.began, before))
    return None


def _unless(began: datetime, before: Item | None) -> Literal["finished"] | None:
    answers = before.answers if before else ()
    is_known = answers and all(answer.finished_at <= began for answer in answers)
    return None if is_known else "finished"


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
            note("item.adopted", queue.name, f"{len(done_ids)}: {ids_in_words(done_ids)}")
    return len(done_ids), refusals


def ids_in_words(ids: Sequence[str]) -> str:
    """The first ten ids, and the number of the others."""
    text = ", ".join(ids[:10])
    return text if len(ids) <= 10 else f"{text} + {len(ids) - 10}"


def _item_changes(changes: leaseq.ItemChanges) -> str:
    """An item's new values; of a payload, only that it changed."""
    return ", ".join(
        name if name == "payload" else f"{name}: {shortened(_plain(value)) or 'none'}"
        for name, value in sorted(changes.items())
    )


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None:
        return "none"
    return ", ".join(value) if isinstance(value, list | tuple) else value

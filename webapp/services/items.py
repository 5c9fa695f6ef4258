"""The verbs of a manager on one item; `bulk` has those on many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, Unpack

import leaseq
from leaseq import Item, Json, PolicyChanged, Queue
from leaseq.form import file_questions
from leaseq.webapp.context import form_of, note, person, state
from leaseq.webapp.services import files
from leaseq.webapp.services.queues import with_addressee, worker_name


def _by() -> str:
    return person().name


def _log(act: str, queue: Queue, id: str, **values: Any) -> None:
    note(f"item.{act}", f"{queue.name} / {id}", **values)


def _logged(act: str, queue: Queue, item: Item, **values: Any) -> Item:
    _log(act, queue, item.id, **values)
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
    if item.to is not None:
        item = with_addressee(queue.name, item, {})
    return queue.enqueue(
        item.payload,
        id=item.id,
        priority=item.priority,
        delay=item.delay,
        at=item.at,
        requires=item.requires,
        due=item.due,
        max_attempts=item.max_attempts,
        form=item.form,
        expires=item.expires,
        to=item.to,
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
    return _logged("changed", queue, queue.change(id, by=_by(), **changes), **logged_changes(changes))


def remove(queue: Queue, id: str, *, unless: Literal["finished"] | None = None) -> None:
    """Delete an item, with its thread."""
    delete(queue, id, unless)
    _log("removed", queue, id)


def delete(queue: Queue, id: str, unless: Literal["finished"] | None) -> None:
    """Delete an item, with its thread, without a line in the audit log."""
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


def cancel(queue: Queue, id: str, reason: str | None) -> Item:
    """End an item that nobody needs any more."""
    return _logged("cancelled", queue, queue.cancel(id, reason, by=_by()), reason=reason)


def release(queue: Queue, id: str) -> Item:
    return _logged("released", queue, queue.release(id, by=_by()))


def assign(queue: Queue, id: str, name: str) -> Item:
    """Assign an item to a person. Raises Invalid unless they may work on the queue."""
    assignee = worker_name(queue.name, name)
    return _logged("assigned", queue, queue.assign(id, assignee, by=_by()), person=assignee)


def unassign(queue: Queue, id: str) -> Item:
    return _logged("unassigned", queue, queue.unassign(id, by=_by()))


def adopt(queue: Queue, id: str, token: int) -> Item:
    return _logged("adopted", queue, queue.adopt(id, token, by=_by()), grant=token)


def reopen(queue: Queue, id: str, token: int, *, to: str | None, reason: str | None) -> Item:
    """Take an answer back. ``to``: who gets the item, if anybody in particular."""
    assignee = None if to is None else worker_name(queue.name, to, "to")
    author = _author(queue, id, token)
    item = queue.reopen(id, token, to=assignee, reason=reason, by=_by())
    if author is not None:
        state().activity.count(author, queue.name, "reopened")
    return _logged("reopened", queue, item, reason=reason, to=assignee, grant=token)


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
    while True:
        form = form_of(queue, queue.get(id)) if expected_form is ... else expected_form
        if file_questions(form):
            files.check(queue, id, form, result)
        try:
            item = queue.correct(id, token, result, by=_by(), expected_form=form)
            break
        except PolicyChanged:  # perhaps the form asks for files now
            if expected_form is not ...:
                raise
    if author is not None:
        state().activity.count(author, queue.name, "corrected")
    return _logged("corrected", queue, item, grant=token)


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


def logged_changes(changes: leaseq.ItemChanges) -> dict[str, Any]:
    """An item's new values; of a payload, only that it changed."""
    return {
        name: "changed" if name == "payload" else _plain(value) for name, value in sorted(changes.items())
    }


def _plain(value: Any) -> Any:
    """A new value for the audit log."""
    if isinstance(value, datetime):
        return value.isoformat()
    is_number = isinstance(value, int | float)
    return value if is_number else [*value] if value else "none"

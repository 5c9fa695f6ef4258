"""The verbs of programs that ask: put a question, wait for its answer, cancel it."""

from __future__ import annotations

from typing import Literal, TypeAlias, Unpack

from flask import request

from leaseq import (
    Answered,
    Invalid,
    Item,
    ItemNotFound,
    Json,
    QuestionOptions,
    Queue,
    QueueNotFound,
    StillWaiting,
)
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.security.authorization import is_still_known
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.queue_access import may_work

Why: TypeAlias = Literal["paused", "nobody"]
"""Why nobody can answer now: the queue is paused; nobody who may work on it has the skills, or the person to
whom it is put may not."""


def ask(
    queue: Queue, payload: Json, *, id: str, timeout: float, wait: float, **options: Unpack[QuestionOptions]
) -> Answered:
    """Put a question in the caller's name, and wait for its answer up to ``wait`` seconds. Raises
    StillWaiting and NotAnswered, and Problem if the id has another question, or one of somebody else."""
    try:
        return queue.ask(payload, id=id, timeout=timeout, wait=0, by=person().name, **options)
    except Invalid as error:
        if error.rule != "question":
            raise
        raise Problem.of(409, "conflict", "question", members={"id": id}, id=id) from None
    except StillWaiting:
        return wait_for(queue, id, wait)


def wait_for(queue: Queue, id: str, seconds: float) -> Answered:
    """Wait for the answer of a question of the caller, up to so many seconds, in which other requests are
    served. Raises StillWaiting, NotAnswered, ItemNotFound, and Problem or QueueNotFound if the caller may no
    longer know it by then."""
    find(queue, id)
    answered = _wait(queue, id, seconds) if seconds else queue.wait_for(id, 0)
    find(queue, id)  # another caller may have the id by now
    return answered


def _wait(queue: Queue, id: str, seconds: float) -> Answered:
    with (
        state().open_calls.track("waits", person().name),
        state().request_slots.release_temporarily(),
        state().waits.track(request.environ) as stop,
    ):
        try:
            return queue.wait_for(id, seconds, stop=stop)
        finally:
            _check_still_allowed(queue.name)


def _check_still_allowed(queue: str) -> None:
    account = accounts().find(person().name)
    if account is None or account.disabled or not is_still_known():
        raise Problem.of(401, "unauthorized", "unauthorized", what="while_waiting")
    if not state().access.read(queue).lets_manage(account):
        raise QueueNotFound(queue)


def find(queue: Queue, id: str) -> Item:
    """A question of the caller. Others are not found, whether or not they exist."""
    item = queue.get(id)
    if item.asked_by != person().name:
        raise ItemNotFound(queue.name, id)
    return item


def cancel(queue: Queue, id: str) -> None:
    """Cancel a question of the caller; one that is over is left as it is."""
    if find(queue, id).state not in ("finished", "dead"):
        queue.cancel(id, by=person().name)


def why_waiting(queue: Queue, id: str) -> Why | None:
    """Why nobody can answer a question that waits; None if somebody can."""
    item = queue.get(id)
    if item.state == "reserved":
        return None
    if queue.stats().paused is not None:
        return "paused"
    access, addressees = state().access.get(queue.name), item.assigned_to
    stopped = {one.person for one in queue.stopped()}
    for account in accounts().people():
        fits = account.name in addressees if addressees else set(item.requires) <= set(account.skills)
        if fits and account.name not in stopped and may_work(account, access):
            return None
    return "nobody"

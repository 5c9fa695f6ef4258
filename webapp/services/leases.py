"""The verbs of the person who has a lease: reserve, renew, draft, finish, give back, report, undo."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack, cast

from flask import request

from leaseq import Abandoned, Failed, Finished, Json, Lease, LeaseLost, PolicyChanged, Queue, QueueNotFound
from leaseq.form import file_questions
from leaseq.webapp.context import accounts, existing_queue, form_of, person, state
from leaseq.webapp.security.authorization import is_still_known
from leaseq.webapp.services import files
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.activity import DayFigures, How

_Result = TypeVar("_Result", Finished, Abandoned, Failed)


class Ended(NamedTuple, Generic[_Result]):
    """The library's result, and what the outcome adds to the person's figures of today."""

    result: _Result
    figures: DayFigures


def reserve(queue: Queue, *, wait: float = 0, request_id: str | None = None) -> Lease | None:
    """Reserve an item. With ``wait``, wait so many seconds for one. Raises Problem or QueueNotFound if
    the account, the token or the access to the queue is gone by then."""
    caller = person()
    if not wait:
        lease = queue.reserve(caller.name, skills=caller.skills, request_id=request_id)
    else:
        lease = _wait_for_item(queue, wait, request_id)
        lease = lease if lease is not None and _is_still_allowed(lease) else None
    _end_break(lease)
    return lease


def _wait_for_item(queue: Queue, seconds: float, request_id: str | None) -> Lease | None:
    """Reserve an item as soon as there is one. A client that has disconnected gets none."""
    caller = person()
    with (
        state().open_calls.track("waits", caller.name),
        state().request_slots.release_temporarily(),
        state().waits.track(request.environ) as stop,
    ):
        return queue.reserve(
            caller.name, skills=caller.skills, wait=seconds, request_id=request_id, stop=stop
        )


def _is_still_allowed(lease: Lease) -> bool:
    """Whether the person still has the skills for this item, else it is given back. Raises, after giving it
    back, if the account, the token or the access to the queue is gone."""
    account = accounts().find(lease.person)
    if account is None or account.disabled or not is_still_known():
        _give_back(lease)
        raise Problem.of(401, "unauthorized", "unauthorized", what="while_waiting")
    if not state().access.read(lease.queue).lets_work(account):
        _give_back(lease)
        raise QueueNotFound(lease.queue)
    caller = person()
    if account.skills == caller.skills:
        return True
    required = existing_queue(lease.queue).get(lease.id).requires
    if lost_skills := set(required) & set(caller.skills) - set(account.skills):
        _give_back(lease)
    return not lost_skills


def _give_back(lease: Lease) -> None:
    existing_queue(lease.queue).release(lease.id, person=lease.person, by=lease.person)


def renew(queue: Queue, id: str, token: int, *, request_id: str | None = None) -> Lease:
    return queue.renew(id=id, token=token, person=person().name, request_id=request_id)


def save_draft(queue: Queue, id: str, token: int, draft: Json) -> None:
    queue.save_draft(id=id, token=token, person=person().name, draft=draft)


class FinishOptions(TypedDict, total=False):
    then_reserve: bool
    expected_form: Json
    request_id: str | None


class AbandonOptions(TypedDict, total=False):
    reason: str | None
    again: bool
    then_reserve: bool
    request_id: str | None


class FailOptions(TypedDict, total=False):
    retry: bool
    then_reserve: bool
    request_id: str | None


def finish(
    queue: Queue, id: str, token: int, result: Json, *, active_ms: int = 0, **options: Unpack[FinishOptions]
) -> Ended[Finished]:
    """Finish the item. ``active_ms``: the time at work on it, as the person's page measured it."""
    name, skills = person().name, person().skills
    form = options.get("expected_form", queue.policy.form)
    if "expected_form" not in options and file_questions(form):
        form = form_of(queue, queue.get(id))  # its own may ask something else under the same name
    while True:
        if file_questions(form):
            files.check(queue, id, form, result)
        sent: FinishOptions = {**options, "expected_form": form}
        try:
            finished = queue.finish(id=id, token=token, person=name, skills=skills, result=result, **sent)
            break
        except PolicyChanged:  # the queue's form is another one, or the item has its own
            if "expected_form" in options:
                raise
            form = form_of(queue, queue.get(id))
    held_ms = round(finished.held_seconds * 1_000)
    return _ended(queue, "finished", id, token, finished, active_ms=active_ms, held_ms=held_ms)


def abandon(
    queue: Queue, id: str, token: int, *, active_ms: int = 0, **options: Unpack[AbandonOptions]
) -> Ended[Abandoned]:
    """Give the item back."""
    name, skills = person().name, person().skills
    abandoned = queue.abandon(id=id, token=token, person=name, skills=skills, **options)
    return _ended(queue, "abandoned", id, token, abandoned, active_ms=active_ms)


def fail(
    queue: Queue, id: str, token: int, error: str, *, active_ms: int = 0, **options: Unpack[FailOptions]
) -> Ended[Failed]:
    """Report a problem with the item."""
    name, skills = person().name, person().skills
    failed = queue.fail(id=id, token=token, person=name, skills=skills, error=error, **options)
    return _ended(queue, "failed", id, token, failed, active_ms=active_ms)


def _ended(
    queue: Queue, how: How, id: str, token: int, result: _Result, *, active_ms: int, held_ms: int = 0
) -> Ended[_Result]:
    """Count the outcome for the person, who may be a program. If they got the next item, their break ends."""
    figures = state().activity.record(
        person().name, queue.name, how, id=id, token=token, active_ms=active_ms, held_ms=held_ms
    )
    _end_break(result.next)
    return Ended(result, figures)


def _end_break(lease: Lease | None) -> None:
    """A break is over when the person takes an item."""
    if lease is not None:
        state().breaks.end_soon(lease.person)


def undo(queue: Queue, id: str, token: int, *, request_id: str | None) -> Lease:
    """Undo a finish, an abandon or a fail, whichever ended the lease, and subtract it from the figures."""
    how: How = "finished"
    parts: dict[str, Any] = {"id": id, "token": token, "person": person().name, "request_id": request_id}
    try:
        lease = queue.undo_finish(**parts)
    except LeaseLost as error:
        ending = next((grant.how for grant in error.item.history if grant.token == token), "")
        if ending not in ("abandoned", "failed"):
            raise
        how = cast("How", ending)
        lease = queue.take_back(**parts)
    state().activity.subtract(person().name, queue.name, how, id=id, token=token)
    return lease

"""REST calls for leases: reserve, renew, draft, finish, abandon, fail."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, cast

from flask import Response, request
from werkzeug.exceptions import Unauthorized

from leaseq import Lease, LeaseLost, Queue, QueueNotFound, validation
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.description.headers import RETRY_AFTER
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.base import LeasesQuery, list_response, page_of, request_id
from leaseq.webapp.api.models.requests import (
    LONGEST_WAIT,
    AbandonRequest,
    DraftRequest,
    FailRequest,
    FinishRequest,
    ItemPath,
    QueuePath,
    ReserveRequest,
    TokenRequest,
)
from leaseq.webapp.context import accounts, existing_queue, lease_queue, person, state
from leaseq.webapp.security.authorization import is_still_known, needs
from leaseq.webapp.store.activity import How

TAGS: list[Any] = [{"name": "work"}]
NOTHING_NOW = {
    "description": "No item now: `X-Leaseq-Reason` is the reason, `Retry-After` the seconds until a new "
    "attempt",
    "headers": {
        "X-Leaseq-Reason": {"schema": {"enum": ["empty", "held", "not-eligible", "paused"]}},
        **RETRY_AFTER,
    },
}

ASK_AGAIN_SECONDS = 5
LONGEST_PAUSE = 60


@bp.post("/queues/<q>/reserve", tags=TAGS, responses={"200": responses.Lease, "204": NOTHING_NOW})
@needs("worker")
def reserve(path: QueuePath, body: ReserveRequest) -> dict[str, Any] | Response:
    """Reserve one item that nobody else has.

    A person who already holds as many items as allowed gets one of those again. With `wait`, the response is
    sent as soon as there is an item (the call that has waited longest gets the first one), or is 204 when the
    time is over. A person may have 4 such requests waiting; a further one is refused with 429.
    """
    wait = validation.number(body.wait, "wait", 0, LONGEST_WAIT)
    caller = person()
    # Don't wait for a queue that does not exist.
    queue = existing_queue(path.q) if wait else lease_queue(path.q)
    lease = (
        _wait_for_item(queue, wait)
        if wait
        else queue.reserve(caller.name, skills=caller.skills, request_id=request_id())
    )
    if lease is not None and wait:
        lease = lease if _is_still_allowed(lease) else None
    if lease is not None and wait:
        state().breaks.end(caller.name)
    if lease is not None:
        return responses.Lease.from_record(lease)
    explanation = queue.why_nothing(caller.name, caller.skills)
    response = Response(status=204)
    response.headers["Retry-After"] = "0" if wait else str(_wait(explanation.free_at))
    response.headers["X-Leaseq-Reason"] = explanation.reason or "held"
    return response


def _wait_for_item(queue: Queue, seconds: float) -> Lease | None:
    """Reserve an item as soon as there is one. A client that has disconnected gets none."""
    caller = person()
    with (
        state().open_calls.track("waits", caller.name),
        state().request_slots.release_temporarily(),
        state().waits.track(request.environ) as stop,
    ):
        return queue.reserve(
            caller.name, skills=caller.skills, wait=seconds, request_id=request_id(), stop=stop
        )


def _is_still_allowed(lease: Lease) -> bool:
    """Whether the person still has the skills for this item, else it is given back. Raises, after giving it
    back, if the account, the token or the access to the queue is gone."""
    account = accounts().find(lease.person)
    if account is None or account.disabled or not is_still_known():
        _give_back(lease)
        raise Unauthorized(
            "your account was disabled, or the token revoked, while this request waited for an item"
        )
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


def _wait(free_at: datetime | None) -> int:
    """Whole seconds until another request may succeed."""
    if free_at is None:
        return ASK_AGAIN_SECONDS
    seconds = (free_at - datetime.now(UTC)).total_seconds()
    return min(max(math.ceil(seconds), 1), LONGEST_PAUSE)


@bp.get("/queues/<q>/mine", tags=TAGS, responses={"200": responses.LeaseList})
@needs("worker")
def mine(path: QueuePath, query: LeasesQuery) -> dict[str, Any]:
    """List the leases that the caller holds, oldest first, page by page."""
    after = None if query.after is None else int(query.after)
    leases, cursor = page_of(
        existing_queue(path.q).mine(person().name), lambda one: one.token, after, query.limit
    )
    return list_response("leases", [responses.Lease.from_record(lease) for lease in leases], cursor)


@bp.post("/queues/<q>/items/<item:id>/finish", tags=TAGS, responses={"200": responses.Finished})
@needs("worker")
def finish(path: ItemPath, body: FinishRequest) -> dict[str, Any]:
    """Finish the item with its result.

    Also accepted after the lease expired, if the item has not been given to anybody else since. A refused
    answer is kept as a late answer: then `answer_kept` is true.
    """
    caller = person()
    result = lease_queue(path.q).finish(
        id=path.id,
        token=body.token,
        person=caller.name,
        result=body.result,
        then_reserve=body.then_reserve,
        skills=caller.skills,
        request_id=request_id(),
    )
    _count(path, "finished", body.token, result.held_seconds)
    return responses.Finished.from_record(result)


@bp.post("/queues/<q>/items/<item:id>/undo", tags=TAGS, responses={"200": responses.Lease})
@needs("worker")
def undo(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Undo a finish, an abandon or a fail, at most 15 seconds after it.

    The person holds the item again, under a new token, with the answer or what they had typed as its draft,
    even if they already hold as many items as allowed.
    """
    queue, name, ending = lease_queue(path.q), person().name, "finished"
    arguments: dict[str, Any] = {
        "id": path.id,
        "token": body.token,
        "person": name,
        "request_id": request_id(),
    }
    how: How = "finished"
    try:
        lease = queue.undo_finish(**arguments)
    except LeaseLost as error:
        ending = next((grant.how for grant in error.item.history if grant.token == body.token), "")
        if ending not in ("abandoned", "failed"):
            raise
        how = cast("How", ending)
        lease = queue.take_back(**arguments)
    state().activity.subtract(name, path.q, how, id=path.id, token=body.token)
    return responses.Lease.from_record(lease)


@bp.post("/queues/<q>/items/<item:id>/abandon", tags=TAGS, responses={"200": responses.Abandoned})
@needs("worker")
def abandon(path: ItemPath, body: AbandonRequest) -> dict[str, Any]:
    """Give the item back. It returns to the front of the queue; other people get it first."""
    caller = person()
    result = lease_queue(path.q).abandon(
        id=path.id,
        token=body.token,
        person=caller.name,
        reason=body.reason,
        again=body.again,
        then_reserve=body.then_reserve,
        skills=caller.skills,
        request_id=request_id(),
    )
    _count(path, "abandoned", body.token)
    return responses.Abandoned.from_record(result)


@bp.post("/queues/<q>/items/<item:id>/fail", tags=TAGS, responses={"200": responses.Failed})
@needs("worker")
def fail(path: ItemPath, body: FailRequest) -> dict[str, Any]:
    """Report that the item can't be done. It is retried later until no attempts are left.

    With `retry` false, it is not retried.
    """
    caller = person()
    result = lease_queue(path.q).fail(
        id=path.id,
        token=body.token,
        person=caller.name,
        error=body.error,
        retry=body.retry,
        then_reserve=body.then_reserve,
        skills=caller.skills,
        request_id=request_id(),
    )
    _count(path, "failed", body.token)
    return responses.Failed.from_record(result)


def _count(path: ItemPath, outcome: How, token: int, held_seconds: float = 0) -> None:
    """Count the outcome in the daily activity of the caller, a person or a program."""
    held_ms = round(held_seconds * 1_000)
    state().activity.record(person().name, path.q, outcome, id=path.id, token=token, held_ms=held_ms)


@bp.post("/queues/<q>/items/<item:id>/renew", tags=TAGS, responses={"200": responses.Lease})
@needs("worker")
def renew(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Extend the lease to the full lease time from now.

    Also accepted after the lease expired, if the item has not been given to anybody else.
    """
    lease = lease_queue(path.q).renew(
        id=path.id, token=body.token, person=person().name, request_id=request_id()
    )
    return responses.Lease.from_record(lease)


@bp.put("/queues/<q>/items/<item:id>/draft", tags=TAGS, responses={"204": None})
@needs("worker")
def draft(path: ItemPath, body: DraftRequest) -> Response:
    """Save a draft of the answer. It is returned with the item's next lease, even if this lease expires."""
    lease_queue(path.q).save_draft(id=path.id, token=body.token, person=person().name, draft=body.draft)
    return Response(status=204)

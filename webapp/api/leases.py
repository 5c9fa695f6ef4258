"""REST calls for leases: reserve, renew, draft, finish, abandon, fail."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from flask import Response

from leaseq import validation
from leaseq.webapp.api.blueprint import bp
from leaseq.webapp.api.description.openapi import RETRY_AFTER
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
from leaseq.webapp.context import existing_queue, lease_queue, person
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import leases

TAGS: list[Any] = [{"name": "work"}]
NOTHING_NOW = {
    "description": "No item now: `X-Leaseq-Reason` is the reason, `Retry-After` the seconds until a new "
    "attempt",
    "headers": {
        "X-Leaseq-Reason": {"schema": {"enum": ["empty", "held", "not-eligible", "paused", "stopped"]}},
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
    # Don't wait for a queue that does not exist.
    queue = existing_queue(path.q) if wait else lease_queue(path.q)
    lease = leases.reserve(queue, wait=wait, request_id=request_id())
    if lease is not None:
        return responses.Lease.from_record(lease)
    explanation = queue.why_nothing(person().name, person().skills)
    response = Response(status=204)
    response.headers["Retry-After"] = "0" if wait else str(_wait(explanation.free_at))
    response.headers["X-Leaseq-Reason"] = explanation.reason or "held"
    return response


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
    page, cursor = page_of(
        existing_queue(path.q).mine(person().name), lambda lease: lease.token, after, query.limit
    )
    return list_response("leases", [responses.Lease.from_record(lease) for lease in page], cursor)


@bp.post("/queues/<q>/items/<item:id>/finish", tags=TAGS, responses={"200": responses.Finished})
@needs("worker")
def finish(path: ItemPath, body: FinishRequest) -> dict[str, Any]:
    """Finish the item with its result.

    Also accepted after the lease expired, if the item has not been given to anybody else since. A refused
    answer is kept as a late answer: then `answer_kept` is true.
    """
    ended = leases.finish(lease_queue(path.q), path.id, request_id=request_id(), **dict(body))
    return responses.Finished.from_record(ended.result)


@bp.post("/queues/<q>/items/<item:id>/undo", tags=TAGS, responses={"200": responses.Lease})
@needs("worker")
def undo(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Undo a finish, an abandon or a fail, at most 15 seconds after it.

    The person holds the item again, under a new token, with the answer or what they had typed as its draft,
    even if they already hold as many items as allowed.
    """
    lease = leases.undo(lease_queue(path.q), path.id, body.token, request_id=request_id())
    return responses.Lease.from_record(lease)


@bp.post("/queues/<q>/items/<item:id>/abandon", tags=TAGS, responses={"200": responses.Abandoned})
@needs("worker")
def abandon(path: ItemPath, body: AbandonRequest) -> dict[str, Any]:
    """Give the item back. It returns to the front of the queue; other people get it first."""
    ended = leases.abandon(lease_queue(path.q), path.id, request_id=request_id(), **dict(body))
    return responses.Abandoned.from_record(ended.result)


@bp.post("/queues/<q>/items/<item:id>/fail", tags=TAGS, responses={"200": responses.Failed})
@needs("worker")
def fail(path: ItemPath, body: FailRequest) -> dict[str, Any]:
    """Report that the item can't be done. It is retried later until no attempts are left.

    With `retry` false, it is not retried.
    """
    ended = leases.fail(lease_queue(path.q), path.id, request_id=request_id(), **dict(body))
    return responses.Failed.from_record(ended.result)


@bp.post("/queues/<q>/items/<item:id>/renew", tags=TAGS, responses={"200": responses.Lease})
@needs("worker")
def renew(path: ItemPath, body: TokenRequest) -> dict[str, Any]:
    """Extend the lease to the full lease time from now.

    Also accepted after the lease expired, if the item has not been given to anybody else.
    """
    lease = leases.renew(lease_queue(path.q), path.id, body.token, request_id=request_id())
    return responses.Lease.from_record(lease)


@bp.put("/queues/<q>/items/<item:id>/draft", tags=TAGS, responses={"204": None})
@needs("worker")
def draft(path: ItemPath, body: DraftRequest) -> Response:
    """Save a draft of the answer. It is returned with the item's next lease, even if this lease expires."""
    leases.save_draft(lease_queue(path.q), path.id, body.token, body.draft)
    return Response(status=204)

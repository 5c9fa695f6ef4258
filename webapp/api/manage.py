"""What a manager does with a whole queue."""

from __future__ import annotations

from typing import Any

from flask import Response

from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.models_in import (
    AnswersQuery,
    EmptyRequest,
    JournalQuery,
    PauseRequest,
    QueuePath,
    ReviveRequest,
)
from leaseq.webapp.context import person, queue
from leaseq.webapp.rendering.answers_export import streamed_answers
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "manage"}]
_ANSWERS = {
    "description": "An answer a line, in the order in which they were finished; late answers are marked",
    "content": {
        "application/x-ndjson": {"schema": {"type": "string"}},
        "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}}},
        "text/csv": {"schema": {"type": "string"}},
        "text/tab-separated-values": {"schema": {"type": "string"}},
    },
}


@bp.post("/queues/<q>/clear", tags=TAGS, responses={"200": models_out.Cleared})
@needs("manager")
def clear(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return items whose lease ran out, and release what is due.

    It deletes nothing but finished items that are older than the policy's `keep_finished_seconds`.
    """
    return models_out.Cleared.of(queue(path.q).clear())


MOST_REVIVED = 1_000


@bp.post("/queues/<q>/revive", tags=TAGS, responses={"200": models_out.Revived})
@needs("manager")
def revive_all(path: QueuePath, body: ReviveRequest) -> dict[str, Any]:
    """Put dead items back to work: all, or those that a filter names, at most 1,000 a call."""
    revived = queue(path.q).revive_all(
        error=body.error, person=body.person, limit=MOST_REVIVED, by=person().name
    )
    return {"revived": revived, "more": revived == MOST_REVIVED}


@bp.post("/queues/<q>/pause", tags=TAGS, responses={"200": models_out.Paused})
@needs("manager")
def pause(path: QueuePath, body: PauseRequest) -> dict[str, Any]:
    """Stop handing out items. What is held may be finished."""
    queue(path.q).pause(body.reason, by=person().name)
    return {"paused": body.reason or ""}


@bp.post("/queues/<q>/resume", tags=TAGS, responses={"200": models_out.Paused})
@needs("manager")
def resume(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Hand out items again."""
    queue(path.q).resume(by=person().name)
    return {"paused": None}


@bp.get("/queues/<q>/journal", tags=TAGS, responses={"200": models_out.EventList})
@needs("manager")
def journal(path: QueuePath, query: JournalQuery) -> dict[str, Any]:
    """What happened, in order. Pass `after` back to go on from there."""
    events = queue(path.q).journal(after=query.after, limit=query.limit)
    after = events[-1].cursor if events else query.after
    return {"events": [models_out.Event.of(event) for event in events], "after": after}


@bp.get("/queues/<q>/answers", tags=TAGS, responses={"200": _ANSWERS})
@needs("manager")
def answers(path: QueuePath, query: AnswersQuery) -> Response:
    """Every answer, streamed, or those of a person, a time, late or not.

    `with_late` adds those that were refused and kept.
    """
    return streamed_answers(queue(path.q), **query.model_dump())

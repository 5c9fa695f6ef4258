"""REST calls for managers, on a whole queue."""

from __future__ import annotations

from typing import Any

from flask import Response, g

from leaseq.transfer import BEGINNING, CONTENT_TYPES, AnswersSince, period_of
from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.models_in import (
    AnswersQuery,
    EmptyRequest,
    JournalQuery,
    NewAnswersQuery,
    PauseRequest,
    QueuePath,
    RemoveRequest,
    ReviveRequest,
)
from leaseq.webapp.api.negotiation import accepted_format
from leaseq.webapp.api.pagination import LateQuery, list_response
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.rendering.answers_export import streamed_answers
from leaseq.webapp.rendering.late_answers import unused_answers
from leaseq.webapp.security.authorization import needs

TAGS: list[Any] = [{"name": "manage"}]
_ANSWERS = {
    "description": "One answer per line, in the order in which they were finished; late answers are marked",
    "content": {
        "application/x-ndjson": {"schema": {"type": "string"}},
        "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}}},
        "text/csv": {"schema": {"type": "string"}},
        "text/tab-separated-values": {"schema": {"type": "string"}},
        CONTENT_TYPES["xlsx"]: {"schema": {"type": "string", "format": "binary"}},
    },
}


@bp.post("/queues/<q>/clear", tags=TAGS, responses={"200": models_out.Cleared})
@needs("manager")
def clear(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return items whose lease expired, and release items that are due.

    It deletes only finished and dead items that the policy no longer keeps.
    """
    return models_out.Cleared.from_record(existing_queue(path.q).clear())


MAX_MOVED = 1_000


@bp.post("/queues/<q>/revive", tags=TAGS, responses={"200": models_out.Revived})
@needs("manager")
def revive_all(path: QueuePath, body: ReviveRequest) -> dict[str, Any]:
    """Return dead items to the queue: all, or those that match the filter, at most 1,000 per call."""
    count = existing_queue(path.q).revive_all(
        error=body.error, person=body.person, limit=MAX_MOVED, by=person().name
    )
    return {"revived": count, "more": count == MAX_MOVED}


@bp.post("/queues/<q>/remove", tags=TAGS, responses={"200": models_out.Removed})
@needs("manager")
def remove_all(path: QueuePath, body: RemoveRequest) -> dict[str, Any]:
    """Delete the items in one state: all, or those that match the filter, at most 1,000 per call.

    They are deleted with their answers, history and threads. People who hold one lose the lease.
    """
    removed_ids: list[str] = []
    try:
        existing_queue(path.q).remove_all(
            body.state,
            error=body.error,
            person=body.person,
            limit=MAX_MOVED,
            by=person().name,
            on_removed=removed_ids.append,
        )
    finally:
        for id in removed_ids:
            state().threads.forget(path.q, id)
    return {"removed": len(removed_ids), "more": len(removed_ids) == MAX_MOVED}


@bp.post("/queues/<q>/pause", tags=TAGS, responses={"200": models_out.PauseState})
@needs("manager")
def pause(path: QueuePath, body: PauseRequest) -> dict[str, Any]:
    """Pause the queue: no item can be reserved, but held items can be finished."""
    existing_queue(path.q).pause(body.reason, by=person().name)
    return {"paused": body.reason or ""}


@bp.post("/queues/<q>/resume", tags=TAGS, responses={"200": models_out.PauseState})
@needs("manager")
def resume(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """End a pause."""
    existing_queue(path.q).resume(by=person().name)
    return {"paused": None}


@bp.get("/queues/<q>/journal", tags=TAGS, responses={"200": models_out.EventList})
@needs("manager")
def journal(path: QueuePath, query: JournalQuery) -> dict[str, Any]:
    """List the queue's events, in order. Pass `after` back to continue from there."""
    events = existing_queue(path.q).journal(after=query.after, limit=query.limit)
    after = events[-1].cursor if events else query.after
    answer = list_response("events", [models_out.Event.from_record(event) for event in events], after)
    if not events:
        g.next_page = None
    return answer


@bp.get("/queues/<q>/answers", tags=TAGS, responses={"200": _ANSWERS})
@needs("manager")
def answers(path: QueuePath, query: AnswersQuery) -> Response:
    """Stream all answers, or only those of a person, of a period, late or in time.

    `with_late` adds the late answers that were kept, but not accepted.
    """
    since, until = period_of(query.since, query.until)
    format = accepted_format(query.format, ("jsonl", "json", "csv", "tsv", "xlsx"))
    criteria = {**query.model_dump(), "since": since, "until": until, "format": format}
    return streamed_answers(existing_queue(path.q), **criteria)


@bp.get("/queues/<q>/answers/new", tags=TAGS, responses={"200": models_out.NewAnswerList})
@needs("manager")
def new_answers(path: QueuePath, query: NewAnswersQuery) -> dict[str, Any]:
    """List the answers accepted since an earlier call, in the order of acceptance, each once.

    Store `after`, and pass it to the next call to get newer answers. While `more` is true, call again
    immediately.
    """
    after = BEGINNING if query.after is None else query.after
    answers = AnswersSince(existing_queue(path.q), after, limit=query.limit)
    entries = [models_out.Answer.from_record(one) for one in answers]
    page = list_response("answers", entries, answers.cursor, more=answers.more)
    if not answers.more:
        g.next_page = None
    return page


@bp.get("/queues/<q>/late", tags=TAGS, responses={"200": models_out.AnswerList})
@needs("manager")
def list_late(path: QueuePath, query: LateQuery) -> dict[str, Any]:
    """List the late answers that were not used: `adopt` makes one its item's answer.

    They are in no order; one may be on two pages, and a page may be empty although `after` names a next page.
    """
    page = existing_queue(path.q).late_page(limit=query.limit, after=query.after)
    late_answers = [models_out.Answer.from_record(one) for item in page.items for one in unused_answers(item)]
    return list_response("answers", late_answers, page.after)

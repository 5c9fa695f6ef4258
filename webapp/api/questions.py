"""REST calls for questions: ask, wait for the answer, cancel."""

from __future__ import annotations

import dataclasses
import secrets
from typing import Any

from flask import url_for

from leaseq import Answered, NotAnswered, Queue, StillWaiting, validation
from leaseq.webapp.api.blueprint import bp, problem_reply, schema_ref
from leaseq.webapp.api.description.openapi import RETRY_AFTER
from leaseq.webapp.api.idempotency import derived_id, idempotency_key
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.requests import (
    LONGEST_WAIT,
    ItemPath,
    QuestionQuery,
    QuestionRequest,
    QueuePath,
)
from leaseq.webapp.context import existing_queue
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.services import questions
from leaseq.webapp.serving.bodies import JSON
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "questions"}]
ASK_AGAIN_SECONDS = 5
_Reply = tuple[dict[str, Any], int, dict[str, str]]
_WAITING = {
    "description": "Nobody has answered yet: ask for the answer again",
    "headers": {"Location": {"description": "Where", "schema": {"type": "string"}}, **RETRY_AFTER},
    "content": {JSON: {"schema": schema_ref("Waiting")}},
}
_GONE = problem_reply("`not-answered`: nobody will answer the question; `reason` says why")


@bp.post(
    "/queues/<q>/questions", tags=TAGS, responses={"200": responses.Answered, "202": _WAITING, "410": _GONE}
)
@needs("manager", scopes=("ask",))
def ask(path: QueuePath, body: QuestionRequest) -> _Reply:
    """Ask a person: add a question to the queue, and get the answer.

    An id makes the call safe to repeat: the same id with an equal payload and form is the same question, in
    whatever state it is. With other content, or if somebody else has the id, it is a 409 `conflict`.

    If nobody answers within `wait`, the response is 202: GET its `Location` until there is an answer.
    `reason` says why nobody can answer now, if that is so: `paused`, or `nobody` may work on the queue and
    has the skills. Nobody needs the answer after `timeout`: then the response is 410 with the `reason`
    `expired`; `cancelled` if somebody cancelled it, `dead` if too many people failed to answer it.
    """
    queue, key = existing_queue(path.q), idempotency_key()
    options = {name: getattr(body, name) for name in body.model_fields_set - {"wait", "timeout", "id"}}
    id = body.id if "id" in body.model_fields_set else None
    if id is None:
        id = secrets.token_hex(12) if key is None else derived_id(queue.name, key, 1)
    wait = validation.number(body.wait, "wait", 0, min(LONGEST_WAIT, max(body.timeout, 0)))
    try:
        answered = questions.ask(queue, id=id, timeout=body.timeout, wait=wait, **options)
    except NotAnswered as error:
        raise _gone(error) from None
    except StillWaiting:
        return _still_waiting(queue, id)
    return _answered(answered)


@bp.get(
    "/queues/<q>/questions/<item:id>",
    tags=TAGS,
    responses={"200": responses.Answered, "202": _WAITING, "410": _GONE},
)
@needs("manager", scopes=("ask",))
def get_answer(path: ItemPath, query: QuestionQuery) -> _Reply:
    """Get the answer of a question that the caller asked.

    With `wait`, the response is sent as soon as there is one, or is 202 when the time is over. A caller may
    have 4 such requests waiting; a further one is refused with 429.
    """
    queue, wait = existing_queue(path.q), validation.number(query.wait, "wait", 0, LONGEST_WAIT)
    try:
        answered = questions.wait_for(queue, path.id, wait)
    except NotAnswered as error:
        raise _gone(error) from None
    except StillWaiting:
        return _still_waiting(queue, path.id)
    return _answered(answered)


@bp.delete("/queues/<q>/questions/<item:id>", tags=TAGS, responses={"204": None})
@needs("manager", scopes=("ask",))
def cancel_question(path: ItemPath) -> tuple[str, int]:
    """Cancel a question that the caller asked: nobody needs its answer any more.

    Whoever holds it is told, and what they answer is kept as a late answer. One that is answered or over is
    left as it is.
    """
    questions.cancel(existing_queue(path.q), path.id)
    return "", 204


def _answered(answered: Answered) -> _Reply:
    fields = {field.name: getattr(answered, field.name) for field in dataclasses.fields(answered)}
    return responses.Answered.from_record({**fields, "state": "answered"}), 200, {}


def _still_waiting(queue: Queue, id: str) -> _Reply:
    address = url_for("api.get_answer", q=queue.name, id=id)
    body = {"id": id, "state": "waiting", "reason": questions.why_waiting(queue, id)}
    return body, 202, {"Location": address, "Retry-After": str(ASK_AGAIN_SECONDS)}


def _gone(error: NotAnswered) -> Problem:
    members = {"id": error.id, "reason": error.reason}
    return Problem.of(410, "not-answered", error.rule, members=members, **error.values)

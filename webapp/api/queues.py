"""Queues over REST: their policy, their figures, who may work on them."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any

from flask import Response, g, request
from pydantic import Field

import leaseq
from leaseq.form import check_form
from leaseq.transfer import BEGINNING, CONTENT_TYPES, AnswersSince, period_of, utc_time
from leaseq.webapp.api.blueprint import bp, problem_reply
from leaseq.webapp.api.description.openapi import TAGS_PATTERN, UNASSIGNED, UNMATCHED
from leaseq.webapp.api.models import responses
from leaseq.webapp.api.models.base import LateQuery, PageQuery, list_response, page_of
from leaseq.webapp.api.models.policy import PolicyChanges
from leaseq.webapp.api.models.requests import (
    PERSON,
    SKILLS,
    AnnouncementRequest,
    AnswersQuery,
    Body,
    EmptyRequest,
    JournalQuery,
    NewAnswersQuery,
    PauseRequest,
    QueuePath,
    QueuePersonPath,
    RemoveRequest,
    ReviveRequest,
    StopRequest,
)
from leaseq.webapp.api.models.responses import serialize_queue
from leaseq.webapp.api.negotiation import accepted_format
from leaseq.webapp.context import accounts, existing_queue, queue_names, state
from leaseq.webapp.rendering.downloads import streamed_answers
from leaseq.webapp.rendering.filters import unused_answers
from leaseq.webapp.security.authorization import may_manage, needs
from leaseq.webapp.services import queues
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.store.accounts.model import MAX_TEAM
from leaseq.webapp.store.announcements import Announcement
from leaseq.webapp.store.queue_access import (
    MAX_PEOPLE,
    MAX_TEAMS,
    Access,
    Group,
    count_unreachable,
    group_of,
    unreachable_rows,
)

TAGS: list[Any] = [{"name": "queues"}]


class AccessGroup(Body):
    """The people who are named, have one of the skills, or are in one of the teams."""

    people: list[str] = Field(
        [],
        description="Names",
        json_schema_extra={"items": {"type": "string", **PERSON}, "maxItems": MAX_PEOPLE},
    )
    skills: list[str] = Field([], description="Everybody who has one of them", json_schema_extra=SKILLS)
    teams: list[str] = Field(
        [],
        description="Everybody who is in one of them",
        json_schema_extra={
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_TEAM},
            "maxItems": MAX_TEAMS,
        },
    )


class QueueAccess(Body):
    """The people who may use a queue. Admins always may, and everybody who may manage it may also work on
    it."""

    work: AccessGroup | None = Field(..., description="Who may work on it; null: everybody")
    manage: AccessGroup | None = Field(..., description="Who may manage it; null: every manager")


@bp.get("/queues/<q>/access", tags=TAGS, responses={"200": QueueAccess})
@needs("manager")
def get_access(path: QueuePath) -> dict[str, Any]:
    """Read who may work on a queue, and who may manage it."""
    return asdict(state().access.get(existing_queue(path.q).name))


@bp.put("/queues/<q>/access", tags=TAGS, responses={"200": QueueAccess})
@needs("manager")
def put_access(path: QueuePath, body: QueueAccess) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Set who may work on a queue, and who may manage it. You must still be allowed to manage it.

    Anybody may have what was assigned to people who may no longer work on it: `X-Leaseq-Unassigned` says how
    many items. Teams and skills that match nobody are accepted: `X-Leaseq-Unmatched` says how many.
    """
    queue = existing_queue(path.q).name
    access = Access(_group("work", body.work), _group("manage", body.manage))
    change = queues.change_access(queue, lambda _: access)
    headers = {UNASSIGNED: change.unassigned, UNMATCHED: len(queues.unmatched_names(change.access))}
    return asdict(change.access), 200, {name: str(count) for name, count in headers.items()}


def _group(name: str, group: AccessGroup | None) -> Group | None:
    return group_of(name, group.people, group.skills, group.teams) if group else None


@bp.get("/queues/<q>/announcement", tags=TAGS, responses={"200": responses.Announcement})
@needs("worker")
def get_announcement(path: QueuePath) -> dict[str, Any]:
    """Read the line that stands on the work pages of a queue. 404 if there is none."""
    queue = existing_queue(path.q)
    announcement = state().announcements.get(queue.name)
    if announcement is None:
        raise Problem.of(404, "not-found", "not_found", what="announcement", name=queue.name)
    return _announcement_response(queue, announcement)


@bp.put("/queues/<q>/announcement", tags=TAGS, responses={"200": responses.Announcement})
@needs("manager")
def put_announcement(path: QueuePath, body: AnnouncementRequest) -> dict[str, Any]:
    """Show a line of plain text on the work pages of a queue, in place of an earlier one.

    Open pages show it within two seconds. Everybody can dismiss it for themselves.
    """
    queue = existing_queue(path.q)
    until = None if body.until is None else utc_time(body.until, "until")
    return _announcement_response(queue, queues.announce(queue, body.text, until))


@bp.delete("/queues/<q>/announcement", tags=TAGS, responses={"204": None})
@needs("manager")
def delete_announcement(path: QueuePath) -> Response:
    """End the announcement of a queue, if there is one."""
    queues.end_announcement(existing_queue(path.q))
    return Response(status=204)


def _announcement_response(queue: leaseq.Queue, announcement: Announcement) -> dict[str, Any]:
    counts = queues.seen_counts(queue.name, announcement) if may_manage(queue.name) else None
    return responses.Announcement(
        text=announcement.text,
        by=announcement.by,
        at=announcement.at,
        until=announcement.until,
        seen=counts and counts.seen,
        people=counts and counts.people,
    ).model_dump()


QueueResponse = tuple[dict[str, Any], int, dict[str, str]]
_PRECONDITION = problem_reply(
    "`policy-changed`: the policy is not the one that `If-Match` names; `queue-exists`: the queue exists, "
    "and `If-None-Match` requires a new one. Nothing changed"
)


@bp.get("/queues", tags=TAGS, responses={"200": responses.QueueList})
@needs("worker")
def list_queues(query: PageQuery) -> dict[str, Any]:
    """List all queues, by name, page by page. `unreadable`: those that need a newer version of leaseq."""
    client = state().client
    names, after = page_of(queue_names(), str, query.after, query.limit)
    found, errors = leaseq.read_queues(client, lambda queue: serialize_queue(queue, queue.policy), names)
    entries = [{"name": name, "detail": str(error)} for name, error in errors.items()]
    return list_response("queues", list(found.values()), after, unreadable=entries)


@bp.get("/queues/<q>", tags=TAGS, responses={"200": responses.Queue})
@needs("worker")
def get_queue(path: QueuePath) -> QueueResponse:
    """Read a queue: its policy, its form and its counts. `ETag` identifies the policy, for `If-Match`."""
    return _queue_response(existing_queue(path.q), 200)


@bp.put(
    "/queues/<q>",
    tags=TAGS,
    responses={"200": responses.Queue, "201": responses.Queue, "412": _PRECONDITION},
)
@needs("manager", makes_queue=True)
def put_queue(path: QueuePath, body: PolicyChanges) -> QueueResponse:
    """Create a queue, or change its policy.

    Fields that are left out keep their value, or get their default if the queue is new. With `If-Match`
    and the `ETag` of a GET, nothing changes if somebody else has changed the policy since. With
    `If-None-Match: *`, a queue is created, and an existing one is not changed.
    """
    queue = leaseq.Queue(state().client, path.q)
    policy = queue.find_policy()
    changes = body.sent_fields()
    # RFC 9110, 13.2.1: a precondition is evaluated only if the request would succeed without it.
    check_form((policy or leaseq.Policy()).updated(changes).form)
    expected, create_only = _expected(queue, policy), _create_only()
    if create_only and policy is not None:
        raise leaseq.QueueExists(queue.name)
    queues.configure(queue, policy, expected=expected, create_only=create_only, **changes)
    return _queue_response(queue, 201 if policy is None else 200)


@bp.delete("/queues/<q>", tags=TAGS, responses={"204": None, "412": _PRECONDITION})
@needs("manager", whole_token=True)
def delete(path: QueuePath) -> Response:
    """Delete a queue with its policy, items, answers, drafts and journal, and the tokens for only this queue.

    People who hold an item of it get a 404. With `If-Match` and the `ETag` of a GET, nothing is deleted if
    somebody else has changed the policy since. If a deletion was interrupted, the same call finishes it.
    """
    queue = leaseq.Queue(state().client, path.q)
    queues.delete(queue.name, expected=_expected(queue, queue.find_policy()))
    return Response(status=204)


def _expected(queue: leaseq.Queue, policy: leaseq.Policy | None) -> leaseq.Policy | None:
    """The policy that `If-Match` requires; None: any. Proxies that compress responses make tags weak."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    if not re.fullmatch(TAGS_PATTERN, header):
        raise leaseq.Invalid("If-Match", "format", what="if_match", value=header)
    if policy is None:
        raise Problem.of(412, "policy-changed", "not_found", what="queue_of_tag", name=queue.name)
    tags = request.if_match
    if not (tags.star_tag or tags.contains_weak(policy.version)):
        raise Problem.of(412, "policy-changed", "policy_not_matched", queue=queue.name)
    return None if tags.star_tag else policy


def _create_only() -> bool:
    """Whether `If-None-Match` requires that the queue doesn't exist."""
    header = request.headers.get("If-None-Match")
    if header not in (None, "*"):
        raise leaseq.Invalid("If-None-Match", "format", what="if_none_match", value=header)
    return header is not None


def _queue_response(queue: leaseq.Queue, status: int) -> QueueResponse:
    policy = queue.policy
    return serialize_queue(queue, policy), status, {"ETag": f'"{policy.version}"'}


@bp.get("/queues/<q>/stats", tags=TAGS, responses={"200": responses.Stats})
@needs("manager")
def stats(path: QueuePath) -> dict[str, Any]:
    """Read the counts of the five states, how many waiting items nobody can take, and the counters since the
    queue was created."""
    queue = existing_queue(path.q)
    rows = unreachable_rows(queue, state().access.get(queue.name), accounts().people)
    return responses.Stats.from_record(replace(queue.stats(), unreachable=count_unreachable(rows)))


MANAGE_TAGS: list[Any] = [{"name": "manage"}]
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


@bp.post("/queues/<q>/clear", tags=MANAGE_TAGS, responses={"200": responses.Cleared})
@needs("manager")
def clear(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Return items whose lease expired, and release items that are due.

    It deletes only finished and dead items that the policy no longer keeps.
    """
    return responses.Cleared.from_record(queues.clear(existing_queue(path.q)))


MAX_MOVED = 1_000


@bp.post("/queues/<q>/revive", tags=MANAGE_TAGS, responses={"200": responses.Revived})
@needs("manager")
def revive_all(path: QueuePath, body: ReviveRequest) -> dict[str, Any]:
    """Return dead items to the queue: all, or those that match the filter, at most 1,000 per call."""
    queue = existing_queue(path.q)
    count = queues.revive_all(queue, person_name=body.person, error=body.error, limit=MAX_MOVED)
    return {"revived": count, "more": count == MAX_MOVED}


@bp.post("/queues/<q>/remove", tags=MANAGE_TAGS, responses={"200": responses.Removed})
@needs("manager")
def remove_all(path: QueuePath, body: RemoveRequest) -> dict[str, Any]:
    """Delete the items in one state: all, or those that match the filter, at most 1,000 per call.

    They are deleted with their answers, history and threads. People who hold one lose the lease.
    """
    queue = existing_queue(path.q)
    count = queues.remove_all(queue, body.state, person_name=body.person, error=body.error, limit=MAX_MOVED)
    return {"removed": count, "more": count == MAX_MOVED}


@bp.post("/queues/<q>/pause", tags=MANAGE_TAGS, responses={"200": responses.PauseState})
@needs("manager")
def pause(path: QueuePath, body: PauseRequest) -> dict[str, Any]:
    """Pause the queue: no item can be reserved, but held items can be finished."""
    queues.pause(existing_queue(path.q), body.reason)
    return {"paused": body.reason or ""}


@bp.post("/queues/<q>/resume", tags=MANAGE_TAGS, responses={"200": responses.PauseState})
@needs("manager")
def resume(path: QueuePath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """End a pause."""
    queues.resume(existing_queue(path.q))
    return {"paused": None}


@bp.get("/queues/<q>/stopped", tags=MANAGE_TAGS, responses={"200": responses.StoppedList})
@needs("manager")
def stopped(path: QueuePath) -> dict[str, Any]:
    """List the stopped people of the queue, by name."""
    return {"people": [responses.Stopped.from_record(one) for one in existing_queue(path.q).stopped()]}


@bp.post("/queues/<q>/people/<name>/stop", tags=MANAGE_TAGS, responses={"200": responses.StoppedList})
@needs("manager")
def stop(path: QueuePersonPath, body: StopRequest) -> dict[str, Any]:
    """Stop a person: they get no further item of this queue until they are let work again.

    They read the reason. What they hold they may still finish.
    """
    queue = existing_queue(path.q)
    queues.stop(queue, path.name, body.reason)
    return {"people": [responses.Stopped.from_record(one) for one in queue.stopped()]}


@bp.post("/queues/<q>/people/<name>/let-work", tags=MANAGE_TAGS, responses={"200": responses.StoppedList})
@needs("manager")
def let_work(path: QueuePersonPath, body: EmptyRequest) -> dict[str, Any]:  # noqa: ARG001  # checked: no fields
    """Let a stopped person have items of this queue again."""
    queue = existing_queue(path.q)
    queues.let_work(queue, path.name)
    return {"people": [responses.Stopped.from_record(one) for one in queue.stopped()]}


@bp.get("/queues/<q>/journal", tags=MANAGE_TAGS, responses={"200": responses.EventList})
@needs("manager")
def journal(path: QueuePath, query: JournalQuery) -> dict[str, Any]:
    """List the queue's events, in order. Pass `after` back to continue from there."""
    events = existing_queue(path.q).journal(after=query.after, limit=query.limit)
    after = events[-1].cursor if events else query.after
    answer = list_response("events", [responses.Event.from_record(event) for event in events], after)
    if not events:
        g.next_page = None
    return answer


@bp.get("/queues/<q>/answers", tags=MANAGE_TAGS, responses={"200": _ANSWERS})
@needs("manager")
def answers(path: QueuePath, query: AnswersQuery) -> Response:
    """Stream all answers, or only those of a person, of a period, late or in time.

    `with_late` adds the late answers that were kept, but not accepted.
    """
    since, until = period_of(query.since, query.until)
    format = accepted_format(query.format, ("jsonl", "json", "csv", "tsv", "xlsx"))
    criteria = {**query.model_dump(), "since": since, "until": until, "format": format}
    return streamed_answers(existing_queue(path.q), **criteria)


@bp.get("/queues/<q>/answers/new", tags=MANAGE_TAGS, responses={"200": responses.NewAnswerList})
@needs("manager")
def new_answers(path: QueuePath, query: NewAnswersQuery) -> dict[str, Any]:
    """List the answers accepted since an earlier call, in the order of acceptance, each once.

    Store `after`, and pass it to the next call to get newer answers. While `more` is true, call again
    immediately.
    """
    after = BEGINNING if query.after is None else query.after
    answers = AnswersSince(existing_queue(path.q), after, limit=query.limit)
    entries = [responses.Answer.from_record(answer) for answer in answers]
    page = list_response("answers", entries, answers.cursor, more=answers.more)
    if not answers.more:
        g.next_page = None
    return page


@bp.get("/queues/<q>/late", tags=MANAGE_TAGS, responses={"200": responses.AnswerList})
@needs("manager")
def list_late(path: QueuePath, query: LateQuery) -> dict[str, Any]:
    """List the late answers that were not used: `adopt` makes one its item's answer.

    They are in no order; one may be on two pages, and a page may be empty although `after` names a next page.
    """
    page = existing_queue(path.q).late_page(limit=query.limit, after=query.after)
    late_answers = [
        responses.Answer.from_record(answer) for item in page.items for answer in unused_answers(item)
    ]
    return list_response("answers", late_answers, page.after)

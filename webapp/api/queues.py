"""REST calls for queues: list, read, create, configure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from flask import Response, request

import leaseq
from leaseq.form import check_form
from leaseq.webapp.api import bp, models_out, problem_reply
from leaseq.webapp.api.headers import TAGS_PATTERN
from leaseq.webapp.api.models_in import QueuePath
from leaseq.webapp.api.pagination import PageQuery, list_response, page_of
from leaseq.webapp.api.policy import PolicyChanges
from leaseq.webapp.api.serializers import serialize_queue
from leaseq.webapp.context import accounts, existing_queue, person, queue_names, state
from leaseq.webapp.reachability import count_unreachable, unreachable_rows
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.deleting import delete_queue
from leaseq.webapp.serving.problem import Problem

TAGS: list[Any] = [{"name": "queues"}]
QueueResponse = tuple[dict[str, Any], int, dict[str, str]]
_PRECONDITION = problem_reply(
    "`policy-changed`: the policy is not the one that `If-Match` names; `queue-exists`: the queue exists, "
    "and `If-None-Match` requires a new one. Nothing changed"
)


@bp.get("/queues", tags=TAGS, responses={"200": models_out.QueueList})
@needs("worker")
def list_queues(query: PageQuery) -> dict[str, Any]:
    """List all queues, by name, page by page. `unreadable`: those that need a newer version of leaseq."""
    client = state().client
    names, after = page_of(queue_names(), str, query.after, query.limit)
    queues, errors = leaseq.read_queues(client, lambda one: serialize_queue(one, one.policy), names)
    entries = [{"name": name, "detail": str(error)} for name, error in errors.items()]
    return list_response("queues", list(queues.values()), after, unreadable=entries)


@bp.get("/queues/<q>", tags=TAGS, responses={"200": models_out.Queue})
@needs("worker")
def get_queue(path: QueuePath) -> QueueResponse:
    """Read a queue: its policy, its form and its counts. `ETag` identifies the policy, for `If-Match`."""
    return _queue_response(existing_queue(path.q), 200)


@bp.put(
    "/queues/<q>",
    tags=TAGS,
    responses={"200": models_out.Queue, "201": models_out.Queue, "412": _PRECONDITION},
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
    queue.configure(by=person().name, expected=expected, create_only=create_only, **changes)
    return _queue_response(queue, 201 if policy is None else 200)


@bp.delete("/queues/<q>", tags=TAGS, responses={"204": None, "412": _PRECONDITION})
@needs("manager", whole_token=True)
def delete(path: QueuePath) -> Response:
    """Delete a queue with its policy, items, answers, drafts and journal, and the tokens for only this queue.

    People who hold an item of it get a 404. With `If-Match` and the `ETag` of a GET, nothing is deleted if
    somebody else has changed the policy since. If a deletion was interrupted, the same call finishes it.
    """
    queue = leaseq.Queue(state().client, path.q)
    delete_queue(queue.name, expected=_expected(queue, queue.find_policy()))
    return Response(status=204)


def _expected(queue: leaseq.Queue, policy: leaseq.Policy | None) -> leaseq.Policy | None:
    """The policy that `If-Match` requires; None: any. Proxies that compress responses make tags weak."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    if not re.fullmatch(TAGS_PATTERN, header):
        raise leaseq.Invalid("If-Match", 'the ETag of a GET with its quotes, like "0c5e", or *')
    if policy is None:
        hint = " To create it, send the same without If-Match" if request.method == "PUT" else ""
        raise Problem(412, "policy-changed", f"there is no queue {queue.name!r} for If-Match.{hint}")
    tags = request.if_match
    if not (tags.star_tag or tags.contains_weak(policy.version)):
        detail = f"the policy of queue {queue.name!r} is not the one that If-Match names, and nothing changed"
        raise Problem(412, "policy-changed", f"{detail}: GET the queue, and send the ETag that it has now")
    return None if tags.star_tag else policy


def _create_only() -> bool:
    """Whether `If-None-Match` requires that the queue doesn't exist."""
    header = request.headers.get("If-None-Match")
    if header not in (None, "*"):
        raise leaseq.Invalid("If-None-Match", "* only: create the queue if there is none")
    return header is not None


def _queue_response(queue: leaseq.Queue, status: int) -> QueueResponse:
    policy = queue.policy
    return serialize_queue(queue, policy), status, {"ETag": f'"{policy.version}"'}


@bp.get("/queues/<q>/stats", tags=TAGS, responses={"200": models_out.Stats})
@needs("manager")
def stats(path: QueuePath) -> dict[str, Any]:
    """Read the counts of the five states, how many waiting items nobody can take, and the counters since the
    queue was created."""
    queue = existing_queue(path.q)
    rows = unreachable_rows(queue, state().access.get(queue.name), accounts().people)
    return models_out.Stats.from_record(replace(queue.stats(), unreachable=count_unreachable(rows)))

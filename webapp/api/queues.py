"""Queues: what there are, what they ask, how they are set."""

from __future__ import annotations

from typing import Any

from flask import request

import leaseq
from webapp.api import bp, problem_reply
from webapp.api.bodies import PolicyBody, QueuePath
from webapp.api.lists import PageQuery, page_of
from webapp.api.replies import QueueModel, QueuesModel, StatsModel
from webapp.api.shapes import queue_shape, stats_shape
from webapp.gate import needs
from webapp.state import person, queue, state

TAGS: list[Any] = [{"name": "queues"}]
Told = tuple[dict[str, Any], int, dict[str, str]]
_CHANGED = problem_reply("`policy-changed`: the policy is not the one that `If-Match` names; nothing changed")


@bp.get("/queues", tags=TAGS, responses={"200": QueuesModel})
@needs("worker")
def list_queues(query: PageQuery) -> dict[str, Any]:
    """All queues, by name, a page at a time."""
    client = state().client
    names, after = page_of(leaseq.queues(client), str, query.after, query.limit)
    found = [leaseq.Queue(client, name) for name in names]
    return {"queues": [queue_shape(one, one.policy) for one in found], "after": after}


@bp.get("/queues/<q>", tags=TAGS, responses={"200": QueueModel})
@needs("worker")
def get_queue(path: QueuePath) -> Told:
    """One queue: its policy, its form and its counts. `ETag` names its policy, for `If-Match` of a PUT."""
    return _told(queue(path.q), 200)


@bp.put("/queues/<q>", tags=TAGS, responses={"200": QueueModel, "201": QueueModel, "412": _CHANGED})
@needs("manager")
def put_queue(path: QueuePath, body: PolicyBody) -> Told:
    """Make a queue, or change its policy.

    Fields that are left out keep their value, or get their default where the queue is new. With `If-Match`
    and the `ETag` of a GET nothing changes where somebody else changed the policy meanwhile.
    """
    found = leaseq.Queue(state().client, path.q)
    before = found.find_policy()
    expected = _expected(found, before)
    found.configure(by=person().name, expected=expected, **body.model_dump(exclude_unset=True))
    return _told(found, 201 if before is None else 200)


def _expected(found: leaseq.Queue, now: leaseq.Policy | None) -> leaseq.Policy | None:
    """What `If-Match` asks for; None: whatever is there. A proxy that packs answers makes tags weak."""
    tags = request.if_match
    if not tags:
        return None
    if now is None or not (tags.star_tag or tags.contains_weak(now.version)):
        raise leaseq.PolicyChanged(found.name, now or leaseq.Policy())
    return None if tags.star_tag else now


def _told(found: leaseq.Queue, status: int) -> Told:
    policy = found.policy
    return queue_shape(found, policy), status, {"ETag": f'"{policy.version}"'}


@bp.get("/queues/<q>/stats", tags=TAGS, responses={"200": StatsModel})
@needs("manager")
def stats(path: QueuePath) -> dict[str, Any]:
    """Counts of the five states, and of every way in and out since the queue was made."""
    return stats_shape(queue(path.q).stats())

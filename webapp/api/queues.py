"""Queues: what there are, what they ask, how they are set."""

from __future__ import annotations

from typing import Any

import leaseq
from webapp.api import bp
from webapp.api.bodies import PolicyBody, QueuePath
from webapp.api.lists import PageQuery, page_of
from webapp.api.replies import QueueModel, QueuesModel, StatsModel
from webapp.api.shapes import queue_shape, stats_shape
from webapp.gate import needs
from webapp.state import person, queue, state

TAGS: list[Any] = [{"name": "queues"}]


@bp.get("/queues", tags=TAGS, responses={"200": QueuesModel})
@needs("worker")
def list_queues(query: PageQuery) -> dict[str, Any]:
    """All queues, by name, a page at a time."""
    client = state().client
    names, after = page_of(leaseq.queues(client), str, query.after, query.limit)
    return {"queues": [queue_shape(leaseq.Queue(client, name)) for name in names], "after": after}


@bp.get("/queues/<q>", tags=TAGS, responses={"200": QueueModel})
@needs("worker")
def get_queue(path: QueuePath) -> dict[str, Any]:
    """One queue: its policy, its form and its counts."""
    return queue_shape(queue(path.q))


@bp.put("/queues/<q>", tags=TAGS, responses={"200": QueueModel, "201": QueueModel})
@needs("manager")
def put_queue(path: QueuePath, body: PolicyBody) -> tuple[dict[str, Any], int]:
    """Make a queue, or change its policy.

    Fields that are left out keep their value, or get their default where the queue is new.
    """
    found = leaseq.Queue(state().client, path.q)
    existed = found.exists()
    found.configure(by=person().name, **body.model_dump(exclude_unset=True))
    return queue_shape(found), 200 if existed else 201


@bp.get("/queues/<q>/stats", tags=TAGS, responses={"200": StatsModel})
@needs("manager")
def stats(path: QueuePath) -> dict[str, Any]:
    """Counts of the five states, and of every way in and out since the queue was made."""
    return stats_shape(queue(path.q).stats())

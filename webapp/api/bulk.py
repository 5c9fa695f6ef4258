"""The REST call that applies one action to many items."""

from __future__ import annotations

from typing import Any

from leaseq import Invalid, LeaseqError, Queue
from leaseq.webapp.api import bp, models_out
from leaseq.webapp.api.models_in import MAX_IDS, BulkRequest, QueuePath
from leaseq.webapp.context import existing_queue, person, state
from leaseq.webapp.errors import problem_of
from leaseq.webapp.security.audit_log import log_change, skip_log
from leaseq.webapp.security.authorization import needs
from leaseq.webapp.security.queue_access import worker_name

TAGS: list[Any] = [{"name": "items"}]
_LOG_KINDS = {
    "release": "released",
    "assign": "assigned",
    "unassign": "unassigned",
    "revive": "revived",
    "remove": "removed",
}


@bp.post("/queues/<q>/bulk", tags=TAGS, responses={"200": models_out.BulkResult})
@needs("manager")
def bulk(path: QueuePath, body: BulkRequest) -> dict[str, Any]:
    """Release, assign, unassign, revive or remove up to 1,000 items, named by their ids.

    Each item is changed separately. With `unless`, items that somebody has finished are not removed.
    `refused` lists the items that were not changed, with the `code` and `detail` that the call for the
    single item would have had.
    """
    queue = existing_queue(path.q)
    if not 1 <= len(body.ids) <= MAX_IDS:
        raise Invalid("ids", f"1 to {MAX_IDS:,} ids")
    if (body.action == "assign") != (body.person is not None):
        raise Invalid("person", "a name for assign, and none for the other actions")
    if "unless" in body.model_fields_set and body.action != "remove":
        raise Invalid("unless", "only for remove")
    assignee = worker_name(queue.name, body.person) if body.action == "assign" else ""
    count, refusals = 0, []
    try:
        for id in dict.fromkeys(body.ids):
            try:
                _do(queue, body, id, assignee)
                count += 1
            except (Invalid, LeaseqError) as error:
                problem = problem_of(error)
                if problem.status >= 500:
                    raise
                refusals.append({"id": id, "code": problem.code, "detail": problem.detail})
    finally:  # also if the server fails halfway
        if count:
            detail = f"{count} → {assignee}" if assignee else f"{count}"
            log_change(f"item.{_LOG_KINDS[body.action]}", queue.name, detail)
        else:
            skip_log()
    return {"done": count, "refused": refusals}


def _do(queue: Queue, body: BulkRequest, id: str, assignee: str) -> None:
    by = person().name
    if body.action == "release":
        queue.release(id, by=by)
    elif body.action == "assign":
        queue.assign(id, assignee, by=by)
    elif body.action == "unassign":
        queue.unassign(id, by=by)
    elif body.action == "revive":
        queue.revive(id, by=by)
    else:
        queue.remove(id, unless=body.unless, by=by)
        state().threads.forget(queue.name, id)

"""Deletes a queue, for the page and REST alike."""

from __future__ import annotations

import leaseq
from leaseq.webapp.context import state
from leaseq.webapp.security.audit_log import note


def delete_queue(name: str, *, expected: leaseq.Policy | None = None) -> None:
    """Delete a queue with all that the web app has of it, and log how much that was. Also finishes a
    deletion that was broken off. Raises QueueNotFound, and PolicyChanged where another policy is in force
    than ``expected``."""
    queue = leaseq.Queue(state().client, name)
    try:
        stats = queue.stats()
        items = sum(getattr(stats, one) for one in leaseq.STATES)
        detail = f"{items:,} item{'' if items == 1 else 's'}, {stats.reserved:,} of them held"
    except leaseq.QueueNotFound:
        detail = ""
    queue.delete(expected=expected)
    state().access.forget_queue(name)  # here it counts at once
    note("queue.deleted", name, detail)

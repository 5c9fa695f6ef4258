"""Deletes a queue, for both the page and REST."""

from __future__ import annotations

import leaseq
from leaseq.webapp.context import state
from leaseq.webapp.security.audit_log import log_change


def delete_queue(name: str, *, expected: leaseq.Policy | None = None) -> None:
    """Delete a queue with all data about it in the web app, and log the number of items. Also finishes an
    interrupted deletion. Raises QueueNotFound, and PolicyChanged if the policy differs from ``expected``."""
    queue = leaseq.Queue(state().client, name)
    try:
        stats = queue.stats()
        items = sum(getattr(stats, one) for one in leaseq.STATES)
        detail = f"{items:,} item{'' if items == 1 else 's'}, {stats.reserved:,} of them held"
    except leaseq.QueueNotFound:
        detail = ""
    queue.delete(expected=expected)
    state().access.forget_queue(name)  # takes effect immediately in this process
    log_change("queue.deleted", name, detail)

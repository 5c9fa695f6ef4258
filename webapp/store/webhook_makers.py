"""Whether those who added webhook endpoints may still see what is sent.

The sender of webhooks asks through an entry point.
"""

from __future__ import annotations

from leaseq import Client
from leaseq.webapp.store.accounts import at_least
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.queue_access import QueueAccess


def why_not(client: Client, maker: str, type: str, queue: str | None) -> str | None:
    """Why this person may not see a webhook of this type and queue. Endpoints that were added on the command
    line have no such person."""
    record = People(client).find(maker)
    if record is None:
        return None
    person = record.person()
    if person.disabled:
        return f"{maker}, who added or enabled it, is disabled"
    if not at_least(person.role, "admin" if type.startswith("person.") else "manager"):
        return f"{maker}, who added or enabled it, has no longer the role for {type}"
    if queue is not None and not QueueAccess(client).get(queue).lets_manage(person):
        return f"{maker}, who added or enabled it, may not manage the queue {queue}"
    return None

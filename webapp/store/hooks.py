"""What the library calls: the keys of a backup, deleted queues, the makers of webhooks."""

from __future__ import annotations

from leaseq import Client
from leaseq.backup import LeftOut
from leaseq.webapp.store import (
    activity,
    idempotency,
    imports,
    list_settings,
    open_calls,
    queue_access,
    samples,
    simulations,
    threads,
)
from leaseq.webapp.store.accounts import at_least, keys
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.imports import Imports
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.simulations import Simulations
from leaseq.webapp.store.threads import Threads

PREFIX = "leaseq:{@limits}"
_LIMITS = (LeftOut(PREFIX + "*", "a limit counts for minutes"),)


def forget_queue(client: Client, queue: str) -> None:
    """Delete its threads, access, tokens, saved views, samples, simulation, imports, and people's figures."""
    for store in (Threads, QueueAccess, Tokens, ListSettingsStore, Samples, Simulations, Activity, Imports):
        store(client).forget_queue(queue)


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


_STORES = (
    keys,
    activity,
    idempotency,
    imports,
    list_settings,
    open_calls,
    queue_access,
    samples,
    simulations,
    threads,
)
KEYS = (*_LIMITS, *(kind for store in _STORES for kind in store.STORED))

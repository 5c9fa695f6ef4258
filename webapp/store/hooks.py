"""The functions that the library calls: the keys of a backup, deleted queues, the makers of webhooks, the
people to whom an item may be addressed."""

from __future__ import annotations

from leaseq import Client
from leaseq.backup import LeftOut
from leaseq.webapp.store import (
    activity,
    announcements,
    idempotency,
    list_settings,
    open_calls,
    queue_access,
    samples,
    threads,
)
from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.jobs import imports, simulations, undo
from leaseq.webapp.store.jobs.imports import ImportJobs
from leaseq.webapp.store.jobs.simulations import Simulations
from leaseq.webapp.store.jobs.undo import UndoStore
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.queue_access import QueueAccess, why_not, worker_name
from leaseq.webapp.store.samples import Samples
from leaseq.webapp.store.threads import Threads

__all__ = ["KEYS", "PREFIX", "addressee", "forget_queue", "why_not"]

PREFIX = "leaseq:{@limits}"
_LIMITS = (LeftOut(PREFIX + "*", "a limit counts for minutes"),)


_OF_QUEUES = (
    Threads,
    QueueAccess,
    Tokens,
    ListSettingsStore,
    Samples,
    Simulations,
    Activity,
    ImportJobs,
    UndoStore,
    Announcements,
)


def forget_queue(client: Client, queue: str) -> None:
    """Delete its threads, access, tokens, saved views, samples, simulation, imports, announcement, people's
    figures, and what could be undone."""
    for store in _OF_QUEUES:
        store(client).forget_queue(queue)


def addressee(client: Client, queue: str, name: str) -> str:
    """The stored name of somebody who may get an item of the queue; any name while nobody has an account.
    Raises Invalid (field ``to``) for others."""
    (count,) = client.ask(("HLEN", model.PEOPLE))
    return worker_name(Accounts(client), QueueAccess(client), queue, name, "to") if count else name


_STORES = (
    model,
    activity,
    announcements,
    idempotency,
    imports,
    list_settings,
    open_calls,
    queue_access,
    samples,
    simulations,
    threads,
    undo,
)
KEYS = (*_LIMITS, *(kind for store in _STORES for kind in store.STORED))

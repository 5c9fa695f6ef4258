"""Erasing a person from the queues, the webhooks and the web app.

It proceeds in steps of limited size. If it is interrupted, the same call finishes it; until then nobody can
have the name (docs/decisions/0029-erasing-a-person.md).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import leaseq
from leaseq import Client, LeaseqError, Queue, QueueNotFound, webhooks
from leaseq.webapp.store.accounts import Accounts, Erasure
from leaseq.webapp.store.accounts.callers import FRESH_SECONDS
from leaseq.webapp.store.activity import Activity
from leaseq.webapp.store.breaks import Breaks
from leaseq.webapp.store.idempotency import IdempotencyStore
from leaseq.webapp.store.imports import Imports
from leaseq.webapp.store.list_settings import ListSettingsStore
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.simulations import Simulations
from leaseq.webapp.store.threads import Threads

SETTLE_SECONDS = FRESH_SECONDS + 0.2
"""How long another web process may still accept a token of the person."""


@dataclass(frozen=True, slots=True)
class ErasedQueue:
    """What was done in a queue. Its journal, which keeps the name, begins at ``journal_since``."""

    queue: str
    items: int
    leases: int
    journal_since: datetime | None


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """The result of an erasure. ``pseudonym`` is not stored; it is for changing copies of the data
    elsewhere."""

    name: str
    pseudonym: str
    queues: tuple[ErasedQueue, ...]

    @property
    def items(self) -> int:
        return sum(one.items for one in self.queues)

    @property
    def leases(self) -> int:
        return sum(one.leases for one in self.queues)


class UnreadableQueues(LeaseqError):
    """Queues of a newer version remain, so the erasure is not finished."""

    def __init__(self, name: str, errors: dict[str, leaseq.QueueUnreadable]) -> None:
        names = ", ".join(sorted(errors))
        super().__init__(
            f"the erasure of {name!r} is not finished: a newer version of leaseq wrote {names}. Finish it "
            "with that version, with the same call"
        )


def erase_person(
    client: Client, accounts: Accounts, name: str, *, by: str, wait: Callable[[float], object] = time.sleep
) -> ErasedPerson:
    """Erase a person, or finish an interrupted erasure. Raises Invalid if no admin would be left, or if
    somebody keeps working under the name; and UnreadableQueues."""
    erasure = accounts.begin_erasure(name, by=by)
    webhooks.notify_person_removed(client, erasure.name, by=erasure.by, request_id=erasure.pseudonym)
    wait(max(erasure.began + SETTLE_SECONDS - time.time(), 0))
    results, errors = leaseq.read_queues(client, lambda queue: _erase_in(queue, erasure), of_people(client))
    if errors:
        raise UnreadableQueues(erasure.name, errors)
    webhooks.forget_person(client, erasure.name, erasure.pseudonym)
    _erase_in_stores(client, erasure)
    accounts.finish_erasure(erasure)
    return ErasedPerson(erasure.name, erasure.pseudonym, tuple(one for one in results.values() if one))


def _erase_in(queue: Queue, erasure: Erasure) -> ErasedQueue | None:
    by = None if erasure.by == erasure.name else erasure.by
    with contextlib.suppress(QueueNotFound):  # it has been deleted
        result = queue.erase_person(erasure.name, erasure.pseudonym, by=by)
        return ErasedQueue(queue.name, result.items, result.leases, journal_since(queue))
    return None


def of_people(client: Client) -> list[str]:
    """The queues in which people work: all except the queue of webhook deliveries."""
    return [name for name in leaseq.queues(client) if name != webhooks.QUEUE]


def journal_since(queue: Queue) -> datetime | None:
    """When the oldest event of a queue's journal happened; None if the journal is empty."""
    events: list[leaseq.Event] = []
    with contextlib.suppress(QueueNotFound):  # it has been deleted
        events = queue.journal(limit=1)
    return events[0].at if events else None


def _erase_in_stores(client: Client, erasure: Erasure) -> None:
    name, to = erasure.name, erasure.pseudonym
    for shared_store in (Threads, QueueAccess, ListSettingsStore, Simulations, Imports):
        shared_store(client).rename_person(name, to)
    Breaks(client).end(name)
    for personal_store in (OpenCalls, IdempotencyStore, Activity):
        personal_store(client).forget_person(name)

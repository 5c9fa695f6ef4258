"""The verbs about people: change, disable, erase, export, reset their sign-in, unassign."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import leaseq
from leaseq import Client, Invalid, Queue, QueueNotFound, webhooks
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person, checked_team
from leaseq.webapp.store.accounts.people import Erasure, NoSuchPerson
from leaseq.webapp.store.accounts.tokens import FRESH_SECONDS
from leaseq.webapp.store.person_data import (
    UnreadableQueues,
    erase_in_stores,
    journal_since,
    of_people,
    person_document,
)
from leaseq.webapp.store.queue_access import QueueAccess


class PersonChange(NamedTuple):
    """The changed person, and how many items that were assigned to them anybody may have now."""

    person: Person
    unassigned: int


def change_person(
    client: leaseq.Client, accounts: Accounts, access: QueueAccess, name: str, *, by: str, **changes: Any
) -> PersonChange:
    """Change a person as `Accounts.change` does. What was assigned to them where they may no longer work is
    for anybody."""
    before = accounts.get(name)
    after = accounts.change(name, by=by, **changes)

    def unassign(queue: leaseq.Queue) -> int:
        rights = access.get(queue.name)
        could_work, can_work = (
            not record.disabled and rights.lets_work(record) for record in (before, after)
        )
        return unassign_all(accounts, queue, after.name, by=by) if could_work and not can_work else 0

    if (before.role, before.skills, before.team, before.disabled) == (
        after.role,
        after.skills,
        after.team,
        after.disabled,
    ):
        return PersonChange(after, 0)
    counts, _unreadable = leaseq.read_queues(client, unassign)
    return PersonChange(after, sum(counts.values()))


def unassign_all(accounts: Accounts, queue: leaseq.Queue, name: str, *, by: str) -> int:
    """Let anybody have what is assigned to a person in a queue; returns the number of items."""
    count = queue.unassign_all(name, by=by)
    if count:
        accounts.log.write(by, "item.unassigned", queue.name, count=count, person=name)
    return count


def change(name: str, **changes: Any) -> PersonChange:
    """Change a person, for the person of this request: see `change_person`."""
    return change_person(state().client, accounts(), state().access, name, by=person().name, **changes)


def rename_team(team: str, to: str) -> int:
    """Rename a team, for the person of this request: see `rename_team_of`."""
    return rename_team_of(accounts(), state().access, team, to, by=person().name)


def rename_team_of(
    accounts: Accounts,
    access: QueueAccess,
    team: str,
    to: str,
    *,
    by: str,
    wait: Callable[[float], object] = time.sleep,
) -> int:
    """Rename a team, in the access to queues and of its people and invitations. Returns the number of its
    people. Raises Invalid if another team has the name. If it is interrupted, call it again.

    Nobody is shut out meanwhile: queues are open to both names until everybody has the new one, and each
    step waits until all web processes have read the one before.
    """
    team, to = checked_team(team), checked_team(to, "to")
    everybody = accounts.people()
    if not to or not team:
        raise Invalid("to" if team else "team", "required")
    if not (access.has_team(team) or any(person.team == team for person in everybody)):
        raise Invalid("team", "not_found", what="team", name=team)
    if any(person.team == to for person in everybody) and any(person.team == team for person in everybody):
        raise Invalid("to", "taken", what="team", name=to)
    access.add_team_beside(team, to)
    wait(SETTLE_SECONDS)
    count = accounts.rename_team(team, to, by=by)
    wait(SETTLE_SECONDS)
    access.remove_team(team)
    return count


def reset_factor(name: str) -> bool:
    """Turn off a person's two-factor sign-in, for a lost device, and sign them out everywhere. Return False
    if it was off."""
    name = accounts().get(name).name
    if not accounts().turn_off_factor(name, by=person().name):
        return False
    accounts().end_sessions(name, by=person().name)
    return True


def export(name: str) -> Iterator[str]:
    """All data about a person, as one JSON document in pieces."""
    state().activity.flush()  # what this process still buffers
    return person_document(state().client, accounts(), name)


def erase(name: str) -> ErasedPerson:
    """Erase a person who has an account, or finish an erasure. Raises NoSuchPerson if there is neither, and
    the errors of `erase_person`."""
    account = accounts().find(name)
    if account is None and accounts().erasures.find(name) is None:
        raise NoSuchPerson(name)
    state().activity.flush()  # what this process still buffers
    return erase_person(state().client, accounts(), account.name if account else name, by=person().name)


SETTLE_SECONDS = FRESH_SECONDS + 0.2
"""How long another web process may still accept a token of the person."""


@dataclass(frozen=True, slots=True)
class ErasedQueue:
    """The result of an erasure in a queue. Its journal, which keeps the name, begins at ``journal_since``."""

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
        return sum(queue.items for queue in self.queues)

    @property
    def leases(self) -> int:
        return sum(queue.leases for queue in self.queues)


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
    erase_in_stores(client, erasure)
    accounts.finish_erasure(erasure)
    return ErasedPerson(erasure.name, erasure.pseudonym, tuple(queue for queue in results.values() if queue))


def _erase_in(queue: Queue, erasure: Erasure) -> ErasedQueue | None:
    by = None if erasure.by == erasure.name else erasure.by
    with contextlib.suppress(QueueNotFound):  # it has been deleted
        result = queue.erase_person(erasure.name, erasure.pseudonym, by=by)
        return ErasedQueue(queue.name, result.items, result.leases, journal_since(queue))
    return None

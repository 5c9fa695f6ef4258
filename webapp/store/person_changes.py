"""Changes of a person, with what follows in the queues: what was assigned to them where they may no longer
work becomes available to everybody. For the pages, REST and the command line."""

from __future__ import annotations

from typing import Any, NamedTuple

import leaseq
from leaseq.webapp.store.accounts import Accounts, Person
from leaseq.webapp.store.queue_access import QueueAccess


class PersonChange(NamedTuple):
    """The changed person, and how many items that were assigned to them anybody may have now."""

    person: Person
    unassigned: int


def change_person(
    client: leaseq.Client, accounts: Accounts, access: QueueAccess, name: str, *, by: str, **changes: Any
) -> PersonChange:
    """Change a person as `Accounts.change` does."""
    before = accounts.get(name)
    after = accounts.change(name, by=by, **changes)

    def unassign(queue: leaseq.Queue) -> int:
        rights = access.get(queue.name)
        could_work, can_work = (not one.disabled and rights.lets_work(one) for one in (before, after))
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
        accounts.log.write(by, "item.unassigned", queue.name, f"{count}: {name}")
    return count

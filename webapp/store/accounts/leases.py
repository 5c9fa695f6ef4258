"""The leases that people hold, over all queues that this version of leaseq can read."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence

import leaseq
from leaseq import Client, Lease, Queue

_LOOK = 200  # leases of one queue that are counted by looking at them; past that each person is asked for


def held_by(client: Client, name: str) -> list[Lease]:
    """A person's leases, by queue, oldest first."""
    held, _unreadable = leaseq.read_queues(client, lambda queue: queue.mine(name))
    return [lease for leases in held.values() for lease in leases]


def held_counts(client: Client, names: Sequence[str]) -> Counter[str]:
    """The number of leases of each of these people."""
    counts, _unreadable = leaseq.read_queues(client, lambda queue: _counts(queue, names))
    return sum(counts.values(), Counter())


def take_back(client: Client, name: str, *, by: str) -> int:
    """End a person's leases; their input stays as drafts. Returns the number of leases."""
    held = held_by(client, name)
    for lease in held:
        with contextlib.suppress(leaseq.ItemNotFound):  # it was removed just now
            Queue(client, lease.queue).release(lease.id, person=name, by=by)
    return len(held)


def _counts(queue: Queue, names: Sequence[str]) -> Counter[str]:
    page = queue.page("reserved", limit=_LOOK)
    if page.after is None:  # of several answers an item has a line each, and each tells all its leases
        held = {(lease.token, lease.person) for item in page.items for lease in item.leases}
        return Counter(person for _, person in held)
    return Counter({name: len(queue.mine(name)) for name in names})

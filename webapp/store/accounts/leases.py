"""The leases that people hold, over all queues that this version of leaseq can read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import leaseq
from leaseq import Client, Lease, Queue

_READ_TOGETHER = 500  # up to this many leases, a queue's are all read; above it, each person's are read


def held_by(client: Client, name: str) -> list[Lease]:
    """A person's leases, by queue, oldest first."""
    leases_by_queue, _errors = leaseq.read_queues(client, lambda queue: queue.mine(name))
    return [lease for leases in leases_by_queue.values() for lease in leases]


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An item that somebody holds."""

    queue: str
    id: str
    payload: leaseq.Json
    since: datetime


def held_by_each(client: Client, names: Sequence[str]) -> dict[str, list[HeldItem]]:
    """The items that each of these people holds, over all queues, the latest first."""
    entries_by_queue, _errors = leaseq.read_queues(client, lambda queue: _held_items(queue, names))
    items_by_person: dict[str, dict[tuple[str, int], HeldItem]] = {name: {} for name in names}
    for queue, entries in entries_by_queue.items():
        for person, token, item in entries:
            if person in items_by_person:
                items_by_person[person][queue, token] = item
    return {
        name: sorted(items.values(), key=lambda item: item.since, reverse=True)
        for name, items in items_by_person.items()
    }


def release_all(client: Client, name: str, *, by: str) -> int:
    """End a person's leases; their input stays as drafts. Returns the number of leases."""
    leases = held_by(client, name)
    for lease in leases:
        with contextlib.suppress(leaseq.ItemNotFound):  # it was removed just now
            Queue(client, lease.queue).release(lease.id, person=name, by=by)
    return len(leases)


def _held_items(queue: Queue, names: Sequence[str]) -> list[tuple[str, int, HeldItem]]:
    """Person, token and item of each lease, possibly repeated: an item with several assignments is listed
    once for each, with all its leases."""
    page = queue.page("reserved", limit=_READ_TOGETHER)
    if page.after is None:
        return [
            (lease.person, lease.token, HeldItem(queue.name, item.id, item.payload, lease.reserved_at))
            for item in page.items
            for lease in item.leases
        ]
    return [
        (name, lease.token, HeldItem(queue.name, lease.id, lease.payload, lease.reserved_at))
        for name in names
        for lease in queue.mine(name)
    ]

"""Taking an item by the page."""

from __future__ import annotations

import leaseq

from .conftest import Browser


def path(queue: leaseq.Queue, *more: str) -> str:
    return "/".join((f"/q/{queue.name}", *more))


def take(queue: leaseq.Queue, person: Browser) -> leaseq.Lease:
    assert person.post(path(queue, "reserve")).location == path(queue)
    (lease,) = queue.mine(person.name)
    return lease

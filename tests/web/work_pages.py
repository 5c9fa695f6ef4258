"""Taking an item by the page."""

from __future__ import annotations

from typing import Any

import leaseq
from tests.web.conftest import Browser


def path(queue: leaseq.Queue, *parts: str) -> str:
    return "/".join((f"/q/{queue.name}", *parts))


def take(queue: leaseq.Queue, person: Browser) -> leaseq.Lease:
    assert person.post(path(queue, "reserve")).location == path(queue)
    (lease,) = queue.mine(person.name)
    return lease


def send(queue: leaseq.Queue, person: Browser, lease: leaseq.Lease, verb: str, **fields: Any) -> Any:
    return person.post(
        path(queue, "items", lease.id, verb), {"token": str(lease.token), "then": "stop", **fields}
    )

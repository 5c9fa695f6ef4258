"""A helper that takes an item on the page."""

from __future__ import annotations

from typing import Any

import leaseq
from tests.web.conftest import Browser


def path(queue: leaseq.Queue, *parts: str) -> str:
    return "/".join((f"/q/{queue.name}", *parts))


def take(queue: leaseq.Queue, browser: Browser) -> leaseq.Lease:
    assert browser.post(path(queue, "reserve")).location == path(queue)
    (lease,) = queue.mine(browser.name)
    return lease


def send(queue: leaseq.Queue, browser: Browser, lease: leaseq.Lease, verb: str, **fields: Any) -> Any:
    return browser.post(
        path(queue, "items", lease.id, verb), {"token": str(lease.token), "then": "stop", **fields}
    )

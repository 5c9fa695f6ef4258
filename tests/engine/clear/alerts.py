"""Helpers for the tests of alerts."""

from __future__ import annotations

import leaseq
from leaseq import NewItem

AlertEvent = tuple[str, str, int, int]


def alert_events(queue: leaseq.Queue) -> list[AlertEvent]:
    """Return kind, measure, limit and value of the alerts in the journal."""
    return [
        (event.what, event.detail["alert"], event.detail["limit"], event.detail["value"])
        for event in queue.journal(limit=1_000)
        if event.what.startswith("alert.")
    ]


def raised_alerts(queue: leaseq.Queue) -> list[str]:
    return [f"{alert.name}>{alert.limit}" for alert in queue.alerts()]


def fill(queue: leaseq.Queue, count: int) -> None:
    queue.enqueue_many(NewItem({}) for _ in range(count))


def remove(queue: leaseq.Queue, count: int) -> None:
    for item in queue.items("inbound", limit=count):
        queue.remove(item.id)

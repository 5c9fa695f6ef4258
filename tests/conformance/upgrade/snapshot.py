"""What the library reads from the queues in a server, as JSON: the next version must read the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import leaseq
from leaseq.engine.codec import microseconds

# A page's cursor is opaque.
_OPAQUE = {"cursor"}


def snapshot(client: leaseq.Client, clocks: Mapping[str, Any]) -> dict[str, Any]:
    by_queue = {name: _queue(leaseq.Queue(client, name, clock=clock)) for name, clock in clocks.items()}
    data: dict[str, Any] = json.loads(json.dumps(by_queue, default=_plain, ensure_ascii=False))
    return data


def _queue(queue: leaseq.Queue) -> dict[str, Any]:
    items = {item.id: queue.get(item.id) for state in leaseq.STATES for item in queue.items(state)}
    people = {grant.person for item in items.values() for grant in item.leases}
    return {
        "policy": asdict(queue.policy),
        "stats": asdict(queue.stats()),
        "in order": {state: [item.id for item in queue.items(state)] for state in leaseq.STATES},
        "by due": [item.id for item in queue.by_due().items],
        "items": {id: _without_cursors(asdict(item)) for id, item in items.items()},
        "held": {person: [asdict(lease) for lease in queue.mine(person)] for person in sorted(people)},
        "journal": [_without_cursors(asdict(event)) for event in queue.journal(limit=10_000)],
    }


def _without_cursors(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in _OPAQUE}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return microseconds(value.astimezone(UTC))
    assert not isinstance(value, Enum)
    return str(value)


def differences(then: Any, now: Any, path: str = "") -> list[str]:
    """Return where ``now`` lacks or contradicts something in ``then``. Additions in ``now`` are no
    difference."""
    if isinstance(then, dict) and isinstance(now, dict):
        return [line for name in then for line in differences(then[name], now.get(name), f"{path}/{name}")]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [line for n, (a, b) in pairs for line in differences(a, b, f"{path}/{n}")]
    return [] if then == now else [f"{path}: {then!r} was said, and now {now!r}"]

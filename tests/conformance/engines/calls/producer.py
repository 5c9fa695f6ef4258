"""Calls that add items."""

from __future__ import annotations

import leaseq
from leaseq import NewItem
from tests.conformance.engines.scene import Scene


def enqueue(at: Scene) -> None:
    assert at.queue.enqueue({"n": 4}, id="4").added
    assert not at.other.enqueue({"n": 4}, id="4").added
    assert at.other.get("4").payload == {"n": 4}


def enqueue_many(at: Scene) -> None:
    assert at.other.enqueue_many([NewItem({}, "3"), {}, {}]) == leaseq.EnqueuedMany(2, 1)
    assert at.queue.stats().inbound == 6


CALLS = (enqueue, enqueue_many)

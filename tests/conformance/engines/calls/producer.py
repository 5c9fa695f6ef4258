"""Calls that add items."""

from __future__ import annotations

import leaseq
from leaseq import NewItem
from tests.conformance.engines.scene import Scene


def enqueue(scene: Scene) -> None:
    assert scene.queue.enqueue({"n": 4}, id="4").added
    assert not scene.other.enqueue({"n": 4}, id="4").added
    assert scene.other.get("4").payload == {"n": 4}


def enqueue_many(scene: Scene) -> None:
    assert scene.other.enqueue_many([NewItem({}, "3"), {}, {}]) == leaseq.EnqueuedMany(2, 0, 1)
    assert scene.queue.stats().inbound == 6


CALLS = (enqueue, enqueue_many)

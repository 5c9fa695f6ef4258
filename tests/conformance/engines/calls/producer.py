"""Calls that add items."""

from __future__ import annotations

import pytest

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


def ask(scene: Scene) -> None:
    with pytest.raises(leaseq.StillWaiting):
        scene.queue.ask("Refund?", id="q", form={}, priority=1, wait=0)
    scene.other.finish(scene.take(), {"refund": True})
    assert scene.other.ask("Refund?", id="q", form={}, timeout=30).result == {"refund": True}


def wait_for(scene: Scene) -> None:
    with pytest.raises(leaseq.StillWaiting):
        scene.queue.wait_for("0", timeout=0)
    scene.other.finish(scene.take(), "yes")
    assert scene.queue.wait_for("0", timeout=30).answers[0].person == "ann"


CALLS = (enqueue, enqueue_many, ask, wait_for)

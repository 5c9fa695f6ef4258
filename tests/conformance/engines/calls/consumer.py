"""Calls of the people who work."""

from __future__ import annotations

from datetime import timedelta

from tests.conformance.engines.scene import Scene


def reserve(scene: Scene) -> None:
    lease = scene.queue.reserve("ann")
    assert lease is not None
    assert (lease.id, lease.payload, lease.token, lease.attempt) == ("0", {"n": 0}, 1, 1)
    assert scene.other.reserve("ann") == lease
    assert (scene.other.reserve("bob") or lease).id == "1"


def renew(scene: Scene) -> None:
    lease = scene.take()
    scene.clock.tick(299)
    assert scene.other.renew(lease).expires_at - lease.expires_at > timedelta(seconds=298)


def save_draft(scene: Scene) -> None:
    lease = scene.take()
    scene.queue.save_draft(lease, {"typed": "ü"})
    assert scene.other.mine("ann")[0].draft == {"typed": "ü"}


def finish(scene: Scene) -> None:
    lease = scene.take()
    outcome = scene.queue.finish(lease, {"label": "good"}, then_reserve=True)
    assert (outcome.late, outcome.replayed) == (False, False)
    assert outcome.next is not None
    assert outcome.next.id == "1"
    assert scene.other.finish(lease, {"label": "good"}).replayed
    assert scene.other.stats().finished == 1


def undo_finish(scene: Scene) -> None:
    lease = scene.take()
    scene.queue.finish(lease, {"label": "good"})
    new_lease = scene.other.undo_finish(lease)
    assert (new_lease.id, new_lease.draft, new_lease.token > lease.token) == ("0", {"label": "good"}, True)
    assert scene.queue.stats().finished == 0


def abandon(scene: Scene) -> None:
    scene.queue.abandon(scene.take(), "too hard")
    assert scene.take().id == "1"
    assert scene.other.get("0").history[0].reason == "too hard"


def take_back(scene: Scene) -> None:
    lease = scene.take()
    next_lease = scene.queue.abandon(lease, then_reserve=True).next
    assert next_lease is not None
    assert next_lease.id == "1"
    assert scene.other.take_back(lease).id == "0"
    outcome = scene.other.fail(next_lease, "torn", then_reserve=True)
    assert outcome.next is not None
    assert outcome.next.id == "0", "they hold it"
    assert scene.queue.take_back(next_lease).id == "1"


def fail(scene: Scene) -> None:
    outcome = scene.queue.fail(scene.take(), "torn")
    assert outcome.retry_at is not None
    assert scene.other.get("0").state == "scheduled"


def mine(scene: Scene) -> None:
    lease = scene.take()
    assert scene.other.mine("ann") == [lease]
    assert scene.other.mine("bob") == []


def why_nothing(scene: Scene) -> None:
    assert scene.queue.why_nothing("ann").reason is None
    for n in range(4):
        scene.take(f"p{n}")
    assert scene.other.why_nothing("ann").reason == "held"


CALLS = (reserve, renew, save_draft, finish, undo_finish, abandon, take_back, fail, mine, why_nothing)

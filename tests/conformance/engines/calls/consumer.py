"""Calls of who works."""

from __future__ import annotations

from datetime import timedelta

from tests.conformance.engines.scene import Scene


def reserve(at: Scene) -> None:
    lease = at.queue.reserve("ann")
    assert lease is not None
    assert (lease.id, lease.payload, lease.token, lease.attempt) == ("0", {"n": 0}, 1, 1)
    assert at.other.reserve("ann") == lease
    assert (at.other.reserve("bob") or lease).id == "1"


def renew(at: Scene) -> None:
    lease = at.take()
    at.clock.tick(299)
    assert at.other.renew(lease).expires_at - lease.expires_at > timedelta(seconds=298)


def save_draft(at: Scene) -> None:
    lease = at.take()
    at.queue.save_draft(lease, {"typed": "ü"})
    assert at.other.mine("ann")[0].draft == {"typed": "ü"}


def finish(at: Scene) -> None:
    lease = at.take()
    done = at.queue.finish(lease, {"label": "good"}, then_reserve=True)
    assert (done.late, done.replayed) == (False, False)
    assert done.next is not None
    assert done.next.id == "1"
    assert at.other.finish(lease, {"label": "good"}).replayed
    assert at.other.stats().finished == 1


def undo_finish(at: Scene) -> None:
    lease = at.take()
    at.queue.finish(lease, {"label": "good"})
    again = at.other.undo_finish(lease)
    assert (again.id, again.draft, again.token > lease.token) == ("0", {"label": "good"}, True)
    assert at.queue.stats().finished == 0


def abandon(at: Scene) -> None:
    at.queue.abandon(at.take(), "too hard")
    assert at.take().id == "1"
    assert at.other.get("0").history[0].reason == "too hard"


def take_back(at: Scene) -> None:
    lease = at.take()
    following = at.queue.abandon(lease, then_reserve=True).next
    assert following is not None
    assert following.id == "1"
    assert at.other.take_back(lease).id == "0"
    failed = at.other.fail(following, "torn", then_reserve=True)
    assert failed.next is not None
    assert failed.next.id == "0", "they hold it"
    assert at.queue.take_back(following).id == "1"


def fail(at: Scene) -> None:
    failed = at.queue.fail(at.take(), "torn")
    assert failed.retry_at is not None
    assert at.other.get("0").state == "scheduled"


def mine(at: Scene) -> None:
    lease = at.take()
    assert at.other.mine("ann") == [lease]
    assert at.other.mine("bob") == []


def why_nothing(at: Scene) -> None:
    assert at.queue.why_nothing("ann").reason is None
    for n in range(4):
        at.take(f"p{n}")
    assert at.other.why_nothing("ann").reason == "held"


CALLS = (reserve, renew, save_draft, finish, undo_finish, abandon, take_back, fail, mine, why_nothing)

"""``EventKind`` names exactly the kinds of events that a queue's journal can have."""

from __future__ import annotations

from typing import get_args

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take


def pause_and_cancel(queue: leaseq.Queue, clock: Clock) -> None:
    """paused, resumed, stopped, let-work, cancelled, and lapsed"""
    queue.pause()
    queue.resume()
    queue.stop("ann")
    queue.let_work("ann")
    for id in ("cancelled", "lapsed"):
        queue.enqueue({}, id=id, expires=1)
    queue.cancel("cancelled")
    clock.tick(2)
    queue.clear()


def assign_and_close(queue: leaseq.Queue, id: str) -> None:
    """unassigned, and closed"""
    queue.assign(id, "bob")
    queue.unassign(id)
    queue.configure(answers=2)
    take(queue, "zoe")
    queue.change(id, answers=1)
    queue.release(id)
    queue.configure(answers=1)


def correct_and_reopen(queue: leaseq.Queue, id: str, token: int) -> None:
    """corrected, decided, and reopened"""
    (answer,) = queue.correct(id, token, 1, by="meg").answers
    queue.decide(id, 1, how="corrected", by="meg", tokens=[answer.token])
    queue.reopen(id, answer.token)


def test_journal_has_exactly_all_event_kinds(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(max_attempts=1, lease_seconds=10)  # created
    timed_queue.configure(keep_finished_seconds=60)  # configured
    pause_and_cancel(timed_queue, clock)
    timed_queue.enqueue({}, id="finished")
    lease = timed_queue.renew(take(timed_queue, "ann"))
    timed_queue.finish(lease, {})
    timed_queue.finish(timed_queue.undo_finish(lease), {})
    timed_queue.enqueue({}, id="removed", delay=5)
    clock.tick(6)
    timed_queue.clear()  # due
    timed_queue.change("removed", priority=1)
    timed_queue.assign("removed", "bob")
    timed_queue.abandon(take(timed_queue, "bob"))
    timed_queue.fail(take(timed_queue, "bob"), "cut off")  # failed and died
    timed_queue.revive("removed")
    lease = take(timed_queue, "bob")
    timed_queue.release("removed")
    take(timed_queue, "cay")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lease, {})  # late
    timed_queue.adopt("removed", lease.token)
    correct_and_reopen(timed_queue, "removed", lease.token)
    timed_queue.remove("removed")
    timed_queue.restore(leaseq.NewItem({}, id="restored"))
    assign_and_close(timed_queue, "restored")
    timed_queue.enqueue({}, id="expired")
    take(timed_queue, "dan")
    take(timed_queue, "eve")
    clock.tick(61)
    timed_queue.clear()  # expired, and the first finished item is forgotten
    clock.tick(61)
    timed_queue.clear()
    timed_queue.configure(alerts=("waiting>1",))
    timed_queue.enqueue_many([{}, {}])
    timed_queue.clear()  # alert.raised
    timed_queue.configure(alerts=())
    timed_queue.clear()  # alert.resolved
    events = [event.what for event in timed_queue.journal(limit=1_000)]
    assert set(events) == set(get_args(leaseq.EventKind))

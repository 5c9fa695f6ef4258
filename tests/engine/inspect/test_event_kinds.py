"""``EventKind`` names each kind of event that a queue's journal can have, and no other."""

from __future__ import annotations

from typing import get_args

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.taking import take


def test_a_queue_to_which_everything_happens_has_each_kind(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(max_attempts=1, lease_seconds=10)  # created
    timed.configure(keep_finished_seconds=60)  # configured
    timed.pause()
    timed.resume()
    timed.enqueue({}, id="finished")
    lease = timed.renew(take(timed, "ann"))
    timed.finish(lease, {})
    timed.finish(timed.undo_finish(lease), {})
    timed.enqueue({}, id="removed", delay=5)
    clock.tick(6)
    timed.clear()  # due
    timed.change("removed", priority=1)
    timed.assign("removed", "bob")
    timed.abandon(take(timed, "bob"))
    timed.fail(take(timed, "bob"), "cut off")  # failed and died
    timed.revive("removed")
    lease = take(timed, "bob")
    timed.release("removed")
    take(timed, "cay")
    with pytest.raises(leaseq.LeaseLost):
        timed.finish(lease, {})  # late
    timed.adopt("removed", lease.token)
    (answer,) = timed.correct("removed", lease.token, 1, by="meg").answers
    timed.reopen("removed", answer.token)
    timed.remove("removed")
    timed.restore(leaseq.NewItem({}, id="restored"))
    timed.enqueue({}, id="expired")
    take(timed, "dan")
    take(timed, "eve")
    clock.tick(61)
    timed.clear()  # expired, and the first finished item is forgotten
    clock.tick(61)
    timed.clear()
    timed.configure(alerts=("waiting>1",))
    timed.enqueue_many([{}, {}])
    timed.clear()  # alert.raised
    timed.configure(alerts=())
    timed.clear()  # alert.resolved
    events = [event.what for event in timed.journal(limit=1_000)]
    assert set(events) == set(get_args(leaseq.EventKind))

"""Holes that the documents this project was made from have, reproduced there. Ours has none of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]


def test_an_item_that_waited_long_is_not_returned_the_moment_it_is_taken(
    timed: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed.enqueue({}, id="one")
    clock.tick(100_000)
    lease = take("ann")
    assert timed.clear() == leaseq.Cleared(0, 0, 0, more=False)
    assert timed.reserve("bob") is None
    assert timed.mine("ann") == [lease]


def test_there_is_no_moment_between_taking_an_item_and_its_token(timed: leaseq.Queue, take: Take) -> None:
    """The token is made by the very move, so no crash can leave an item taken without one."""
    timed.enqueue({}, id="one")
    lease = take("ann")
    [grant] = timed.get("one").leases
    assert (grant.token, grant.person) == (lease.token, "ann")
    assert [(e.what, e.token) for e in timed.journal()][-1] == ("reserved", lease.token)


def test_taking_back_keeps_to_max_attempts(timed: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed.configure(max_attempts=2)
    timed.enqueue({}, id="one")
    for _ in range(2):
        take("ann")
        clock.tick(301)
        timed.clear()
    assert timed.get("one").state == "dead"
    assert timed.reserve("ann") is None


def test_two_different_answers_do_not_both_succeed(timed: leaseq.Queue, take: Take) -> None:
    timed.enqueue({}, id="one")
    lease = take("ann")
    timed.finish(lease, {"v": 1})
    with pytest.raises(leaseq.LeaseLost):
        timed.finish(lease, {"v": 2})
    assert timed.stats().counters["finished"] == 1


def test_a_fail_after_a_finish_does_not_queue_the_item_again(
    timed: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed.enqueue({}, id="one")
    lease = take("ann")
    timed.finish(lease, {})
    for move in (timed.fail, timed.abandon):
        with pytest.raises(leaseq.LeaseLost):
            move(lease, "no")
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": ["one"], "dead": []}


def test_a_clear_job_on_a_machine_whose_clock_is_ahead_returns_no_live_lease(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.enqueue({}, id="one")
    lease = queue.reserve("ann")
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert queue.clear().returned == 0
    assert queue.mine("ann") == [lease]


def test_a_stale_finish_leaves_the_new_holder_s_lease_alone(
    timed: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed.enqueue({}, id="one")
    stale = take("ann")
    clock.tick(301)
    current = take("bob")
    with pytest.raises(leaseq.LeaseLost):
        timed.finish(stale, {})
    assert timed.mine("bob") == [current]
    assert timed.finish(current, {}).late is False


def test_an_item_finished_after_its_lease_ran_out_is_not_worked_twice(
    timed: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed.enqueue({}, id="one")
    lease = take("ann")
    clock.tick(301)
    timed.clear()
    timed.finish(lease, {})
    assert timed.reserve("bob") is None


def test_equal_payloads_stay_items_of_their_own(timed: leaseq.Queue, take: Take) -> None:
    for _ in range(2):
        timed.enqueue({"same": True})
    assert take("ann").id != take("bob").id


def test_enqueueing_what_is_held_leaves_it_in_one_set(timed: leaseq.Queue, take: Take, sets: Sets) -> None:
    timed.enqueue({}, id="one")
    take("ann")
    assert timed.enqueue({}, id="one").added is False
    assert sets() == {"inbound": [], "reserved": ["one"], "scheduled": [], "finished": [], "dead": []}

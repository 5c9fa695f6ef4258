"""Several answers and expired leases: a late answer takes an assignment of its item that is still waiting."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import take


@pytest.fixture
def stale(three: leaseq.Queue, clock: Clock) -> leaseq.Lease:
    """Ann's expired lease of the item "a"."""
    three.enqueue({}, id="a")
    lease = take(three, "ann")
    clock.tick(301)
    return lease


def test_a_late_answer_takes_an_assignment_that_still_waits(three: leaseq.Queue, stale: leaseq.Lease) -> None:
    bobs = take(three, "bob")  # the assignment that ann had
    assert bobs.attempt == 2
    outcome = three.finish(stale, {"by": "ann"})
    assert (outcome.late, outcome.replayed) == (True, False)
    assert three.finish(stale, {"by": "ann"}).replayed
    three.finish(bobs, {"by": "bob"})
    three.finish(take(three, "cyd"), {"by": "cyd"})
    item = three.get("a")
    assert item.state == "finished"
    assert sorted((a.person, a.late) for a in item.answers) == [("ann", True), ("bob", False), ("cyd", False)]
    assert item.late_answers == ()
    assert three.stats().counters["finished"] == 3


def test_a_late_answer_takes_an_assignment_that_waits_for_its_person_alone(
    three: leaseq.Queue, clock: Clock
) -> None:
    three.enqueue({}, id="a")
    stale = take(three, "ann")
    clock.tick(301)
    take(three, "bob")  # the assignment that ann had
    three.assign("a", "ann")
    assert three.finish(stale, {"by": "ann"}).late
    assert [answer.person for answer in three.get("a").answers] == ["ann"]


def test_the_earlier_grants_of_an_assignment_go_with_the_last_of_them(
    three: leaseq.Queue, stale: leaseq.Lease, server: Server
) -> None:
    """The answer moved with its grant, and the record of the rest has no empty part."""
    bobs = take(three, "bob")  # the assignment that ann had
    three.finish(stale, {"by": "ann"})
    assert not server.redis.exists(Keys(three.name).history)
    three.abandon(bobs)
    take(three, "cyd")
    assert len(server.redis.hget(Keys(three.name).history, "a").split(b"\n\n")) == 1
    assert [grant.person for grant in three.get("a").history] == ["ann", "bob", "cyd"]


@pytest.mark.parametrize("granted", [True, False], ids=["to ann", "to nobody"])
def test_a_late_answer_of_somebody_who_answered_meanwhile_is_only_kept(
    three: leaseq.Queue, stale: leaseq.Lease, granted: bool
) -> None:
    """Even if the assignment of the expired lease was not granted to anybody since."""
    if not granted:
        three.clear()
        three.assign("a", "bob")
    three.finish(take(three, "ann"), {"v": 2})
    with pytest.raises(leaseq.LeaseLost) as error:
        three.finish(stale, {"v": 1})
    assert error.value.answer_kept
    assert [a.result for a in three.get("a").answers] == [{"v": 2}]


def test_a_lease_that_ran_out_is_not_taken_back_beside_another_of_the_same_item(
    three: leaseq.Queue, stale: leaseq.Lease
) -> None:
    three.configure(holds=2)
    take(three, "ann")
    with pytest.raises(leaseq.LeaseLost):
        three.renew(stale)


def test_an_answer_adopted_counts_for_its_person(three: leaseq.Queue, clock: Clock) -> None:
    three.configure(answers=2)
    three.enqueue({}, id="a")
    stale = take(three, "ann")
    clock.tick(301)
    bobs, cyds = take(three, "bob"), take(three, "cyd")
    three.finish(bobs, {"by": "bob"})
    three.finish(cyds, {"by": "cyd"})
    with pytest.raises(leaseq.LeaseLost):
        three.finish(stale, {"by": "ann"})
    item = three.adopt("a", stale.token)
    assert sorted(a.person for a in item.answers) == ["ann", "cyd"]
    assert [a.person for a in item.late_answers] == ["bob"]
    with pytest.raises(leaseq.LeaseLost):
        three.finish(cyds, {"by": "cyd", "v": 2})
    assert sorted(a.person for a in three.adopt("a", cyds.token).answers) == ["ann", "cyd"]


def test_a_late_answer_that_takes_the_next_one_along_hides_nothing(
    three: leaseq.Queue, clock: Clock, server: Server
) -> None:
    """Two assignments are created in one call; their entries have different times."""
    three.enqueue({}, id="x")
    stale = take(three, "ann")
    clock.tick(301)
    take(three, "bob")
    three.enqueue({}, id="y")
    take(three, "cyd")
    outcome = three.finish(stale, {}, then_reserve=True)
    assert (outcome.late, outcome.next and outcome.next.id) == (True, "y")
    scores = server.redis.zrange(f"{Keys(three.name).inbound}:normal:3", 0, -1, withscores=True)
    assert [id for id, _ in scores] == [b"x\a3", b"y\a3"]
    assert scores[0][1] < scores[1][1]


def test_what_they_passed_over_beside_another_of_it_shows_when_they_let_go(three: leaseq.Queue) -> None:
    three.configure(answers=2, holds=2)
    three.enqueue({}, id="a")
    lease = take(three, "ann")
    assert three.reserve("ann") is None, "ann can't have both assignments"
    three.release("a")
    assert take(three, "bob").id == "a"
    with pytest.raises(leaseq.LeaseLost):
        three.finish(lease, {})
    assert take(three, "ann").id == "a"


def test_a_lease_that_ran_out_counts_the_same_in_a_pause(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """With a single answer, the answer of the next holder counts."""
    timed_queue.enqueue({}, id="a")
    stale = take(timed_queue, "ann")
    clock.tick(301)
    timed_queue.abandon(take(timed_queue, "bob"))
    timed_queue.pause()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(stale, {})
    timed_queue.configure(answers=3)
    timed_queue.resume()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(stale, {})
    assert timed_queue.get("a").state == "inbound"


def test_a_late_answer_for_another_counts_as_the_grant_that_it_was(
    three: leaseq.Queue, stale: leaseq.Lease, clock: Clock
) -> None:
    three.configure(max_attempts=9)
    bobs = take(three, "bob")  # the assignment that ann had
    three.finish(stale, {})
    assert three.get("a").attempts == len(three.get("a").history) == 2
    assert three.mine("bob") == [bobs], "bob's lease is unchanged"
    cyds = take(three, "cyd")
    clock.tick(301)
    take(three, "dan")
    take(three, "eve")
    assert three.get("a").attempts == 5
    with pytest.raises(leaseq.LeaseLost):
        three.finish(cyds, {})
    assert three.get("a").attempts == len(three.get("a").history) == 5

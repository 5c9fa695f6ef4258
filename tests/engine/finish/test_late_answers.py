"""Late answers to items that want several: a late answer takes an assignment of its item that is still
waiting."""

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


def test_late_answer_takes_waiting_assignment(three: leaseq.Queue, stale: leaseq.Lease) -> None:
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


def test_late_answer_takes_assignment_assigned_to_its_person(three: leaseq.Queue, clock: Clock) -> None:
    three.enqueue({}, id="a")
    stale = take(three, "ann")
    clock.tick(301)
    take(three, "bob")  # the assignment that ann had
    three.assign("a", "ann")
    assert three.finish(stale, {"by": "ann"}).late
    assert [answer.person for answer in three.get("a").answers] == ["ann"]


def test_late_answer_moves_its_grant_and_leaves_no_empty_history_part(
    three: leaseq.Queue, stale: leaseq.Lease, server: Server
) -> None:
    """The late answer is stored in the assignment that it took; the history record has no empty part."""
    bobs = take(three, "bob")  # the assignment that ann had
    three.finish(stale, {"by": "ann"})
    assert not server.redis.exists(Keys(three.name).history)
    three.abandon(bobs)
    take(three, "cyd")
    assert len(server.redis.hget(Keys(three.name).history, "a").split(b"\n\n")) == 1
    assert [grant.person for grant in three.get("a").history] == ["ann", "bob", "cyd"]


@pytest.mark.parametrize("granted", [True, False], ids=["granted to ann", "not granted"])
def test_late_answer_of_person_who_already_answered_is_refused_and_kept(
    three: leaseq.Queue, stale: leaseq.Lease, granted: bool
) -> None:
    """The answer is refused even if nobody was granted the assignment of the expired lease since."""
    if not granted:
        three.clear()
        three.assign("a", "bob")
    three.finish(take(three, "ann"), {"v": 2})
    with pytest.raises(leaseq.LeaseLost) as error:
        three.finish(stale, {"v": 1})
    assert error.value.answer_kept
    assert [a.result for a in three.get("a").answers] == [{"v": 2}]


def test_expired_lease_is_not_renewed_if_person_holds_item_again(
    three: leaseq.Queue, stale: leaseq.Lease
) -> None:
    three.configure(holds=2)
    take(three, "ann")
    with pytest.raises(leaseq.LeaseLost):
        three.renew(stale)


def test_adopted_answer_replaces_answer_of_its_assignment_or_person(
    three: leaseq.Queue, clock: Clock
) -> None:
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


def test_late_finish_with_next_gives_new_assignments_distinct_scores(
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


def test_passed_over_assignment_is_reserved_after_release_of_other_one(three: leaseq.Queue) -> None:
    three.configure(answers=2, holds=2)
    three.enqueue({}, id="a")
    lease = take(three, "ann")
    assert three.reserve("ann") is None, "ann can't have both assignments"
    three.release("a")
    assert take(three, "bob").id == "a"
    with pytest.raises(leaseq.LeaseLost):
        three.finish(lease, {})
    assert take(three, "ann").id == "a"


def test_answer_after_grant_to_another_person_is_refused_in_paused_queue(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    """The answer stays refused after the queue was resumed and wants three answers."""
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


def test_attempts_equal_grants_after_late_answer_takes_other_assignment(
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

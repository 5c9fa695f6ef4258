"""An item that this many people gave back is dead."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take


@pytest.fixture
def two(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.configure(max_abandons=2)
    timed_queue.enqueue({}, id="a")
    return timed_queue


def test_it_dies_and_says_why(two: leaseq.Queue, sets: Sets) -> None:
    two.abandon(take(two, "ann"), "too dark")
    two.abandon(take(two, "bob"), "no idea", again=False)
    assert sets()["dead"] == ["a"]
    item = two.get("a")
    assert (item.state, item.failures, [g.reason for g in item.history]) == (
        "dead",
        0,
        ["too dark", "no idea"],
    )
    assert [(e.what, e.person) for e in two.journal()][-2:] == [("abandoned", "bob"), ("died", "bob")]
    assert two.stats().counters["died"] == 1
    assert two.reserve("cyd") is None


def test_people_count_and_not_how_often_they_did(two: leaseq.Queue) -> None:
    for _ in range(5):
        two.abandon(take(two, "ann"))
    two.abandon(take(two, "ann"), again=False)
    assert two.get("a").state == "inbound"


def test_a_lost_lease_counts_for_nothing(two: leaseq.Queue, clock: Clock) -> None:
    two.abandon(take(two, "ann"))
    two.release(take(two, "bob").id)
    take(two, "cyd")
    clock.tick(301)
    two.clear()
    assert two.get("a").state == "inbound"


def test_sent_twice_it_counts_once(two: leaseq.Queue) -> None:
    for person in ("ann", "bob"):
        lease = take(two, person)
        two.abandon(lease)
        two.abandon(lease)
    assert two.stats().counters["died"] == 1


def test_revived_it_begins_anew(two: leaseq.Queue) -> None:
    for person in ("ann", "bob"):
        two.abandon(take(two, person), again=False)
    two.revive("a")
    two.abandon(take(two, "ann"))
    assert two.get("a").state == "inbound"
    two.abandon(take(two, "bob"))
    assert two.get("a").state == "dead"


def test_all_of_it_that_waits_dies_and_what_is_held_may_be_finished(two: leaseq.Queue) -> None:
    two.configure(answers=3)
    anns, bobs = take(two, "ann"), take(two, "bob")
    two.abandon(take(two, "cyd"))
    two.abandon(bobs)
    assert (two.stats().dead, two.stats().reserved, two.stats().inbound) == (2, 1, 0)
    two.finish(anns, {"by": "ann"})
    assert [a.person for a in two.get("a").answers] == ["ann"]
    two.revive("a")
    assert {take(two, "cyd").id, take(two, "dan").id} == {"a"}
    assert two.reserve("ann") is None, "ann, who answered, does not get it again"


def test_without_a_limit_it_never_dies_of_it(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    for n in range(50):
        timed_queue.abandon(take(timed_queue, f"p{n}"), again=n % 2 == 0)
    assert timed_queue.get("a").state == "inbound"

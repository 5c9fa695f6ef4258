"""Stopped people: they finish what they hold, and get nothing more until they are let work again."""

from __future__ import annotations

from datetime import timedelta

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.support.leases import take


@pytest.fixture
def stopped_holder(timed_queue: leaseq.Queue) -> leaseq.Lease:
    """ann holds an item of three, and is stopped."""
    timed_queue.configure(holds=2)
    timed_queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "abc")
    lease = take(timed_queue, "ann")
    timed_queue.stop("ann", "missed 8 of 20", by="mona")
    return lease


@pytest.mark.parametrize("ending", ["finish", "abandon", "fail", "release", "expire"])
@pytest.mark.parametrize("several", [False, True])
def test_stopped_person_ends_what_they_hold_and_gets_no_more(
    timed_queue: leaseq.Queue, stopped_holder: leaseq.Lease, clock: Clock, ending: str, several: bool
) -> None:
    if several:  # the shelves of a queue of any kind
        timed_queue.configure(answers=2)
    assert timed_queue.reserve("ann") is None, "ann may hold another one"
    assert [lease.id for lease in timed_queue.mine("ann")] == ["a"]
    stopped_holder = timed_queue.renew(stopped_holder)
    if ending == "finish":
        assert timed_queue.finish(stopped_holder, {}, then_reserve=True).next is None
    elif ending == "abandon":
        assert timed_queue.abandon(stopped_holder, then_reserve=True).next is None
    elif ending == "fail":
        assert timed_queue.fail(stopped_holder, "torn", then_reserve=True).next is None
    elif ending == "release":
        timed_queue.release("a")
    clock.tick(3_600)
    assert timed_queue.reserve("ann") is None
    assert timed_queue.reserve("ann", wait=0.01) is None
    why = timed_queue.why_nothing("ann")
    assert (why.reason, why.detail) == ("stopped", "missed 8 of 20")
    assert timed_queue.reserve("bob") is not None
    timed_queue.let_work("ann", by="mona")
    assert timed_queue.reserve("ann") is not None


def test_stopped_people_are_listed_until_they_may_work(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure()
    timed_queue.stop("zoe")
    clock.tick(5)
    timed_queue.stop("ann b", "too fast", by="mona d")
    timed_queue.stop("ann b", "too fast", by="somebody")
    ann, zoe = timed_queue.stopped()
    assert (ann.person, ann.reason, ann.by) == ("ann b", "too fast", "mona d")
    assert (zoe.person, zoe.reason, zoe.by) == ("zoe", None, None)
    assert ann.at - zoe.at > timedelta(seconds=4)
    timed_queue.stop("ann b", "much too fast")
    assert timed_queue.stopped()[0].reason == "much too fast"
    for _ in range(2):
        timed_queue.let_work("ann b", by="mona")
    assert [one.person for one in timed_queue.stopped()] == ["zoe"]
    events = [(event.what, event.person, event.detail) for event in timed_queue.journal()]
    assert events[1:] == [
        ("stopped", "zoe", None),
        ("stopped", "ann b", "too fast"),
        ("stopped", "ann b", "much too fast"),
        ("let-work", "ann b", None),
    ]


def test_stopped_person_keeps_what_is_assigned_to_them(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", to="ann")
    timed_queue.stop("ann")
    assert timed_queue.reserve("ann") is None
    assert timed_queue.get("a").assigned_to == ("ann",)
    timed_queue.let_work("ann")
    assert take(timed_queue, "ann").id == "a"


def test_stopped_person_who_is_long_away_stays_stopped(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({})
    timed_queue.stop("ann")
    for _ in range(60):
        clock.tick(86_400)
        timed_queue.clear()
    assert timed_queue.reserve("ann") is None
    assert timed_queue.why_nothing("ann").reason == "stopped"


def test_erased_person_is_no_longer_listed(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.configure()
    timed_queue.stop("ann", "slow")
    timed_queue.erase_person("ann", "erased-1")
    assert timed_queue.stopped() == []
    assert not server.redis.exists(f"leaseq:{{{timed_queue.name}}}:stopped")


@pytest.mark.parametrize("bad", ["", "a\tb", "x" * 101, 7, None])
def test_bad_names_and_reasons_are_refused(timed_queue: leaseq.Queue, bad: str) -> None:
    timed_queue.configure()
    for call in (timed_queue.stop, timed_queue.let_work):
        with pytest.raises(leaseq.Invalid) as refused:
            call(bad)
        assert refused.value.field == "person"
    with pytest.raises(leaseq.Invalid) as refused:
        timed_queue.stop("ann", "x" * 2_001)
    assert refused.value.field == "reason"
    assert timed_queue.stopped() == []

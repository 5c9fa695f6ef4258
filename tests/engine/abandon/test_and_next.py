"""Abandon and fail with `then_reserve`: the item goes back and the next one comes, in one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import not_none

Take = Callable[[str], leaseq.Lease]
GiveBack = Callable[..., leaseq.Abandoned | leaseq.Failed]
WAYS = ("later", "never", "fail")


@pytest.fixture(autouse=True)
def items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({"n": n}, id=id) for n, id in enumerate("abc"))


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def give_back(timed_queue: leaseq.Queue, way: str) -> GiveBack:
    """The verb, followed by a reserve."""
    if way == "fail":
        return partial(timed_queue.fail, then_reserve=True)
    return partial(timed_queue.abandon, again=way == "later", then_reserve=True)


def test_the_next_item_comes_with_it(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, give_back: GiveBack, way: str
) -> None:
    outcome = give_back(take("ann"), "torn page")
    next_lease = not_none(outcome.next)
    assert (outcome.id, next_lease.id, next_lease.person, next_lease.token) == ("a", "b", "ann", 2)
    assert timed_queue.mine("ann") == [next_lease]
    assert sets()["reserved"] == ["b"]
    assert sorted(sets()["inbound"] + sets()["scheduled"]) == ["a", "c"]
    kind = "failed" if way == "fail" else "abandoned"
    assert [event.what for event in timed_queue.journal()][-2:] == [kind, "reserved"]
    assert timed_queue.get("a").history[0].reason == "torn page"


def test_without_it_none_comes(timed_queue: leaseq.Queue, take: Take) -> None:
    assert timed_queue.abandon(take("ann")) == leaseq.Abandoned("a", next=None)
    assert timed_queue.fail(take("ann"), "torn").next is None
    assert timed_queue.mine("ann") == []


def test_none_where_the_queue_is_paused(timed_queue: leaseq.Queue, take: Take, give_back: GiveBack) -> None:
    lease = take("ann")
    timed_queue.pause()
    assert give_back(lease).next is None
    assert timed_queue.mine("ann") == []


def test_none_where_nothing_waits_for_them(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in "ab":
        timed_queue.remove(id)
    assert timed_queue.abandon(take("ann"), again=False, then_reserve=True).next is None
    assert timed_queue.fail(take("bob"), then_reserve=True).next is None


def test_what_is_put_off_comes_again_where_nothing_else_waits(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in "ab":
        timed_queue.remove(id)
    next_lease = not_none(timed_queue.abandon(take("ann"), then_reserve=True).next)
    assert (next_lease.id, next_lease.token, next_lease.attempt) == ("c", 2, 2)


def test_the_last_failure_kills_it_and_the_next_one_comes(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1)
    outcome = timed_queue.fail(take("ann"), "torn", then_reserve=True)
    assert outcome.retry_at is None
    assert not_none(outcome.next).id == "b"
    assert timed_queue.get("a").state == "dead"


@pytest.mark.parametrize("holds", [1, 2, 3])
def test_sent_twice_it_gives_the_same_next(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, give_back: GiveBack, holds: int
) -> None:
    timed_queue.configure(holds=holds)
    lease = take("ann")
    if holds == 3:
        take("ann")
    first = give_back(lease, "torn", request_id="r")
    before = sets()
    assert give_back(lease, "torn", request_id="r") == first
    assert sets() == before
    assert timed_queue.stats().counters["reserved"] == (3 if holds == 3 else 2)
    counters = timed_queue.stats().counters
    assert counters["failed"] + counters["abandoned"] == 1


def test_sent_again_with_a_reserve_it_brings_the_next(
    timed_queue: leaseq.Queue, take: Take, give_back: GiveBack, way: str
) -> None:
    """The first call had no `then_reserve`."""
    lease = take("ann")
    if way == "fail":
        timed_queue.fail(lease)
    else:
        timed_queue.abandon(lease, again=way == "later")
    assert not_none(give_back(lease).next).id == "b"
    counters = timed_queue.stats().counters
    assert counters["failed"] + counters["abandoned"] == 1


def test_a_lease_that_was_lost_brings_no_next(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets, give_back: GiveBack
) -> None:
    stale = take("ann")
    clock.tick(301)
    take("bob")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        give_back(stale)
    assert sets() == before


def test_skills_count_for_the_next(timed_queue: leaseq.Queue, take: Take, give_back: GiveBack) -> None:
    timed_queue.enqueue({}, id="french", requires=["fr"], priority=0)
    assert not_none(give_back(take("ann"), skills=("fr",)).next).id == "french"


def test_with_more_in_hand_the_next_is_a_new_one(
    timed_queue: leaseq.Queue, take: Take, give_back: GiveBack
) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    next_lease = not_none(give_back(a).next)
    assert next_lease.id == "c"
    assert timed_queue.mine("ann") == [b, next_lease]


def test_with_full_hands_the_next_is_one_that_is_held(
    timed_queue: leaseq.Queue, take: Take, give_back: GiveBack
) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    timed_queue.configure(holds=1)
    assert give_back(a).next == b


@pytest.mark.parametrize("wrong", [{"skills": "fr"}, {"skills": [""]}, {"request_id": ""}])
def test_what_is_no_skill_or_request_is_refused(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, give_back: GiveBack, wrong: dict[str, object]
) -> None:
    lease = take("ann")
    before = sets()
    with pytest.raises(leaseq.Invalid, match=next(iter(wrong))):
        give_back(lease, **wrong)
    assert sets() == before

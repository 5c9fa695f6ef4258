"""abandon and fail with `then_reserve`: give an item back and reserve the next one in the same call."""

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
    """Return abandon or fail, with `then_reserve`."""
    if way == "fail":
        return partial(timed_queue.fail, then_reserve=True)
    return partial(timed_queue.abandon, again=way == "later", then_reserve=True)


def test_then_reserve_returns_next_item(
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


def test_next_is_none_without_then_reserve(timed_queue: leaseq.Queue, take: Take) -> None:
    assert timed_queue.abandon(take("ann")) == leaseq.Abandoned("a", next=None)
    assert timed_queue.fail(take("ann"), "torn").next is None
    assert timed_queue.mine("ann") == []


def test_next_is_none_when_queue_is_paused(
    timed_queue: leaseq.Queue, take: Take, give_back: GiveBack
) -> None:
    lease = take("ann")
    timed_queue.pause()
    assert give_back(lease).next is None
    assert timed_queue.mine("ann") == []


def test_next_is_none_when_no_item_is_available(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in "ab":
        timed_queue.remove(id)
    assert timed_queue.abandon(take("ann"), again=False, then_reserve=True).next is None
    assert timed_queue.fail(take("bob"), then_reserve=True).next is None


def test_abandoned_item_is_next_when_nothing_else_waits(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in "ab":
        timed_queue.remove(id)
    next_lease = not_none(timed_queue.abandon(take("ann"), then_reserve=True).next)
    assert (next_lease.id, next_lease.token, next_lease.attempt) == ("c", 2, 2)


def test_last_failure_kills_item_and_returns_next_item(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1)
    outcome = timed_queue.fail(take("ann"), "torn", then_reserve=True)
    assert outcome.retry_at is None
    assert not_none(outcome.next).id == "b"
    assert timed_queue.get("a").state == "dead"


@pytest.mark.parametrize("holds", [1, 2, 3])
def test_repeated_request_returns_same_next_item(
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


def test_repeated_call_with_then_reserve_added_returns_next_item(
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


def test_stale_lease_is_refused_and_reserves_nothing(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets, give_back: GiveBack
) -> None:
    stale = take("ann")
    clock.tick(301)
    take("bob")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        give_back(stale)
    assert sets() == before


def test_skills_apply_to_next_item(timed_queue: leaseq.Queue, take: Take, give_back: GiveBack) -> None:
    timed_queue.enqueue({}, id="french", requires=["fr"], priority=0)
    assert not_none(give_back(take("ann"), skills=("fr",)).next).id == "french"


def test_next_is_new_item_below_holds_limit(
    timed_queue: leaseq.Queue, take: Take, give_back: GiveBack
) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    next_lease = not_none(give_back(a).next)
    assert next_lease.id == "c"
    assert timed_queue.mine("ann") == [b, next_lease]


def test_next_is_held_item_at_holds_limit(timed_queue: leaseq.Queue, take: Take, give_back: GiveBack) -> None:
    timed_queue.configure(holds=2)
    a, b = take("ann"), take("ann")
    timed_queue.configure(holds=1)
    assert give_back(a).next == b


@pytest.mark.parametrize("wrong", [{"skills": "fr"}, {"skills": [""]}, {"request_id": ""}])
def test_invalid_skills_or_request_id_are_refused(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, give_back: GiveBack, wrong: dict[str, object]
) -> None:
    lease = take("ann")
    before = sets()
    with pytest.raises(leaseq.Invalid) as error:
        give_back(lease, **wrong)
    assert error.value.field == next(iter(wrong))
    assert sets() == before

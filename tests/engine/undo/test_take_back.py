"""An abandon or a fail can be taken back for a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.taking import not_none

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def items(timed: leaseq.Queue) -> None:
    timed.enqueue_many(NewItem({"n": n}, id=id) for n, id in enumerate("ab"))


@pytest.fixture(params=["later", "never", "failed", "failed, at once"])
def given_back_lease(request: pytest.FixtureRequest, timed: leaseq.Queue, take: Take) -> leaseq.Lease:
    """A lease that ann gave back a moment ago, while she has a draft."""
    lease = take("ann")
    timed.save_draft(lease, {"half": 1})
    if request.param.startswith("failed"):
        timed.configure(retry_seconds=0 if "at once" in request.param else 60)
        timed.fail(lease, "torn")
    else:
        timed.abandon(lease, "not now", again=request.param == "later")
    return lease


def test_they_hold_it_again_with_their_draft(
    timed: leaseq.Queue, sets: Sets, given_back_lease: leaseq.Lease
) -> None:
    new_lease = timed.take_back(given_back_lease)
    assert (new_lease.id, new_lease.payload, new_lease.draft) == ("a", {"n": 0}, {"half": 1})
    assert (new_lease.token, new_lease.attempt) == (2, 2)
    assert timed.mine("ann") == [new_lease]
    assert sets() == {"inbound": ["b"], "reserved": ["a"], "scheduled": [], "finished": [], "dead": []}
    assert timed.journal()[-1].what == "reserved"
    assert timed.get("a").failures == 0
    assert [grant.how for grant in timed.get("a").history][-1] == "held"
    timed.finish(new_lease, {})
    assert timed.get("a").answers[0].token == 2


def test_what_they_said_of_it_does_not_count(
    timed: leaseq.Queue, take: Take, given_back_lease: leaseq.Lease
) -> None:
    """Neither "not for me" nor a failure, when it is free again."""
    timed.configure(max_attempts=2, max_abandons=2)
    timed.take_back(given_back_lease)
    timed.release("a")
    timed.remove("b")
    lease = take("ann")
    timed.configure(retry_seconds=0)
    assert timed.fail(lease, "torn").retry_at is not None
    timed.abandon(take("ann"))
    assert timed.get("a").state == "inbound"


def test_what_another_failure_is_stays_one(timed: leaseq.Queue, take: Take) -> None:
    timed.configure(retry_seconds=0)
    timed.remove("b")
    timed.fail(take("ann"), "torn")
    lease = take("ann")
    timed.fail(lease, "torn")
    timed.take_back(lease)
    assert timed.get("a").failures == 1


@pytest.mark.parametrize("way", ["failed", "failed for good", "abandoned"])
def test_what_died_of_it_lives(timed: leaseq.Queue, take: Take, sets: Sets, way: str) -> None:
    timed.change("a", due=datetime(2030, 1, 1, tzinfo=UTC))
    timed.configure(max_attempts=5 if way == "failed for good" else 1, max_abandons=1)
    lease = take("ann")
    if way == "abandoned":
        timed.abandon(lease)
    else:
        timed.fail(lease, "torn", retry=way != "failed for good")
    assert sets()["dead"] == ["a"]
    assert timed.by_due().items == ()
    new_lease = timed.take_back(lease)
    assert (sets()["dead"], sets()["reserved"]) == ([], ["a"])
    assert [item.id for item in timed.by_due().items] == ["a"]
    assert [event.what for event in timed.journal()][-2:] == ["revived", "reserved"]
    assert timed.stats().counters["revived"] == 1
    timed.release("a")
    assert timed.get("a").failures == 0
    assert not_none(timed.reserve("ann")).id == new_lease.id


def test_what_was_revived_since_has_no_failure_to_take_back(timed: leaseq.Queue, take: Take) -> None:
    timed.configure(max_attempts=1)
    lease = take("ann")
    timed.fail(lease, "torn")
    timed.revive("a")
    again = timed.take_back(lease)
    assert (timed.mine("ann"), timed.get("a").failures) == ([again], 0)


def test_where_others_died_with_it_it_stays(timed: leaseq.Queue, take: Take, sets: Sets) -> None:
    timed.configure(answers=2, max_attempts=1)
    lease = take("ann")
    timed.fail(lease, "torn")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed.take_back(lease)
    assert sets() == before


def test_of_several_assignments_theirs_comes_back(timed: leaseq.Queue, take: Take) -> None:
    timed.configure(answers=2, holds=1, retry_seconds=0)
    timed.remove("b")
    take("bob")
    lease = take("ann")
    timed.fail(lease, "torn")
    new_lease = timed.take_back(lease)
    assert (timed.mine("ann"), timed.get("a").failures) == ([new_lease], 0)
    timed.finish(new_lease, {})
    assert timed.get("a").answers[0].person == "ann"


def test_the_next_item_stays_in_their_hands_behind_it(timed: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    next_lease = timed.abandon(lease, then_reserve=True).next
    new_lease = timed.take_back(lease)
    assert timed.mine("ann") == [new_lease, next_lease]


def test_sent_twice_it_gives_one_lease(
    timed: leaseq.Queue, sets: Sets, given_back_lease: leaseq.Lease
) -> None:
    first = timed.take_back(given_back_lease, request_id="r")
    before = sets()
    assert timed.take_back(given_back_lease, request_id="r") == first
    assert sets() == before
    with pytest.raises(leaseq.LeaseLost):
        timed.take_back(given_back_lease, request_id="another")


def test_only_in_time(timed: leaseq.Queue, clock: Clock, sets: Sets, given_back_lease: leaseq.Lease) -> None:
    clock.tick(15)
    before = sets()
    clock.tick(0.1)
    with pytest.raises(leaseq.Invalid, match=r"within 15 seconds after the abandon or fail"):
        timed.take_back(given_back_lease)
    assert sets() == before


def test_at_the_last_moment(timed: leaseq.Queue, clock: Clock, given_back_lease: leaseq.Lease) -> None:
    clock.tick(15)
    assert timed.take_back(given_back_lease).id == "a"


def test_not_where_somebody_else_had_it_since(timed: leaseq.Queue, take: Take, sets: Sets) -> None:
    lease = take("ann")
    timed.abandon(lease)
    assert take("bob").id == "a"
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed.take_back(lease)
    assert sets() == before


@pytest.mark.parametrize("ending", ["held", "finished", "released"])
def test_only_what_was_given_back_or_failed(timed: leaseq.Queue, take: Take, sets: Sets, ending: str) -> None:
    lease = take("ann")
    if ending == "finished":
        timed.finish(lease, {})
    elif ending == "released":
        timed.release("a")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed.take_back(lease)
    assert sets() == before


def test_only_by_who_had_it(timed: leaseq.Queue, given_back_lease: leaseq.Lease) -> None:
    with pytest.raises(leaseq.LeaseLost):
        timed.take_back(id="a", token=given_back_lease.token, person="bob")
    with pytest.raises(leaseq.ItemNotFound):
        timed.take_back(id="c", token=given_back_lease.token, person="ann")


def test_nothing_is_stored_of_a_failure_that_was_taken_back(
    timed: leaseq.Queue, server: Server, take: Take
) -> None:
    lease = take("ann")
    timed.fail(lease, "torn")
    timed.take_back(lease)
    assert timed.get(lease.id).failures == 0
    head = server.redis.hget(Keys(timed.name).items, lease.id).partition(b"\n")[0]
    assert b" f" not in head

"""take_back: an abandon or a fail is undone, at most 15 seconds after it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import not_none
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({"n": n}, id=id) for n, id in enumerate("ab"))


@pytest.fixture(params=["later", "never", "failed", "failed, at once"])
def given_back_lease(request: pytest.FixtureRequest, timed_queue: leaseq.Queue, take: Take) -> leaseq.Lease:
    """A lease with a draft that ann has just abandoned or failed."""
    lease = take("ann")
    timed_queue.save_draft(lease, {"half": 1})
    if request.param.startswith("failed"):
        timed_queue.configure(retry_seconds=0 if "at once" in request.param else 60)
        timed_queue.fail(lease, "torn")
    else:
        timed_queue.abandon(lease, "not now", again=request.param == "later")
    return lease


def test_take_back_returns_lease_with_draft(
    timed_queue: leaseq.Queue, sets: Sets, given_back_lease: leaseq.Lease
) -> None:
    new_lease = timed_queue.take_back(given_back_lease)
    assert (new_lease.id, new_lease.payload, new_lease.draft) == ("a", {"n": 0}, {"half": 1})
    assert (new_lease.token, new_lease.attempt) == (2, 1)
    assert timed_queue.mine("ann") == [new_lease]
    assert sets() == {"inbound": ["b"], "reserved": ["a"], "scheduled": [], "finished": [], "dead": []}
    assert timed_queue.journal()[-1].what == "reserved"
    assert timed_queue.get("a").failures == 0
    assert [grant.how for grant in timed_queue.get("a").history][-1] == "held"
    timed_queue.finish(new_lease, {})
    assert timed_queue.get("a").answers[0].token == 2


def test_abandon_or_fail_that_was_taken_back_does_not_count(
    timed_queue: leaseq.Queue, take: Take, given_back_lease: leaseq.Lease
) -> None:
    """It counts neither for `max_abandons` nor as a failure."""
    timed_queue.configure(max_attempts=2, max_abandons=2)
    timed_queue.take_back(given_back_lease)
    timed_queue.release("a")
    timed_queue.remove("b")
    lease = take("ann")
    timed_queue.configure(retry_seconds=0)
    assert timed_queue.fail(lease, "torn").retry_at is not None
    timed_queue.abandon(take("ann"))
    assert timed_queue.get("a").state == "inbound"


def test_take_back_does_not_reset_earlier_failures(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(retry_seconds=0)
    timed_queue.remove("b")
    timed_queue.fail(take("ann"), "torn")
    lease = take("ann")
    timed_queue.fail(lease, "torn")
    timed_queue.take_back(lease)
    assert timed_queue.get("a").failures == 1


@pytest.mark.parametrize("way", ["failed", "failed for good", "abandoned"])
def test_take_back_revives_item_that_died_of_the_call(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, way: str
) -> None:
    timed_queue.change("a", due=datetime(2030, 1, 1, tzinfo=UTC))
    timed_queue.configure(max_attempts=5 if way == "failed for good" else 1, max_abandons=1)
    lease = take("ann")
    if way == "abandoned":
        timed_queue.abandon(lease)
    else:
        timed_queue.fail(lease, "torn", retry=way != "failed for good")
    assert sets()["dead"] == ["a"]
    assert timed_queue.by_due().items == ()
    new_lease = timed_queue.take_back(lease)
    assert (sets()["dead"], sets()["reserved"]) == ([], ["a"])
    assert [item.id for item in timed_queue.by_due().items] == ["a"]
    assert [event.what for event in timed_queue.journal()][-2:] == ["revived", "reserved"]
    assert timed_queue.stats().counters["revived"] == 1
    timed_queue.release("a")
    assert timed_queue.get("a").failures == 0
    assert not_none(timed_queue.reserve("ann")).id == new_lease.id


def test_take_back_after_revive_leaves_failures_at_zero(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1)
    lease = take("ann")
    timed_queue.fail(lease, "torn")
    timed_queue.revive("a")
    again = timed_queue.take_back(lease)
    assert (timed_queue.mine("ann"), timed_queue.get("a").failures) == ([again], 0)


def test_take_back_is_refused_if_other_assignments_died_too(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed_queue.configure(answers=2, max_attempts=1)
    lease = take("ann")
    timed_queue.fail(lease, "torn")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(lease)
    assert sets() == before


def test_take_back_returns_assignment_that_person_had(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=2, holds=1, retry_seconds=0)
    timed_queue.remove("b")
    take("bob")
    lease = take("ann")
    timed_queue.fail(lease, "torn")
    new_lease = timed_queue.take_back(lease)
    assert (timed_queue.mine("ann"), timed_queue.get("a").failures) == ([new_lease], 0)
    timed_queue.finish(new_lease, {})
    assert timed_queue.get("a").answers[0].person == "ann"


def test_next_item_stays_held_after_item_that_was_taken_back(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    next_lease = timed_queue.abandon(lease, then_reserve=True).next
    new_lease = timed_queue.take_back(lease)
    assert timed_queue.mine("ann") == [new_lease, next_lease]


def test_repeated_take_back_returns_same_lease(
    timed_queue: leaseq.Queue, sets: Sets, given_back_lease: leaseq.Lease
) -> None:
    first = timed_queue.take_back(given_back_lease, request_id="r")
    before = sets()
    assert timed_queue.take_back(given_back_lease, request_id="r") == first
    assert sets() == before
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(given_back_lease, request_id="another")


def test_take_back_is_refused_after_15_seconds(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets, given_back_lease: leaseq.Lease
) -> None:
    clock.tick(15)
    before = sets()
    clock.tick(0.1)
    with refused("undo"):
        timed_queue.take_back(given_back_lease)
    assert sets() == before


def test_take_back_succeeds_after_exactly_15_seconds(
    timed_queue: leaseq.Queue, clock: Clock, given_back_lease: leaseq.Lease
) -> None:
    clock.tick(15)
    assert timed_queue.take_back(given_back_lease).id == "a"


def test_take_back_is_refused_if_another_person_reserved_item(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    lease = take("ann")
    timed_queue.abandon(lease)
    assert take("bob").id == "a"
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(lease)
    assert sets() == before


@pytest.mark.parametrize("ending", ["held", "finished", "released"])
def test_take_back_is_refused_for_lease_not_abandoned_or_failed(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, ending: str
) -> None:
    lease = take("ann")
    if ending == "finished":
        timed_queue.finish(lease, {})
    elif ending == "released":
        timed_queue.release("a")
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(lease)
    assert sets() == before


def test_take_back_is_refused_for_another_person_or_item(
    timed_queue: leaseq.Queue, given_back_lease: leaseq.Lease
) -> None:
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(id="a", token=given_back_lease.token, person="bob")
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.take_back(id="c", token=given_back_lease.token, person="ann")


def test_failure_that_was_taken_back_is_not_stored(
    timed_queue: leaseq.Queue, server: Server, take: Take
) -> None:
    lease = take("ann")
    timed_queue.fail(lease, "torn")
    timed_queue.take_back(lease)
    assert timed_queue.get(lease.id).failures == 0
    head = server.redis.hget(Keys(timed_queue.name).items, lease.id).partition(b"\n")[0]
    assert b" f" not in head


def test_abandon_or_fail_that_was_taken_back_is_undone_in_history(
    timed_queue: leaseq.Queue, clock: Clock, given_back_lease: leaseq.Lease
) -> None:
    ended_grant = timed_queue.get("a").history[-1]
    clock.tick(5)
    timed_queue.take_back(given_back_lease)
    undone_grant, new_grant = timed_queue.get("a").history
    assert (undone_grant.how, undone_grant.undone) == ("undone", ended_grant.how)
    assert undone_grant.reason == ended_grant.reason is not None
    assert undone_grant.ended_at == new_grant.reserved_at
    assert (new_grant.how, new_grant.undone) == ("held", None)


def test_failure_that_was_taken_back_is_not_last_error(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(retry_seconds=0)
    timed_queue.remove("b")
    timed_queue.fail(take("ann"), "first")
    lease = take("ann")
    timed_queue.fail(lease, "by mistake")
    assert timed_queue.get("a").last_error == "by mistake"
    timed_queue.take_back(lease)
    assert timed_queue.get("a").last_error == "first"
    found_ids = [
        [item.id for item in timed_queue.find("reserved", leaseq.Filter(outcome="failed", text=text)).items]
        for text in ("first", "by mistake")
    ]
    assert found_ids == [["a"], []]


def test_attempt_goes_on_after_undo(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(retry_seconds=0)
    timed_queue.remove("b")
    timed_queue.fail(take("bob"), "torn")
    lease = take("ann")
    for _ in range(3):
        timed_queue.abandon(lease)
        lease = timed_queue.take_back(lease)
        timed_queue.finish(lease, {})
        lease = timed_queue.undo_finish(lease)
    assert (lease.attempt, timed_queue.get("a").attempts) == (2, 2)
    timed_queue.release("a")
    assert take("cyd").attempt == 3


@pytest.mark.parametrize("again", [True, False])
def test_take_back_keeps_earlier_abandon_of_same_person(
    timed_queue: leaseq.Queue, take: Take, again: bool
) -> None:
    timed_queue.configure(max_abandons=2)
    timed_queue.remove("b")
    timed_queue.abandon(take("ann"))
    lease = take("ann")
    timed_queue.abandon(lease, again=again)
    timed_queue.release(timed_queue.take_back(lease).id)
    timed_queue.abandon(take("bob"))
    assert timed_queue.get("a").state == "dead", "two people gave it back"


def test_take_back_after_revive_restores_no_earlier_abandon(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_abandons=2)
    timed_queue.remove("b")
    timed_queue.abandon(take("ann"))
    ann = take("ann")
    timed_queue.fail(ann, "torn", retry=False)
    timed_queue.revive("a")
    lease = take("ann")
    timed_queue.abandon(lease)
    timed_queue.release(timed_queue.take_back(lease).id)
    timed_queue.abandon(take("bob"))
    assert timed_queue.get("a").state == "inbound"


def test_undone_answer_keeps_earlier_abandon_of_same_person(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_abandons=2, answers=2)
    timed_queue.remove("b")
    timed_queue.abandon(take("ann"))
    take("eve")
    take("dan")
    timed_queue.release("a")
    lease = take("ann")
    timed_queue.finish(lease, {})
    timed_queue.release(timed_queue.undo_finish(lease).id)
    timed_queue.abandon(take("bob"))
    assert timed_queue.get("a").state == "dead", "two people gave it back"


@pytest.mark.parametrize("is_finished", [True, False])
def test_take_back_is_refused_if_person_has_item_by_another_assignment(
    timed_queue: leaseq.Queue, take: Take, sets: Sets, is_finished: bool
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.remove("b")
    take("bob")
    ann = take("ann")
    timed_queue.abandon(ann)
    timed_queue.release("a")
    timed_queue.assign("a", "ann")  # the assignment that bob had
    again = take("ann")
    if is_finished:
        timed_queue.finish(again, {})
    before = sets()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.take_back(ann)
    assert sets() == before

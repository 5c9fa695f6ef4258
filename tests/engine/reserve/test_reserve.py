from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]


def test_lease_contains_item_token_person_and_times(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(lease_seconds=90)
    timed_queue.enqueue({"text": "hello"}, id="one")
    lease = take("ann")
    assert (lease.queue, lease.id, lease.person, lease.payload) == (
        timed_queue.name,
        "one",
        "ann",
        {"text": "hello"},
    )
    assert (lease.token, lease.attempt, lease.draft, lease.lease_seconds) == (1, 1, None, 90)
    assert lease.expires_at - lease.reserved_at == timedelta(seconds=90)
    assert timed_queue.mine("ann") == [lease]


def test_reserve_on_missing_queue_returns_none_and_creates_nothing(timed_queue: leaseq.Queue) -> None:
    assert timed_queue.reserve("ann") is None
    assert not timed_queue.exists()


@pytest.mark.parametrize("seconds", [0, 1])  # the ordinary case of the script runs only at a later time
def test_oldest_item_is_reserved_first(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, seconds: float
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    ids = []
    for person in ("ann", "bob", "cyd"):
        clock.tick(seconds)
        ids.append(take(person).id)
    assert ids == ["a", "b", "c"]
    assert timed_queue.reserve("dan") is None


def test_items_enqueued_at_same_time_keep_order_of_calls(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in ("b", "c", "a"):  # the clock stands still
        timed_queue.enqueue({}, id=id)
    assert [take(person).id for person in ("ann", "bob", "cyd")] == ["b", "c", "a"]


def test_more_urgent_band_is_reserved_first(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=str(p), priority=p) for p in (151, 100, 50, 150, 51, 7))
    people = [f"p{n}" for n in range(6)]
    assert [take(person).id for person in people] == ["50", "7", "100", "150", "51", "151"]


def test_returned_item_precedes_new_items_of_its_band(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    timed_queue.enqueue({}, id="low", priority=900)
    timed_queue.abandon(take("ann"))
    timed_queue.enqueue({}, id="urgent", priority=1)
    assert [take(f"p{n}").id for n in range(5)] == ["urgent", "a", "b", "c", "low"]


def test_returned_items_are_reserved_in_order_of_return(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    a, b = take("ann"), take("bob")
    timed_queue.abandon(b)
    timed_queue.abandon(a)
    assert [take(p).id for p in ("cyd", "dan", "eve")] == ["b", "a", "c"]


def test_person_at_holds_limit_gets_held_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}, {}])
    lease = take("ann")
    assert take("ann") == lease
    assert timed_queue.stats().counters["reserved"] == 1


def test_person_holds_as_many_items_as_policy_allows(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(holds=2)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    a, b = take("ann"), take("ann")
    assert [a.id, b.id] == ["a", "b"]
    assert take("ann") == a, "at the limit, the lease held longest is returned"
    assert timed_queue.mine("ann") == [a, b]
    timed_queue.finish(a, {})
    assert take("ann").id == "c"


def test_repeated_reserve_with_same_request_id_returns_same_lease(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many([{}, {}, {}])
    timed_queue.reserve("ann", request_id="r1")
    second = timed_queue.reserve("ann", request_id="r2")
    assert timed_queue.reserve("ann", request_id="r2") == second
    assert timed_queue.stats().reserved == 2


def test_expired_item_is_reserved_by_another_person_without_clear_job(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="one")
    first = take("ann")
    clock.tick(299)
    assert timed_queue.reserve("bob") is None
    clock.tick(1.1)
    new_lease = take("bob")
    assert (new_lease.id, new_lease.attempt) == ("one", 2)
    assert new_lease.token > first.token
    assert timed_queue.mine("ann") == []


def test_a_lease_can_be_as_short_as_a_tenth_of_a_second(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(lease_seconds=0.1)
    timed_queue.enqueue({})
    take("ann")
    clock.tick(0.101)
    assert take("bob").attempt == 2


def test_own_expired_item_is_granted_again_with_new_token(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="one")
    first = take("ann")
    clock.tick(301)
    new_lease = take("ann")
    assert (new_lease.id, new_lease.attempt, new_lease.token) == ("one", 2, first.token + 1)
    assert timed_queue.get("one").failures == 1


def test_reserve_returns_own_expired_item_beyond_limit_of_eight(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    """A reserve takes back eight expired leases, and the caller's own in addition."""
    timed_queue.enqueue_many(NewItem({}, id=f"{n:02}") for n in range(20))
    for n in range(20):
        take(f"p{n}")
    clock.tick(301)
    lease = take("p15")
    assert lease.attempt == 2
    assert timed_queue.mine("p15") == [lease]


def test_own_expired_items_return_in_order_of_reserving(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, sets: Sets
) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "zyxwvutsrqp")
    for person in (*"abcdefgh", "ann", "ann", "ann"):
        take(person)
    clock.tick(301)
    assert take("ann").id == "z"
    assert sets()["inbound"] == list("yxwvutsrqp")


def test_item_dies_if_expiries_use_up_attempts(timed_queue: leaseq.Queue, clock: Clock, sets: Sets) -> None:
    timed_queue.enqueue({}, id="one", max_attempts=2)
    for _ in range(2):
        timed_queue.reserve("ann")
        clock.tick(301)
    assert timed_queue.reserve("bob") is None
    assert sets()["dead"] == ["one"]
    assert timed_queue.stats().counters["died"] == 1


def test_due_scheduled_items_are_reserved_without_clear_job(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="later", delay=5)
    timed_queue.enqueue({}, id="sooner", delay=4)
    clock.tick(10)
    assert [take("ann").id, take("bob").id] == ["sooner", "later"]


def test_tokens_only_grow(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}] * 3)
    tokens = []
    for _ in range(6):
        lease = take("ann")
        tokens.append(lease.token)
        timed_queue.abandon(lease)
    assert tokens == sorted(set(tokens))


def test_changed_policy_applies_from_next_grant(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}, {}])
    before = take("ann")
    timed_queue.configure(lease_seconds=10)
    assert take("bob").lease_seconds == 10
    assert timed_queue.mine("ann") == [before]


def test_repeated_reserve_returns_same_lease_after_renew_of_expired_lease(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(holds=2)
    timed_queue.enqueue({}, id="old")
    old_lease = take("ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.enqueue({}, id="urgent", priority=1)
    lease = timed_queue.reserve("ann", request_id="r1")
    assert lease is not None
    assert lease.id == "urgent"
    renewed_lease = timed_queue.renew(old_lease)
    assert timed_queue.reserve("ann", request_id="r1") == lease
    assert timed_queue.mine("ann") == [lease, renewed_lease]


def test_repeated_reserve_returns_same_lease_after_undo_finish(timed_queue: leaseq.Queue, take: Take) -> None:
    """The lease from the undo has the latest token of all that they hold."""
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    first = take("ann")
    timed_queue.finish(first, {})
    lease = timed_queue.reserve("ann", request_id="r1")
    new_lease = timed_queue.undo_finish(first)
    assert timed_queue.reserve("ann", request_id="r1") == lease
    assert timed_queue.mine("ann") == [new_lease, lease]

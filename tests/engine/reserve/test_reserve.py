from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]


def test_a_lease_says_all_that_a_person_needs(timed_queue: leaseq.Queue, take: Take) -> None:
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


def test_a_queue_that_is_not_there_gives_nothing_and_is_not_made(timed_queue: leaseq.Queue) -> None:
    assert timed_queue.reserve("ann") is None
    assert not timed_queue.exists()


@pytest.mark.parametrize("seconds", [0, 1])  # the ordinary case needs a later time
def test_the_oldest_first(timed_queue: leaseq.Queue, take: Take, clock: Clock, seconds: float) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    ids = []
    for person in ("ann", "bob", "cyd"):
        clock.tick(seconds)
        ids.append(take(person).id)
    assert ids == ["a", "b", "c"]
    assert timed_queue.reserve("dan") is None


def test_items_of_one_moment_keep_the_order_of_their_calls(timed_queue: leaseq.Queue, take: Take) -> None:
    for id in ("b", "c", "a"):  # the clock stands still
        timed_queue.enqueue({}, id=id)
    assert [take(person).id for person in ("ann", "bob", "cyd")] == ["b", "c", "a"]


def test_a_more_urgent_band_goes_first(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=str(p), priority=p) for p in (151, 100, 50, 150, 51, 7))
    people = [f"p{n}" for n in range(6)]
    assert [take(person).id for person in people] == ["50", "7", "100", "150", "51", "151"]


def test_what_came_back_goes_ahead_of_what_never_left_within_its_band(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    timed_queue.enqueue({}, id="low", priority=900)
    timed_queue.abandon(take("ann"))
    timed_queue.enqueue({}, id="urgent", priority=1)
    assert [take(f"p{n}").id for n in range(5)] == ["urgent", "a", "b", "c", "low"]


def test_what_came_back_first_goes_first(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    a, b = take("ann"), take("bob")
    timed_queue.abandon(b)
    timed_queue.abandon(a)
    assert [take(p).id for p in ("cyd", "dan", "eve")] == ["b", "a", "c"]


def test_full_hands_get_back_what_they_hold(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}, {}])
    lease = take("ann")
    assert take("ann") == lease
    assert timed_queue.stats().counters["reserved"] == 1


def test_a_person_may_hold_as_many_as_the_policy_says(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(holds=2)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    a, b = take("ann"), take("ann")
    assert [a.id, b.id] == ["a", "b"]
    assert take("ann") == a, "at the limit, the lease held longest is returned"
    assert timed_queue.mine("ann") == [a, b]
    timed_queue.finish(a, {})
    assert take("ann").id == "c"


def test_the_same_request_gives_the_same_lease(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many([{}, {}, {}])
    timed_queue.reserve("ann", request_id="r1")
    second = timed_queue.reserve("ann", request_id="r2")
    assert timed_queue.reserve("ann", request_id="r2") == second
    assert timed_queue.stats().reserved == 2


def test_a_lease_that_ran_out_is_taken_by_the_next_without_a_clear_job(
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


def test_one_s_own_lease_that_ran_out_comes_as_a_new_grant(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="one")
    first = take("ann")
    clock.tick(301)
    new_lease = take("ann")
    assert (new_lease.id, new_lease.attempt, new_lease.token) == ("one", 2, first.token + 1)
    assert timed_queue.get("one").failures == 1


def test_hands_that_hold_nothing_alive_are_empty_however_much_else_ran_out(
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


def test_one_s_own_that_ran_out_come_back_in_the_order_of_taking(
    timed_queue: leaseq.Queue, clock: Clock, take: Take, sets: Sets
) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "zyxwvutsrqp")
    for person in (*"abcdefgh", "ann", "ann", "ann"):
        take(person)
    clock.tick(301)
    assert take("ann").id == "z"
    assert sets()["inbound"] == list("yxwvutsrqp")


def test_attempts_used_up_by_expiry_kill_the_item(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    timed_queue.enqueue({}, id="one", max_attempts=2)
    for _ in range(2):
        timed_queue.reserve("ann")
        clock.tick(301)
    assert timed_queue.reserve("bob") is None
    assert sets()["dead"] == ["one"]
    assert timed_queue.stats().counters["died"] == 1


def test_scheduled_items_that_came_due_are_handed_out_without_a_clear_job(
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


def test_a_changed_policy_counts_from_the_next_grant_on(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue_many([{}, {}])
    before = take("ann")
    timed_queue.configure(lease_seconds=10)
    assert take("bob").lease_seconds == 10
    assert timed_queue.mine("ann") == [before]


def test_sent_again_it_gives_what_it_gave_though_another_was_taken_back_since(
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


def test_and_though_a_finish_was_undone_since(timed_queue: leaseq.Queue, take: Take) -> None:
    """The lease from the undo has the latest token of all that they hold."""
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in "abc")
    first = take("ann")
    timed_queue.finish(first, {})
    lease = timed_queue.reserve("ann", request_id="r1")
    new_lease = timed_queue.undo_finish(first)
    assert timed_queue.reserve("ann", request_id="r1") == lease
    assert timed_queue.mine("ann") == [new_lease, lease]

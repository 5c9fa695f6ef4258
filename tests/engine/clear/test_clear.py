from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import Cleared, NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import not_none

Take = Callable[[str], leaseq.Lease]


def fill(queue: leaseq.Queue, count: int) -> None:
    queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(count))


def test_clear_without_work_changes_nothing(timed_queue: leaseq.Queue) -> None:
    no_changes = Cleared(returned=0, released=0, died=0, more=False)
    fill(timed_queue, 1)
    assert timed_queue.clear() == no_changes
    timed_queue.reserve("ann")
    before = timed_queue.journal()
    assert timed_queue.clear() == no_changes
    assert timed_queue.journal() == before


def test_clear_returns_expired_items_in_expiry_order(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    fill(timed_queue, 4)
    take("ann")
    clock.tick(1)
    timed_queue.renew(take("bob"))
    clock.tick(1)
    take("cyd")
    clock.tick(298.5)  # ann's and bob's leases have expired
    assert timed_queue.clear() == Cleared(returned=1, released=0, died=0, more=False)
    clock.tick(1)
    assert timed_queue.clear().returned == 1
    assert sets()["inbound"] == ["000", "001", "003"]
    assert sets()["reserved"] == ["002"]
    item = timed_queue.get("000")
    assert (item.failures, item.history[0].how) == (1, "expired")
    assert timed_queue.stats().counters["expired"] == 2
    assert timed_queue.mine("ann") == []


def test_clear_releases_due_items(timed_queue: leaseq.Queue, clock: Clock, sets: Sets) -> None:
    timed_queue.enqueue_many(NewItem({}, id=str(n), delay=n, priority=n) for n in (160, 3, 200, 100))
    clock.tick(170)
    assert timed_queue.clear() == Cleared(returned=0, released=3, died=0, more=False)
    assert sets()["inbound"] == ["3", "100", "160"]
    assert sets()["scheduled"] == ["200"]


def test_clear_kills_expired_items_without_attempts_left(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    timed_queue.configure(max_attempts=1)
    fill(timed_queue, 3)
    for n in range(3):
        timed_queue.reserve(f"p{n}")
    clock.tick(301)
    assert timed_queue.clear() == Cleared(returned=0, released=0, died=3, more=False)
    assert sets()["dead"] == ["000", "001", "002"]


@pytest.mark.parametrize("limit", [1, 3, 40, 41, 99])
def test_clear_respects_limit_and_reports_remaining_work(
    timed_queue: leaseq.Queue, clock: Clock, limit: int
) -> None:
    fill(timed_queue, 60)
    for n in range(60):
        timed_queue.reserve(f"p{n}")
    timed_queue.enqueue_many(NewItem({}, delay=1) for _ in range(40))
    clock.tick(301)
    result = timed_queue.clear(limit)
    assert result.returned + result.released == limit
    assert result.more
    result = timed_queue.clear(100)
    assert result.returned + result.released == 100 - limit
    assert not result.more


def test_more_is_true_for_item_due_at_next_call(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """A change takes a microsecond: items that are due after it are not left to the next round of the clear
    job."""
    due = clock.now + 60_000_000
    timed_queue.enqueue_many(NewItem({}, at=codec.to_datetime(due + microseconds)) for microseconds in (0, 1))
    clock.now = due
    assert timed_queue.clear(limit=1) == Cleared(returned=0, released=1, died=0, more=True)
    assert timed_queue.clear(limit=1) == Cleared(returned=0, released=1, died=0, more=False)


def test_two_clear_jobs_return_each_item_once(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    fill(timed_queue, 10)
    for n in range(10):
        timed_queue.reserve(f"p{n}")
    clock.tick(301)
    counts = [
        queue.clear(3).returned for queue in (timed_queue, same_queue, timed_queue, same_queue, timed_queue)
    ]
    assert sum(counts) == 10
    assert sets()["inbound"] == [f"{n:03}" for n in range(10)]
    assert timed_queue.stats().counters["expired"] == 10


def test_shorter_lease_granted_later_expires_first(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    fill(timed_queue, 2)
    take("ann")
    timed_queue.configure(lease_seconds=5)
    take("bob")
    clock.tick(6)
    assert timed_queue.clear().returned == 1
    clock.tick(295)
    assert timed_queue.clear().returned == 1


def test_renewed_lease_is_not_cleared_before_expiry(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    fill(timed_queue, 1)
    lease = take("ann")
    for _ in range(5):
        clock.tick(200)
        assert timed_queue.clear().returned == 0
        timed_queue.renew(lease)
    clock.tick(301)
    assert timed_queue.clear().returned == 1


def test_clear_skips_entry_without_record_of_interrupted_enqueue(
    timed_queue: leaseq.Queue, server: Server, clock: Clock, sets: Sets
) -> None:
    """The record is written last, so an entry without a record was never acknowledged."""
    timed_queue.enqueue({}, id="whole", delay=2)
    server.redis.zadd(Keys(timed_queue.name).scheduled, {"broken": clock.now})
    clock.tick(3)
    assert timed_queue.clear() == Cleared(returned=0, released=1, died=0, more=False)
    assert sets()["inbound"] == ["whole"]
    assert sets()["scheduled"] == []


def test_reserve_skips_entry_without_record(timed_queue: leaseq.Queue, server: Server, take: Take) -> None:
    fill(timed_queue, 1)
    server.redis.zadd(Keys(timed_queue.name).inbound, {"broken": 1})
    assert take("ann").id == "000"
    assert timed_queue.stats().inbound == 0


def test_reserve_with_several_answers_skips_entry_without_record(
    timed_queue: leaseq.Queue, server: Server
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="whole")
    server.redis.zadd(Keys(timed_queue.name).inbound, {"broken": 1})
    lease = timed_queue.reserve("ann")
    assert lease is not None
    assert lease.id == "whole"
    assert timed_queue.stats().inbound == 1, "the second answer of the complete item"


def test_clear_works_after_journal_is_deleted(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    timed_queue.configure(keep_finished_seconds=1)
    timed_queue.enqueue({}, id="one")
    timed_queue.finish(not_none(timed_queue.reserve("ann")), {})
    server.redis.delete(Keys(timed_queue.name).journal)
    clock.tick(2)
    timed_queue.clear()
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.get("one")


def test_item_that_died_of_expiries_has_an_error(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.configure(max_attempts=2, lease_seconds=10)
    timed_queue.enqueue({}, id="poison")
    for error in (None, "the lease ran out"):
        take("bot")
        clock.tick(11)
        timed_queue.clear()
        assert timed_queue.get("poison").last_error == error
    assert timed_queue.revive_all(error="ran out") == 1
    assert timed_queue.get("poison").last_error is None


def test_item_that_died_of_expiry_after_fail_has_error_of_fail(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(max_attempts=2, lease_seconds=10, retry_seconds=0)
    timed_queue.enqueue({}, id="one")
    timed_queue.fail(take("bot"), "torn")
    take("bot")
    clock.tick(11)
    timed_queue.clear()
    assert (timed_queue.get("one").state, timed_queue.get("one").last_error) == ("dead", "torn")


def test_item_that_too_many_people_gave_back_has_an_error(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_abandons=1)
    timed_queue.enqueue({}, id="one")
    timed_queue.abandon(take("ann"), "not for me")
    assert timed_queue.get("one").last_error == "too many people gave it back"

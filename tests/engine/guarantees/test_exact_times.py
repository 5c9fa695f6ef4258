"""Exact times: what expires or comes due at a microsecond does so at that microsecond, and not before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.queue.consumer import UNDO_SECONDS
from tests.conftest import Clock
from tests.engine.script_rewrites import rewrite
from tests.support.leases import not_none
from tests.support.refused import refused

DIGIT_MORE = 10**15  # microseconds: a time in 2001; a machine whose clock was never set is before it
Take = Callable[[str], leaseq.Lease]
SetClock = Callable[[datetime], None]


@pytest.fixture
def set_clock(clock: Clock) -> SetClock:
    """Return a function that sets the clock to this time."""

    def set_now(moment: datetime) -> None:
        clock.now = codec.microseconds(moment)

    return set_now


@pytest.fixture
def lease(timed_queue: leaseq.Queue, take: Take, clock: Clock, set_clock: SetClock) -> leaseq.Lease:
    """Ann's lease, a microsecond before it expires."""
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    set_clock(lease.expires_at)
    clock.now -= 1
    return lease


def test_lease_is_held_until_last_microsecond(timed_queue: leaseq.Queue, lease: leaseq.Lease) -> None:
    assert timed_queue.mine("ann") == [lease]
    assert timed_queue.why_nothing("bob").reason == "held"
    assert timed_queue.clear().returned == 0
    assert timed_queue.finish(lease, {}).late is False


@pytest.fixture
def expired_lease(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> leaseq.Lease:
    """A lease that expired when times had one digit less than now."""
    clock.now = DIGIT_MORE - 2_000_000
    timed_queue.configure(lease_seconds=1)
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    clock.now = DIGIT_MORE + 5
    return lease


def test_expired_lease_with_shorter_timestamp_is_returned(expired_lease: leaseq.Lease, take: Take) -> None:
    assert take("bob").id == expired_lease.id


def test_expired_lease_with_shorter_timestamp_is_finished_late(
    timed_queue: leaseq.Queue, expired_lease: leaseq.Lease
) -> None:
    assert timed_queue.finish(expired_lease, {}).late is True


def test_clock_step_back_to_shorter_timestamp_keeps_order(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    clock.now = DIGIT_MORE + 10
    timed_queue.enqueue({}, id="one")
    clock.now = DIGIT_MORE - 1
    timed_queue.enqueue({}, id="two")
    assert [take(person).id for person in ("ann", "bob")] == ["one", "two"]
    times = [event.at for event in timed_queue.journal()]
    assert times == sorted(times)


def test_mine_and_why_nothing_show_expiry_at_exact_time(
    timed_queue: leaseq.Queue, lease: leaseq.Lease, clock: Clock
) -> None:
    clock.now += 1
    assert timed_queue.mine("ann") == []
    assert timed_queue.why_nothing("bob").reason is None


def test_clear_returns_item_at_exact_expiry(
    timed_queue: leaseq.Queue, lease: leaseq.Lease, clock: Clock
) -> None:
    clock.now += 1
    assert timed_queue.clear().returned == 1


def test_reserve_grants_item_at_exact_expiry(lease: leaseq.Lease, clock: Clock, take: Take) -> None:
    clock.now += 1
    assert take("bob").id == "one"


def test_answer_at_exact_expiry_is_late(timed_queue: leaseq.Queue, lease: leaseq.Lease, clock: Clock) -> None:
    clock.now += 1
    assert timed_queue.finish(lease, {}).late is True


def test_lease_at_exact_expiry_does_not_count_towards_holds(
    timed_queue: leaseq.Queue, lease: leaseq.Lease, take: Take, set_clock: SetClock
) -> None:
    set_clock(lease.expires_at)
    timed_queue.clear()
    timed_queue.enqueue({}, priority=1)
    set_clock(take("ann").expires_at)
    assert timed_queue.renew(lease).token == lease.token


def test_mine_and_why_nothing_show_expiry_after_clock_step_back(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue({})
    take("ann")
    clock.tick(-3600)
    timed_queue.enqueue({}, delay=1e6)
    clock.tick(299)
    assert len(timed_queue.mine("ann")) == 1
    clock.tick(1.1)
    assert timed_queue.mine("ann") == []
    assert timed_queue.why_nothing("bob").reason is None


def test_clear_releases_scheduled_item_at_exact_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="later", delay=10)
    timed_queue.clear()
    clock.now = codec.microseconds(timed_queue.get("later").state_since) - 1
    assert timed_queue.clear().released == 0
    clock.now += 1
    assert timed_queue.why_nothing("bob").reason is None
    assert timed_queue.clear().released == 1


def test_reserve_grants_scheduled_item_at_exact_time(
    timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="later", delay=10)
    clock.now = codec.microseconds(timed_queue.get("later").state_since)
    assert take("bob").id == "later"


def test_clear_reports_more_if_item_is_due_at_exact_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue_many(NewItem({}, delay=10) for _ in range(3))
    moments = [codec.microseconds(item.state_since) for item in timed_queue.items("scheduled")]
    clock.now = moments[-1]
    assert timed_queue.clear(limit=2).more
    assert not timed_queue.clear(limit=1).more


def test_finish_can_be_undone_for_exactly_15_seconds(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, set_clock: SetClock
) -> None:
    timed_queue.enqueue({}, id="one")
    for microseconds_late in (0, 1):
        lease = take("ann")
        set_clock(not_none(timed_queue.finish(lease, {}).finished_at))
        clock.now += UNDO_SECONDS * 1_000_000 + microseconds_late
        if microseconds_late:
            with refused("undo"):
                timed_queue.undo_finish(lease)
        else:
            timed_queue.abandon(timed_queue.undo_finish(lease))


def test_item_is_overdue_only_after_its_due_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    clock.tick(1)
    timed_queue.enqueue({}, due=codec.to_datetime(clock.now + 5))
    clock.now += 5
    assert timed_queue.stats().overdue == 0
    clock.now += 1
    assert timed_queue.stats().overdue == 1


def test_oldest_inbound_seconds_is_age_of_oldest_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    for _ in range(2):
        timed_queue.enqueue({})
        clock.tick(10)
    assert timed_queue.stats().oldest_inbound_seconds == pytest.approx(20, abs=0.01)


@pytest.mark.parametrize("microseconds", [0, 7, 12_345, 100_000, 999_999])
def test_server_microseconds_without_leading_zeros_are_read_correctly(
    queue: leaseq.Queue, microseconds: int
) -> None:
    rewrite(queue, "enqueue", "redis.call('TIME')", f"{{ '1900000000', '{microseconds}' }}")
    queue.enqueue({}, id="one")
    assert queue.get("one").state_since == codec.to_datetime(1_900_000_000_000_000 + microseconds)


@pytest.mark.parametrize("then_reserve", [False, True])
def test_shorter_lease_granted_later_expires_on_time(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, then_reserve: bool
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("a", "b", "c"))
    timed_queue.configure(lease_seconds=300)
    first = take("ann")
    timed_queue.configure(lease_seconds=10)
    clock.tick(1)
    if then_reserve:
        assert not_none(timed_queue.finish(first, {}, then_reserve=True).next).id == "b"
    else:
        assert take("bob").id == "b"
    clock.tick(11)
    assert take("cyd").id == "b", "it was returned to the front"


@pytest.mark.parametrize(("step_back", "added"), [(100_000, 0), (100_001, 100_002)])
def test_queue_time_waits_for_clock_set_back_by_a_tenth_of_a_second(
    timed_queue: leaseq.Queue, clock: Clock, step_back: int, added: int
) -> None:
    """If it was set back by more, the queue's time continues with that difference."""
    timed_queue.enqueue({}, id="before")
    clock.now = codec.microseconds(timed_queue.get("before").state_since) - step_back
    timed_queue.enqueue({}, id="meanwhile")
    clock.now += 1_000_000
    timed_queue.enqueue({}, id="after")
    assert codec.microseconds(timed_queue.get("after").state_since) == clock.now + added

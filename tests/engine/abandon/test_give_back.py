"""abandon and fail: a person gives an item back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take as take_from

Take = Callable[[str], leaseq.Lease]


@pytest.fixture(autouse=True)
def enqueue_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({"n": 1}, id="one")


def seconds_until(clock: Clock, time: datetime | None) -> float:
    assert time is not None
    return (time - datetime.fromtimestamp(clock.now / 1e6, UTC)) / timedelta(seconds=1)


def test_an_abandoned_item_waits_again_with_the_reason_kept(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed_queue.abandon(take("ann"), 'not "mine"\nsorry')
    item = timed_queue.get("one")
    assert sets()["inbound"] == ["one"]
    assert timed_queue.mine("ann") == []
    assert (item.failures, item.attempts, item.leases) == (0, 1, ())
    assert [(g.person, g.how, g.reason) for g in item.history] == [("ann", "abandoned", 'not "mine"\nsorry')]
    assert timed_queue.stats().counters["abandoned"] == 1


def test_repeated_abandons_count_no_failures(timed_queue: leaseq.Queue, take: Take) -> None:
    for n in range(5):
        lease = take("ann")
        assert lease.attempt == n + 1
        timed_queue.abandon(lease)
    item = timed_queue.get("one")
    assert (item.state, item.attempts, item.failures) == ("inbound", 5, 0)
    assert [g.attempt for g in item.history] == [1, 2, 3, 4, 5]


def test_an_abandon_sent_twice_counts_once(timed_queue: leaseq.Queue, take: Take) -> None:
    lease = take("ann")
    timed_queue.abandon(lease)
    timed_queue.abandon(lease)
    assert timed_queue.stats().counters["abandoned"] == 1
    assert [e.what for e in timed_queue.journal()].count("abandoned") == 1


@pytest.mark.parametrize("answers", [1, 2])
def test_repeated_abandon_or_fail_succeeds_after_another_lease(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, answers: int
) -> None:
    """For instance if the first reply was lost, and somebody reserved the item before the second call."""
    timed_queue.configure(answers=answers, max_attempts=9)
    abandoned_lease = take("ann")
    timed_queue.abandon(abandoned_lease)
    failed_lease = take("bob")
    first = timed_queue.fail(failed_lease, "no")
    clock.tick(3)
    lease = take("cyd")
    before = timed_queue.get("one")
    timed_queue.abandon(abandoned_lease)
    assert timed_queue.fail(failed_lease, "no") == first
    for call in (lambda: timed_queue.fail(abandoned_lease, "no"), lambda: timed_queue.abandon(failed_lease)):
        with pytest.raises(leaseq.LeaseLost):
            call()
    assert (timed_queue.get("one"), timed_queue.mine("cyd")) == (before, [lease])


def test_expired_lease_can_be_abandoned_before_clear(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    lease = take("ann")
    clock.tick(301)
    timed_queue.abandon(lease)
    assert timed_queue.get("one").failures == 0


@pytest.mark.parametrize("verb", ["abandon", "fail"])
@pytest.mark.parametrize("ending", ["expired", "finished", "released", "regranted", "foreign"])
def test_ended_or_foreign_lease_is_refused(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets, verb: str, ending: str
) -> None:
    lease = take("ann")
    if ending == "expired":
        clock.tick(301)
        timed_queue.clear()
    elif ending == "finished":
        timed_queue.finish(lease, {})
    elif ending == "released":
        timed_queue.release("one")
    elif ending == "regranted":
        timed_queue.release("one")
        take("bob")
    parts: dict[str, Any] = {
        "id": "one",
        "token": lease.token,
        "person": "eve" if ending == "foreign" else "ann",
    }
    before, stats = sets(), timed_queue.stats().counters
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.abandon(**parts) if verb == "abandon" else timed_queue.fail(error="no", **parts)
    assert sets() == before
    assert timed_queue.stats().counters == stats


def test_failed_item_is_scheduled_and_returns_to_front(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    timed_queue.enqueue({}, id="two")
    outcome = timed_queue.fail(take("ann"), "unreadable scan")
    assert sets()["scheduled"] == ["one"]
    assert timed_queue.mine("ann") == []
    assert 1.5 <= seconds_until(clock, outcome.retry_at) <= 2
    item = timed_queue.get("one")
    assert (item.failures, item.last_error, item.state_since) == (1, "unreadable scan", outcome.retry_at)
    clock.tick(2)
    assert take("ann").id == "one"


def test_retry_delay_doubles_up_to_maximum_with_jitter(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(max_attempts=100, retry_seconds=3, retry_max_seconds=40)
    delays = []
    for _ in range(60):
        delay = seconds_until(clock, timed_queue.fail(take("ann"), "no").retry_at)
        delays.append(delay)
        clock.tick(41)
    for delay, longest in zip(delays, [3, 6, 12, 24, *[40] * 56], strict=True):
        assert longest * 0.75 <= delay <= longest + 0.001
    assert len({round(delay, 3) for delay in delays[4:]}) > 30, "delays have random jitter"


def test_expiry_counts_as_failure_for_retry_delay(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    take("ann")
    clock.tick(301)
    assert 3 <= seconds_until(clock, timed_queue.fail(take("bob"), "no").retry_at) <= 4


def test_failed_item_returns_immediately_without_retry_delay(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed_queue.configure(retry_seconds=0)
    lease = take("ann")
    first = timed_queue.fail(lease, "no")
    assert first.retry_at is not None
    assert sets()["inbound"] == ["one"]
    assert timed_queue.fail(lease, "no") == first


def test_item_dies_when_attempts_are_used_up(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, sets: Sets
) -> None:
    for _ in range(2):
        assert timed_queue.fail(take("ann"), "no").retry_at is not None
        clock.tick(10)
    assert timed_queue.fail(take("ann"), "never").retry_at is None
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": [], "dead": ["one"]}
    assert timed_queue.get("one").last_error == "never"
    counters = timed_queue.stats().counters
    assert (counters["failed"], counters["died"]) == (3, 1)


def test_fail_without_retry_kills_item_with_attempts_left(
    timed_queue: leaseq.Queue, take: Take, sets: Sets
) -> None:
    timed_queue.configure(max_attempts=5)
    lease = take("ann")
    outcome = timed_queue.fail(lease, "no such kind", retry=False, then_reserve=True)
    assert outcome.retry_at is None
    assert timed_queue.fail(lease, "no such kind", retry=False) == leaseq.Failed(lease.id, None, None)
    assert sets()["dead"] == [lease.id]
    item = timed_queue.get(lease.id)
    assert (item.failures, item.last_error) == (1, "no such kind")


@pytest.mark.parametrize("max_attempts", [1, 3])
def test_repeated_fail_counts_once_and_returns_same_result(
    timed_queue: leaseq.Queue, take: Take, clock: Clock, max_attempts: int
) -> None:
    timed_queue.configure(max_attempts=max_attempts)
    lease = take("ann")
    first = timed_queue.fail(lease, "no")
    clock.tick(0.5)
    assert timed_queue.fail(lease, "no") == first
    assert timed_queue.get("one").failures == 1
    assert timed_queue.stats().counters["failed"] == 1


def test_items_that_failed_together_do_not_come_back_together(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue_many([{}] * 20)
    leases = [take_from(timed_queue, f"p{n}") for n in range(20)]
    retry_times = {timed_queue.fail(lease, "outage").retry_at for lease in leases}
    assert len(retry_times) == 20
    seconds = [seconds_until(clock, time) for time in retry_times]
    assert max(seconds) - min(seconds) > 0.1

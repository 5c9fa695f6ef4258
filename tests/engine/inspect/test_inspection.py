"""get, mine, why_nothing, stats and journal: what people and managers read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq import NewItem, WhyNothing
from tests.conftest import Clock

Take = Callable[[str], leaseq.Lease]


def at(clock: Clock, seconds: float = 0) -> datetime:
    return datetime.fromtimestamp(clock.start / 1e6 + seconds, UTC)


def close(time: datetime | None, to: datetime) -> bool:
    return time is not None and abs(time - to) < timedelta(milliseconds=1)


def test_item_contains_history_of_its_grants(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue({"n": 1}, id="one")
    timed_queue.abandon(take("ann"), "later")
    clock.tick(10)
    take("bob")
    clock.tick(301)
    timed_queue.fail(take("cyd"), "torn")
    clock.tick(10)
    timed_queue.renew(take("dan"))
    item = timed_queue.get("one")
    assert [(g.token, g.person, g.attempt, g.how, g.reason, g.renewals) for g in item.history] == [
        (1, "ann", 1, "abandoned", "later", 0),
        (2, "bob", 2, "expired", None, 0),
        (3, "cyd", 3, "failed", "torn", 0),
        (4, "dan", 4, "held", None, 1),
    ]
    assert item.leases == item.history[-1:]
    assert (item.attempts, item.failures, item.last_error) == (4, 2, "torn")
    assert close(item.enqueued_at, at(clock))
    assert close(item.history[1].ended_at, at(clock, 311))
    assert close(item.leases[0].expires_at, at(clock, 321 + 300))
    assert close(item.state_since, at(clock, 321 + 300))


def test_state_since_is_time_of_entering_state(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue({}, id="one")
    clock.tick(50)
    timed_queue.abandon(take("ann"))
    assert close(timed_queue.get("one").state_since, at(clock, 50))
    clock.tick(50)
    timed_queue.finish(take("ann"), {})
    assert close(timed_queue.get("one").state_since, at(clock, 100))


def test_mine_lists_only_unexpired_leases_of_person(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many([{}] * 4)
    assert timed_queue.mine("ann") == []
    first = take("ann")
    clock.tick(200)
    second = take("ann")
    take("bob")
    assert timed_queue.mine("ann") == [first, second]
    clock.tick(101)
    assert timed_queue.mine("ann") == [second], "before any call takes expired leases back"


def test_why_nothing_tells_if_queue_is_empty_or_items_are_held(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure()
    assert timed_queue.why_nothing("ann") == WhyNothing("empty")
    timed_queue.enqueue({}, id="one")
    assert timed_queue.why_nothing("ann") == WhyNothing(None)
    lease = take("bob")
    assert timed_queue.why_nothing("ann") == WhyNothing("held", lease.expires_at)
    assert timed_queue.why_nothing("bob") == WhyNothing(None), "bob would get his own lease"
    timed_queue.enqueue({}, id="soon", delay=100)
    explanation = timed_queue.why_nothing("ann")
    assert explanation.reason == "held"
    assert close(explanation.free_at, at(clock, 100))
    clock.tick(101)
    assert timed_queue.why_nothing("ann") == WhyNothing(None), "due, although no call released it yet"
    take("ann")
    timed_queue.finish(lease, {})
    assert timed_queue.why_nothing("bob").reason == "held"


def test_why_nothing_gives_due_time_of_scheduled_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, delay=60)
    explanation = timed_queue.why_nothing("ann")
    assert explanation.reason == "empty"
    assert close(explanation.free_at, at(clock, 60))


def test_why_nothing_is_paused_even_if_person_has_expired_lease(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue({})
    take("ann")
    timed_queue.pause("lunch")
    assert timed_queue.why_nothing("ann") == WhyNothing(None)
    clock.tick(301)
    assert timed_queue.why_nothing("ann") == WhyNothing("paused", detail="lunch")
    assert timed_queue.reserve("ann") is None


def test_stats_count_states_and_events(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue_many(NewItem({}, max_attempts=1) for _ in range(5))
    timed_queue.enqueue({}, delay=1000)
    timed_queue.finish(take("ann"), {})
    timed_queue.abandon(take("ann"))
    timed_queue.fail(take("ann"), "no")
    lease = take("ann")
    timed_queue.release(lease.id)
    take("bob")
    clock.tick(301)
    take("cyd")
    stats = timed_queue.stats()
    assert (stats.inbound, stats.reserved, stats.scheduled, stats.finished, stats.dead) == (1, 1, 1, 1, 2)
    assert stats.counters == {
        "enqueued": 6,
        "reserved": 6,
        "finished": 1,
        "late": 0,
        "abandoned": 1,
        "expired": 1,
        "failed": 1,
        "died": 2,
        "cancelled": 0,
        "lapsed": 0,
        "revived": 0,
        "released": 1,
        "assigned": 0,
        "deduped": 0,
        "undone": 0,
        "reopened": 0,
        "corrected": 0,
        "forgotten": 0,
    }
    assert stats.paused is None


def test_stats_contain_age_of_oldest_inbound_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure()
    assert timed_queue.stats().oldest_inbound_seconds is None
    timed_queue.enqueue({}, priority=900)
    clock.tick(70)
    timed_queue.enqueue({}, priority=1)
    clock.tick(30)
    assert timed_queue.stats().oldest_inbound_seconds == pytest.approx(100, abs=0.001)
    take("ann")
    take("bob")
    assert timed_queue.stats().oldest_inbound_seconds is None


@pytest.mark.parametrize(
    "oldest",
    [{"priority": 1}, {}, {"priority": 900}, {"requires": ["fr"]}, {"requires": ["de"], "priority": 1}],
)
def test_oldest_inbound_item_may_be_on_any_shelf(
    timed_queue: leaseq.Queue, clock: Clock, oldest: dict[str, Any]
) -> None:
    timed_queue.configure()
    timed_queue.enqueue({}, **oldest)
    clock.tick(70)
    for options in ({"priority": 1}, {}, {"priority": 900}, {"requires": ["de"]}, {"requires": ["fr"]}):
        timed_queue.enqueue({}, **options)
    clock.tick(30)
    assert timed_queue.stats().oldest_inbound_seconds == pytest.approx(100, abs=0.001)


def event_fields(
    queue: leaseq.Queue, **arguments: Any
) -> list[tuple[str, str | None, str | None, int | None]]:
    return [(e.what, e.id, e.person, e.token) for e in queue.journal(**arguments)]


def test_each_transition_is_in_the_journal_once(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a", max_attempts=2)
    lease = take("ann")
    timed_queue.renew(lease)
    timed_queue.abandon(lease, "later")
    take("bob")
    clock.tick(301)
    timed_queue.fail(take("cyd"), "torn")
    timed_queue.revive("a", by="meg")
    timed_queue.finish(take("dan"), {}, then_reserve=True)
    assert event_fields(timed_queue) == [
        ("created", None, None, None),
        ("enqueued", "a", None, None),
        ("reserved", "a", "ann", 1),
        ("renewed", "a", "ann", 1),
        ("abandoned", "a", "ann", 1),
        ("reserved", "a", "bob", 2),
        ("expired", "a", "bob", 2),
        ("reserved", "a", "cyd", 3),
        ("failed", "a", "cyd", 3),
        ("died", "a", "cyd", 3),
        ("revived", "a", "meg", None),
        ("reserved", "a", "dan", 4),
        ("finished", "a", "dan", 4),
    ]
    assert [e.detail for e in timed_queue.journal() if e.detail] == ["later", "torn"]
    times = [e.at for e in timed_queue.journal()]
    assert times == sorted(times)


@pytest.mark.parametrize("limit", [1, 2, 7, 100, 300, 10_000])
def test_journal_pages_of_any_size_contain_each_event_once(
    timed_queue: leaseq.Queue, take: Take, limit: int
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(260))
    for n in range(20):
        take(f"p{n}")
    timed_queue.enqueue_many(NewItem({}, id=f"x{n:03}") for n in range(20))
    all_events = timed_queue.journal(limit=10_000)
    assert len(all_events) == 1 + 260 + 20 + 20
    events = page = timed_queue.journal(limit=limit)
    while page:
        assert len(page) <= limit
        page = timed_queue.journal(after=page[-1].cursor, limit=limit)
        events = events + page
        assert len(events) <= len(all_events), "each page continues after the one before"
    assert events == all_events


def test_page_of_journal_is_full_while_more_events_exist(timed_queue: leaseq.Queue) -> None:
    for n in range(1_200):
        timed_queue.enqueue({}, id=str(n))
    assert len(timed_queue.journal(limit=1_150)) == 1_150
    assert timed_queue.journal(limit=2_000)[-1].id == "1199"


@pytest.mark.parametrize("limit", [1, 7, 300, 10_000])
def test_latest_events_are_reversed_journal(timed_queue: leaseq.Queue, take: Take, limit: int) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(260))
    for n in range(20):
        take(f"p{n}")
    all_events = timed_queue.journal(limit=10_000)
    events = page = timed_queue.latest_events(limit)
    while page:
        assert len(page) <= limit
        page = timed_queue.latest_events(limit, before=page[-1].cursor)
        events = events + page
        assert len(events) <= len(all_events), "each page continues after the one before"
    assert events == all_events[::-1]

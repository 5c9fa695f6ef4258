"""What alerts measure: waiting, oldest and dead items, idle time, and consumers that lag behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.alerts import alert_events, fill, raised_alerts
from tests.support.leases import not_none

Take = Callable[[str], leaseq.Lease]


def test_waiting_counts_all_waiting_items(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(alerts=("waiting>3",))
    timed_queue.enqueue_many(
        [NewItem({}, priority=1), NewItem({}, priority=200), NewItem({}, requires=("fr",)), NewItem({})]
    )
    timed_queue.clear()
    assert alert_events(timed_queue) == [("alert.raised", "waiting", 3, 4)]


def test_oldest_measures_age_of_oldest_waiting_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(alerts=("oldest>100",))
    fill(timed_queue, 1)
    clock.tick(100)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    clock.tick(0.1)
    timed_queue.clear()
    assert [(one.value, one.since) for one in timed_queue.alerts()] == [(101, codec.to_datetime(clock.now))]
    lease = take("ann")
    timed_queue.clear()
    assert alert_events(timed_queue) == [
        ("alert.raised", "oldest", 100, 101),
        ("alert.resolved", "oldest", 100, 0),
    ]
    timed_queue.finish(lease, {})
    fill(timed_queue, 1)
    clock.tick(79)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    assert len(alert_events(timed_queue)) == 2


def test_dead_measures_age_of_longest_dead_item(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed_queue.configure(alerts=("dead>100",), max_attempts=1)
    timed_queue.enqueue_many([NewItem({}, id="first"), NewItem({}, id="second")])
    timed_queue.fail(take("ann"), "cut off")
    clock.tick(90)
    timed_queue.fail(take("ann"), "cut off")
    clock.tick(11.5)
    timed_queue.clear()
    assert alert_events(timed_queue) == [("alert.raised", "dead", 100, 102)]
    timed_queue.revive("first")
    timed_queue.clear()
    assert alert_events(timed_queue)[1:] == [("alert.resolved", "dead", 100, 11)], (
        "the item that has been dead longest counts"
    )


def test_idle_measures_time_without_work_while_items_wait(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(alerts=("idle>100",))
    timed_queue.clear()
    clock.tick(1_000)
    fill(timed_queue, 3)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == [], "no items were waiting before"
    clock.tick(100)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    lease = take("ann")
    clock.tick(10)
    timed_queue.clear()
    timed_queue.finish(lease, {})
    clock.tick(1)
    timed_queue.clear()
    clock.tick(100)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == [], "exactly 100 seconds after ann's finish"
    clock.tick(0.5)
    timed_queue.clear()
    assert alert_events(timed_queue) == [("alert.raised", "idle", 100, 101)]
    lease = take("ann")
    timed_queue.clear()
    assert alert_events(timed_queue)[1:] == [("alert.resolved", "idle", 100, 0)]


def test_lease_between_two_checks_resets_idle_time(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(alerts=("idle>100",))
    fill(timed_queue, 10)
    for _ in range(5):
        timed_queue.clear()
        clock.tick(50)
        timed_queue.finish(take("ann"), {})
        clock.tick(50)
    timed_queue.clear()
    assert alert_events(timed_queue) == []


def test_pause_does_not_count_as_idle_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(alerts=("idle>100",))
    fill(timed_queue, 1)
    timed_queue.clear()
    timed_queue.pause("lunch")
    clock.tick(200)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    timed_queue.resume()
    clock.tick(200)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == [], "idle time counts from the first check after the pause"
    clock.tick(101)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["idle>100"]


def test_idle_time_is_deleted_with_its_alert_rule(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    timed_queue.configure(alerts=("idle>100",))
    fill(timed_queue, 1)
    timed_queue.clear()
    ledger = Keys(timed_queue.name).ledger
    assert server.redis.hexists(ledger, "idle")
    timed_queue.configure(alerts=("waiting>100",))
    timed_queue.clear()
    assert not server.redis.hexists(ledger, "idle")
    clock.tick(200)
    timed_queue.configure(alerts=("idle>100",))
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []


@pytest.mark.parametrize("name", ["bridge", "webhooks"])
def test_journal_consumer_lag_raises_alert(
    timed_queue: leaseq.Queue, server: Server, clock: Clock, name: str
) -> None:
    journal = Keys(timed_queue.name).journal
    timed_queue.configure(alerts=(f"{name}>60",))
    fill(timed_queue, 1)
    server.redis.xgroup_create(journal, "another", 0)
    clock.tick(1_000)
    timed_queue.clear()
    assert alert_events(timed_queue) == [], "there is no such group"
    server.redis.xgroup_create(journal, name, "$")
    clock.tick(1_000)
    timed_queue.clear()
    assert alert_events(timed_queue) == [], "the group has read everything"
    fill(timed_queue, 1)
    clock.tick(59)
    fill(timed_queue, 1)
    clock.tick(2.5)
    timed_queue.clear()
    assert alert_events(timed_queue) == [("alert.raised", name, 60, 62)], (
        "the lag counts from the first unread entry"
    )
    server.redis.xgroup_setid(journal, name, timed_queue.journal(limit=1_000)[-1].cursor.partition(".")[0])
    timed_queue.clear()
    assert alert_events(timed_queue)[1:] == [("alert.resolved", name, 60, 0)]


def test_unacknowledged_entries_count_as_consumer_lag(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    journal = Keys(timed_queue.name).journal
    timed_queue.configure(alerts=("bridge>60",))
    server.redis.xgroup_create(journal, "bridge", 0)
    (_, entries), *_ = server.redis.xreadgroup("bridge", "one", {journal: ">"})
    clock.tick(61)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["bridge>60"]
    server.redis.xack(journal, "bridge", *(entry for entry, _ in entries))
    clock.tick(1)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []


def test_unreachable_is_a_figure_of_the_caller(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(alerts=("unreachable>0",))
    timed_queue.clear()
    assert (raised_alerts(timed_queue), timed_queue.stats().unreachable) == ([], None)
    timed_queue.check_alerts(unreachable=0)
    assert (raised_alerts(timed_queue), timed_queue.stats().unreachable) == ([], 0)
    timed_queue.check_alerts(unreachable=3)
    timed_queue.clear()
    assert (raised_alerts(timed_queue), timed_queue.stats().unreachable) == (["unreachable>0"], 3)
    timed_queue.check_alerts(unreachable=3)
    timed_queue.check_alerts(unreachable=0)
    assert alert_events(timed_queue) == [
        ("alert.raised", "unreachable", 0, 3),
        ("alert.resolved", "unreachable", 0, 0),
    ]
    assert timed_queue.stats().unreachable == 0
    clock.tick(601)
    assert timed_queue.stats().unreachable is None, "nobody has measured it for ten minutes"


def test_rule_about_unreachable_items_is_resolved_when_it_is_removed(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(alerts=("unreachable>0", "waiting>0"))
    timed_queue.enqueue({}, id="a")
    timed_queue.check_alerts(unreachable=1)
    assert raised_alerts(timed_queue) == ["waiting>0", "unreachable>0"]
    timed_queue.configure(alerts=("waiting>0",))
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["waiting>0"]
    timed_queue.remove("a")
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []


def put_off(queue: leaseq.Queue, clock: Clock) -> None:
    queue.clear()
    clock.tick(90)
    queue.abandon(not_none(queue.reserve("ann")))


def renew_expired_lease(queue: leaseq.Queue, clock: Clock) -> None:
    lease = not_none(queue.reserve("ann"))
    clock.tick(51)
    queue.clear()
    clock.tick(90)
    queue.renew(lease)
    queue.clear()
    queue.release(lease.id)


@pytest.mark.parametrize("work", [put_off, renew_expired_lease])
def test_work_on_an_item_resets_idle_time(
    timed_queue: leaseq.Queue, clock: Clock, work: Callable[[leaseq.Queue, Clock], None]
) -> None:
    timed_queue.configure(alerts=("idle>100",), lease_seconds=50)
    fill(timed_queue, 2)
    work(timed_queue, clock)
    timed_queue.clear()
    clock.tick(99)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    clock.tick(2)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["idle>100"]

"""What an alert measures: what waits, the oldest, what is dead, idle time, and consumers that are behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.alerting import alert_events, fill, raised_alerts

Take = Callable[[str], leaseq.Lease]


def test_all_that_waits_counts(timed: leaseq.Queue) -> None:
    timed.configure(alerts=("waiting>3",))
    timed.enqueue_many(
        [NewItem({}, priority=1), NewItem({}, priority=200), NewItem({}, requires=("fr",)), NewItem({})]
    )
    timed.clear()
    assert alert_events(timed) == [("alert.raised", "waiting", 3, 4)]


def test_the_oldest_that_waits(timed: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed.configure(alerts=("oldest>100",))
    fill(timed, 1)
    clock.tick(100)
    timed.clear()
    assert raised_alerts(timed) == []
    clock.tick(0.1)
    timed.clear()
    assert [(one.value, one.since) for one in timed.alerts()] == [(101, codec.to_datetime(clock.now))]
    lease = take("ann")
    timed.clear()
    assert alert_events(timed) == [("alert.raised", "oldest", 100, 101), ("alert.resolved", "oldest", 100, 0)]
    timed.finish(lease, {})
    fill(timed, 1)
    clock.tick(79)
    timed.clear()
    assert raised_alerts(timed) == []
    assert len(alert_events(timed)) == 2


def test_items_that_are_dead(timed: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed.configure(alerts=("dead>100",), max_attempts=1)
    timed.enqueue_many([NewItem({}, id="first"), NewItem({}, id="second")])
    timed.fail(take("ann"), "cut off")
    clock.tick(90)
    timed.fail(take("ann"), "cut off")
    clock.tick(11.5)
    timed.clear()
    assert alert_events(timed) == [("alert.raised", "dead", 100, 102)]
    timed.revive("first")
    timed.clear()
    assert alert_events(timed)[1:] == [("alert.resolved", "dead", 100, 11)], (
        "by the one that has been dead longest"
    )


def test_nobody_works_while_something_waits(timed: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed.configure(alerts=("idle>100",))
    timed.clear()
    clock.tick(1_000)
    fill(timed, 3)
    timed.clear()
    assert raised_alerts(timed) == [], "nothing waited before"
    clock.tick(100)
    timed.clear()
    assert raised_alerts(timed) == []
    lease = take("ann")
    clock.tick(10)
    timed.clear()
    timed.finish(lease, {})
    clock.tick(1)
    timed.clear()
    clock.tick(100)
    timed.clear()
    assert raised_alerts(timed) == [], "since ann finished hers, 100 seconds are over, and no more"
    clock.tick(0.5)
    timed.clear()
    assert alert_events(timed) == [("alert.raised", "idle", 100, 101)]
    lease = take("ann")
    timed.clear()
    assert alert_events(timed)[1:] == [("alert.resolved", "idle", 100, 0)]


def test_a_lease_between_two_looks_ends_the_idle_time(timed: leaseq.Queue, take: Take, clock: Clock) -> None:
    timed.configure(alerts=("idle>100",))
    fill(timed, 10)
    for _ in range(5):
        timed.clear()
        clock.tick(50)
        timed.finish(take("ann"), {})
        clock.tick(50)
    timed.clear()
    assert alert_events(timed) == []


def test_a_pause_is_not_idle(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(alerts=("idle>100",))
    fill(timed, 1)
    timed.clear()
    timed.pause("lunch")
    clock.tick(200)
    timed.clear()
    assert raised_alerts(timed) == []
    timed.resume()
    clock.tick(200)
    timed.clear()
    assert raised_alerts(timed) == [], "from the first look on"
    clock.tick(101)
    timed.clear()
    assert raised_alerts(timed) == ["idle>100"]


def test_idle_time_is_forgotten_with_its_rule(timed: leaseq.Queue, server: Server, clock: Clock) -> None:
    timed.configure(alerts=("idle>100",))
    fill(timed, 1)
    timed.clear()
    ledger = Keys(timed.name).ledger
    assert server.redis.hexists(ledger, "idle")
    timed.configure(alerts=("waiting>100",))
    timed.clear()
    assert not server.redis.hexists(ledger, "idle")
    clock.tick(200)
    timed.configure(alerts=("idle>100",))
    timed.clear()
    assert raised_alerts(timed) == []


@pytest.mark.parametrize("name", ["bridge", "webhooks"])
def test_a_consumer_of_the_journal_that_is_behind(
    timed: leaseq.Queue, server: Server, clock: Clock, name: str
) -> None:
    journal = Keys(timed.name).journal
    timed.configure(alerts=(f"{name}>60",))
    fill(timed, 1)
    server.redis.xgroup_create(journal, "another", 0)
    clock.tick(1_000)
    timed.clear()
    assert alert_events(timed) == [], "there is no such group"
    server.redis.xgroup_create(journal, name, "$")
    clock.tick(1_000)
    timed.clear()
    assert alert_events(timed) == [], "it has read all"
    fill(timed, 1)
    clock.tick(59)
    fill(timed, 1)
    clock.tick(2.5)
    timed.clear()
    assert alert_events(timed) == [("alert.raised", name, 60, 62)], "since the first that it has not read"
    server.redis.xgroup_setid(journal, name, timed.journal(limit=1_000)[-1].cursor.partition(".")[0])
    timed.clear()
    assert alert_events(timed)[1:] == [("alert.resolved", name, 60, 0)]


def test_what_a_consumer_has_read_and_not_acknowledged_is_behind_too(
    timed: leaseq.Queue, server: Server, clock: Clock
) -> None:
    journal = Keys(timed.name).journal
    timed.configure(alerts=("bridge>60",))
    server.redis.xgroup_create(journal, "bridge", 0)
    (_, entries), *_ = server.redis.xreadgroup("bridge", "one", {journal: ">"})
    clock.tick(61)
    timed.clear()
    assert raised_alerts(timed) == ["bridge>60"]
    server.redis.xack(journal, "bridge", *(entry for entry, _ in entries))
    clock.tick(1)
    timed.clear()
    assert raised_alerts(timed) == []

"""Alerts: clear raises each once when its measure exceeds the limit, and resolves it below 80 % of that."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import leaseq
from leaseq import Alert
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.alerts import alert_events, fill, raised_alerts, remove
from tests.support.refused import raises

Take = Callable[[str], leaseq.Lease]


def test_alert_is_raised_once_and_resolved_once(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(alerts=("waiting>10",))
    fill(timed_queue, 10)
    timed_queue.clear()
    assert (alert_events(timed_queue), timed_queue.alerts()) == ([], ()), "at the limit is not above it"
    fill(timed_queue, 2)
    clock.tick(60)
    timed_queue.clear()
    now = codec.to_datetime(clock.now)
    assert timed_queue.alerts() == timed_queue.stats().alerts == (Alert("waiting", 10, 12, now),)
    fill(timed_queue, 5)
    for _ in range(3):
        clock.tick(1)
        timed_queue.clear()
    assert timed_queue.alerts() == (Alert("waiting", 10, 12, now),), "it keeps its first time and value"
    remove(timed_queue, 9)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["waiting>10"], "8 of 10 are not below 80 %"
    remove(timed_queue, 1)
    timed_queue.clear()
    timed_queue.clear()
    assert timed_queue.alerts() == ()
    assert alert_events(timed_queue) == [
        ("alert.raised", "waiting", 10, 12),
        ("alert.resolved", "waiting", 10, 7),
    ]


def test_a_measure_around_its_limit_raises_no_second_alert(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(alerts=("waiting>10",))
    fill(timed_queue, 11)
    for _ in range(5):
        timed_queue.clear()
        remove(timed_queue, 2)
        timed_queue.clear()
        fill(timed_queue, 2)
    assert alert_events(timed_queue) == [("alert.raised", "waiting", 10, 11)]


def test_a_rule_that_is_removed_resolves_its_alert(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.configure(alerts=("waiting>1", "oldest>1000"))
    fill(timed_queue, 3)
    timed_queue.clear()
    timed_queue.configure(alerts=())
    assert raised_alerts(timed_queue) == ["waiting>1"], "until the next check"
    timed_queue.clear()
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    assert alert_events(timed_queue) == [
        ("alert.raised", "waiting", 1, 3),
        ("alert.resolved", "waiting", 1, 3),
    ]
    assert not server.redis.hexists(Keys(timed_queue.name).ledger, "raised"), (
        "so that clear need not check again"
    )


def test_rule_with_changed_limit_raises_separate_alert(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(alerts=("waiting>1",))
    fill(timed_queue, 5)
    timed_queue.clear()
    timed_queue.configure(alerts=("waiting>4",))
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["waiting>4"]
    timed_queue.configure(alerts=("waiting>5",))
    timed_queue.clear()
    assert raised_alerts(timed_queue) == []
    assert alert_events(timed_queue) == [
        ("alert.raised", "waiting", 1, 5),
        ("alert.raised", "waiting", 4, 5),
        ("alert.resolved", "waiting", 1, 5),
        ("alert.resolved", "waiting", 4, 5),
    ]


def test_alerts_raised_in_same_check_have_same_time(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(alerts=("oldest>10", "waiting>1"))
    assert timed_queue.policy.alerts == ("waiting>1", "oldest>10")
    fill(timed_queue, 2)
    clock.tick(11)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["waiting>1", "oldest>10"]
    assert len({alert.since for alert in timed_queue.alerts()}) == 1
    events = [event for event in timed_queue.journal() if event.what == "alert.raised"]
    assert {event.at for event in events} == {alert.since for alert in timed_queue.alerts()}
    assert (events[0].id, events[0].person, events[0].token) == (None, None, None)


def test_several_clear_jobs_raise_alert_once(queue: leaseq.Queue, server: Server) -> None:
    queue.configure(alerts=("waiting>1",))
    fill(queue, 2)
    jobs = [leaseq.Queue(leaseq.connect(server.url), queue.name) for _ in range(4)]
    for _ in range(2):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(leaseq.Queue.clear, jobs * 5))
    queue.configure(alerts=())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(leaseq.Queue.clear, jobs * 5))
    assert [kind for kind, *_ in alert_events(queue)] == ["alert.raised", "alert.resolved"]


def test_a_raised_alert_of_a_newer_version_is_left_alone(timed_queue: leaseq.Queue, server: Server) -> None:
    """An older clear job that runs next to a newer one does not resolve an alert that it can't measure."""
    timed_queue.configure(alerts=("waiting>1",))
    ledger = Keys(timed_queue.name).ledger
    server.redis.hset(
        ledger,
        mapping={
            "alerts": '["waiting>1", "tomorrow>5", "later>5"]',
            "raised": "tomorrow>5 1800000000000000 7\n",
        },
    )
    fill(timed_queue, 2)
    timed_queue.clear()
    assert raised_alerts(timed_queue) == ["waiting>1", "tomorrow>5"]
    assert alert_events(timed_queue) == [("alert.raised", "waiting", 1, 2)]
    with raises(leaseq.QueueUnreadable, "newer", what="value", name="alerts"):
        _ = timed_queue.policy
    server.redis.delete(ledger)  # other tests read all queues


def test_alert_is_raised_by_clear_that_returns_items(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(alerts=("waiting>1",), lease_seconds=10)
    fill(timed_queue, 2)
    take("ann")
    clock.tick(11)
    assert timed_queue.clear().returned == 1
    assert raised_alerts(timed_queue) == ["waiting>1"]


def test_alert_time_is_server_time(queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1",))
    fill(queue, 2)
    queue.clear()
    (alert,) = queue.alerts()
    enqueued = queue.items("inbound")[0].enqueued_at
    assert timedelta(0) <= alert.since - enqueued < timedelta(minutes=10)

"""Alerts: clear raises each once where its measure is above the limit, and resolves it below 80 % of that."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import leaseq
from leaseq import Alert
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.clear.alerting import alert_events, fill, raised_alerts, remove

Take = Callable[[str], leaseq.Lease]


def test_it_is_raised_once_and_resolved_once(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(alerts=("waiting>10",))
    fill(timed, 10)
    timed.clear()
    assert (alert_events(timed), timed.alerts()) == ([], ()), "at the limit it is not above it"
    fill(timed, 2)
    clock.tick(60)
    timed.clear()
    now = codec.to_datetime(clock.now)
    assert timed.alerts() == timed.stats().alerts == (Alert("waiting", 10, 12, now),)
    fill(timed, 5)
    for _ in range(3):
        clock.tick(1)
        timed.clear()
    assert timed.alerts() == (Alert("waiting", 10, 12, now),), "since when, and with which value, stays"
    remove(timed, 9)
    timed.clear()
    assert raised_alerts(timed) == ["waiting>10"], "8 of 10 are not below 80 %"
    remove(timed, 1)
    timed.clear()
    timed.clear()
    assert timed.alerts() == ()
    assert alert_events(timed) == [("alert.raised", "waiting", 10, 12), ("alert.resolved", "waiting", 10, 7)]


def test_a_measure_around_its_limit_raises_no_second_alert(timed: leaseq.Queue) -> None:
    timed.configure(alerts=("waiting>10",))
    fill(timed, 11)
    for _ in range(5):
        timed.clear()
        remove(timed, 2)
        timed.clear()
        fill(timed, 2)
    assert alert_events(timed) == [("alert.raised", "waiting", 10, 11)]


def test_a_rule_that_is_removed_resolves_its_alert(timed: leaseq.Queue, server: Server) -> None:
    timed.configure(alerts=("waiting>1", "oldest>1000"))
    fill(timed, 3)
    timed.clear()
    timed.configure(alerts=())
    assert raised_alerts(timed) == ["waiting>1"], "until the next look"
    timed.clear()
    timed.clear()
    assert raised_alerts(timed) == []
    assert alert_events(timed) == [("alert.raised", "waiting", 1, 3), ("alert.resolved", "waiting", 1, 3)]
    assert not server.redis.hexists(Keys(timed.name).ledger, "raised"), "so that clear need not look again"


def test_a_rule_with_another_limit_is_another_rule(timed: leaseq.Queue) -> None:
    timed.configure(alerts=("waiting>1",))
    fill(timed, 5)
    timed.clear()
    timed.configure(alerts=("waiting>4",))
    timed.clear()
    assert raised_alerts(timed) == ["waiting>4"]
    timed.configure(alerts=("waiting>5",))
    timed.clear()
    assert raised_alerts(timed) == []
    assert alert_events(timed) == [
        ("alert.raised", "waiting", 1, 5),
        ("alert.raised", "waiting", 4, 5),
        ("alert.resolved", "waiting", 1, 5),
        ("alert.resolved", "waiting", 4, 5),
    ]


def test_several_at_one_look_have_one_time(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(alerts=("oldest>10", "waiting>1"))
    assert timed.policy.alerts == ("waiting>1", "oldest>10")
    fill(timed, 2)
    clock.tick(11)
    timed.clear()
    assert raised_alerts(timed) == ["waiting>1", "oldest>10"]
    assert len({alert.since for alert in timed.alerts()}) == 1
    events = [event for event in timed.journal() if event.what == "alert.raised"]
    assert {event.at for event in events} == {alert.since for alert in timed.alerts()}
    assert (events[0].id, events[0].person, events[0].token) == (None, None, None)


def test_several_clear_jobs_raise_it_once(queue: leaseq.Queue, server: Server) -> None:
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


def test_a_raised_alert_of_a_newer_version_is_left_alone(timed: leaseq.Queue, server: Server) -> None:
    """A clear job of an older version beside one of a newer does not resolve what it can't measure."""
    timed.configure(alerts=("waiting>1",))
    ledger = Keys(timed.name).ledger
    server.redis.hset(
        ledger,
        mapping={
            "alerts": '["waiting>1", "tomorrow>5", "later>5"]',
            "raised": "tomorrow>5 1800000000000000 7\n",
        },
    )
    fill(timed, 2)
    timed.clear()
    assert raised_alerts(timed) == ["waiting>1", "tomorrow>5"]
    assert alert_events(timed) == [("alert.raised", "waiting", 1, 2)]
    with pytest.raises(leaseq.QueueUnreadable, match=r"another value of 'alerts'.*newer version"):
        _ = timed.policy
    server.redis.delete(ledger)  # other tests walk over all queues


def test_an_alert_is_raised_by_a_clear_that_moves_items_as_well(
    timed: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed.configure(alerts=("waiting>1",), lease_seconds=10)
    fill(timed, 2)
    take("ann")
    clock.tick(11)
    assert timed.clear().returned == 1
    assert raised_alerts(timed) == ["waiting>1"]


def test_the_time_of_an_alert_is_the_servers(queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>1",))
    fill(queue, 2)
    queue.clear()
    (alert,) = queue.alerts()
    enqueued = queue.items("inbound")[0].enqueued_at
    assert timedelta(0) <= alert.since - enqueued < timedelta(minutes=10)

"""Rates of a dashboard: events per minute, handling times and their sparklines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.webapp.realtime.rates import LARGEST_CALL, Pace, RateCounter, per_minute, spark
from leaseq.webapp.realtime.snapshot import _flow, _rounded
from tests.support.leases import take

NOW = datetime(2026, 11, 21, 10, 5, 30, tzinfo=UTC)


def make_event(kind: leaseq.EventKind, minutes: float, token: int | None = None) -> leaseq.Event:
    """An event this many minutes ago."""
    return leaseq.Event("1.0", NOW - timedelta(minutes=minutes), kind, "one", "ann", token, None)


def test_events_of_last_hour_are_counted_per_minute() -> None:
    counter = RateCounter(NOW - timedelta(hours=1))
    for event in (
        make_event("enqueued", 59),
        make_event("enqueued", 2),
        make_event("enqueued", 2),
        make_event("reserved", 3, 1),
        make_event("finished", 2, 1),
        make_event("undone", 2, 1),
        make_event("reserved", 1.5, 2),
        make_event("finished", 1, 2),
    ):
        counter.add(event)
    added_counts, done_counts = counter.enqueued_per_minute(NOW), counter.finished_per_minute(NOW)
    assert (added_counts[0], added_counts[-3], sum(count or 0 for count in added_counts)) == (1, 2, 3)
    assert (done_counts[-3], done_counts[-2], done_counts[-1]) == (0, 1, 0)
    assert per_minute(added_counts) == 2 / 5
    later = NOW + timedelta(minutes=57)
    counter.forget(later)
    assert sum(count or 0 for count in counter.enqueued_per_minute(later)) == 2


def test_minute_with_more_undone_than_finished_counts_zero() -> None:
    counter = RateCounter(NOW - timedelta(hours=1))
    for event in (make_event("finished", 3, 1), make_event("undone", 2, 1)):
        counter.add(event)
    assert counter.finished_per_minute(NOW)[-4:] == [1, 0, 0, 0]


def test_give_back_that_was_taken_back_takes_no_finished_item_away(queue: leaseq.Queue) -> None:
    queue.configure(retry_seconds=0)
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "ab")
    queue.finish(take(queue, "ann"), {})
    lease = take(queue, "ann")
    queue.abandon(lease)
    lease = queue.take_back(lease)
    queue.fail(lease, "torn")
    queue.take_back(lease)
    counter, now = RateCounter(NOW), datetime.now(UTC)
    for event in queue.journal():
        counter.add(event)
    assert sum(count or 0 for count in counter.finished_per_minute(now)) == 1


def test_pace_is_of_the_last_15_minutes_without_imports() -> None:
    counter = RateCounter(NOW - timedelta(hours=1))

    def arrive(minutes: float, count: int = 1) -> None:
        at = NOW - timedelta(minutes=minutes)
        for number in range(count):
            cursor = f"{round(at.timestamp() * 1e6)}.{number}"
            counter.add(leaseq.Event(cursor, at, "enqueued", str(number), None, None, None))

    arrive(30, 3)
    counter.add(make_event("finished", 20, 1))
    arrive(9, LARGEST_CALL + 1)
    arrive(8, LARGEST_CALL)
    arrive(7)
    counter.add(make_event("finished", 6, 2))
    arrive(0.1)  # the current minute is not over
    assert counter.pace(NOW) == Pace(15, LARGEST_CALL + 1, 1)
    assert sum(count or 0 for count in counter.enqueued_per_minute(NOW)) == 3 + 2 * LARGEST_CALL + 3


@pytest.mark.parametrize(
    ("since", "first", "minutes"),
    [(60, 60, 15), (8, 8, 8), (60, 7, 7), (60, 4, None), (4, 4, None), (60, 0, None)],
)
def test_pace_is_unknown_without_five_minutes_of_events(since: int, first: int, minutes: int | None) -> None:
    counter = RateCounter(NOW - timedelta(minutes=since))
    counter.add(make_event("finished", first, 1))
    pace = counter.pace(NOW)
    assert (pace and pace.minutes) == minutes


def test_minutes_before_start_are_unknown_not_zero() -> None:
    counter = RateCounter(NOW - timedelta(minutes=10))
    added_counts = counter.enqueued_per_minute(NOW)
    assert added_counts[:49] == [None] * 49
    assert added_counts[49:] == [0] * 11
    assert per_minute([None] * 60) is None


def test_rate_is_none_only_if_no_minute_is_known() -> None:
    assert _flow([None] * 60)["a_minute"] is None
    assert _flow([None] * 59 + [12])["a_minute"] == 12


def test_handling_times_include_only_leases_with_known_start() -> None:
    counter = RateCounter(NOW - timedelta(hours=1))
    counter.add(make_event("finished", 9, 99))
    assert counter.handling() is None
    for token in range(100):
        counter.add(make_event("reserved", 8, token))
        counter.add(make_event("finished", 8 - (token + 1) / 60, token))
    for token in (200, 201):
        counter.add(make_event("reserved", 8, token))
        counter.add(make_event("expired", 7, token))
    handling = counter.handling()
    assert handling
    assert (round(handling.median), round(handling.p95), handling.count) == (51, 96, 100)


def test_sparkline_draws_bar_for_each_nonzero_value() -> None:
    assert spark([None, 0, 1, 100]) == "M2 20v-1h.8V20zM3 20v-20h.8V20z"
    assert spark([]) == ""


@pytest.mark.parametrize(("number", "expected"), [(0.04, 0.0), (9.94, 9.9), (10, 10), (10.4, 10), (12.4, 12)])
def test_small_rates_are_rounded_to_a_tenth(number: float, expected: float) -> None:
    assert _rounded(number) == expected

"""The charts of a queue's page, from samples of its counts."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask

import leaseq
from leaseq.webapp.manage.charts import buckets_of, forecast_of
from leaseq.webapp.realtime.rates import Pace, RateCounter
from leaseq.webapp.settings import Settings
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.samples import PLACES, Sample, Sampler, Samples
from tests.support.leases import not_none
from tests.web.conftest import SECRET, Browser

ROW = re.compile(r'<tr data-row="\d+"><th scope="row">([^<]*)</th>' + r"<td[^>]*>([^<]*)</td>" * 3)
HOUR = 3_600.0


@dataclass
class Clock:
    """A clock that only the test moves."""

    now: float

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock(1_800_000_000.0)  # 08:00 UTC on 15 January 2027


@pytest.fixture
def samples(server: Any, queue: leaseq.Queue, clock: Clock) -> Samples:
    queue.configure()
    return Samples(server.client, clock=clock)


def record(samples: Samples, queue: leaseq.Queue) -> None:
    samples.record({queue.name: queue.stats()})


def rows(browser: Browser, queue: leaseq.Queue, range: str) -> list[tuple[str, str, str, str]]:
    """The rows of the charts' table: the time, items in, done and waiting."""
    response = browser.get(f"/manage/{queue.name}/charts?range={range}")
    assert response.status_code == 200, response.text
    return ROW.findall(response.text)


def test_last_sample_of_minute_and_hour_is_kept(samples: Samples, queue: leaseq.Queue, clock: Clock) -> None:
    for _each in range(3):
        queue.enqueue({})
        record(samples, queue)
        clock.advance(20)
    queue.finish(not_none(queue.reserve("ann")), {})
    record(samples, queue)
    minute, hour = int(clock() // 60), int(clock() // 3_600)
    assert samples.get(queue.name, "minute") == {minute - 1: Sample(3, 0, 3), minute: Sample(3, 1, 2)}
    assert samples.get(queue.name, "hour") == {hour: Sample(3, 1, 2)}


def test_minute_samples_last_one_day_and_hour_samples_thirty_days(
    samples: Samples, queue: leaseq.Queue, clock: Clock
) -> None:
    record(samples, queue)
    first = int(clock() // 60)
    clock.advance(PLACES["minute"] * 60)
    assert samples.get(queue.name, "minute") == {}, "too old, although its slot has no newer sample yet"
    record(samples, queue)
    assert list(samples.get(queue.name, "minute")) == [first + PLACES["minute"]]
    assert len(samples.get(queue.name, "hour")) == 2
    clock.advance(32 * 24 * HOUR)
    assert samples.get(queue.name, "hour") == {}


def test_only_one_process_samples_each_minute(
    server: Any, queue: leaseq.Queue, samples: Samples, clock: Clock
) -> None:
    queue.enqueue({})
    first_sampler, second_sampler = (
        Sampler(server.client, samples, Accounts(server.client), QueueAccess(server.client)) for _ in range(2)
    )
    first_sampler.sample()
    queue.enqueue({})
    second_sampler.sample()
    minute = int(clock() // 60)
    assert samples.get(queue.name, "minute") == {minute: Sample(1, 0, 1)}
    clock.advance(60)
    second_sampler.sample()
    assert samples.get(queue.name, "minute")[minute + 1] == Sample(2, 0, 2)


def test_time_axis_has_few_round_marks(manager_browser: Browser, queue: leaseq.Queue, server: Any) -> None:
    queue.configure()
    record(Samples(server.client), queue)
    _, *drawings = manager_browser.get(f"/manage/{queue.name}/charts?range=1h").text.split(
        '<svg class="chart"'
    )
    assert len(drawings) == 2
    for drawing in drawings:
        marks = re.findall(r'<text class="x[ "][^>]*>([^<]*)<', drawing)
        assert 4 <= len(marks) <= 8
        assert all(mark.endswith("0") for mark in marks), "at multiples of ten minutes"


def test_charts_without_samples_show_message(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    assert (
        "There are no figures for this time yet"
        in manager_browser.get(f"/manage/{queue.name}/charts?range=30d").text
    )


@pytest.mark.parametrize(("range", "each", "count"), [("1d", 900, 96), ("7d", 3 * HOUR, 56)])
def test_table_shows_items_added_and_finished_between_samples(
    manager_browser: Browser, server: Any, queue: leaseq.Queue, range: str, each: float, count: int
) -> None:
    queue.configure()
    now = time.time() // each * each + 1  # the start of the current part
    samples = Samples(server.client, clock=Clock(now - 2 * each))
    queue.enqueue({})
    record(samples, queue)
    queue.enqueue_many(leaseq.NewItem({}) for _ in "abc")
    queue.finish(not_none(queue.reserve("ann")), {})
    record(Samples(server.client, clock=Clock(now - each)), queue)
    queue.finish(not_none(queue.reserve("ann")), {})
    record(Samples(server.client, clock=Clock(now)), queue)
    table_rows = rows(manager_browser, queue, range)
    assert len(table_rows) == count
    assert [one[1:] for one in table_rows[-4:]] == [
        ("–", "–", "–"),
        ("–", "–", "1"),
        ("3", "1", "3"),
        ("0", "1", "2"),
    ]


def test_decreasing_counters_count_as_zero(
    manager_browser: Browser, server: Any, queue: leaseq.Queue
) -> None:
    """An undone answer is subtracted, and a queue restored from a backup has lower counts."""
    queue.configure()
    now, before = time.time() // 900 * 900 + 1, queue.stats()
    queue.enqueue({})
    lease = not_none(queue.reserve("ann"))
    queue.finish(lease, {})
    record(Samples(server.client, clock=Clock(now - 1_800)), queue)
    queue.undo_finish(lease)
    record(Samples(server.client, clock=Clock(now - 900)), queue)
    Samples(server.client, clock=Clock(now)).record({queue.name: before})
    assert [one[1:] for one in rows(manager_browser, queue, "1d")[-2:]] == [("0", "0", "0"), ("0", "0", "0")]


@pytest.mark.parametrize(
    ("zone", "labels", "added"),
    [
        ("UTC", ["22 Nov", "23 Nov"], [None, 3]),
        ("Europe/Berlin", ["23 Nov", "24 Nov"], [1, 2]),
    ],
)
def test_days_begin_at_midnight_in_site_zone(
    app: Flask, server: Any, queue: leaseq.Queue, zone: str, labels: list[str], added: list[int | None]
) -> None:
    """23:30 UTC is half past midnight in Berlin."""
    queue.configure()
    now = datetime(2036, 11, 23, 23, 30, tzinfo=ZoneInfo("UTC")).astimezone(ZoneInfo(zone))
    for hours, count in ((26, 1), (10, 1), (0, 2)):
        queue.enqueue_many(leaseq.NewItem({}) for _ in range(count))
        record(Samples(server.client, clock=Clock((now - timedelta(hours=hours)).timestamp())), queue)
    with app.test_request_context():
        buckets = buckets_of(queue, "30d", now, RateCounter(now))
    assert len(buckets) == 30
    assert [one.label for one in buckets[-2:]] == labels
    assert [one.added for one in buckets[-2:]] == added


@pytest.mark.parametrize(
    ("waiting", "pace", "message"),
    [
        (130, Pace(15, 0, 15), "Empty in about 2 h 10 min at this pace"),
        (95, Pace(10, 10, 20), "Empty in about 1 h 35 min at this pace"),
        (1, Pace(15, 0, 135), "Empty in about 1 min at this pace"),
        (5, Pace(15, 90, 15), "Growing by 5 a minute"),
        (5, Pace(15, 1, 0), "Growing by 0.1 a minute"),
        (5, Pace(15, 15, 15), "Not getting shorter"),
        (5_000_000, Pace(15, 0, 15), "Not getting shorter"),
        (300, Pace(15, 0, 0), "No forecast: nothing finished in the last 15 min"),
        (5, None, "No forecast yet"),
        (0, Pace(15, 0, 15), ""),
    ],
)
def test_forecast_describes_time_until_empty_or_growth(
    app: Flask, waiting: int, pace: Pace | None, message: str
) -> None:
    with app.test_request_context():
        assert forecast_of(waiting, pace) == message


@pytest.mark.parametrize("range", ["2h", "1D", "1h ", "x" * 999])
def test_invalid_range_is_refused(manager_browser: Browser, queue: leaseq.Queue, range: str) -> None:
    queue.configure()
    response = manager_browser.get(f"/manage/{queue.name}/charts", query_string={"range": range})
    assert response.status_code == 400
    assert "range" in response.text


def test_page_uses_range_from_url(manager_browser: Browser, queue: leaseq.Queue) -> None:
    queue.configure()
    page = manager_browser.get(f"/manage/{queue.name}?range=7d").text
    assert f'data-load="/manage/{queue.name}/charts?range=7d"' in page
    assert re.search(r'<a href="[^"]*range=7d" aria-current="true">7 days</a>', page)


def test_unknown_time_zone_setting_is_refused() -> None:
    assert Settings(secret_key=SECRET, time_zone="Europe/Berlin").zone == ZoneInfo("Europe/Berlin")
    for wrong in ("Middle/Earth", "", "../etc/passwd", "UTC\0", "europe"):
        with pytest.raises(
            ValueError, match=r"is not a time zone that this machine knows, like Europe/Berlin"
        ):
            Settings(secret_key=SECRET, time_zone=wrong)

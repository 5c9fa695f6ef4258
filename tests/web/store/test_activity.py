"""The daily figures of each person."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.activity import KEPT_DAYS, Activity, DayFigures, How
from tests.web.conftest import Browser, Caller

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class AdjustableClock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def adjustable_clock() -> AdjustableClock:
    return AdjustableClock()


@pytest.fixture
def activity(server: Any, adjustable_clock: AdjustableClock) -> Activity:
    return Activity(server.client, clock=adjustable_clock)


def test_figures_are_summed_by_queue(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=30_000, held_ms=60_000)
    activity.record(ann, "reviews", "finished", id="b", token=2, active_ms=50_000, held_ms=60_000)
    activity.record(ann, "reviews", "abandoned", id="c", token=3, active_ms=5_000, held_ms=9_000)
    activity.record(ann, "letters", "failed", id="a", token=1)

    today = activity.today(ann, "reviews")
    assert (today.finished, today.abandoned, today.failed) == (2, 1, 0)
    assert today.active_seconds == 85
    assert today.held_seconds == 129
    assert today.seconds_each == 40, "items given back don't count in a finished item's time"
    assert activity.today(ann, "letters").failed == 1
    assert activity.today(ann, "letters").seconds_each is None
    total = today + activity.today(ann, "letters")
    assert (total.finished, total.failed) == (2, 1)


def test_untimed_items_do_not_lower_average_time(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=40_000, held_ms=60_000)
    activity.record(ann, "reviews", "finished", id="b", token=2, held_ms=10_000)
    today = activity.today(ann, "reviews")
    assert (today.finished, today.held_seconds, today.seconds_each) == (2, 70, 40)
    activity.record(ann, "letters", "finished", id="b", token=2, held_ms=10_000)
    assert activity.today(ann, "letters").seconds_each is None


def test_last_days_are_listed_latest_first_with_empty_days(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1)
    adjustable_clock.now += timedelta(days=2)
    activity.record(ann, "reviews", "finished", id="b", token=2)
    activity.record(ann, "letters", "finished", id="b", token=2)

    last_days = activity.of_person(ann, days=3)
    assert list(last_days) == [date(2026, 11, 23), date(2026, 11, 22), date(2026, 11, 21)]
    assert [sum(figures.finished for figures in by_queue.values()) for by_queue in last_days.values()] == [
        2,
        0,
        1,
    ]
    assert list(last_days[date(2026, 11, 23)]) == ["letters", "reviews"]


def test_repeated_record_counts_once(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    for _ in range(3):
        activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=1_000, held_ms=2_000)
    today = activity.today(ann, "reviews")
    assert (today.finished, today.active_ms, today.held_ms) == (1, 1_000, 2_000)
    activity.record(ann, "letters", "finished", id="a", token=1)
    assert activity.today(ann, "letters").finished == 1, "tokens are per queue"


def test_undo_subtracts_finish_once_on_its_day(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    adjustable_clock.now = NOON.replace(hour=23, minute=59, second=55)
    activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=1_000)
    activity.record(ann, "reviews", "finished", id="b", token=2)
    adjustable_clock.now += timedelta(seconds=10)
    for _ in range(2):
        activity.subtract(ann, "reviews", id="b", token=2)
    activity.subtract(ann, "reviews", id="never", token=9)

    assert [
        sum(figures.finished for figures in by_queue.values())
        for by_queue in activity.of_person(ann, 2).values()
    ] == [0, 1]
    assert [item.id for item in activity.recent(ann)] == ["a"]


def test_recent_items_are_listed_latest_first(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    outcomes: list[tuple[How, str]] = [("finished", "a"), ("failed", "b c"), ("finished", "d")]
    for token, (how, id) in enumerate(outcomes, 1):
        activity.record(ann, "reviews", how, id=id, token=token)
        adjustable_clock.now += timedelta(seconds=1)
    items = activity.recent(ann, limit=2)
    assert [(item.queue, item.id, item.token) for item in items] == [
        ("reviews", "d", 3),
        ("reviews", "b c", 2),
    ]
    assert items[0].at == NOON + timedelta(seconds=2)


def test_recent_items_are_listed_for_a_day(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    for id in "ab":
        activity.record(ann, "reviews", "finished", id=id, token=ord(id))
        adjustable_clock.now += timedelta(hours=20)
    assert [item.id for item in activity.recent(ann)] == ["b"]


def test_recent_items_are_limited_to_latest(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.store.activity.RECENT", 3)
    ann = f"ann {queue_name}"
    for token, id in enumerate("abcde", 1):
        activity.record(ann, "reviews", "finished", id=id, token=token)
        adjustable_clock.now += timedelta(seconds=1)
    assert [item.id for item in activity.recent(ann)] == ["e", "d", "c"]
    assert activity.today(ann, "reviews").finished == 5


def test_record_returns_added_figures(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "abandoned", id="a", token=1)
    before = activity.today(ann, "reviews")
    added_figures = activity.record(ann, "reviews", "finished", id="b", token=2, held_ms=2_000)
    assert added_figures == DayFigures(finished=1, held_ms=2_000, untimed=1)
    assert activity.today(ann, "reviews") == before + added_figures


def test_figures_from_reply_include_unwritten_records(
    activity: Activity, queue_name: str, server: Any
) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, held_ms=1_000)
    activity.flush()
    (reply,) = server.client.ask(activity.today_command(ann, "reviews"))
    for _ in range(2):  # sent twice
        activity.record(ann, "reviews", "finished", id="b", token=2, held_ms=2_000)
    activity.record(ann, "letters", "finished", id="b", token=2)
    activity.record("bob", "reviews", "finished", id="c", token=3)
    figures = activity.today_from(reply, ann, "reviews")
    assert figures == DayFigures(finished=2, held_ms=3_000, untimed=2) == activity.today(ann, "reviews")


def test_figures_of_all_people_list_people_with_work(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str
) -> None:
    adjustable_clock.now = NOON + timedelta(days=sum(map(ord, queue_name)))  # a day that only this test uses
    ann, bob = f"ann {queue_name}", f"bob {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1)
    activity.record(bob, "reviews", "abandoned", id="a", token=2)
    by_person = activity.of_all_people()
    assert list(by_person) == [ann, bob]
    assert by_person[ann]["reviews"].finished == 1
    assert by_person[bob]["reviews"].abandoned == 1
    adjustable_clock.now -= timedelta(days=1)
    assert activity.of_all_people() == {}


def test_active_time_is_limited_to_held_time(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=99_000, held_ms=10_000)
    activity.record(ann, "reviews", "finished", id="b", token=2, active_ms=-5, held_ms=10_000)
    assert activity.today(ann, "reviews").active_ms == 10_000


def test_negative_held_time_counts_as_zero(activity: Activity, queue_name: str) -> None:
    """The server's clock may be set back."""
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, active_ms=4_000, held_ms=-10_000)
    today = activity.today(ann, "reviews")
    assert (today.finished, today.active_ms, today.held_ms) == (1, 4_000, 0)


def test_day_keys_expire_after_flush(server: Any, activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1)
    activity.flush()
    day_keys = list(server.redis.scan_iter(f"leaseq:{{@accounts}}:*{queue_name}"))
    assert len(day_keys) == 2
    assert all(0 < server.redis.ttl(key) <= KEPT_DAYS * 86_400 for key in day_keys)


def test_record_with_unavailable_server_is_logged_and_does_not_raise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unreachable_activity = Activity(leaseq.connect("redis://127.0.0.1:1/0"))
    unreachable_activity.record("ann", "reviews", "finished", id="a", token=1)
    unreachable_activity.flush()
    assert "the figures of the day are incomplete" in caplog.text
    with pytest.raises(leaseq.ServerUnavailable):
        unreachable_activity.today("ann", "reviews")


def reserve_one(queue: leaseq.Queue, person: str) -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


def test_outcomes_on_pages_are_counted(app: Any, form_queue: leaseq.Queue, worker_browser: Browser) -> None:
    activity: Activity = app.extensions["leaseq"].activity
    first_lease = reserve_one(form_queue, worker_browser.name)
    fields = {
        "answer.about": "refund",
        "answer.urgent": "true",
        "token": first_lease.token,
        "active_ms": "4000",
    }
    for _ in range(2):
        assert (
            worker_browser.post(f"/q/{form_queue.name}/items/{first_lease.id}/finish", fields).status_code
            == 303
        )
    second_lease = reserve_one(form_queue, worker_browser.name)
    worker_browser.post(
        f"/q/{form_queue.name}/items/{second_lease.id}/abandon",
        {"token": second_lease.token, "active_ms": "much"},
    )
    second_lease = reserve_one(form_queue, worker_browser.name)
    worker_browser.post(
        f"/q/{form_queue.name}/items/{second_lease.id}/fail",
        {"token": second_lease.token, "error": "no text"},
    )

    today = activity.today(worker_browser.name, form_queue.name)
    assert (today.finished, today.abandoned, today.failed) == (1, 1, 1)
    assert 0 < today.active_ms == today.held_ms, "nobody is active for longer than they hold the item"


def test_outcomes_over_rest_are_counted(app: Any, form_queue: leaseq.Queue, worker: Caller) -> None:
    first_lease = reserve_one(form_queue, worker.name)
    result = {"about": "refund", "urgent": True}
    path = f"/queues/{form_queue.name}/items"
    for _ in range(2):
        worker("POST", f"{path}/{first_lease.id}/finish", json={"token": first_lease.token, "result": result})
    second_lease = reserve_one(form_queue, worker.name)
    worker("POST", f"{path}/{second_lease.id}/abandon", json={"token": second_lease.token})
    second_lease = reserve_one(form_queue, worker.name)
    worker("POST", f"{path}/{second_lease.id}/fail", json={"token": second_lease.token, "error": "no text"})

    today = app.extensions["leaseq"].activity.today(worker.name, form_queue.name)
    assert (today.finished, today.abandoned, today.failed) == (1, 1, 1)


def test_record_is_visible_to_next_read(activity: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1, held_ms=2_000)
    activity.record(ann, "reviews", "finished", id="a", token=1, held_ms=2_000)  # sent again
    activity.record(ann, "reviews", "abandoned", id="b", token=2)
    activity.record(ann, "letters", "finished", id="a", token=3, held_ms=1_000)
    today = activity.today(ann, "reviews")
    assert (today.finished, today.abandoned, today.held_ms, today.untimed) == (1, 1, 2_000, 1)
    assert activity.of_all_people()[ann]["letters"].finished == 1
    assert {item.id for item in activity.recent(ann)} == {"a", "b"}
    activity.subtract(ann, "reviews", id="a", token=1)
    assert activity.today(ann, "reviews").finished == 0
    activity.record(ann, "reviews", "finished", id="a", token=4)
    activity.subtract(ann, "reviews", id="a", token=4)
    assert activity.today(ann, "reviews").finished == 0, "an undo immediately after it finds it"


def test_keys_of_first_record_of_day_expire(
    activity: Activity, adjustable_clock: AdjustableClock, queue_name: str, server: Any
) -> None:
    ann = f"ann {queue_name}"
    activity.record(ann, "reviews", "finished", id="a", token=1)
    assert activity.today(ann, "reviews").finished == 1
    day = adjustable_clock.now.date().isoformat()
    assert 0 < server.redis.ttl(model.day_key(day, ann)) <= KEPT_DAYS * 86_400
    assert 0 < server.redis.ttl(model.recent_key(ann)) <= 2 * 86_400

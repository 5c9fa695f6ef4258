"""What each person did on each day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.activity import KEPT_DAYS, Activity
from leaseq.webapp.store.day_figures import DayFigures, How
from tests.web.conftest import Browser, Caller

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class AdjustableClock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def time() -> AdjustableClock:
    return AdjustableClock()


@pytest.fixture
def days(server: Any, time: AdjustableClock) -> Activity:
    return Activity(server.client, clock=time)


def test_what_was_done_adds_up_by_queue(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, active_ms=30_000, held_ms=60_000)
    days.record(ann, "reviews", "finished", id="b", token=2, active_ms=50_000, held_ms=60_000)
    days.record(ann, "reviews", "gave_back", id="c", token=3, active_ms=5_000, held_ms=9_000)
    days.record(ann, "letters", "broken", id="a", token=1)

    today = days.today(ann, "reviews")
    assert (today.finished, today.gave_back, today.broken) == (2, 1, 0)
    assert today.active_seconds == 85
    assert today.held_seconds == 129
    assert today.seconds_each == 40, "what was given back is no part of a finished item's time"
    assert days.today(ann, "letters").broken == 1
    assert days.today(ann, "letters").seconds_each is None
    whole = today + days.today(ann, "letters")
    assert (whole.finished, whole.broken) == (2, 1)


def test_what_no_page_measured_makes_the_others_no_shorter(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, active_ms=40_000, held_ms=60_000)
    days.record(ann, "reviews", "finished", id="b", token=2, held_ms=10_000)
    today = days.today(ann, "reviews")
    assert (today.finished, today.held_seconds, today.seconds_each) == (2, 70, 40)
    days.record(ann, "letters", "finished", id="b", token=2, held_ms=10_000)
    assert days.today(ann, "letters").seconds_each is None


def test_the_last_days_come_today_first_with_those_without_work(
    days: Activity, time: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1)
    time.now += timedelta(days=2)
    days.record(ann, "reviews", "finished", id="b", token=2)
    days.record(ann, "letters", "finished", id="b", token=2)

    last = days.of_person(ann, days=3)
    assert list(last) == [date(2026, 11, 23), date(2026, 11, 22), date(2026, 11, 21)]
    assert [sum(one.finished for one in by.values()) for by in last.values()] == [2, 0, 1]
    assert list(last[date(2026, 11, 23)]) == ["letters", "reviews"]


def test_what_is_recorded_again_counts_once(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    for _ in range(3):
        days.record(ann, "reviews", "finished", id="a", token=1, active_ms=1_000, held_ms=2_000)
    today = days.today(ann, "reviews")
    assert (today.finished, today.active_ms, today.held_ms) == (1, 1_000, 2_000)
    days.record(ann, "letters", "finished", id="a", token=1)
    assert days.today(ann, "letters").finished == 1, "tokens are of a queue"


def test_an_undo_takes_its_finish_off_once_on_its_own_day(
    days: Activity, time: AdjustableClock, queue_name: str
) -> None:
    ann = f"ann {queue_name}"
    time.now = NOON.replace(hour=23, minute=59, second=55)
    days.record(ann, "reviews", "finished", id="a", token=1, active_ms=1_000)
    days.record(ann, "reviews", "finished", id="b", token=2)
    time.now += timedelta(seconds=10)
    for _ in range(2):
        days.take_off(ann, "reviews", id="b", token=2)
    days.take_off(ann, "reviews", id="never", token=9)

    assert [sum(one.finished for one in by.values()) for by in days.of_person(ann, 2).values()] == [0, 1]
    assert [done.id for done in days.recent(ann)] == ["a"]


def test_what_was_let_go_comes_latest_first(days: Activity, time: AdjustableClock, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    letting_go: list[tuple[How, str]] = [("finished", "a"), ("broken", "b c"), ("finished", "d")]
    for token, (how, id) in enumerate(letting_go, 1):
        days.record(ann, "reviews", how, id=id, token=token)
        time.now += timedelta(seconds=1)
    latest = days.recent(ann, limit=2)
    assert [(done.queue, done.id, done.token) for done in latest] == [
        ("reviews", "d", 3),
        ("reviews", "b c", 2),
    ]
    assert latest[0].at == NOON + timedelta(seconds=2)


def test_what_was_let_go_is_told_for_a_day(days: Activity, time: AdjustableClock, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    for id in "ab":
        days.record(ann, "reviews", "finished", id=id, token=ord(id))
        time.now += timedelta(hours=20)
    assert [done.id for done in days.recent(ann)] == ["b"]


def test_so_many_of_a_persons_items_are_kept_by_id_the_latest(
    days: Activity, time: AdjustableClock, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.webapp.store.activity.RECENT", 3)
    ann = f"ann {queue_name}"
    for token, id in enumerate("abcde", 1):
        days.record(ann, "reviews", "finished", id=id, token=token)
        time.now += timedelta(seconds=1)
    assert [done.id for done in days.recent(ann)] == ["e", "d", "c"]
    assert days.today(ann, "reviews").finished == 5


def test_counting_gives_what_it_adds(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "gave_back", id="a", token=1)
    before = days.today(ann, "reviews")
    added = days.record(ann, "reviews", "finished", id="b", token=2, held_ms=2_000)
    assert added == DayFigures(finished=1, held_ms=2_000, untimed=1)
    assert days.today(ann, "reviews") == before + added


def test_figures_that_were_read_along_have_what_is_not_written_yet(
    days: Activity, queue_name: str, server: Any
) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, held_ms=1_000)
    days.flush()
    (reply,) = server.client.ask(days.today_command(ann, "reviews"))
    for _ in range(2):  # sent twice
        days.record(ann, "reviews", "finished", id="b", token=2, held_ms=2_000)
    days.record(ann, "letters", "finished", id="b", token=2)
    days.record("bob", "reviews", "finished", id="c", token=3)
    read = days.today_from(reply, ann, "reviews")
    assert read == DayFigures(finished=2, held_ms=3_000, untimed=2) == days.today(ann, "reviews")


def test_of_everybody_knows_who_worked(days: Activity, time: AdjustableClock, queue_name: str) -> None:
    time.now = NOON + timedelta(days=sum(map(ord, queue_name)))  # a day of this test's own
    ann, bob = f"ann {queue_name}", f"bob {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1)
    days.record(bob, "reviews", "gave_back", id="a", token=2)
    by_person = days.of_everybody()
    assert list(by_person) == [ann, bob]
    assert by_person[ann]["reviews"].finished == 1
    assert by_person[bob]["reviews"].gave_back == 1
    time.now -= timedelta(days=1)
    assert days.of_everybody() == {}


def test_a_page_that_is_wrong_about_its_time_is_held_to_the_lease(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, active_ms=99_000, held_ms=10_000)
    days.record(ann, "reviews", "finished", id="b", token=2, active_ms=-5, held_ms=10_000)
    assert days.today(ann, "reviews").active_ms == 10_000


def test_a_lease_that_ended_before_it_began_counts_as_no_time(days: Activity, queue_name: str) -> None:
    """The server's clock may be set back."""
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, active_ms=4_000, held_ms=-10_000)
    today = days.today(ann, "reviews")
    assert (today.finished, today.active_ms, today.held_ms) == (1, 4_000, 0)


def test_days_go_when_they_are_old(server: Any, days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1)
    days.flush()
    kept = list(server.redis.scan_iter(f"leaseq:{{@accounts}}:*{queue_name}"))
    assert len(kept) == 2
    assert all(0 < server.redis.ttl(key) <= KEPT_DAYS * 86_400 for key in kept)


def test_a_server_that_is_away_costs_a_figure_and_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    away = Activity(leaseq.connect("redis://127.0.0.1:1/0"))
    away.record("ann", "reviews", "finished", id="a", token=1)
    away.flush()
    assert "the figures of the day miss something" in caplog.text
    with pytest.raises(leaseq.ServerUnavailable):
        away.today("ann", "reviews")


def lease_of(queue: leaseq.Queue, who: str) -> leaseq.Lease:
    lease = queue.reserve(who)
    assert lease is not None
    return lease


def test_what_is_done_on_the_pages_is_counted(app: Any, asking: leaseq.Queue, person: Browser) -> None:
    days: Activity = app.extensions["leaseq"].activity
    one = lease_of(asking, person.name)
    answer = {"answer.about": "refund", "answer.urgent": "true", "token": one.token, "active_ms": "4000"}
    for _ in range(2):
        assert person.post(f"/q/{asking.name}/items/{one.id}/finish", answer).status_code == 303
    two = lease_of(asking, person.name)
    person.post(f"/q/{asking.name}/items/{two.id}/abandon", {"token": two.token, "active_ms": "much"})
    two = lease_of(asking, person.name)
    person.post(f"/q/{asking.name}/items/{two.id}/fail", {"token": two.token, "error": "no text"})

    today = days.today(person.name, asking.name)
    assert (today.finished, today.gave_back, today.broken) == (1, 1, 1)
    assert 0 < today.active_ms == today.held_ms, "nobody is active for longer than they hold an item"


def test_what_is_done_over_rest_is_counted(app: Any, asking: leaseq.Queue, worker: Caller) -> None:
    one = lease_of(asking, worker.name)
    result = {"about": "refund", "urgent": True}
    path = f"/queues/{asking.name}/items"
    for _ in range(2):
        worker("POST", f"{path}/{one.id}/finish", json={"token": one.token, "result": result})
    two = lease_of(asking, worker.name)
    worker("POST", f"{path}/{two.id}/abandon", json={"token": two.token})
    two = lease_of(asking, worker.name)
    worker("POST", f"{path}/{two.id}/fail", json={"token": two.token, "error": "no text"})

    today = app.extensions["leaseq"].activity.today(worker.name, asking.name)
    assert (today.finished, today.gave_back, today.broken) == (1, 1, 1)


def test_what_is_recorded_counts_for_the_next_read(days: Activity, queue_name: str) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1, held_ms=2_000)
    days.record(ann, "reviews", "finished", id="a", token=1, held_ms=2_000)  # sent again
    days.record(ann, "reviews", "gave_back", id="b", token=2)
    days.record(ann, "letters", "finished", id="a", token=3, held_ms=1_000)
    today = days.today(ann, "reviews")
    assert (today.finished, today.gave_back, today.held_ms, today.untimed) == (1, 1, 2_000, 1)
    assert days.of_everybody()[ann]["letters"].finished == 1
    assert {one.id for one in days.recent(ann)} == {"a", "b"}
    days.take_off(ann, "reviews", id="a", token=1)
    assert days.today(ann, "reviews").finished == 0
    days.record(ann, "reviews", "finished", id="a", token=4)
    days.take_off(ann, "reviews", id="a", token=4)
    assert days.today(ann, "reviews").finished == 0, "an undo right after it finds it"


def test_what_a_person_did_first_on_a_day_expires(
    days: Activity, time: AdjustableClock, queue_name: str, server: Any
) -> None:
    ann = f"ann {queue_name}"
    days.record(ann, "reviews", "finished", id="a", token=1)
    assert days.today(ann, "reviews").finished == 1
    day = time.now.date().isoformat()
    assert 0 < server.redis.ttl(keys.day_of(day, ann)) <= KEPT_DAYS * 86_400
    assert 0 < server.redis.ttl(keys.recent(ann)) <= 2 * 86_400

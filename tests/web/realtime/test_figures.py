"""What the figures of a dashboard are."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.realtime.attention import Attention
from leaseq.webapp.realtime.rates import RateCounter, a_minute
from leaseq.webapp.realtime.snapshot import Snapshot, _flow, _rounded
from leaseq.webapp.realtime.sparkline import spark
from leaseq.webapp.store.threads import Threads
from tests.conftest import Clock
from tests.support.taking import run_out, take
from tests.web.conftest import Browser

NOW = datetime(2026, 11, 21, 10, 5, 30, tzinfo=UTC)


def told(what: leaseq.EventKind, minutes: float, token: int | None = None) -> leaseq.Event:
    """A move so many minutes ago."""
    return leaseq.Event("1.0", NOW - timedelta(minutes=minutes), what, "one", "ann", token, None)


def test_the_hour_is_counted_by_the_minute() -> None:
    tally = RateCounter(NOW - timedelta(hours=1))
    for event in (
        told("enqueued", 59),
        told("enqueued", 2),
        told("enqueued", 2),
        told("reserved", 3, 1),
        told("finished", 2, 1),
        told("undone", 2, 1),
        told("reserved", 1.5, 2),
        told("finished", 1, 2),
    ):
        tally.add(event)
    come, done = tally.come(NOW), tally.done(NOW)
    assert (come[0], come[-3], sum(n or 0 for n in come)) == (1, 2, 3)
    assert (done[-3], done[-2], done[-1]) == (0, 1, 0)
    assert a_minute(come) == 2 / 5
    later = NOW + timedelta(minutes=57)
    tally.forget(later)
    assert sum(n or 0 for n in tally.come(later)) == 2


def test_more_undone_in_a_minute_than_finished_in_it_is_nothing_done() -> None:
    tally = RateCounter(NOW - timedelta(hours=1))
    for event in (told("finished", 3, 1), told("undone", 2, 1)):
        tally.add(event)
    assert tally.done(NOW)[-4:] == [1, 0, 0, 0]


def test_what_is_not_known_is_not_nothing() -> None:
    tally = RateCounter(NOW - timedelta(minutes=10))
    come = tally.come(NOW)
    assert come[:49] == [None] * 49
    assert come[49:] == [0] * 11
    assert a_minute([None] * 60) is None


def test_a_rate_is_none_only_where_no_minute_is_known() -> None:
    assert _flow([None] * 60)["a_minute"] is None
    assert _flow([None] * 59 + [12])["a_minute"] == 12


def test_handling_times_are_of_those_whose_begin_is_known() -> None:
    tally = RateCounter(NOW - timedelta(hours=1))
    tally.add(told("finished", 9, 99))
    assert tally.handling() is None
    for token in range(100):
        tally.add(told("reserved", 8, token))
        tally.add(told("finished", 8 - (token + 1) / 60, token))
    for token in (200, 201):
        tally.add(told("reserved", 8, token))
        tally.add(told("expired", 7, token))
    handling = tally.handling()
    assert handling
    assert (round(handling.median), round(handling.p95), handling.count) == (51, 96, 100)


def test_a_sparkline_has_a_bar_for_what_is_something() -> None:
    assert spark([None, 0, 1, 100]) == "M2 20v-1h.8V20zM3 20v-20h.8V20z"
    assert spark([]) == ""


def test_a_picture_shows_who_holds_what_and_what_is_wrong(queue: leaseq.Queue, threads: Threads) -> None:
    queue.configure(max_attempts=1, lease_seconds=600)
    queue.enqueue_many(leaseq.NewItem({}, id=f"n{n}") for n in range(5))
    queue.enqueue({}, id="old", due=datetime(2020, 1, 1, tzinfo=UTC), priority=200)
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    queue.fail(take(queue, "dan"), "torn")
    held = take(queue, "eva")
    queue.finish(take(queue, "fay"), {})
    seen = Snapshot(queue, threads).figures()
    assert seen["counts"] == {"inbound": 3, "reserved": 1, "scheduled": 0, "finished": 1, "dead": 1}
    assert [(one["id"], one["person"], one["renewals"]) for one in seen["held"]] == [(held.id, "eva", 0)]
    assert seen["dead"] == [{"key": "failed torn", "how": "failed", "error": "torn", "count": 1}]
    assert [one["id"] for one in seen["due"]] == ["old"]
    assert (seen["come"]["sum"], seen["done"]["sum"]) == (6, 1)
    assert seen["handling"]


def test_a_picture_counts_the_leases_that_it_does_not_show(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, threads: Threads
) -> None:
    monkeypatch.setattr("leaseq.webapp.realtime.snapshot.HELD_SHOWN", 2)
    queue.enqueue_many([1, 2, 3, 4, 5])
    for person in ("ann", "bob", "cyd", "dan", "eva"):
        take(queue, person)
    seen = Snapshot(queue, threads).figures()
    assert ([one["person"] for one in seen["held"]], seen["held_more"]) == (["ann", "bob"], 3)


def test_a_picture_shows_the_alerts(queue: leaseq.Queue, clock: Clock, threads: Threads) -> None:
    queue.configure(alerts=("waiting>1", "oldest>9"))
    queue.enqueue_many([1, 2])
    picture = Snapshot(queue, threads, clock=lambda: clock.now / 1e6)
    assert picture.figures()["alerts"] == picture.brief()["alerts"] == []
    queue.clear()
    clock.tick(10)
    (alert,) = queue.alerts()
    shown = [{"key": "waiting>1", "name": "waiting", "limit": 1, "since": rfc3339(alert.since)}]
    assert picture.figures()["alerts"] == picture.brief()["alerts"] == shown


def test_a_picture_follows_what_happens(queue: leaseq.Queue, clock: Clock, threads: Threads) -> None:
    picture = Snapshot(queue, threads, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    first = picture.figures()
    assert (first["unwanted_count"], first["late_count"], first["held"]) == (0, 0, [])
    clock.tick(10)
    assert picture.figures() is first, "nothing has changed"
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    assert picture.figures() is first, "it looked a moment ago"
    clock.tick(10)
    seen = picture.figures()
    assert seen["unwanted"] == [{"key": "one 1", "id": "one", "title": "one", "people": 3}]
    lease = take(queue, "dan")
    clock.tick(10)
    assert [one["person"] for one in picture.figures()["held"]] == ["dan"]
    assert run_out(queue) == 1
    take(queue, "eva")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, {})
    clock.tick(10)
    assert [(one["id"], one["person"]) for one in picture.figures()["late"]] == [("one", "dan")]


def test_a_late_answer_is_news_for_an_hour_and_until_it_is_taken(
    queue: leaseq.Queue, threads: Threads
) -> None:
    queue.configure(holds=9)
    queue.enqueue_many(leaseq.NewItem({"text": f"words of {id}"}, id=id) for id in ("one", "two"))
    tokens = {}
    for person in ("ann", "bob"):
        lease = take(queue, person)
        queue.release("one")
        tokens[person] = lease
    take(queue, "cyd")
    for lease in tokens.values():
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, {})
    trouble = Attention(queue, threads)
    events = queue.journal(limit=1_000)
    for event in events:
        trouble.add(event)
    now = events[-1].at
    assert trouble.figures(queue.stats(), now)["late_count"] == 2
    queue.adopt("one", tokens["ann"].token)
    trouble.add(queue.latest_events(1)[0])
    late = trouble.figures(queue.stats(), now)["late"]
    assert [(one["person"], one["title"]) for one in late] == [("bob", "words of one")]
    assert trouble.figures(queue.stats(), now + timedelta(minutes=59))["late_count"] == 1
    assert trouble.figures(queue.stats(), now + timedelta(minutes=61))["late_count"] == 0


def test_what_people_said_is_there_until_somebody_works_on_it(
    queue: leaseq.Queue, clock: Clock, threads: Threads
) -> None:
    queue.configure(max_attempts=2, retry_seconds=0)
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("one", "two", "three"))
    picture = Snapshot(queue, threads, clock=lambda: clock.now / 1e6)
    assert (picture.figures()["reports"], picture.figures()["report_count"]) == ([], 0)

    def said() -> list[tuple[str, str, str, str, bool]]:
        clock.tick(10)
        seen = picture.figures()
        assert seen["report_count"] == len(seen["reports"])
        return [(one["id"], one["person"], one["how"], one["text"], one["dead"]) for one in seen["reports"]]

    first, second = take(queue, "ann"), take(queue, "bob")
    queue.fail(first, "the photo is missing")
    queue.abandon(second, "ask the shop first")
    note = ("two", "bob", "abandoned", "ask the shop first", False)
    report = ("one", "ann", "failed", "the photo is missing", False)
    assert said() == [note, report]
    failing, held = take(queue, "dan"), take(queue, "eva")
    assert (failing.id, held.id) == ("one", "two")
    assert said() == [], "somebody has them"
    queue.fail(failing, "x" * 400)
    assert said() == [("one", "dan", "failed", "x" * 299 + "…", True)]
    queue.abandon(held)
    assert [one[0] for one in said()] == ["one", "two"], "what bob said counts still"
    queue.finish(take(queue, "fay"), {})
    queue.remove("one")
    assert said() == []


def test_questions_are_there_until_they_are_answered_or_their_item_is_gone(
    queue: leaseq.Queue, threads: Threads
) -> None:
    clock = Clock()
    picture = Snapshot(queue, threads, clock=lambda: clock.now / 1e6)

    def asked() -> tuple[list[tuple[str, str, str]], int]:
        clock.tick(10)
        seen = picture.figures()
        return [(one["id"], one["person"], one["text"]) for one in seen["questions"]], seen["question_count"]

    for id in ("one", "two", "three"):
        queue.enqueue({}, id=id)
    assert asked() == ([], 0)
    threads.ask(queue.name, "one", "ann", "is it ours?", message="1")
    threads.ask(queue.name, "two", "bob", "x" * 400, message="1")
    threads.ask(queue.name, "three", "cyd", "well?", message="1")
    one, two = ("one", "ann", "is it ours?"), ("two", "bob", "x" * 299 + "…")
    assert asked() == ([one, two, ("three", "cyd", "well?")], 3)
    threads.answer(queue.name, "two", "boss", "yes", message="2")
    queue.remove("three")
    assert asked() == ([one], 1)
    threads.ask(queue.name, "one", "dan", "and now?", message="3")
    assert asked() == ([("one", "dan", "and now?")], 1), "the last of an item"


def test_what_many_gave_back_is_counted_as_the_list_behind_the_number_has_it(
    visitor: Callable[[str], Browser], asking: leaseq.Queue, threads: Threads
) -> None:
    for person in ("ann", "bob", "cyd"):
        asking.abandon(take(asking, person))
    assert [one["id"] for one in Snapshot(asking, threads).figures()["unwanted"]] == ["one"]
    boss = visitor("manager")
    link = re.search(r'href="([^"]+)"><[^>]+data-n="unwanted_count"', boss.get(f"/manage/{asking.name}").text)
    assert link
    page = boss.get(html.unescape(link[1])).text
    assert re.findall(r'name="id" value="([^"]+)"', page) == ["one"]
    asking.assign("one", "dan")
    assert take(asking, "dan").id == "one"
    assert Snapshot(asking, threads).figures()["unwanted_count"] == 0, "somebody has it"


def test_a_picture_begins_anew_where_it_missed_too_much(queue: leaseq.Queue, threads: Threads) -> None:
    clock = Clock()
    picture = Snapshot(queue, threads, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    picture.figures()
    queue.enqueue_many({} for _ in range(6_000))
    clock.tick(10)
    assert picture.figures()["come"]["sum"] == 6_001


def test_the_figures_as_json_are_those_of_the_page(
    visitor: Callable[[str], Browser], asking: leaseq.Queue
) -> None:
    boss = visitor("manager")
    figures = boss.get(f"/manage/{asking.name}/live").json
    assert figures["counts"]["inbound"] == 2
    assert figures["now"].endswith("Z")
    both = boss.get("/manage", headers={"Accept": "application/json"}).json["queues"]
    assert both[asking.name]["counts"] == figures["counts"]
    assert boss.get("/manage", headers={"Accept": "text/html,*/*"}).mimetype == "text/html"


@pytest.mark.parametrize(("number", "shown"), [(0.04, 0.0), (9.94, 9.9), (10, 10), (10.4, 10), (12.4, 12)])
def test_small_figures_are_shown_to_a_tenth(number: float, shown: float) -> None:
    assert _rounded(number) == shown

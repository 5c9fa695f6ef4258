"""The figures of a dashboard: snapshots and what needs attention."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from leaseq.transfer import rfc3339
from leaseq.webapp.realtime.attention import Attention
from leaseq.webapp.realtime.snapshot import Snapshot
from leaseq.webapp.realtime.staff import Presence, Staff
from leaseq.webapp.store.activity import Breaks
from leaseq.webapp.store.announcements import Announcements
from leaseq.webapp.store.open_calls import OpenCalls
from leaseq.webapp.store.queue_access import QueueAccess
from leaseq.webapp.store.threads import Threads
from tests.conftest import Clock, Server
from tests.support.large_entries import ANSWERS, FOREIGN_EVENTS, ITEMS, add_foreign_entry, write_large_entries
from tests.support.leases import expire_leases, take
from tests.web.conftest import Browser


@pytest.fixture
def staff(server: Server) -> Staff:
    """No people, in particular none from other tests."""
    client = server.client
    return Staff(list, QueueAccess(client), OpenCalls(client), Breaks(client), Announcements(client))


def test_snapshot_contains_counts_leases_dead_items_and_due_items(
    queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    queue.configure(max_attempts=1, lease_seconds=600)
    queue.enqueue_many(leaseq.NewItem({}, id=f"n{n}") for n in range(5))
    queue.enqueue({}, id="old", due=datetime(2020, 1, 1, tzinfo=UTC), priority=200)
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    queue.fail(take(queue, "dan"), "torn")
    lease = take(queue, "eva")
    queue.finish(take(queue, "fay"), {})
    figures = Snapshot(queue, threads, staff).figures()
    assert figures["counts"] == {"inbound": 3, "reserved": 1, "scheduled": 0, "finished": 1, "dead": 1}
    assert [(row["id"], row["person"], row["renewals"]) for row in figures["leases"]] == [
        (lease.id, "eva", 0)
    ]
    assert figures["dead"] == [{"key": "failed torn", "how": "failed", "error": "torn", "count": 1}]
    assert [row["id"] for row in figures["due"]] == ["old"]
    assert (figures["enqueued"]["sum"], figures["finished"]["sum"]) == (6, 1)
    assert figures["handling"]


def test_people_are_online_for_five_minutes_after_an_act(queue: leaseq.Queue, staff: Staff) -> None:
    queue.enqueue_many(leaseq.NewItem({"text": f"words of {id}"}, id=id) for id in "abc")
    lease = take(queue, "ann")
    queue.finish(take(queue, "bob"), {})
    presence = Presence(queue, staff)
    events = queue.journal()
    for event in events:
        presence.add(event)
    held = [{"person": "ann", "id": lease.id, "title": "words of a"}]
    now = events[-1].at
    figures = presence.figures(held, now)
    assert [(row["person"], row["title"], row["free"]) for row in figures["online"]] == [
        ("ann", "words of a", False),
        ("bob", None, True),
    ]
    assert (figures["online_count"], figures["people_count"]) == (2, 2)
    assert presence.figures(held, now + timedelta(minutes=4.9))["online_count"] == 2
    assert presence.figures(held, now + timedelta(minutes=5.1))["online_count"] == 0


def test_snapshot_counts_leases_beyond_shown_limit(
    queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch, threads: Threads, staff: Staff
) -> None:
    monkeypatch.setattr("leaseq.webapp.realtime.snapshot.HELD_SHOWN", 2)
    queue.enqueue_many([1, 2, 3, 4, 5])
    for person in ("ann", "bob", "cyd", "dan", "eva"):
        take(queue, person)
    figures = Snapshot(queue, threads, staff).figures()
    assert ([row["person"] for row in figures["leases"]], figures["more_leases"]) == (["ann", "bob"], 3)


def test_snapshot_contains_raised_alerts(
    queue: leaseq.Queue, clock: Clock, threads: Threads, staff: Staff
) -> None:
    queue.configure(alerts=("waiting>1", "oldest>9"))
    queue.enqueue_many([1, 2])
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)
    assert snapshot.figures()["alerts"] == snapshot.summary()["alerts"] == []
    queue.clear()
    clock.tick(10)
    (alert,) = queue.alerts()
    expected = [{"key": "waiting>1", "name": "waiting", "limit": 1, "since": rfc3339(alert.since)}]
    assert snapshot.figures()["alerts"] == snapshot.summary()["alerts"] == expected


def test_snapshot_is_refreshed_after_events(
    queue: leaseq.Queue, clock: Clock, threads: Threads, staff: Staff
) -> None:
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    first_figures = snapshot.figures()
    assert (first_figures["unwanted_count"], first_figures["late_count"], first_figures["leases"]) == (
        0,
        0,
        [],
    )
    clock.tick(10)
    assert snapshot.figures() is first_figures, "nothing has changed"
    for person in ("ann", "bob", "cyd"):
        queue.abandon(take(queue, person))
    assert snapshot.figures() is first_figures, "it was read a moment ago"
    clock.tick(10)
    figures = snapshot.figures()
    assert figures["unwanted"] == [{"key": "one 1", "id": "one", "title": "one", "people": 3}]
    lease = take(queue, "dan")
    clock.tick(10)
    assert [row["person"] for row in snapshot.figures()["leases"]] == ["dan"]
    assert expire_leases(queue) == 1
    take(queue, "eva")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, {})
    clock.tick(10)
    assert [(row["id"], row["person"]) for row in snapshot.figures()["late"]] == [("one", "dan")]


def test_late_answer_is_listed_for_an_hour_or_until_adopted(
    queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    queue.configure(holds=9)
    queue.enqueue_many(leaseq.NewItem({"text": f"words of {id}"}, id=id) for id in ("one", "two"))
    leases = {}
    for person in ("ann", "bob"):
        lease = take(queue, person)
        queue.release("one")
        leases[person] = lease
    take(queue, "cyd")
    for lease in leases.values():
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, {})
    attention = Attention(queue, threads, staff)
    events = queue.journal(limit=1_000)
    for event in events:
        attention.add(event)
    now = events[-1].at
    assert attention.figures(queue.stats(), now, ())["late_count"] == 2
    queue.adopt("one", leases["ann"].token)
    attention.add(queue.latest_events(1)[0])
    late_rows = attention.figures(queue.stats(), now, ())["late"]
    assert [(row["person"], row["title"]) for row in late_rows] == [("bob", "words of one")]
    assert attention.figures(queue.stats(), now + timedelta(minutes=59), ())["late_count"] == 1
    assert attention.figures(queue.stats(), now + timedelta(minutes=61), ())["late_count"] == 0


def test_items_that_need_more_answers_than_the_policy_says_are_noticed(
    queue: leaseq.Queue, clock: Clock, threads: Threads, staff: Staff
) -> None:
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)

    def is_noticed() -> bool:
        clock.tick(10)
        return bool(snapshot.figures()["surplus"])

    queue.configure(answers=3)
    queue.enqueue({}, id="one")
    for person in ("ann", "bob"):
        queue.finish(take(queue, person), {})
    assert not is_noticed()
    queue.configure(answers=2)
    assert is_noticed()
    queue.change("one", answers=2)
    assert not is_noticed()
    queue.configure(answers=5)
    queue.enqueue({}, id="two")
    for person in ("ann", "bob"):
        queue.finish(take(queue, person), {})
    queue.configure(answers=2)
    assert is_noticed(), "the number is the same as when nothing was found"


def test_items_that_need_more_answers_are_not_searched_for_again_in_vain(
    server: Any, queue: leaseq.Queue, clock: Clock, threads: Threads, staff: Staff
) -> None:
    """A search reads up to 250 items of each state, in each process for each queue that is watched."""
    searches: list[leaseq.Filter] = []

    class Counted(leaseq.Queue):
        def find(self, state: Any, where: Any = leaseq.Filter(), **options: Any) -> leaseq.Page:  # noqa: B008
            searches.append(where)
            return super().find(state, where, **options)

    queue.configure(answers=3)
    queue.enqueue_many(leaseq.NewItem(n) for n in range(5))
    counted_queue = Counted(server.client, queue.name)
    snapshot = Snapshot(counted_queue, threads, staff, clock=lambda: clock.now / 1e6)
    counts = []
    for _ in range(3):
        clock.tick(60)
        snapshot.figures()
        counts.append(sum(where.answers_above is not None for where in searches))
    assert counts[0] > 0
    assert counts == [counts[0]] * 3
    queue.configure(answers=2)
    clock.tick(60)
    snapshot.figures()
    assert sum(where.answers_above is not None for where in searches) > counts[0]


def test_reports_are_listed_until_item_is_reserved_again(
    queue: leaseq.Queue, clock: Clock, threads: Threads, staff: Staff
) -> None:
    queue.configure(max_attempts=2, retry_seconds=0)
    queue.enqueue_many(leaseq.NewItem({}, id=id) for id in ("one", "two", "three"))
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)
    assert (snapshot.figures()["reports"], snapshot.figures()["report_count"]) == ([], 0)

    def read_reports() -> list[tuple[str, str, str, str, bool]]:
        clock.tick(10)
        figures = snapshot.figures()
        assert figures["report_count"] == len(figures["reports"])
        return [
            (row["id"], row["person"], row["how"], row["text"], row["dead"]) for row in figures["reports"]
        ]

    first_lease, second_lease = take(queue, "ann"), take(queue, "bob")
    queue.fail(first_lease, "the photo is missing")
    queue.abandon(second_lease, "ask the shop first")
    note = ("two", "bob", "abandoned", "ask the shop first", False)
    report = ("one", "ann", "failed", "the photo is missing", False)
    assert read_reports() == [note, report]
    third_lease, fourth_lease = take(queue, "dan"), take(queue, "eva")
    assert (third_lease.id, fourth_lease.id) == ("one", "two")
    assert read_reports() == [], "somebody has them"
    queue.fail(third_lease, "x" * 400)
    assert read_reports() == [("one", "dan", "failed", "x" * 299 + "…", True)]
    queue.abandon(fourth_lease)
    assert [row[0] for row in read_reports()] == ["one", "two"], "bob's report still counts"
    queue.finish(take(queue, "fay"), {})
    queue.remove("one")
    assert read_reports() == []


@pytest.mark.parametrize("max_attempts", [9, 1], ids=["open", "dead"])
def test_snapshot_flags_more_reports_than_counted(
    queue: leaseq.Queue, threads: Threads, staff: Staff, monkeypatch: pytest.MonkeyPatch, max_attempts: int
) -> None:
    monkeypatch.setattr("leaseq.webapp.realtime.attention._MAX_REPORTS", 2)
    queue.configure(max_attempts=max_attempts, retry_seconds=3_600)

    def fail_one() -> tuple[int, bool]:
        queue.enqueue({})
        queue.fail(take(queue, "ann"), "no photo")
        figures = Snapshot(queue, threads, staff).figures()
        return figures["report_count"], figures["has_more_reports"]

    assert fail_one() == (1, False)
    fail_one()
    assert fail_one() == (2, True)


def test_questions_are_listed_until_answered_or_item_is_removed(
    queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    clock = Clock()
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)

    def read_questions() -> tuple[list[tuple[str, str, str]], int]:
        clock.tick(10)
        figures = snapshot.figures()
        return [(row["id"], row["person"], row["text"]) for row in figures["questions"]], figures[
            "question_count"
        ]

    for id in ("one", "two", "three"):
        queue.enqueue({}, id=id)
    assert read_questions() == ([], 0)
    threads.ask(queue.name, "one", "ann", "is it ours?", message="1")
    threads.ask(queue.name, "two", "bob", "x" * 400, message="1")
    threads.ask(queue.name, "three", "cyd", "well?", message="1")
    first_question, second_question = ("one", "ann", "is it ours?"), ("two", "bob", "x" * 299 + "…")
    assert read_questions() == ([first_question, second_question, ("three", "cyd", "well?")], 3)
    threads.answer(queue.name, "two", "boss", "yes", message="2")
    queue.remove("three")
    assert read_questions() == ([first_question], 1)
    threads.ask(queue.name, "one", "dan", "and now?", message="3")
    assert read_questions() == ([("one", "dan", "and now?")], 1), "only the last of each item"


def test_count_of_unwanted_items_matches_linked_list(
    sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    for person in ("ann", "bob", "cyd"):
        form_queue.abandon(take(form_queue, person))
    assert [row["id"] for row in Snapshot(form_queue, threads, staff).figures()["unwanted"]] == ["one"]
    manager_browser = sign_in_as("manager")
    link = re.search(
        r'href="([^"]+)"><[^>]+data-number="unwanted_count"',
        manager_browser.get(f"/manage/{form_queue.name}").text,
    )
    assert link
    page = manager_browser.get(html.unescape(link[1])).text
    assert re.findall(r'name="id" value="([^"]+)"', page) == ["one"]
    form_queue.assign("one", "dan")
    assert take(form_queue, "dan").id == "one"
    assert Snapshot(form_queue, threads, staff).figures()["unwanted_count"] == 0, "somebody has it"


def test_snapshot_is_rebuilt_after_missing_too_many_events(
    queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    clock = Clock()
    snapshot = Snapshot(queue, threads, staff, clock=lambda: clock.now / 1e6)
    queue.enqueue({}, id="one")
    snapshot.figures()
    queue.enqueue_many({} for _ in range(6_000))
    clock.tick(10)
    assert snapshot.figures()["enqueued"]["sum"] == 6_001


def test_overview_json_matches_figures_of_queue(
    sign_in_as: Callable[[str], Browser], form_queue: leaseq.Queue
) -> None:
    manager_browser = sign_in_as("manager")
    figures = manager_browser.get(f"/manage/{form_queue.name}/live").json
    assert figures["counts"]["inbound"] == 2
    assert figures["now"].endswith("Z")
    queues = manager_browser.get("/manage", headers={"Accept": "application/json"}).json["queues"]
    assert queues[form_queue.name]["counts"] == figures["counts"]
    assert manager_browser.get("/manage", headers={"Accept": "text/html,*/*"}).mimetype == "text/html"


def test_snapshot_counts_events_of_large_entries_once(
    server: Server, queue: leaseq.Queue, threads: Threads, staff: Staff
) -> None:
    clock = Clock.from_now(-600)
    timed_queue = leaseq.Queue(server.client, queue.name, clock=clock)
    timed_queue.configure()
    times = itertools.count(step=10.0)
    snapshot = Snapshot(queue, threads, staff, clock=lambda: next(times))
    snapshot.figures()
    write_large_entries(timed_queue, clock)
    add_foreign_entry(server, timed_queue, clock, "finished")
    for one in (snapshot, Snapshot(queue, threads, staff)):
        figures = one.figures()
        assert figures["counts"]["dead"] == ITEMS * ANSWERS
        assert (one.rates().expired(), figures["finished"]["sum"]) == (ITEMS, FOREIGN_EVENTS)

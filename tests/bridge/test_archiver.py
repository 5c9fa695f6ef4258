"""Answers, outcomes and events reach the database exactly once, wherever the archiver is interrupted."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.bridge.run import Bridge
from leaseq.bridge.verify import verify
from tests.bridge.conftest import Database, Make, finish, settle
from tests.conftest import Clock, Server
from tests.support.large_entries import ITEMS, add_foreign_entry, journal_of, write_large_entries
from tests.support.leases import not_none


def test_finished_item_is_archived_with_answer_and_events(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a", "b")
    settle(bridge)
    finish(queue, result={"é": [1, None]})
    settle(bridge)
    assert database.statuses() == {"a": "finished", "b": "queued"}
    assert database.answers() == [("a", "ann", {"é": [1, None]}, False, True)]
    assert database.events()[-2:] == [("reserved", "a"), ("finished", "a")]
    row = database.run("SELECT * FROM leaseq_result")[0]._mapping
    assert (row["id"], row["person"], row["status"], row["token"]) == ("a", "ann", "finished", 1)


def test_archived_events_match_the_journal_and_its_order(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    settle(bridge)
    queue.enqueue_many(leaseq.NewItem(n, id=f"i{n}") for n in range(5))
    queue.pause("lunch", by="bob")
    queue.resume()
    queue.abandon(not_none(queue.reserve("ann")), "no")
    settle(bridge)
    assert database.events() == [(event.what, event.id) for event in queue.journal(limit=1000)]
    row = database.run("SELECT person, detail FROM leaseq_event WHERE what = 'paused'")[0]
    assert row[0] == "bob"
    assert str(row[1]).strip('"') == "lunch"


def test_revived_item_has_status_queued(
    database: Database, bridge: Bridge, queue: leaseq.Queue, dead_item_id: str
) -> None:
    queue.revive(dead_item_id)
    settle(bridge)
    assert database.statuses() == {dead_item_id: "queued"}


def test_item_removed_and_enqueued_again_has_status_queued(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    queue.remove("a")
    queue.enqueue({"n": 2}, id="a")
    settle(bridge)
    assert database.statuses() == {"a": "queued"}


def test_undone_answer_is_deleted_and_next_answer_is_archived(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lease = finish(queue)
    settle(bridge)
    second_lease = queue.undo_finish(lease)
    settle(bridge)
    assert database.answers() == []
    assert database.statuses() == {"a": "queued"}
    queue.finish(second_lease, "no")
    settle(bridge)
    assert [row[2] for row in database.answers()] == ["no"]


def test_late_answer_is_archived_and_accepted_once_adopted(
    database: Database, make: Make, server: Server, queue_name: str, clock: Clock
) -> None:
    queue = leaseq.Queue(server.client, queue_name, clock=clock)
    bridge = make(queue_name)
    database.add(queue_name, "a")
    settle(bridge)
    clock.tick(10)
    late_lease = not_none(queue.reserve("ann"))
    clock.tick(301)
    finish(queue, "bob", "bob's")
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(late_lease, "ann's")
    settle(bridge)
    assert database.answers() == [("a", "ann", "ann's", True, False), ("a", "bob", "bob's", False, True)]
    queue.adopt("a", late_lease.token)
    settle(bridge)
    assert [(row[1], row[4]) for row in database.answers()] == [("ann", True), ("bob", False)]


def test_reopened_or_corrected_answer_is_kept_as_not_accepted(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue, "ann", "ann's")
    settle(bridge)
    queue.reopen("a", queue.get("a").answers[0].token)
    settle(bridge)
    assert (database.answers(), database.statuses()["a"]) == ([("a", "ann", "ann's", True, False)], "queued")
    finish(queue, "bob", "bob's")
    queue.correct("a", queue.get("a").answers[0].token, "meg's", by="meg")
    settle(bridge)
    assert sorted((row[1], row[4]) for row in database.answers()) == [
        ("ann", False),
        ("bob", False),
        ("meg", True),
    ]
    assert database.statuses()["a"] == "finished"


def test_item_is_finished_only_when_all_its_answers_are_given(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue, "ann", 1)
    settle(bridge)
    assert database.statuses() == {"a": "queued"}
    finish(queue, "bob", 2)
    settle(bridge)
    assert database.statuses() == {"a": "finished"}
    assert [(row[1], row[2]) for row in database.answers()] == [("ann", 1), ("bob", 2)]


def test_item_enqueued_without_the_bridge_gets_a_row(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    settle(bridge)
    queue.enqueue({"n": 1}, id="other", priority=3, requires=["fr"])
    settle(bridge)
    row = database.run("SELECT status, priority, requires FROM leaseq_item WHERE id = 'other'")[0]
    assert tuple(row) == ("queued", 3, "fr")
    queue.remove("other")
    settle(bridge)
    assert database.statuses() == {"other": "cancelled"}


def test_failed_write_is_rolled_back_and_retried(
    database: Database, bridge: Bridge, make: Make, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue)
    before = database.events()
    database.run("ALTER TABLE leaseq_answer RENAME TO elsewhere")
    assert not bridge.step()
    assert database.events() == before
    database.run("ALTER TABLE elsewhere RENAME TO leaseq_answer")
    settle(make(queue.name))
    assert [row[0] for row in database.answers()] == ["a"]
    assert database.events().count(("finished", "a")) == 1


def test_interruption_between_commit_and_ack_duplicates_nothing(
    database: Database, make: Make, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.add(queue.name, "a")
    settle(make(queue.name))
    finish(queue)
    bridge = make(queue.name)
    bridge.step()
    queue.enqueue({}, id="b")
    finish(queue)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(leaseq.Queue, "follow", interrupt)  # after the commit, before the ack
        with pytest.raises(KeyboardInterrupt):
            bridge.step()
    assert database.events()[-1] == ("finished", "b")
    settle(make(queue.name))
    assert database.events().count(("finished", "b")) == 1
    assert [row[0] for row in database.answers()] == ["a", "b"]


def test_finished_item_is_deleted_only_after_archiving(
    database: Database, make: Make, server: Server, queue_name: str, clock: Clock
) -> None:
    queue = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(3600))
    bridge = make(queue_name, keep_finished_seconds=0, keep_events=0)
    database.add(queue_name, "a")
    settle(bridge)
    finish(queue)
    assert queue.clear().forgotten == 0
    settle(bridge)
    later_queue = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(7200))
    assert later_queue.clear().forgotten == 1
    settle(bridge)
    assert database.statuses() == {"a": "finished"}
    assert len(database.answers()) == 1


def test_refused_answer_under_the_same_token_is_kept_beside_the_accepted_one(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    lease = finish(queue, "ann", "first")
    for result in ("second", "third"):
        with pytest.raises(leaseq.LeaseLost):
            queue.finish(lease, result)
    settle(bridge)
    expected = {("first", False, True), ("second", True, False), ("third", True, False)}
    assert {row[2:] for row in database.answers()} == expected
    queue.adopt("a", lease.token)  # the latest of them
    settle(bridge)
    assert {(row[2], row[4]) for row in database.answers()} == {
        ("first", False),
        ("second", False),
        ("third", True),
    }
    assert [row.result for row in database.run("SELECT result FROM leaseq_result")] == [
        database.json("third")
    ]
    rows = database.run("SELECT number, result FROM leaseq_answer ORDER BY number")
    results = [database.json(result) for result in ("first", "second", "third")]
    assert [(row.number, row.result) for row in rows] == list(enumerate(results)), "numbers stay the same"


def test_answers_of_an_earlier_item_with_the_same_id_are_kept_but_not_accepted(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue, "ann", "before")
    settle(bridge)
    queue.remove("a")
    settle(bridge)
    assert database.statuses() == {"a": "cancelled"}
    queue.enqueue({}, id="a")
    settle(bridge)
    assert database.statuses() == {"a": "queued"}
    assert [(row[2], row[4]) for row in database.answers()] == [("before", False)]


def test_status_of_a_row_that_waits_again_is_left_to_the_migrator(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    queue.remove("a")
    database.change("a", status="waiting")
    settle(bridge)
    assert database.statuses() == {"a": "queued"}
    assert queue.get("a").state == "inbound"


def test_item_that_gets_the_id_of_a_removed_one_is_not_removed(
    database: Database, make: Make, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(make(queue.name))
    queue.remove("a")
    make(queue.name, parts=("archive",)).step()  # the row is cancelled now
    queue.enqueue({}, id="a")
    settle(make(queue.name))
    assert queue.get("a").state == "inbound"
    assert database.statuses() == {"a": "queued"}


@pytest.mark.parametrize("seconds", [-5000, -1])
def test_events_of_a_queue_created_again_by_a_clock_behind_are_archived(
    database: Database, make: Make, server: Server, queue_name: str, seconds: int
) -> None:
    bridge = make(queue_name)
    ahead = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(9000))
    ahead.configure()
    database.add(queue_name, "a")
    settle(bridge)
    ahead.pause()
    settle(bridge)
    ahead.delete()
    behind = leaseq.Queue(server.client, queue_name, clock=Clock.from_now(9000 + seconds))
    behind.enqueue({}, id="b")
    finish(behind)
    settle(bridge)
    assert database.statuses()["b"] == "finished"
    assert [row[0] for row in database.answers()] == ["b"]


def test_item_that_needs_no_further_answer_has_status_finished(
    server: Server, database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    queue.configure(answers=2)
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue)
    settle(bridge)
    assert database.statuses() == {"a": "queued"}
    queue.change("a", answers=1)
    settle(bridge)
    assert database.statuses() == {"a": "finished"}
    assert verify(server.client, database.engine, queue.name, lambda _: None) == []


def test_finished_item_that_needs_a_further_answer_has_status_queued(
    database: Database, bridge: Bridge, queue: leaseq.Queue
) -> None:
    database.add(queue.name, "a")
    settle(bridge)
    finish(queue, "ann")
    settle(bridge)
    queue.change("a", answers=2)
    settle(bridge)
    assert (database.statuses()["a"], len(database.answers())) == ("queued", 1)
    finish(queue, "bob")
    settle(bridge)
    assert (database.statuses()["a"], len(database.answers())) == ("finished", 2)


@pytest.mark.parametrize("events", [500, 10_000])
def test_entries_of_any_size_are_archived(
    server: Server,
    database: Database,
    make: Make,
    queue_name: str,
    events: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("leaseq.bridge.archiver._EVENTS", events)
    clock = Clock.from_now(3600)
    queue = leaseq.Queue(server.client, queue_name, clock=clock)
    bridge = make(queue_name)
    bridge.step()
    write_large_entries(queue, clock)
    add_foreign_entry(server, queue, clock, "died")
    settle(bridge)
    journal = journal_of(queue)
    assert database.events() == [(event.what, event.id) for event in journal]
    assert queue.journal(queue.follow("bridge")) == []
    assert database.statuses() == {f"{n:02}": "dead" for n in range(ITEMS)} | {"last": "queued"}
    assert verify(server.client, database.engine, queue_name, lambda _: None) == []

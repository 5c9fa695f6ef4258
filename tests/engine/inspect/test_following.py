"""follow, unfollow, outcomes and event_rows: for programs that read the journal. Unread events are kept, and
each program continues after the last event that it read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import not_none
from tests.support.refused import refused

DAY = 86_400


def finish(queue: leaseq.Queue, id: str, person: str = "ann") -> leaseq.Event:
    queue.enqueue({"n": id}, id=id)
    queue.finish(not_none(queue.reserve(person)), {"v": id})
    return queue.latest_events(1)[0]


def test_a_new_follower_begins_with_the_oldest_event(timed_queue: leaseq.Queue) -> None:
    finish(timed_queue, "a")
    everything = timed_queue.journal()
    assert timed_queue.journal(after=timed_queue.follow("archive")) == everything
    assert everything[-1].what == "finished"


def test_follower_continues_after_read_event_and_never_moves_back(timed_queue: leaseq.Queue) -> None:
    first, second = finish(timed_queue, "a"), finish(timed_queue, "b")
    timed_queue.follow("archive", read=second.cursor)
    finish(timed_queue, "c")
    unread_events = timed_queue.journal(after=second.cursor)
    assert timed_queue.journal(after=timed_queue.follow("archive")) == unread_events != []
    assert timed_queue.journal(after=timed_queue.follow("archive", read=first.cursor)) == unread_events


def test_followers_have_independent_cursors(timed_queue: leaseq.Queue) -> None:
    last = finish(timed_queue, "a")
    timed_queue.follow("archive", read=last.cursor)
    assert timed_queue.journal(after=timed_queue.follow("webhooks")) == timed_queue.journal()


def test_partly_read_entry_is_returned_whole_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([NewItem(n, id=f"i{n}") for n in range(3)])
    events = [one for one in timed_queue.journal() if one.what == "enqueued"]
    timed_queue.follow("archive", read=events[1].cursor)
    assert timed_queue.journal(after=timed_queue.follow("archive")) == events
    timed_queue.follow("archive", read=events[2].cursor)
    assert timed_queue.journal(after=timed_queue.follow("archive")) == []


def test_finished_items_are_kept_until_every_follower_has_read_them(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(keep_finished_seconds=DAY)
    timed_queue.follow("archive")
    last = finish(timed_queue, "a")
    clock.tick(2 * DAY)
    assert timed_queue.clear().forgotten == 0
    timed_queue.follow("archive", read=last.cursor)
    clock.tick(2 * DAY)
    assert timed_queue.clear().forgotten == 1


def filled_journal(timed_queue: leaseq.Queue, clock: Clock, server: Server, count: int) -> str:
    """Fill a journal with this many entries; return its key."""
    timed_queue.configure()
    journal, pipe = Keys(timed_queue.name).journal, server.redis.pipeline()
    for n in range(1, count + 1):
        pipe.xadd(journal, {"renewed": "a\t1\tann"}, id=f"{clock.now + n}-0")
    pipe.execute()
    return journal


def test_a_long_journal_is_trimmed_in_several_calls(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    """Each call removes at most 20,000 entries, so that it doesn't block others."""
    journal = filled_journal(timed_queue, clock, server, 25_000)
    timed_queue.follow("archive", read=timed_queue.latest_events(1)[0].cursor, keep=0)
    assert 5_000 <= server.redis.xlen(journal) <= 5_200
    timed_queue.follow("archive", keep=0)
    assert server.redis.xlen(journal) <= 100


def test_given_number_of_read_events_is_kept(timed_queue: leaseq.Queue, clock: Clock, server: Server) -> None:
    journal = filled_journal(timed_queue, clock, server, 1_000)
    timed_queue.follow("archive", read=timed_queue.latest_events(1)[0].cursor, keep=450)
    assert 450 <= server.redis.xlen(journal) <= 550


@pytest.mark.parametrize("slowest", ["archive", "audit", "mail", "webhooks"])
def test_finished_items_are_kept_until_slowest_follower_has_read_them(
    timed_queue: leaseq.Queue, clock: Clock, slowest: str
) -> None:
    timed_queue.configure(keep_finished_seconds=DAY)
    last = finish(timed_queue, "a")
    for name in ("archive", "audit", "mail", "webhooks"):
        timed_queue.follow(name, read=None if name == slowest else last.cursor)
    clock.tick(2 * DAY)
    assert timed_queue.clear().forgotten == 0
    timed_queue.follow(slowest, read=last.cursor)
    assert timed_queue.clear().forgotten == 1


def test_removed_follower_does_not_keep_finished_items(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(keep_finished_seconds=DAY)
    timed_queue.follow("archive")
    finish(timed_queue, "a")
    timed_queue.unfollow("archive")
    timed_queue.unfollow("archive")
    clock.tick(2 * DAY)
    assert timed_queue.clear().forgotten == 1


@pytest.mark.parametrize("name", ["", "Archive", "1st", "a b", "a" * 65, "a\n", None, 7])
@pytest.mark.parametrize("call", [leaseq.Queue.follow, leaseq.Queue.unfollow])
def test_invalid_follower_name_is_refused(
    timed_queue: leaseq.Queue, call: Callable[[leaseq.Queue, object], object], name: object
) -> None:
    with refused("format", "name", what="follower_name"):
        call(timed_queue, name)


@pytest.mark.parametrize("cursor", ["", "1-0", "x.1", "1.", 7])
def test_invalid_cursor_is_refused(timed_queue: leaseq.Queue, cursor: object) -> None:
    with refused("format", "read", what="event_cursor"):
        timed_queue.follow("archive", read=cursor)  # type: ignore[arg-type]


def test_outcomes_return_state_and_answers_of_items(timed_queue: leaseq.Queue, clock: Clock) -> None:
    finish(timed_queue, "done")
    timed_queue.enqueue({"é": 1}, id="held", priority=7, due=datetime(2030, 1, 1, tzinfo=UTC))
    lease = not_none(timed_queue.reserve("bob"))
    timed_queue.enqueue("", id="waits", requires=["fr", "legal"])
    finished_item, no_item, held_item, waiting_item = timed_queue.outcomes(["done", "none", "held", "waits"])
    assert no_item is None
    assert finished_item is not None
    assert held_item is not None
    assert waiting_item is not None
    assert (finished_item.state, held_item.state, waiting_item.state) == ("finished", "reserved", "inbound")
    answer = timed_queue.get("done").answers[0]
    assert [
        (a.token, a.person, a.result, a.finished_at, a.late, a.stands) for a in finished_item.answers
    ] == [(answer.token, "ann", {"v": "done"}, answer.finished_at, False, True)]
    assert (held_item.payload, held_item.priority, held_item.due) == (
        {"é": 1},
        7,
        timed_queue.get("held").due,
    )
    assert lease.id == "held"
    assert (waiting_item.requires, waiting_item.answers) == (("fr", "legal"), ())


def test_outcomes_include_late_answers_and_answers_of_every_person(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2, lease_seconds=60)
    timed_queue.enqueue({"n": 1}, id="one")
    late_lease = not_none(timed_queue.reserve("ann"))
    clock.tick(61)
    timed_queue.finish(not_none(timed_queue.reserve("bob")), {"v": "bob"})
    timed_queue.finish(not_none(timed_queue.reserve("cid")), {"v": "cid"})
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(late_lease, {"v": "ann"})
    outcome = timed_queue.outcomes(["one"])[0]
    assert outcome is not None
    assert outcome.state == "finished"
    assert [(a.person, a.late, a.stands) for a in outcome.answers] == [
        ("bob", False, True),
        ("cid", False, True),
        ("ann", True, False),
    ]


def test_outcome_rows_have_stored_text(timed_queue: leaseq.Queue) -> None:
    finish(timed_queue, "done")
    timed_queue.enqueue({"é": [1, None]}, id="waits", requires=["legal", "fr"])
    finished_row, no_row, waiting_row = timed_queue.outcome_rows(["done", "none", "waits"])
    assert no_row is None
    finished_item, waiting_item = not_none(finished_row), not_none(waiting_row)
    assert [one.result for one in finished_item.answers] == ['{"v":"done"}']
    assert (waiting_item.payload, waiting_item.requires) == ('{"é":[1,null]}', "fr,legal")
    for row, outcome in zip(
        (finished_item, waiting_item), timed_queue.outcomes(["done", "waits"]), strict=True
    ):
        assert outcome is not None
        assert (outcome[:2], outcome.due) == (row[:2], row.due)


def test_outcomes_of_300_large_items_are_complete(timed_queue: leaseq.Queue) -> None:
    ids = [f"i{n}" for n in range(300)]
    timed_queue.enqueue_many(NewItem("x" * 10_000, id=id) for id in ids)
    assert [one.id for one in timed_queue.outcomes(ids) if one] == ids


@pytest.mark.parametrize("limit", [1, 2, 5, 10_000])
def test_event_rows_equal_events_of_journal(timed_queue: leaseq.Queue, limit: int) -> None:
    timed_queue.enqueue_many(NewItem(n, id=f"i{n}") for n in range(4))
    timed_queue.fail(not_none(timed_queue.reserve("ann")), "torn – «ü»")
    timed_queue.pause("lunch", by="bob")
    rows: list[leaseq.EventRow] = []
    while next_rows := timed_queue.event_rows(rows[-1].cursor if rows else None, limit):
        rows += next_rows
    events = timed_queue.journal(limit=1_000)
    assert [(one.cursor, one.what, one.id, one.person, one.token) for one in rows] == [
        (one.cursor, one.what, one.id, one.person, one.token) for one in events
    ]
    assert [json.loads(one.detail) if one.detail else None for one in rows] == [one.detail for one in events]
    assert timed_queue.event_rows(events[5].cursor)[0].cursor == events[6].cursor

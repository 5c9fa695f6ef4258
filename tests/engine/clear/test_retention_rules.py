"""Retention by count, and of dead items: which items clear forgets, and when; see also `test_retention`."""

from __future__ import annotations

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.conftest import Sets
from tests.engine.guarantees.test_cost import MOST, command_counts, commands_per_script
from tests.support.leases import take

DAY = 86_400
NOTHING = leaseq.Cleared(0, 0, 0, more=False, forgotten=0)


def finish(queue: leaseq.Queue, *ids: str) -> None:
    queue.enqueue_many(NewItem({"n": id}, id=id) for id in ids)
    for _ in ids:
        queue.finish(take(queue, "ann"), {"v": 1})


def kill(queue: leaseq.Queue, *ids: str) -> None:
    queue.enqueue_many(NewItem({"n": id}, id=id, max_attempts=1) for id in ids)
    for _ in ids:
        queue.fail(take(queue, "ann"), "no")


def test_clear_keeps_latest_finished_items_by_count(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    timed_queue.configure(keep_finished_count=2)
    finish(timed_queue, "a", "b")
    assert timed_queue.clear() == NOTHING
    finish(timed_queue, "c", "d", "e")
    clock.tick(1)
    assert timed_queue.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=3)
    assert sets()["finished"] == ["d", "e"]
    assert [event.id for event in timed_queue.journal() if event.what == "forgotten"] == ["a", "b", "c"]
    assert timed_queue.stats().counters["forgotten"] == 3
    finish(timed_queue, "f")
    clock.tick(1)
    assert timed_queue.clear().forgotten == 1
    assert sets()["finished"] == ["e", "f"]


def test_keep_finished_count_of_zero_keeps_no_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(keep_finished_count=0)
    finish(timed_queue, "a", "b")
    assert timed_queue.clear(limit=1) == leaseq.Cleared(0, 0, 0, more=True, forgotten=1)
    assert timed_queue.clear().forgotten == 1


def test_item_past_age_or_count_is_forgotten(timed_queue: leaseq.Queue, clock: Clock, sets: Sets) -> None:
    timed_queue.configure(keep_finished_count=2, keep_finished_seconds=DAY)
    finish(timed_queue, "a", "b", "c")
    assert timed_queue.clear().forgotten == 1
    clock.tick(DAY + 1)
    finish(timed_queue, "d")
    assert timed_queue.clear().forgotten == 2
    assert sets()["finished"] == ["d"]


def test_changed_keep_finished_count_applies_immediately(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(keep_finished_count=100)
    finish(timed_queue, "a", "b", "c")
    assert timed_queue.clear() == NOTHING
    timed_queue.configure(keep_finished_count=1)
    assert timed_queue.clear().forgotten == 2
    timed_queue.configure(keep_finished_count=None)
    finish(timed_queue, "d", "e")
    assert timed_queue.clear() == NOTHING


def test_item_with_several_answers_is_forgotten_as_whole(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.configure(keep_finished_count=1, answers=2)
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), {})
    finish(timed_queue, "b")
    assert timed_queue.clear() == NOTHING, "a can still get an answer"
    timed_queue.finish(take(timed_queue, "bob"), {})
    finish(timed_queue, "c")
    assert len(timed_queue.get("a").answers) == 2
    timed_queue.clear()
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.get("a")


def test_replaced_answer_makes_its_item_the_latest(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(keep_finished_count=1, answers=2)
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), 1)
    take(timed_queue, "bob")
    timed_queue.configure(answers=1)
    finish(timed_queue, "b")
    assert timed_queue.clear().forgotten == 0, "a can still get an answer"
    late = timed_queue.get("a").answers[0]
    timed_queue.correct("a", late.token, 2, by="mona")
    assert timed_queue.clear().forgotten == 1
    finish(timed_queue, "c")
    assert timed_queue.clear().forgotten == 0
    timed_queue.adopt("a", late.token)
    assert timed_queue.clear().forgotten == 1


def test_unread_item_is_kept_beyond_count(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.configure(keep_finished_count=0)
    server.redis.xgroup_create(Keys(timed_queue.name).journal, "bridge", "0")
    finish(timed_queue, "a")
    assert timed_queue.clear() == NOTHING
    server.redis.xgroup_setid(Keys(timed_queue.name).journal, "bridge", "$")
    assert timed_queue.clear().forgotten == 1


def test_dead_item_past_retention_time_leaves_no_data(
    timed_queue: leaseq.Queue, clock: Clock, server: Server, sets: Sets
) -> None:
    timed_queue.configure(keep_dead_seconds=DAY)
    kill(timed_queue, "gone-item", "gone-too")
    clock.tick(DAY / 2)
    kill(timed_queue, "later")
    finish(timed_queue, "done")
    clock.tick(DAY / 2 - 1)
    assert timed_queue.clear() == NOTHING
    clock.tick(2)
    assert timed_queue.clear(limit=1) == leaseq.Cleared(0, 0, 0, more=True, forgotten=1)
    assert timed_queue.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=1)
    assert (sets()["dead"], sets()["finished"]) == (["later"], ["done"])
    contents = server_contents.everything(server.redis, timed_queue.name)
    assert not [key for key, value in contents.items() if b":journal" not in key and "gone-" in str(value)]
    clock.tick(DAY)
    assert timed_queue.clear().forgotten == 1


def test_dead_item_is_kept_until_follower_reads_its_events(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(keep_dead_seconds=DAY)
    timed_queue.follow("audit")
    kill(timed_queue, "a")
    clock.tick(DAY + 1)
    assert timed_queue.clear() == NOTHING
    timed_queue.follow("audit", read=timed_queue.latest_events(1)[0].cursor)
    assert timed_queue.clear().forgotten == 1


def test_revive_restarts_retention_time_of_dead_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(keep_dead_seconds=DAY)
    kill(timed_queue, "a")
    clock.tick(DAY - 1)
    timed_queue.revive("a")
    clock.tick(2)
    assert timed_queue.clear() == NOTHING
    timed_queue.fail(take(timed_queue, "bob"), "no")
    assert timed_queue.clear() == NOTHING
    clock.tick(DAY + 1)
    assert timed_queue.clear().forgotten == 1


@pytest.mark.parametrize("keep_finished", [None, 2 * DAY])
def test_answers_of_dead_item_are_kept_as_long_as_finished_items(
    timed_queue: leaseq.Queue, clock: Clock, keep_finished: float | None
) -> None:
    timed_queue.configure(answers=2, keep_dead_seconds=DAY, keep_finished_seconds=keep_finished)
    timed_queue.enqueue({}, id="a", max_attempts=1)
    timed_queue.finish(take(timed_queue, "ann"), {})
    timed_queue.fail(take(timed_queue, "bob"), "no")
    assert timed_queue.get("a").state == "dead"
    clock.tick(DAY + 1)
    assert timed_queue.clear() == NOTHING
    clock.tick(DAY)
    assert timed_queue.clear().forgotten == (0 if keep_finished is None else 1)


@pytest.mark.not_on("cluster")  # its statistics are for one node
def test_clear_cost_is_bounded_and_minimal_without_work(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    timed_queue.configure(keep_finished_count=1, keep_dead_seconds=DAY)
    finish(timed_queue, *(f"{n:03}" for n in range(80)))
    kill(timed_queue, *(f"dead {n:03}" for n in range(80)))
    clock.tick(DAY + 1)
    assert commands_per_script(server.redis, lambda: timed_queue.clear(limit=150)) <= MOST
    assert timed_queue.clear().forgotten == 9
    clock.tick(1)
    assert command_counts(server.redis, timed_queue.clear) == {"evalsha": 1, "hmget": 1}


def test_last_answer_decides_retention_to_microsecond(
    timed_queue: leaseq.Queue, clock: Clock, server: Server
) -> None:
    timed_queue.configure(answers=2, keep_finished_seconds=DAY)
    timed_queue.enqueue({})
    for person in ("ann", "bob"):
        timed_queue.finish(take(timed_queue, person), {"v": 1})
    first, last = (
        int(at) for _, at in server.redis.zrange(Keys(timed_queue.name).finished, 0, -1, withscores=True)
    )
    assert first < last
    clock.now = last - 1 + DAY * 1_000_000
    assert timed_queue.clear().forgotten == 0
    clock.now += 2
    assert timed_queue.clear().forgotten == 1

"""Retention: clear deletes finished items that are older than the policy allows, with all their data, once
every consumer of the journal has read their events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine import codec
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.conftest import Sets
from tests.engine.guarantees.test_cost import MOST, command_counts, commands_per_script
from tests.support.leases import not_none, take

DAY = 86_400
GROUP, READER = "bridge", "one"
Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def daily(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.configure(keep_finished_seconds=DAY, holds=100)
    return timed_queue


def finish(queue: leaseq.Queue, *ids: str) -> None:
    queue.enqueue_many(NewItem({"n": id}, id=id) for id in ids)
    for _ in ids:
        queue.finish(not_none(queue.reserve("ann")), {"v": 1})


def group(server: Server, queue: leaseq.Queue) -> None:
    server.redis.xgroup_create(Keys(queue.name).journal, GROUP, "0")


def read(server: Server, queue: leaseq.Queue, count: int) -> list[bytes]:
    reply = server.redis.xreadgroup(GROUP, READER, {Keys(queue.name).journal: ">"}, count=count)
    return [entry for _, entries in reply for entry, _ in entries]


def acknowledge(server: Server, queue: leaseq.Queue, entries: list[bytes]) -> None:
    server.redis.xack(Keys(queue.name).journal, GROUP, *entries)


def test_clear_forgets_only_items_past_retention_time(daily: leaseq.Queue, clock: Clock, sets: Sets) -> None:
    finish(daily, "a", "b")
    clock.tick(DAY / 2)
    finish(daily, "c")
    assert daily.clear().forgotten == 0
    clock.tick(DAY / 2 - 1)
    assert daily.clear().forgotten == 0
    clock.tick(2)
    assert daily.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=2)
    assert sets()["finished"] == ["c"]
    assert [event.id for event in daily.journal() if event.what == "forgotten"] == ["a", "b"]
    assert daily.stats().counters["forgotten"] == 2
    assert daily.stats().counters["finished"] == 3
    clock.tick(DAY)
    assert daily.clear().forgotten == 1


def test_item_is_forgotten_when_exactly_the_retention_time_has_passed(
    daily: leaseq.Queue, clock: Clock
) -> None:
    finish(daily, "a")
    assert daily.clear().forgotten == 0
    clock.now = codec.microseconds(daily.get("a").answers[0].finished_at) + DAY * 1_000_000 - 1
    assert daily.clear().forgotten == 0
    clock.now += 1
    assert daily.clear().forgotten == 1


def test_forgotten_item_leaves_no_data(daily: leaseq.Queue, clock: Clock, server: Server) -> None:
    daily.enqueue({"n": 1}, id="gone-item", due=codec.to_datetime(clock.now), requires=["fr"])
    lease = not_none(daily.reserve("ann", skills=["fr"]))
    daily.save_draft(lease, {"half": 1})
    daily.abandon(lease)
    first = not_none(daily.reserve("bob", skills=["fr"]))
    daily.save_draft(first, {"half": 2})
    clock.tick(301)
    daily.clear()
    daily.finish(not_none(daily.reserve("cyd", skills=["fr"])), {"v": 1})
    with pytest.raises(leaseq.LeaseLost) as error:
        daily.finish(first, {"v": 2})
    assert error.value.answer_kept
    clock.tick(DAY + 1)
    assert daily.clear().forgotten == 1
    contents = server_contents.everything(server.redis, daily.name)
    assert not [
        key for key, value in contents.items() if b":journal" not in key and "gone-item" in str(value)
    ]
    with pytest.raises(leaseq.ItemNotFound):
        daily.get("gone-item")
    assert daily.enqueue({"n": 1}, id="gone-item").added


def test_clear_limit_applies_to_forgotten_items(daily: leaseq.Queue, clock: Clock) -> None:
    finish(daily, *(f"{n:03}" for n in range(150)))
    clock.tick(DAY + 1)
    assert daily.clear(limit=100) == leaseq.Cleared(0, 0, 0, more=True, forgotten=100)
    assert daily.clear(limit=50) == leaseq.Cleared(0, 0, 0, more=False, forgotten=50)
    assert daily.stats().finished == 0


def test_expired_leases_are_cleared_before_items_are_forgotten(
    daily: leaseq.Queue, clock: Clock, take: Take
) -> None:
    finish(daily, "a", "b")
    daily.enqueue_many([{}, {}])
    take("bob"), take("bob")
    clock.tick(DAY + 1)
    assert daily.clear(limit=3) == leaseq.Cleared(2, 0, 0, more=True, forgotten=1)


@pytest.mark.parametrize("before", [None, 10 * DAY])
def test_changed_retention_applies_immediately(
    timed_queue: leaseq.Queue, clock: Clock, before: float | None
) -> None:
    timed_queue.configure(keep_finished_seconds=before)
    finish(timed_queue, "a")
    clock.tick(DAY)
    assert timed_queue.clear().forgotten == 0
    timed_queue.configure(keep_finished_seconds=60)
    assert timed_queue.clear().forgotten == 1
    finish(timed_queue, "b")
    timed_queue.configure(keep_finished_seconds=None)
    clock.tick(DAY)
    assert timed_queue.clear().forgotten == 0


def test_script_examines_item_with_missing_answers_once(daily: leaseq.Queue, clock: Clock) -> None:
    """Calls the script directly: ``clear`` repeats it until nothing is left to do."""
    daily.configure(answers=2)
    daily.enqueue({})
    daily.finish(not_none(daily.reserve("ann")), {})
    clock.tick(DAY + 1)
    returned, released, died, more, forgotten, _ = (
        int(count) for count in daily._commands.run("clear", 40).rest
    )
    assert (returned, released, died, more, forgotten) == (0, 0, 0, 0, 0)


def test_item_with_several_answers_is_forgotten_when_last_answer_is_old(
    daily: leaseq.Queue, clock: Clock, sets: Sets
) -> None:
    daily.configure(answers=2)
    daily.enqueue_many(NewItem({}, id=id) for id in ("a", "b"))
    daily.finish(not_none(daily.reserve("ann")), {})
    daily.finish(not_none(daily.reserve("ann")), {})
    clock.tick(DAY + 1)
    assert daily.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=0)
    daily.finish(not_none(daily.reserve("bob")), {})
    clock.tick(DAY / 2)
    assert daily.clear().forgotten == 0
    clock.tick(DAY / 2 + 1)
    assert daily.clear().forgotten == 1
    assert [daily.get("b").state, *sets()["finished"]] == ["inbound", "b"]


def test_more_is_false_for_item_with_missing_answers(daily: leaseq.Queue, clock: Clock) -> None:
    daily.configure(answers=3)
    daily.enqueue({})
    daily.finish(not_none(daily.reserve("ann")), {})
    daily.reserve("bob")
    clock.tick(DAY + 1)
    assert daily.clear(limit=1) == leaseq.Cleared(1, 0, 0, more=False, forgotten=0)


def test_item_is_kept_until_each_answer_is_old(daily: leaseq.Queue, clock: Clock) -> None:
    daily.configure(answers=2)
    daily.enqueue({}, id="a")
    daily.finish(not_none(daily.reserve("ann")), {})
    clock.tick(DAY / 2)
    daily.finish(not_none(daily.reserve("bob")), {})
    clock.tick(DAY / 2 + 1)
    assert daily.clear().forgotten == 0
    assert len(daily.get("a").answers) == 2
    clock.tick(DAY / 2)
    assert daily.clear().forgotten == 1


@pytest.mark.not_on("cluster")  # its statistics are for one node
@pytest.mark.parametrize("later_ids", [(), ("b", "c")], ids=["all-go", "some-stay"])
def test_clear_cost_is_bounded_and_minimal_without_work(
    daily: leaseq.Queue, clock: Clock, server: Server, later_ids: tuple[str, ...]
) -> None:
    finish(daily, *(f"{n:03}" for n in range(100)))
    clock.tick(DAY + 1)
    finish(daily, *later_ids)
    assert commands_per_script(server.redis, lambda: daily.clear(limit=80)) <= MOST
    daily.clear()
    clock.tick(1)
    assert command_counts(server.redis, daily.clear) == {"evalsha": 1, "hmget": 1}


@pytest.mark.not_on("cluster")  # its statistics are for one node
def test_clear_cost_is_bounded_for_items_abandoned_by_many_people(
    daily: leaseq.Queue, clock: Clock, server: Server
) -> None:
    daily.configure(holds=40)
    daily.enqueue_many(NewItem({}, id=f"{n:02}") for n in range(40))
    for n in range(50):
        for lease in [take(daily, f"person {n}") for _ in range(40)]:
            daily.abandon(lease)
    for _ in range(40):
        daily.finish(not_none(daily.reserve("ann")), {})
    clock.tick(DAY + 1)
    assert commands_per_script(server.redis, lambda: daily.clear(limit=40)) <= MOST
    assert daily.stats().finished == 0
    assert not list(server.redis.scan_iter(match=f"*{{{daily.name}}}:later:*", count=10_000))


def test_item_is_kept_until_consumer_acknowledges_its_events(
    daily: leaseq.Queue, clock: Clock, server: Server, sets: Sets
) -> None:
    group(server, daily)
    finish(daily, "a", "b", "c")  # entries: created, enqueued, and for each item reserved and finished
    clock.tick(DAY + 1)
    assert daily.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=0)
    entries = read(server, daily, 4)
    assert daily.clear().forgotten == 0  # read, but not acknowledged
    acknowledge(server, daily, entries[1:])
    assert daily.clear().forgotten == 0
    acknowledge(server, daily, entries[:1])
    assert daily.clear().forgotten == 1
    assert sets()["finished"] == ["b", "c"]
    acknowledge(server, daily, read(server, daily, 100))
    assert daily.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=2)


def test_item_is_kept_until_slowest_consumer_reads_its_events(
    daily: leaseq.Queue, clock: Clock, server: Server
) -> None:
    server.redis.xgroup_create(Keys(daily.name).journal, "a-slow-one", "0")
    server.redis.xgroup_create(Keys(daily.name).journal, "z-quick-one", "$")
    finish(daily, "a")
    server.redis.xgroup_setid(Keys(daily.name).journal, "z-quick-one", "$")
    clock.tick(DAY + 1)
    assert daily.clear().forgotten == 0
    server.redis.xgroup_setid(Keys(daily.name).journal, "a-slow-one", "$")
    assert daily.clear().forgotten == 1


def test_item_is_kept_until_consumer_reads_late_answer(
    daily: leaseq.Queue, clock: Clock, server: Server
) -> None:
    group(server, daily)
    daily.enqueue({}, id="a")
    first = not_none(daily.reserve("ann"))
    clock.tick(301)
    daily.clear()
    daily.finish(not_none(daily.reserve("bob")), {"v": 1})
    acknowledge(server, daily, read(server, daily, 100))
    with pytest.raises(leaseq.LeaseLost):
        daily.finish(first, {"v": 2})
    clock.tick(DAY + 1)
    assert daily.clear() == leaseq.Cleared(0, 0, 0, more=False, forgotten=0)
    acknowledge(server, daily, read(server, daily, 100))
    assert daily.clear().forgotten == 1

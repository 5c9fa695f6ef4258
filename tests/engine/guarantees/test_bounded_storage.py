"""What a queue keeps about removed items and absent people is bounded."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.guarantees.test_cost import MOST, commands_per_script, own_redis, server_url  # noqa: F401 - a fixture
from tests.support.leases import not_none, take

DAY = 86_400
# The ledger's fields in a queue without items and people.
SETTINGS = {"status", "rules", "durable", "form", "title", "instructions", "alerts"}
OWN = {"mixed", "retention", "request", "tidy"}
skills = itertools.cycle([("fr",), ("fr", "legal"), ("de",)])

Take = Callable[..., leaseq.Lease]


def days_pass(queue: leaseq.Queue, clock: Clock, days: int, each: int = 1) -> None:
    """Let days pass with a running clear job, which is called less often than in reality."""
    for _ in range(days // each):
        clock.tick(each * DAY)
        for _ in range(12):
            queue.clear()


def key_sizes(server: Server, queue: leaseq.Queue) -> dict[str, int]:
    """Return each key and its size, except the journal, which has its own bound."""
    prefix = len(Keys(queue.name).ledger) - len("ledger")
    state = server_contents.everything(server.redis, queue.name)
    return {
        key.decode()[prefix:]: len(value)  # type: ignore[arg-type]
        for key, value in state.items()
        if key != Keys(queue.name).journal.encode()
    }


def fields(server: Server, queue: leaseq.Queue) -> set[str]:
    return {name.decode() for name in server.redis.hkeys(Keys(queue.name).ledger)}


def work(queue: leaseq.Queue, clock: Clock, people: list[str]) -> None:
    """Let people do everything that leaves data behind."""
    for n, person in enumerate(people):
        own_skills = next(skills)
        queue.enqueue_many([NewItem({"n": n}, requires=own_skills), {"n": n}, {"n": n}, {"n": n}])
        first = queue.reserve(person, skills=own_skills)
        second = queue.reserve(person, skills=own_skills)
        third = queue.reserve(person, skills=own_skills)
        if first:
            queue.save_draft(first, {"half": n})
            queue.abandon(first, again=bool(n % 2))
        if second:
            queue.finish(second, {"n": n})
        if third:
            queue.fail(third, "torn")
        waiting_items = queue.items("inbound", limit=1)
        with contextlib.suppress(leaseq.Invalid):
            queue.assign(waiting_items[0].id, person)
        fourth = queue.reserve(person, skills=own_skills)
        fifth = queue.reserve(person, skills=own_skills)
        clock.tick(61)
        queue.reserve("somebody", skills=("de", "fr", "legal"))
        for lease in (fourth, fifth):
            if lease:
                with contextlib.suppress(leaseq.LeaseLost):
                    queue.finish(lease, {"late": n})
        queue.reserve(person, skills=own_skills)
        clock.tick(61)


@pytest.mark.parametrize("answers", [1, 2])
@pytest.mark.parametrize("people", [5, 60])
def test_queue_without_items_and_people_keeps_only_settings_and_counters(
    server: Server,
    timed_queue: leaseq.Queue,
    clock: Clock,
    answers: int,
    people: int,
    record_property: Callable[[str, object], None],
) -> None:
    timed_queue.configure(answers=answers, holds=3, lease_seconds=60, max_attempts=9, dedupe_seconds=0)
    work(timed_queue, clock, [f"person {n}" for n in range(people)])
    for state in ("reserved", "inbound", "scheduled", "dead", "finished"):
        for item in [*timed_queue._walk(state, 100)]:
            with contextlib.suppress(leaseq.ItemNotFound):
                timed_queue.remove(item.id)
    days_pass(timed_queue, clock, 200, each=20)
    sizes = key_sizes(server, timed_queue)
    record_property("figure", f"left of a queue without items, after {people} people: {sizes}")
    assert set(sizes) == {"ledger"}
    assert {name for name in fields(server, timed_queue) if not name.startswith("n:")} <= SETTINGS | OWN


def test_storage_does_not_grow_in_year_of_changing_people(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    """Finished items are forgotten after a day; some waiting items are never reserved."""
    timed_queue.configure(answers=2, holds=3, lease_seconds=60, max_attempts=3, keep_finished_seconds=DAY)
    timed_queue.enqueue_many([NewItem({}, id=f"nobody can {n}", requires=("latin",)) for n in range(3)])
    sizes = []
    for month in range(12):
        work(timed_queue, clock, [f"person {month}.{n}" for n in range(8)])
        days_pass(timed_queue, clock, 30, each=5)
        for item in timed_queue.items("dead"):
            with contextlib.suppress(leaseq.ItemNotFound):
                timed_queue.remove(item.id)
        for old_item in timed_queue.items("inbound", limit=1_000):
            if not old_item.id.startswith("nobody"):
                with contextlib.suppress(leaseq.ItemNotFound):
                    timed_queue.remove(old_item.id)
        sizes.append(key_sizes(server, timed_queue))
        sizes[-1]["people"] = sum(name.startswith("p:") for name in fields(server, timed_queue))
    people = 8 + 1  # in a month
    for month_sizes in sizes:
        assert month_sizes.get("people", 0) <= people, "people of this month"
        assert month_sizes.get("cursors", 0) <= 4 * people, "people of this month and the last three"
        assert sum(key.startswith("later:") for key in month_sizes) <= 2 * 4 * people
    assert sum(sizes[-1].values()) <= max(sum(month_sizes.values()) for month_sizes in sizes[:6])


def person_record(server: Server, queue: leaseq.Queue, person: str) -> bytes | None:
    """Return the ledger's record of a person."""
    holdings: bytes | None = server.redis.hget(Keys(queue.name).ledger, f"p:{person}")
    return holdings


def test_declined_item_is_not_reserved_after_record_of_person_is_removed(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("a", "b", "c"))
    timed_queue.abandon(take("ann"), again=False)
    timed_queue.abandon(take("ann"), again=True)
    days_pass(timed_queue, clock, 20)
    assert person_record(server, timed_queue, "ann") is None
    ids = []
    while lease := timed_queue.reserve("ann"):
        ids.append(lease.id)
        timed_queue.finish(lease, {})
    assert ids == ["c", "b"]
    assert timed_queue.reserve("bob") is not None


def test_late_answer_is_accepted_after_record_of_person_is_removed(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take("ann")
    days_pass(timed_queue, clock, 20)
    assert person_record(server, timed_queue, "ann") is None
    assert timed_queue.finish(lease, {"v": 1}).late
    assert timed_queue.get("a").state == "finished"


def test_record_of_person_with_lease_or_activity_this_week_is_kept(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(lease_seconds=7 * DAY, holds=2)
    timed_queue.enqueue_many([{}, {}])
    timed_queue.finish(take("bob"), {})
    lease = take("ann")
    for _ in range(4):
        days_pass(timed_queue, clock, 5)
        lease = timed_queue.renew(lease)
    assert [one.id for one in timed_queue.mine("ann")] == [lease.id]
    assert person_record(server, timed_queue, "bob") is None
    timed_queue.finish(lease, {})
    days_pass(timed_queue, clock, 5)
    assert person_record(server, timed_queue, "ann") is not None


def test_cursor_is_removed_when_no_passed_over_item_is_left(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    """The cursor is removed within days; a cursor that is still needed stays."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue_many([NewItem({}, id=id, requires=("fr",)) for id in ("a", "b")])
    for person in ("ann", "bob"):
        for _ in range(2):
            timed_queue.finish(not_none(timed_queue.reserve(person, skills=("fr",))), {})
        assert timed_queue.reserve(person, skills=("fr",)) is None
    timed_queue.enqueue_many(
        [NewItem({}, id="c", requires=("de",)), NewItem({}, id="newer", requires=("fr",))]
    )
    timed_queue.abandon(not_none(timed_queue.reserve("cyd", skills=("de",))), again=False)
    assert timed_queue.reserve("cyd", skills=("de",)) is None
    assert timed_queue.reserve("dan", skills=("fr",)) is not None, (
        "its second assignment then waits on the same shelf"
    )
    assert server.redis.hlen(Keys(timed_queue.name).cursors) >= 2
    days_pass(timed_queue, clock, 3)
    assert server.redis.hkeys(Keys(timed_queue.name).cursors) == [b"cyd"]
    assert timed_queue.reserve("cyd", skills=("de",)) is None
    timed_queue.remove("newer")
    days_pass(timed_queue, clock, 2)
    assert server.redis.hkeys(Keys(timed_queue.name).rows) == [b"de"]


def test_person_absent_for_months_gets_all_items_except_declined_one(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(holds=3)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("never", "later", "new"))
    timed_queue.abandon(take("ann"), again=False)
    timed_queue.abandon(take("ann"))
    new = take("ann")
    assert take("ann").id == "later", "nothing else is left"
    clock.tick(301)
    timed_queue.clear()
    timed_queue.abandon(take("ann")) if new.id != "new" else None
    keys = Keys(timed_queue.name)
    assert server.redis.hexists(keys.cursors, "ann")
    days_pass(timed_queue, clock, 120, each=20)
    assert not server.redis.exists(keys.cursors)
    assert not [key for key in key_sizes(server, timed_queue) if key.startswith("later:")]
    assert sorted(take("ann").id for _ in range(2)) == ["later", "new"]
    assert timed_queue.reserve("ann") is None


def test_postponed_items_finished_by_others_are_removed_for_busy_person(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, take: Take
) -> None:
    timed_queue.configure(holds=100, lease_seconds=7 * DAY)
    for day in range(10):
        timed_queue.enqueue_many([{}] * 30)
        leases = [take("ann") for _ in range(10)]
        for lease in leases:
            timed_queue.abandon(lease)
        last_lease = take("ann")
        for _ in range(10 + 19):
            timed_queue.finish(take("bob"), {})
        timed_queue.finish(last_lease, {})
        days_pass(timed_queue, clock, 1)
        count = server.redis.zcard(f"{Keys(timed_queue.name).inbound[: -len('inbound')]}later::ann")
        assert count <= 20, f"day {day}"


def test_removing_assigned_item_removes_its_postponement(
    server: Server, timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take("ann"))
    timed_queue.assign("a", "bob")
    timed_queue.remove("a")
    assert not [key for key in key_sizes(server, timed_queue) if key.startswith("later:")]


def test_clear_removes_data_of_absent_people_in_bounded_steps(own_redis: Any, clock: Clock) -> None:  # noqa: F811
    """Many people are absent, and each had postponed many items that others then finished."""
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "many-gone", clock=clock)
    queue.configure(answers=2, holds=100)
    queue.enqueue_many([{}] * 70)
    people = [f"p{n:03}" for n in range(100)]
    for person in people:
        for _ in range(12):
            queue.abandon(not_none(queue.reserve(person)))
    clock.tick(DAY)
    for _ in range(30):
        assert commands_per_script(own_redis, queue.clear) <= MOST
    leases = [take(queue, "p000") for _ in range(70)]
    for lease in leases:
        queue.abandon(lease)
    keys = Keys(queue.name)
    assert own_redis.hlen(keys.cursors) == len(people)
    for _ in range(140):
        queue.finish(not_none(queue.reserve("q1") or queue.reserve("q2")), {})
    clock.tick(2 * DAY)
    for _ in range(200):
        assert commands_per_script(own_redis, queue.clear) <= MOST
    assert own_redis.hkeys(keys.cursors) == []
    assert list(own_redis.scan_iter(match=f"leaseq:{{{queue.name}}}:later:*", count=10_000)) == []
    assert own_redis.hlen(keys.ledger) > len(people), "people's records are kept for a week"
    for days in (8, 1):
        clock.tick(days * DAY)
        for _ in range(100):
            assert commands_per_script(own_redis, queue.clear) <= MOST
    assert not [name for name in own_redis.hkeys(keys.ledger) if name.startswith(b"p:")]

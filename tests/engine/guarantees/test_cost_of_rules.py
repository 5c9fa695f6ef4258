"""Guarantees 9 and 10 with the rules for people: several answers, a hundred sets of skills, and a person who
passed over many items. Commands are counted; no time is measured."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
import redis

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock
from tests.engine.guarantees.test_cost import MOST, command_counts, commands_per_script, own_redis, server_url  # noqa: F401 - a fixture
from tests.support.leases import not_none, take

SKIPS = 150
SKILLS = [f"s{n}" for n in range(16)]


def queue_with_history(server: redis.Redis, name: str, waiting_count: int, **policy: Any) -> leaseq.Queue:
    """A queue where ann declined many items permanently, and postponed as many."""
    queue = leaseq.Queue(leaseq.connect(server_url(server)), name, clock=Clock())
    queue.configure(lease_seconds=10_000, **policy)
    queue.enqueue_many(
        NewItem({}, requires=(f"s{n % 100}",) if n < 300 else ()) for n in range(waiting_count)
    )
    for n in range(2 * SKIPS):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.abandon(lease, again=n % 2 == 0)
    return queue


def costs_of_calls(server: redis.Redis, queue: leaseq.Queue, person: str) -> dict[str, dict[str, int]]:
    leases: list[leaseq.Lease] = []

    def take(lease: leaseq.Lease | None) -> None:
        assert lease is not None
        leases.append(lease)

    counts = {"reserve": command_counts(server, lambda: take(queue.reserve(person)))}
    counts["finish and next"] = command_counts(
        server, lambda: take(queue.finish(leases[0], {}, then_reserve=True).next)
    )
    counts["later"] = command_counts(server, lambda: queue.abandon(leases[1]))
    take(queue.reserve(person))
    counts["never"] = command_counts(server, lambda: queue.abandon(leases[2], again=False))
    take(queue.reserve(person, skills=SKILLS[:3]))
    counts["finish"] = command_counts(server, lambda: queue.finish(leases[3], {}))
    counts["reserve with skills"] = command_counts(
        server, lambda: take(queue.reserve(person, skills=["s10"]))
    )
    counts["release"] = command_counts(server, lambda: queue.release(leases[4].id))
    counts["assign"] = command_counts(server, lambda: queue.assign(leases[4].id, "zoe"))
    counts["reserve an assigned item"] = command_counts(server, lambda: take(queue.reserve("zoe")))
    counts["enqueue one"] = command_counts(server, lambda: queue.enqueue({}, id="changed", priority=200))
    counts["change"] = command_counts(server, lambda: queue.change("changed", priority=1))
    counts["change back"] = command_counts(
        server, lambda: queue.change("changed", priority=200, requires=["s10"])
    )
    queue.remove("changed")
    counts["fail"] = command_counts(server, lambda: queue.fail(leases[5], "no"))
    counts["enqueue"] = command_counts(server, lambda: queue.enqueue({}, requires=["s10"]))
    counts["why nothing"] = command_counts(server, lambda: queue.why_nothing(person))
    counts["stats"] = command_counts(server, queue.stats)
    return counts


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("person", ["ann", "newcomer"])
def test_call_runs_same_commands_in_small_and_large_queue(
    own_redis: redis.Redis,  # noqa: F811
    answers: int,
    person: str,
) -> None:
    name = f"{answers}.{person}"
    small = queue_with_history(own_redis, f"small.{name}", 1_000, answers=answers)
    large = queue_with_history(own_redis, f"large.{name}", 5_000, answers=answers)
    for queue in (small, large):  # loads every script, and moves their cursors past these items
        costs_of_calls(own_redis, queue, person)
    assert costs_of_calls(own_redis, large, person) == costs_of_calls(own_redis, small, person)


def test_many_passed_over_items_cost_person_commands_only_once(own_redis: redis.Redis) -> None:  # noqa: F811
    queue = queue_with_history(own_redis, "skips", 1_000)
    costs = {}
    for person in ("ann", "newcomer"):
        lease = queue.reserve(person)
        assert lease is not None
        queue.abandon(lease)
        queue.reserve(person)
        queue.release(queue.mine(person)[0].id)
        costs[person] = sum(command_counts(own_redis, partial(queue.reserve, person)).values())
    assert costs["ann"] <= costs["newcomer"] + 10


@pytest.fixture(scope="module")
def crowded(own_redis: redis.Redis) -> leaseq.Queue:  # noqa: F811
    """A hundred sets of skills in three bands, several answers, and everybody has passed over many items."""
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "crowded-rules", clock=Clock())
    queue.configure(lease_seconds=10_000, answers=5, holds=20, max_abandons=50)
    queue.enqueue_many(
        NewItem({}, f"{n}", (10, 100, 200)[n % 3], requires=(f"t{n % 100}",)) for n in range(1_200)
    )
    queue.enqueue_many(NewItem({}, f"plain{n}") for n in range(300))
    for n in range(900):
        lease = queue.reserve(f"p{n % 60}", skills=[f"t{m}" for m in range(n % 13)])
        if lease and n % 3:
            queue.abandon(lease, again=n % 2 == 0)
    for n in range(40):
        queue.reserve(f"q{n}", skills=[f"t{n}"])
    return queue


SCRIPTS: dict[str, Callable[[leaseq.Queue], object]] = {
    "reserve": lambda queue: queue.reserve("new"),
    "reserve with sixteen skills": lambda queue: queue.reserve("able", skills=[f"t{m}" for m in range(16)]),
    "reserve after many items were passed over": lambda queue: queue.reserve("p8"),
    "why nothing": lambda queue: queue.why_nothing("p9", [f"t{m}" for m in range(16)]),
    "stats": lambda queue: queue.stats(),
    "inbound": lambda queue: queue.page("inbound", limit=500),
    "get": lambda queue: queue.get("plain0"),
    "release": lambda queue: queue.release("plain1"),
    "assign": lambda queue: queue.assign("plain250", "zoe"),
    "unassign": lambda queue: queue.unassign("plain250"),
    "unassign all": lambda queue: queue.unassign_all("zoe"),
    "waiting rows": lambda queue: queue.waiting_rows(),
    "change": lambda queue: queue.change("plain251", priority=1, requires=["t1"]),
    "revive": lambda queue: queue.revive("plain3"),
    "remove": lambda queue: queue.remove("plain4"),
    "enqueue": lambda queue: queue.enqueue_many(NewItem({}, requires=(f"u{n % 250}",)) for n in range(500)),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_runs_bounded_number_of_commands(
    own_redis: redis.Redis,  # noqa: F811
    crowded: leaseq.Queue,
    name: str,
) -> None:
    assert commands_per_script(own_redis, lambda: SCRIPTS[name](crowded)) <= MOST


def test_calls_on_item_with_100_answers_run_bounded_number_of_commands(own_redis: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "hundred", clock=Clock())
    queue.configure(lease_seconds=10_000, answers=100, max_abandons=200)
    queue.enqueue({}, id="a")
    leases = [take(queue, f"p{n}") for n in range(100)]
    for n in range(0, 60, 2):
        queue.abandon(leases[n])
    calls: list[Callable[[], object]] = [
        lambda: queue.reserve("new"),
        lambda: queue.finish(leases[61], {}),
        lambda: queue.finish(leases[63], {}, then_reserve=True),
        lambda: queue.abandon(leases[65], again=False),
        lambda: queue.fail(leases[67], "no"),
        lambda: queue.save_draft(leases[69], {}),
        lambda: queue.renew(leases[71]),
        lambda: queue.assign("a", "zoe"),
        lambda: queue.change("a", priority=1, requires=["fr"]),
        lambda: queue.change("a", requires=(), delay=60),
        lambda: queue.change("a", due=datetime(2027, 1, 1, tzinfo=UTC), delay=0),
        lambda: queue.reserve("p0"),
        lambda: queue.why_nothing("p0"),
        lambda: queue.get("a"),
        queue.stats,
        lambda: queue.release("a"),
        lambda: queue.remove("a"),
    ]
    for call in calls:
        # All hundred in one call; each takes a few microseconds.
        assert commands_per_script(own_redis, call) <= 2 * MOST


def test_reserve_past_declined_items_runs_bounded_number_of_commands(own_redis: redis.Redis) -> None:  # noqa: F811
    clock = Clock()
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "barred", clock=clock)
    queue.configure(holds=100)
    queue.enqueue_many([{}] * 400)
    for _ in range(400):
        queue.abandon(not_none(queue.reserve("ann")), again=False)
    for n in range(400):
        queue.reserve(f"p{n % 4}")
    clock.tick(301)
    queue.clear()  # after everything that she has passed over
    assert commands_per_script(own_redis, lambda: queue.reserve("ann")) <= 400


def test_reserve_past_held_items_runs_bounded_number_of_commands(own_redis: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "beside", clock=Clock())
    queue.configure(answers=100, holds=100, max_abandons=200)
    queue.enqueue_many([{}] * 30)
    for _ in range(30):
        queue.reserve("ann")
    leases = [take(queue, f"p{n}") for n in range(25) for _ in range(30)]
    for lease in leases:
        queue.abandon(lease)
    for _ in range(2):  # first other assignments of held items, then the items thereby postponed
        assert commands_per_script(own_redis, lambda: queue.reserve("ann")) <= 2 * MOST
    # Each examined item of the 750 that they postponed takes one ZSCORE.
    assert command_counts(own_redis, lambda: queue.reserve("ann"))["zscore"] == 400


def test_reserve_skips_postponed_items_finished_by_others_in_several_calls(
    own_redis: redis.Redis,  # noqa: F811
) -> None:
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "others-did", clock=Clock())
    queue.enqueue_many(NewItem({}, id=f"{n}") for n in range(250))
    for _ in range(250):
        queue.abandon(take(queue, "ann"))
    for _ in range(249):
        queue.finish(take(queue, "bob"), {})
    leases: list[leaseq.Lease] = []
    counts = command_counts(own_redis, lambda: leases.append(take(queue, "ann")))
    assert leases[0].id == "249"
    assert counts["evalsha"] == 3, "each call examines a hundred"


@pytest.mark.parametrize(("people", "items_each"), [(600, 1), (1, 600)])
def test_clear_examines_bounded_number_of_postponed_items(
    own_redis: redis.Redis,  # noqa: F811
    clock: Clock,
    people: int,
    items_each: int,
) -> None:
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), f"a-little.{people}", clock=clock)
    queue.enqueue_many([{}] * items_each)
    for n in range(people):
        for _ in range(items_each):
            queue.abandon(take(queue, f"person {n}"))
    clock.tick(86_400 + 1)  # clear is due to examine the data of people
    for _ in range(100):
        counts = command_counts(own_redis, queue.clear)
        assert sum(counts.values()) <= 200
        assert counts.get("zscore", 0) <= 50, "each examined item takes one"
    (next_step,) = own_redis.hmget(Keys(queue.name).ledger, "tidy")
    assert next_step is not None
    assert int(next_step.split()[0]) >= clock.now + 86_400_000_000, (
        "all people were examined, and the next round is due tomorrow"
    )


@pytest.mark.parametrize(("shelves", "people_count"), [(3, 2), (4, 1)])
def test_clear_examines_next_person_until_300_commands_have_run(
    own_redis: redis.Redis,  # noqa: F811
    clock: Clock,
    shelves: int,
    people_count: int,
) -> None:
    """Each person postponed 97 items at 3 commands each, in two rows at 2 each. One more command writes the
    result. With one for each shelf, these are 299 or 300."""
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), f"one-more.{shelves}", clock=clock)
    items = [NewItem({}, priority=1), *[NewItem({})] * 49, *[NewItem({}, requires=("fr",))] * 46]
    items.append(NewItem({}, requires=("fr",), priority=1 if shelves == 4 else 100))
    queue.enqueue_many(items)
    for person in ("ann", "bob", "cyd"):
        for _ in items:
            queue.abandon(take(queue, person, "fr"))
    clock.tick(86_400 + 1)
    walk = [command_counts(own_redis, queue.clear) for _ in range(9)]
    counts = next(
        step for step in walk if "zscore" in step
    )  # after the calls that examine the records of people
    assert counts["zscore"] == people_count * len(items), "each examined item takes one"
    assert sum(counts.values()) <= people_count * 300 + 12


def test_reserve_reads_no_rows_if_no_item_is_restricted(own_redis: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "no-rows", clock=Clock())
    queue.configure(answers=2)
    queue.enqueue_many([{}] * 2)
    assert "hgetall" not in command_counts(own_redis, lambda: take(queue, "ann"))


def test_full_page_reads_no_further_rows(own_redis: redis.Redis) -> None:  # noqa: F811
    def cost(rows: int) -> dict[str, int]:
        queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), f"rows.{rows}", clock=Clock())
        queue.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(rows))
        queue.page("inbound", limit=1)  # loads the script
        return command_counts(own_redis, lambda: queue.page("inbound", limit=1))

    assert cost(300) == cost(3)


def test_with_few_skills_only_the_rows_of_their_sets_are_read(own_redis: redis.Redis) -> None:  # noqa: F811
    """There are 100 rows, and 8 sets of 3 skills."""
    queue = leaseq.Queue(leaseq.connect(server_url(own_redis)), "rows")
    queue.configure()
    queue.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(100))
    counts = command_counts(own_redis, lambda: not_none(queue.reserve("ann", skills=SKILLS[:3])))
    assert "hgetall" not in counts

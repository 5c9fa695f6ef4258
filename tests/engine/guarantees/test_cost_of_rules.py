"""Guarantees 9 and 10 with the rules for people: several answers, a hundred sets of skills, and a person who
passed many items over. By counting commands, never by the clock."""

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
from tests.engine.guarantees.test_cost import MOST, alone, counted, largest, server_url  # noqa: F401 - a fixture
from tests.support.taking import not_none, take

SKIPS = 150
SKILLS = [f"s{n}" for n in range(16)]


def lived(server: redis.Redis, name: str, waiting: int, **policy: Any) -> leaseq.Queue:
    """A queue where ann passed over many items for good, and as many for later."""
    queue = leaseq.Queue(leaseq.connect(server_url(server)), name, clock=Clock())
    queue.configure(lease_seconds=10_000, **policy)
    queue.enqueue_many(NewItem({}, requires=(f"s{n % 100}",) if n < 300 else ()) for n in range(waiting))
    for n in range(2 * SKIPS):
        lease = queue.reserve("ann")
        assert lease is not None
        queue.abandon(lease, again=n % 2 == 0)
    return queue


def a_day(server: redis.Redis, queue: leaseq.Queue, person: str) -> dict[str, dict[str, int]]:
    given: list[leaseq.Lease] = []

    def take(lease: leaseq.Lease | None) -> None:
        assert lease is not None
        given.append(lease)

    counts = {"reserve": counted(server, lambda: take(queue.reserve(person)))}
    counts["finish and next"] = counted(
        server, lambda: take(queue.finish(given[0], {}, then_reserve=True).next)
    )
    counts["later"] = counted(server, lambda: queue.abandon(given[1]))
    take(queue.reserve(person))
    counts["never"] = counted(server, lambda: queue.abandon(given[2], again=False))
    take(queue.reserve(person, skills=SKILLS[:3]))
    counts["finish"] = counted(server, lambda: queue.finish(given[3], {}))
    counts["reserve with skills"] = counted(server, lambda: take(queue.reserve(person, skills=["s10"])))
    counts["release"] = counted(server, lambda: queue.release(given[4].id))
    counts["assign"] = counted(server, lambda: queue.assign(given[4].id, "zoe"))
    counts["reserve what is assigned"] = counted(server, lambda: take(queue.reserve("zoe")))
    counts["enqueue one"] = counted(server, lambda: queue.enqueue({}, id="changed", priority=200))
    counts["change"] = counted(server, lambda: queue.change("changed", priority=1))
    counts["change back"] = counted(server, lambda: queue.change("changed", priority=200, requires=["s10"]))
    queue.remove("changed")
    counts["fail"] = counted(server, lambda: queue.fail(given[5], "no"))
    counts["enqueue"] = counted(server, lambda: queue.enqueue({}, requires=["s10"]))
    counts["why nothing"] = counted(server, lambda: queue.why_nothing(person))
    counts["stats"] = counted(server, queue.stats)
    return counts


@pytest.mark.parametrize("answers", [1, 3])
@pytest.mark.parametrize("person", ["ann", "newcomer"])
def test_a_move_costs_the_same_in_a_large_queue(alone: redis.Redis, answers: int, person: str) -> None:  # noqa: F811
    name = f"{answers}.{person}"
    small = lived(alone, f"small.{name}", 1_000, answers=answers)
    large = lived(alone, f"large.{name}", 20_000, answers=answers)
    for queue in (small, large):  # so that every script is loaded, and they looked past what they passed over
        a_day(alone, queue, person)
    assert a_day(alone, large, person) == a_day(alone, small, person)


def test_skipping_many_items_costs_a_person_once(alone: redis.Redis) -> None:  # noqa: F811
    queue = lived(alone, "skips", 1_000)
    costs = {}
    for person in ("ann", "newcomer"):
        lease = queue.reserve(person)
        assert lease is not None
        queue.abandon(lease)
        queue.reserve(person)
        queue.release(queue.mine(person)[0].id)
        costs[person] = sum(counted(alone, partial(queue.reserve, person)).values())
    assert costs["ann"] <= costs["newcomer"] + 10


@pytest.fixture(scope="module")
def crowded(alone: redis.Redis) -> leaseq.Queue:  # noqa: F811
    """A hundred sets of skills in three bands, several answers, and everybody has passed much over."""
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "crowded-rules", clock=Clock())
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
    "reserve after much was passed over": lambda queue: queue.reserve("p8"),
    "why nothing": lambda queue: queue.why_nothing("p9", [f"t{m}" for m in range(16)]),
    "stats": lambda queue: queue.stats(),
    "inbound": lambda queue: queue.page("inbound", limit=500),
    "get": lambda queue: queue.get("plain0"),
    "release": lambda queue: queue.release("plain1"),
    "assign": lambda queue: queue.assign("plain250", "zoe"),
    "change": lambda queue: queue.change("plain251", priority=1, requires=["t1"]),
    "revive": lambda queue: queue.revive("plain3"),
    "remove": lambda queue: queue.remove("plain4"),
    "enqueue": lambda queue: queue.enqueue_many(NewItem({}, requires=(f"u{n % 250}",)) for n in range(500)),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_is_bounded(alone: redis.Redis, crowded: leaseq.Queue, name: str) -> None:  # noqa: F811
    assert largest(alone, lambda: SCRIPTS[name](crowded)) <= MOST


def test_an_item_with_a_hundred_answers_is_bounded_too(alone: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "hundred", clock=Clock())
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
        assert largest(alone, call) <= 2 * MOST  # all hundred of it at once; each is a few microseconds


def test_a_look_past_what_they_may_not_have_is_bounded_too(alone: redis.Redis) -> None:  # noqa: F811
    clock = Clock()
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "barred", clock=clock)
    queue.configure(holds=100)
    queue.enqueue_many([{}] * 400)
    for _ in range(400):
        queue.abandon(not_none(queue.reserve("ann")), again=False)
    for n in range(400):
        queue.reserve(f"p{n % 4}")
    clock.tick(301)
    queue.clear()  # behind everything that she has looked at
    assert largest(alone, lambda: queue.reserve("ann")) <= 400


def test_a_look_beside_what_they_hold_is_bounded_too(alone: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "beside", clock=Clock())
    queue.configure(answers=100, holds=100, max_abandons=200)
    queue.enqueue_many([{}] * 30)
    for _ in range(30):
        queue.reserve("ann")
    given_back = [take(queue, f"p{n}") for n in range(25) for _ in range(30)]
    for lease in given_back:
        queue.abandon(lease)
    for _ in range(2):  # what they look at, and what they put off by that
        assert largest(alone, lambda: queue.reserve("ann")) <= 2 * MOST
    # Of the 750 that they put off, each that is looked at takes one ZSCORE.
    assert counted(alone, lambda: queue.reserve("ann"))["zscore"] == 400


def test_what_others_did_of_what_they_put_off_is_passed_over_in_several_calls(
    alone: redis.Redis,  # noqa: F811
) -> None:
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "others-did", clock=Clock())
    queue.enqueue_many(NewItem({}, id=f"{n}") for n in range(250))
    for _ in range(250):
        queue.abandon(take(queue, "ann"))
    for _ in range(249):
        queue.finish(take(queue, "bob"), {})
    given: list[leaseq.Lease] = []
    counts = counted(alone, lambda: given.append(take(queue, "ann")))
    assert given[0].id == "249"
    assert counts["evalsha"] == 3, "each looks at a hundred"


@pytest.mark.parametrize(("people", "each"), [(600, 1), (1, 600)])
def test_a_step_through_what_is_left_of_people_looks_at_a_little_of_it(
    alone: redis.Redis,  # noqa: F811
    clock: Clock,
    people: int,
    each: int,
) -> None:
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), f"a-little.{people}", clock=clock)
    queue.enqueue_many([{}] * each)
    for n in range(people):
        for _ in range(each):
            queue.abandon(take(queue, f"person {n}"))
    clock.tick(86_400 + 1)  # a walk begins
    for _ in range(100):
        counts = counted(alone, queue.clear)
        assert sum(counts.values()) <= 200
        assert counts.get("zscore", 0) <= 50, "each item that is looked at takes one"
    (next_step,) = alone.hmget(Keys(queue.name).ledger, "tidy")
    assert next_step is not None
    assert int(next_step.split()[0]) >= clock.now + 86_400_000_000, (
        "the walk is over, and the next is tomorrow"
    )


@pytest.mark.parametrize(("shelves", "looked_at"), [(3, 2), (4, 1)])
def test_a_step_looks_at_one_more_person_until_it_took_300_commands(
    alone: redis.Redis,  # noqa: F811
    clock: Clock,
    shelves: int,
    looked_at: int,
) -> None:
    """Each put off 97 items, which take 3 commands each, in two rows, which take 2 each. One more writes what
    is kept. With one for each shelf, that is 299 or 300."""
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), f"one-more.{shelves}", clock=clock)
    put_off = [NewItem({}, priority=1), *[NewItem({})] * 49, *[NewItem({}, requires=("fr",))] * 46]
    put_off.append(NewItem({}, requires=("fr",), priority=1 if shelves == 4 else 100))
    queue.enqueue_many(put_off)
    for person in ("ann", "bob", "cyd"):
        for _ in put_off:
            queue.abandon(take(queue, person, "fr"))
    clock.tick(86_400 + 1)
    walk = [counted(alone, queue.clear) for _ in range(9)]
    counts = next(step for step in walk if "zscore" in step)  # behind those through their records
    assert counts["zscore"] == looked_at * len(put_off), "each item that is looked at takes one"
    assert sum(counts.values()) <= looked_at * 300 + 10


def test_where_nothing_is_for_some_people_only_no_rows_are_read(alone: redis.Redis) -> None:  # noqa: F811
    queue = leaseq.Queue(leaseq.connect(server_url(alone)), "no-rows", clock=Clock())
    queue.configure(answers=2)
    queue.enqueue_many([{}] * 2)
    assert "hgetall" not in counted(alone, lambda: take(queue, "ann"))


def test_a_page_that_is_full_reads_no_more_rows(alone: redis.Redis) -> None:  # noqa: F811
    def cost(rows: int) -> dict[str, int]:
        queue = leaseq.Queue(leaseq.connect(server_url(alone)), f"rows.{rows}", clock=Clock())
        queue.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(rows))
        queue.page("inbound", limit=1)  # so that the script is loaded
        return counted(alone, lambda: queue.page("inbound", limit=1))

    assert cost(300) == cost(3)

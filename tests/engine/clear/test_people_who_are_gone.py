"""What the clear job forgets of people who are gone, walk by walk: the first begins a day after the
queue, each other one a day after the one before."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.taking import take

DAY = 86_400
WINDOW = 50  # of what a person put off, as many as one look at it covers


def walk(queue: leaseq.Queue) -> None:
    """As many steps as a walk through a small queue has, and more."""
    for _ in range(12):
        queue.clear()


def put_off_by_ann(server: Server, queue: leaseq.Queue) -> int:
    """How many items she may have again, as they lie in the server."""
    inbound = Keys(queue.name).inbound
    return int(server.redis.zcard(f"{inbound.removesuffix('inbound')}later::ann"))


@pytest.mark.parametrize("count", [WINDOW - 1, WINDOW + 1])
@pytest.mark.parametrize("microseconds", [0, 13, 26, 39])  # of a larger set the time says where a look begins
def test_one_walk_forgets_all_that_others_did(
    server: Server, timed: leaseq.Queue, clock: Clock, count: int, microseconds: int
) -> None:
    timed.enqueue_many([{}] * count)
    for _ in range(count):
        timed.abandon(take(timed, "ann"))
    for _ in range(count):
        timed.finish(take(timed, "bob"), {})
    assert put_off_by_ann(server, timed) == count
    clock.now += (DAY + 1) * 1_000_000 + microseconds
    walk(timed)
    assert put_off_by_ann(server, timed) == 0


def test_the_last_of_many_that_somebody_put_off_is_looked_at_too(
    server: Server, timed: leaseq.Queue, clock: Clock
) -> None:
    timed.enqueue_many([{}] * WINDOW)
    for _ in range(WINDOW):
        timed.abandon(take(timed, "ann"))
    timed.enqueue({}, id="last", priority=1)
    timed.abandon(take(timed, "ann"))
    done = take(timed, "bob")
    assert done.id == "last"
    timed.finish(done, {})
    for _ in range(4):
        clock.now += DAY * 1_000_000 + 1
        walk(timed)
    assert put_off_by_ann(server, timed) == WINDOW, "those that wait still"


@pytest.mark.parametrize("early", [1, 0])
def test_a_person_with_no_lease_is_forgotten_a_week_after_that_was_found(
    server: Server, timed: leaseq.Queue, clock: Clock, early: int
) -> None:
    timed.enqueue({})
    timed.finish(take(timed, "ann"), {})
    clock.tick(DAY + 1)
    found = clock.now
    walk(timed)
    clock.now = found + 7 * DAY * 1_000_000 - early
    timed.clear()
    assert server.redis.hexists(Keys(timed.name).ledger, "p:ann") == bool(early)


@pytest.mark.parametrize("early", [1, 0])
def test_what_somebody_put_off_is_forgotten_ninety_days_after_they_were_found_away(
    server: Server, timed: leaseq.Queue, clock: Clock, early: int
) -> None:
    timed.enqueue({})
    timed.abandon(take(timed, "ann"))
    clock.tick(DAY + 1)
    walk(timed)
    cursors = server.redis.hget(Keys(timed.name).cursors, "ann").decode()
    found = int(cursors.split("idle\t")[1])
    clock.now = found + 90 * DAY * 1_000_000 - early
    walk(timed)
    assert put_off_by_ann(server, timed) == early


def test_where_it_is_not_known_how_far_a_walk_was_a_new_one_begins(
    server: Server, timed: leaseq.Queue, clock: Clock
) -> None:
    timed.enqueue({})
    timed.finish(take(timed, "ann"), {})
    server.redis.hdel(Keys(timed.name).ledger, "tidy")
    for _ in range(2):
        walk(timed)
        clock.tick(8 * DAY)
    assert not server.redis.hexists(Keys(timed.name).ledger, "p:ann")

"""What the clear job forgets about people who are gone. It walks through their records: first a day after the
queue's creation, then a day after each walk."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import take

DAY = 86_400
WINDOW = 50  # number of a person's postponed items that one step examines


def walk(queue: leaseq.Queue) -> None:
    """Make at least as many steps as a walk through a small queue has."""
    for _ in range(12):
        queue.clear()


def put_off_by_ann(server: Server, queue: leaseq.Queue, row: str = "") -> int:
    """Return how many postponed items of a row the server has for ann."""
    inbound = Keys(queue.name).inbound
    return int(server.redis.zcard(f"{inbound.removesuffix('inbound')}later:{row}:ann"))


@pytest.mark.parametrize("count", [WINDOW - 1, WINDOW + 1])
@pytest.mark.parametrize("microseconds", [0, 13, 26, 39])  # the time decides where a step begins
def test_one_walk_forgets_all_that_others_did(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, count: int, microseconds: int
) -> None:
    timed_queue.enqueue_many([{}] * count)
    for _ in range(count):
        timed_queue.abandon(take(timed_queue, "ann"))
    for _ in range(count):
        timed_queue.finish(take(timed_queue, "bob"), {})
    assert put_off_by_ann(server, timed_queue) == count
    clock.now += (DAY + 1) * 1_000_000 + microseconds
    walk(timed_queue)
    assert put_off_by_ann(server, timed_queue) == 0


def test_the_last_of_many_that_somebody_put_off_is_looked_at_too(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue_many([{}] * WINDOW)
    for _ in range(WINDOW):
        timed_queue.abandon(take(timed_queue, "ann"))
    timed_queue.enqueue({}, id="last", priority=1)
    timed_queue.abandon(take(timed_queue, "ann"))
    lease = take(timed_queue, "bob")
    assert lease.id == "last"
    timed_queue.finish(lease, {})
    for _ in range(4):
        clock.now += DAY * 1_000_000 + 1
        walk(timed_queue)
    assert put_off_by_ann(server, timed_queue) == WINDOW, "those that are still waiting"


@pytest.mark.parametrize("early", [1, 0])
def test_a_person_with_no_lease_is_forgotten_a_week_after_that_was_found(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, early: int
) -> None:
    timed_queue.enqueue({})
    timed_queue.finish(take(timed_queue, "ann"), {})
    clock.tick(DAY + 1)
    found_at = clock.now
    walk(timed_queue)
    clock.now = found_at + 7 * DAY * 1_000_000 - early
    timed_queue.clear()
    assert server.redis.hexists(Keys(timed_queue.name).ledger, "p:ann") == bool(early)


@pytest.mark.parametrize("early", [1, 0])
def test_what_somebody_put_off_is_forgotten_ninety_days_after_they_were_found_away(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, early: int
) -> None:
    timed_queue.enqueue({})
    timed_queue.abandon(take(timed_queue, "ann"))
    clock.tick(DAY + 1)
    walk(timed_queue)
    cursors = server.redis.hget(Keys(timed_queue.name).cursors, "ann").decode()
    idle_since = int(cursors.split("idle\t")[1])
    clock.now = idle_since + 90 * DAY * 1_000_000 - early
    walk(timed_queue)
    assert put_off_by_ann(server, timed_queue) == early


def test_where_it_is_not_known_how_far_a_walk_was_a_new_one_begins(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue({})
    timed_queue.finish(take(timed_queue, "ann"), {})
    server.redis.hdel(Keys(timed_queue.name).ledger, "tidy")
    for _ in range(2):
        walk(timed_queue)
        clock.tick(8 * DAY)
    assert not server.redis.hexists(Keys(timed_queue.name).ledger, "p:ann")


def progress(server: Server, queue: leaseq.Queue) -> list[str]:
    """Return the time of the next step in microseconds, and what it examines."""
    fields: list[str] = server.redis.hget(Keys(queue.name).ledger, "tidy").decode().split()
    return fields


@pytest.mark.parametrize("early", [1, 0])
def test_a_walk_begins_a_day_after_the_one_before_and_no_earlier(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, early: int
) -> None:
    """Even if clear has other work before that."""
    timed_queue.enqueue({})
    walk(timed_queue)
    before = progress(server, timed_queue)
    take(timed_queue, "ann")  # her lease expires before then
    clock.now = int(before[0]) - early
    assert timed_queue.clear().returned == 1
    assert (progress(server, timed_queue) == before) == bool(early)


def steps_through_looks(server: Server, queue: leaseq.Queue, clock: Clock) -> int:
    """Return how many clear calls of a due walk examine looks, after those for people's records."""
    queue.clear()
    states: list[str] = []
    while int(progress(server, queue)[0]) < clock.now + DAY * 1_000_000 and len(states) < 20:
        states.append(progress(server, queue)[1])
        queue.clear()
    return states.count("looks")


@pytest.mark.parametrize(
    ("count", "gone"),
    [(WINDOW - 1, range(WINDOW - 1)), (WINDOW, range(WINDOW)), (WINDOW + 1, range(10, 10 + WINDOW // 2))],
)
def test_what_a_person_put_off_is_looked_at_once_where_few_of_it_can_be_left(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, count: int, gone: range
) -> None:
    timed_queue.configure(holds=100)
    timed_queue.enqueue_many([{}] * count)
    for _ in range(count):
        timed_queue.abandon(take(timed_queue, "ann"))
    for n, lease in enumerate([take(timed_queue, "bob") for _ in range(count)]):
        if n in gone:
            timed_queue.finish(lease, {})
        else:
            timed_queue.release(lease.id)
    assert put_off_by_ann(server, timed_queue) == count
    clock.tick(DAY + 1)
    assert steps_through_looks(server, timed_queue, clock) == 1
    assert put_off_by_ann(server, timed_queue) == count - len(gone)


@pytest.mark.parametrize(("short_row", "long_row"), [("", "fr"), ("fr", "")])
def test_one_walk_forgets_all_of_a_row_where_another_row_has_little(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, short_row: str, long_row: str
) -> None:
    rows = [*[long_row] * 3 * WINDOW, short_row]
    timed_queue.enqueue_many(leaseq.NewItem({}, requires=(row,) if row else ()) for row in rows)
    for _ in rows:
        timed_queue.abandon(take(timed_queue, "ann", "fr"))
    for _ in rows:
        timed_queue.finish(take(timed_queue, "bob", "fr"), {})
    assert (
        put_off_by_ann(server, timed_queue, short_row),
        put_off_by_ann(server, timed_queue, long_row),
    ) == (
        1,
        3 * WINDOW,
    )
    clock.tick(DAY + 1)
    walk(timed_queue)
    assert (
        put_off_by_ann(server, timed_queue, short_row),
        put_off_by_ann(server, timed_queue, long_row),
    ) == (0, 0)


def test_a_cursor_goes_at_once_where_what_waits_is_just_behind_it(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(holds=2)
    timed_queue.enqueue_many([leaseq.NewItem({}, id="passed over"), leaseq.NewItem({}, id="behind")])
    anns = take(timed_queue, "ann")
    bobs = take(timed_queue, "bob")
    assert (
        timed_queue.reserve("ann") is None
    )  # her next reserve changes nothing but her cursor, and takes no time
    timed_queue.abandon(anns, again=False)
    assert timed_queue.reserve("ann") is None
    timed_queue.abandon(bobs)  # it comes back a microsecond after the other one
    assert sorted(server.redis.hkeys(Keys(timed_queue.name).cursors)) == [b"ann", b"bob"]
    timed_queue.finish(take(timed_queue, "cyd"), {})
    assert timed_queue.get("passed over").state == "finished"
    clock.tick(DAY + 1)
    walk(timed_queue)
    assert server.redis.hkeys(Keys(timed_queue.name).cursors) == [b"bob"]

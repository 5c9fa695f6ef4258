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


def put_off_by_ann(server: Server, queue: leaseq.Queue, row: str = "") -> int:
    """How many items of a row she may have again, as they lie in the server."""
    inbound = Keys(queue.name).inbound
    return int(server.redis.zcard(f"{inbound.removesuffix('inbound')}later:{row}:ann"))


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
    lease = take(timed, "bob")
    assert lease.id == "last"
    timed.finish(lease, {})
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
    found_at = clock.now
    walk(timed)
    clock.now = found_at + 7 * DAY * 1_000_000 - early
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
    idle_since = int(cursors.split("idle\t")[1])
    clock.now = idle_since + 90 * DAY * 1_000_000 - early
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


def progress(server: Server, queue: leaseq.Queue) -> list[str]:
    """When the next step is due, in microseconds, and what it looks at."""
    fields: list[str] = server.redis.hget(Keys(queue.name).ledger, "tidy").decode().split()
    return fields


@pytest.mark.parametrize("early", [1, 0])
def test_a_walk_begins_a_day_after_the_one_before_and_no_earlier(
    server: Server, timed: leaseq.Queue, clock: Clock, early: int
) -> None:
    """Also where clear has something else to do before that."""
    timed.enqueue({})
    walk(timed)
    before = progress(server, timed)
    take(timed, "ann")  # her lease runs out before
    clock.now = int(before[0]) - early
    assert timed.clear().returned == 1
    assert (progress(server, timed) == before) == bool(early)


def steps_through_looks(server: Server, queue: leaseq.Queue, clock: Clock) -> int:
    """How many calls of clear a walk takes, which is due, behind those through people's records."""
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
    server: Server, timed: leaseq.Queue, clock: Clock, count: int, gone: range
) -> None:
    timed.configure(holds=100)
    timed.enqueue_many([{}] * count)
    for _ in range(count):
        timed.abandon(take(timed, "ann"))
    for n, lease in enumerate([take(timed, "bob") for _ in range(count)]):
        if n in gone:
            timed.finish(lease, {})
        else:
            timed.release(lease.id)
    assert put_off_by_ann(server, timed) == count
    clock.tick(DAY + 1)
    assert steps_through_looks(server, timed, clock) == 1
    assert put_off_by_ann(server, timed) == count - len(gone)


@pytest.mark.parametrize(("short_row", "long_row"), [("", "fr"), ("fr", "")])
def test_one_walk_forgets_all_of_a_row_where_another_row_has_little(
    server: Server, timed: leaseq.Queue, clock: Clock, short_row: str, long_row: str
) -> None:
    rows = [*[long_row] * 3 * WINDOW, short_row]
    timed.enqueue_many(leaseq.NewItem({}, requires=(row,) if row else ()) for row in rows)
    for _ in rows:
        timed.abandon(take(timed, "ann", "fr"))
    for _ in rows:
        timed.finish(take(timed, "bob", "fr"), {})
    assert (put_off_by_ann(server, timed, short_row), put_off_by_ann(server, timed, long_row)) == (
        1,
        3 * WINDOW,
    )
    clock.tick(DAY + 1)
    walk(timed)
    assert (put_off_by_ann(server, timed, short_row), put_off_by_ann(server, timed, long_row)) == (0, 0)


def test_a_cursor_goes_at_once_where_what_waits_is_just_behind_it(
    server: Server, timed: leaseq.Queue, clock: Clock
) -> None:
    timed.configure(holds=2)
    timed.enqueue_many([leaseq.NewItem({}, id="passed over"), leaseq.NewItem({}, id="behind")])
    anns = take(timed, "ann")
    bobs = take(timed, "bob")
    assert timed.reserve("ann") is None  # the next look changes nothing but her cursor, and takes no time
    timed.abandon(anns, again=False)
    assert timed.reserve("ann") is None
    timed.abandon(bobs)  # it returns a microsecond after the other one
    assert sorted(server.redis.hkeys(Keys(timed.name).cursors)) == [b"ann", b"bob"]
    timed.finish(take(timed, "cyd"), {})
    assert timed.get("passed over").state == "finished"
    clock.tick(DAY + 1)
    walk(timed)
    assert server.redis.hkeys(Keys(timed.name).cursors) == [b"bob"]

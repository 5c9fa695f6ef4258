"""Records of inactive people, which clear deletes in walks of several steps: the first walk starts a day
after the queue's creation, each further walk a day after the previous one."""

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


def postponed_by_ann(server: Server, queue: leaseq.Queue, row: str = "") -> int:
    """Return how many postponed items of a row the server has for ann."""
    inbound = Keys(queue.name).inbound
    return int(server.redis.zcard(f"{inbound.removesuffix('inbound')}later:{row}:ann"))


@pytest.mark.parametrize("count", [WINDOW - 1, WINDOW + 1])
@pytest.mark.parametrize("microseconds", [0, 13, 26, 39])  # the time decides where a step begins
def test_single_walk_deletes_postponed_entries_finished_by_others(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, count: int, microseconds: int
) -> None:
    timed_queue.enqueue_many([{}] * count)
    for _ in range(count):
        timed_queue.abandon(take(timed_queue, "ann"))
    for _ in range(count):
        timed_queue.finish(take(timed_queue, "bob"), {})
    assert postponed_by_ann(server, timed_queue) == count
    clock.now += (DAY + 1) * 1_000_000 + microseconds
    walk(timed_queue)
    assert postponed_by_ann(server, timed_queue) == 0


def test_walk_reaches_last_of_many_postponed_entries(
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
    assert postponed_by_ann(server, timed_queue) == WINDOW, "those that are still waiting"


@pytest.mark.parametrize("early", [1, 0])
def test_person_is_forgotten_week_after_found_without_lease(
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
def test_postponed_entries_of_person_are_deleted_after_90_idle_days(
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
    assert postponed_by_ann(server, timed_queue) == early


def progress(server: Server, queue: leaseq.Queue) -> list[str]:
    """Return the time of the next step in microseconds, and what it examines."""
    fields: list[str] = server.redis.hget(Keys(queue.name).ledger, "tidy").decode().split()
    return fields


@pytest.mark.parametrize("early", [1, 0])
def test_walk_starts_exactly_one_day_after_previous_walk(
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


def count_cursor_steps(server: Server, queue: leaseq.Queue, clock: Clock) -> int:
    """Return how many clear calls of a due walk examine cursors, after those for people's records."""
    queue.clear()
    states: list[str] = []
    while int(progress(server, queue)[0]) < clock.now + DAY * 1_000_000 and len(states) < 20:
        states.append(progress(server, queue)[1])
        queue.clear()
    return states.count("cursors")


@pytest.mark.parametrize(
    ("count", "finished_by_bob"),
    [(WINDOW - 1, range(WINDOW - 1)), (WINDOW, range(WINDOW)), (WINDOW + 1, range(10, 10 + WINDOW // 2))],
)
def test_few_postponed_entries_are_examined_in_single_step(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, count: int, finished_by_bob: range
) -> None:
    timed_queue.configure(holds=100)
    timed_queue.enqueue_many([{}] * count)
    for _ in range(count):
        timed_queue.abandon(take(timed_queue, "ann"))
    for n, lease in enumerate([take(timed_queue, "bob") for _ in range(count)]):
        if n in finished_by_bob:
            timed_queue.finish(lease, {})
        else:
            timed_queue.release(lease.id)
    assert postponed_by_ann(server, timed_queue) == count
    clock.tick(DAY + 1)
    assert count_cursor_steps(server, timed_queue, clock) == 1
    assert postponed_by_ann(server, timed_queue) == count - len(finished_by_bob)


@pytest.mark.parametrize(("short_row", "long_row"), [("", "fr"), ("fr", "")])
def test_single_walk_deletes_entries_of_long_and_short_rows(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, short_row: str, long_row: str
) -> None:
    rows = [*[long_row] * 3 * WINDOW, short_row]
    timed_queue.enqueue_many(leaseq.NewItem({}, requires=(row,) if row else ()) for row in rows)
    for _ in rows:
        timed_queue.abandon(take(timed_queue, "ann", "fr"))
    for _ in rows:
        timed_queue.finish(take(timed_queue, "bob", "fr"), {})
    assert (
        postponed_by_ann(server, timed_queue, short_row),
        postponed_by_ann(server, timed_queue, long_row),
    ) == (
        1,
        3 * WINDOW,
    )
    clock.tick(DAY + 1)
    walk(timed_queue)
    assert (
        postponed_by_ann(server, timed_queue, short_row),
        postponed_by_ann(server, timed_queue, long_row),
    ) == (0, 0)


def test_cursor_just_before_waiting_item_is_deleted(
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


def test_person_who_renews_an_expired_lease_is_not_forgotten(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """Clear had found that they hold nothing; a renewal makes them hold it again."""
    timed_queue.configure(lease_seconds=10)
    timed_queue.enqueue({})
    lease = take(timed_queue, "ann")
    clock.tick(DAY + 1)
    walk(timed_queue)
    timed_queue.configure(lease_seconds=7 * DAY)
    timed_queue.renew(lease)
    for _ in range(5):
        clock.tick(2 * DAY)
        walk(timed_queue)
        lease = timed_queue.renew(lease)
    assert timed_queue.mine("ann") == [lease]
    timed_queue.finish(lease, {})


def test_undo_makes_a_person_active(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(lease_seconds=7 * DAY)
    timed_queue.enqueue_many([{}, {}])
    timed_queue.abandon(take(timed_queue, "ann"))
    clock.tick(DAY + 1)
    lease = take(timed_queue, "ann")
    timed_queue.abandon(lease)
    walk(timed_queue)
    lease = timed_queue.take_back(lease)
    for _ in range(5):
        clock.tick(2 * DAY)
        walk(timed_queue)
        lease = timed_queue.renew(lease)
    assert timed_queue.mine("ann") == [lease]


def test_person_who_puts_an_item_off_is_not_idle(
    server: Server, timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(lease_seconds=7 * DAY)
    timed_queue.enqueue({}, id="first")
    timed_queue.abandon(take(timed_queue, "ann"))
    clock.tick(DAY + 1)
    walk(timed_queue)
    clock.tick(85 * DAY)
    timed_queue.enqueue({}, id="high", priority=0)
    timed_queue.abandon(take(timed_queue, "ann"))
    assert postponed_by_ann(server, timed_queue) == 2
    clock.tick(10 * DAY)
    walk(timed_queue)
    assert postponed_by_ann(server, timed_queue) == 2, "they were here ten days ago"

"""The position of a changed item: by its age, and never where a person's cursor would hide it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import take

PRIORITIES = st.sampled_from([10, 50, 51, 100, 150, 151, 1000])
numbers = itertools.count()


def band(priority: int) -> int:
    return 0 if priority <= 50 else 1 if priority <= 150 else 2


@given(
    priorities=st.lists(PRIORITIES, min_size=1, max_size=12),
    moves=st.lists(st.tuples(st.integers(0, 11), PRIORITIES), max_size=12),
    together=st.booleans(),
)
def test_oldest_item_is_first_within_band(
    server: Server, priorities: list[int], moves: list[tuple[int, int]], together: bool
) -> None:
    queue = leaseq.Queue(server.client, f"order.{next(numbers)}", clock=Clock())
    new = [NewItem({}, f"{n}", priority) for n, priority in enumerate(priorities)]
    for chunk in [new] if together else [[one] for one in new]:
        queue.enqueue_many(chunk)
    expected = dict(enumerate(priorities))
    for index, priority in moves:
        n = index % len(priorities)
        assert queue.change(f"{n}", priority=priority).priority == priority
        expected[n] = priority
    order = sorted(expected, key=lambda n: (band(expected[n]), n))
    assert [int(item.id) for item in queue.items("inbound", limit=100)] == order
    assert [int(take(queue, f"person {n}").id) for n in range(len(order))] == order


@pytest.mark.parametrize("held_by_others", [False, True])
def test_changed_item_is_placed_behind_passed_over_items(
    timed_queue: leaseq.Queue, sets: Sets, held_by_others: bool
) -> None:
    """Eva is barred from three items returned later than 0: ahead of them, 0 would be hidden from her."""
    timed_queue.enqueue({}, id="0", requires=["fr"])
    timed_queue.abandon(take(timed_queue, "ann", "fr"))
    timed_queue.enqueue({}, id="low", priority=200)
    timed_queue.enqueue_many(NewItem({}, f"{n}", 10) for n in (1, 2, 3, 4))
    for _ in range(3):
        timed_queue.abandon(take(timed_queue, "eva"), again=False)
    assert take(timed_queue, "eva").id == "4"
    timed_queue.finish(timed_queue.mine("eva")[0], {}, then_reserve=True)
    assert timed_queue.mine("eva")[0].id == "low", "eva passed over the others"
    for person in ("fay", "gus", "hal") if held_by_others else ():
        take(timed_queue, person)
    timed_queue.change("0", priority=10, requires=())
    assert sets()["inbound"] == (["0"] if held_by_others else ["1", "2", "3", "0"])
    timed_queue.finish(timed_queue.mine("eva")[0], {})
    assert take(timed_queue, "eva").id == "0"


def test_several_changed_items_get_consecutive_scores(
    server: Server, timed_queue: leaseq.Queue, sets: Sets
) -> None:
    """Each gets the next free microsecond after the passed-over items."""
    for n in range(3):
        timed_queue.enqueue({}, id=f"{n}")
    leases = [take(timed_queue, person) for person in ("ann", "bob", "cyd")]
    for lease in leases:
        timed_queue.abandon(lease)
    timed_queue.enqueue({}, id="u", priority=10)
    timed_queue.abandon(take(timed_queue, "eva"), again=False)
    assert take(timed_queue, "eva").id == "0", "eva passed over u"
    for id in "21":
        timed_queue.change(id, priority=10)
    assert sets()["inbound"] == ["u", "2", "1"]
    scores = server.redis.zrange(Keys(timed_queue.name).inbound + ":high:returned", 0, -1, withscores=True)
    assert [score - scores[0][1] for _, score in scores] == [0, 1, 2]
    assert [take(timed_queue, "eva").id for _ in range(1)] == ["0"], "eva is at her limit"
    timed_queue.finish(take(timed_queue, "eva"), {}, then_reserve=True)
    assert timed_queue.mine("eva")[0].id == "2"


def test_changed_item_joins_returned_items_when_no_score_is_free(
    timed_queue: leaseq.Queue, sets: Sets, server: Server
) -> None:
    timed_queue.enqueue({}, id="old", priority=200)
    score = server.redis.zscore(Keys(timed_queue.name).inbound + ":low", "old")
    scores = {f"{n}": score + n for n in range(301)}
    timed_queue.enqueue_many(NewItem({}, id, 10) for id in scores)
    # One microsecond apart, as in one enqueue of 250 items.
    server.redis.zadd(Keys(timed_queue.name).inbound + ":high", scores)
    timed_queue.change("old", priority=10)
    assert sets()["inbound"][0] == "old"
    assert server.redis.zscore(Keys(timed_queue.name).inbound + ":high:returned", "old") is not None


def test_passed_over_scores_are_kept_while_cursors_exist(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    """For very many shelves, one score is kept for all of them; without cursors, none."""
    key = Keys(timed_queue.name).passed
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"))
    assert not server.redis.exists(key), "nobody passed over anything yet"
    server.redis.hset(key, mapping={f"row{n}:normal": 1 for n in range(1_000)})
    timed_queue.abandon(take(timed_queue, "ann"))
    assert server.redis.hkeys(key) == [b"*"]
    assert float(server.redis.hget(key, "*")) >= clock.now
    timed_queue.remove("a")
    for _ in range(2):
        clock.tick(100 * 86_400)
        for _ in range(8):
            timed_queue.clear()
    assert not server.redis.exists(key)


def test_changed_item_is_placed_behind_score_for_all_shelves(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b", priority=200)
    timed_queue.abandon(take(timed_queue, "ann"))
    server.redis.hset(Keys(timed_queue.name).passed, "*", clock.now + 9)
    timed_queue.change("b", priority=10)
    (score,) = (
        server.redis.zscore(key, "b")
        for key in server.redis.scan_iter(f"leaseq:{{{timed_queue.name}}}:inbound*")
        if server.redis.type(key) == b"zset" and server.redis.zscore(key, "b")
    )
    assert score == clock.now + 10

"""Remove all items of a state, or those that a filter selects, as in `revive_all`."""

from __future__ import annotations

from typing import Any

import pytest

import leaseq
from leaseq import NewItem
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take


@pytest.fixture
def dead(timed_queue: leaseq.Queue, clock: Clock) -> list[str]:
    """Six dead items: three people, two errors."""
    timed_queue.configure(max_attempts=1)
    for n in range(6):
        timed_queue.enqueue({"n": n}, id=f"item-{n}")
        clock.tick(1)
        error = f"ValueError: no {n}" if n < 4 else "page 404 is missing"
        timed_queue.fail(take(timed_queue, ("ann", "bob", "bot")[n % 3]), error)
    return [f"item-{n}" for n in range(6)]


@pytest.mark.parametrize(
    ("wanted", "indexes"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"error": "404"}, [4, 5]),
        ({"person": "bot"}, [2, 5]),
        ({"person": "bot", "error": "ValueError"}, [2]),
        ({"person": "nobody"}, []),
        ({"limit": 2}, [0, 1]),
    ],
)
def test_remove_all_removes_filtered_items(
    timed_queue: leaseq.Queue, sets: Sets, dead: list[str], wanted: dict[str, Any], indexes: list[int]
) -> None:
    timed_queue.enqueue({}, id="waits")
    removed_ids: list[str] = []
    assert timed_queue.remove_all("dead", by="meg", on_removed=removed_ids.append, **wanted) == len(indexes)
    assert removed_ids == [dead[index] for index in indexes]
    assert sets()["dead"] == [id for id in dead if id not in removed_ids]
    assert sets()["inbound"] == ["waits"]
    events = [(event.id, event.person) for event in timed_queue.journal(limit=100) if event.what == "removed"]
    assert events == [(id, "meg") for id in removed_ids]


@pytest.mark.parametrize("state", leaseq.STATES)
def test_remove_all_removes_only_items_of_given_state(timed_queue: leaseq.Queue, state: leaseq.State) -> None:
    timed_queue.configure(holds=9, max_attempts=1)
    timed_queue.enqueue({}, delay=60)
    timed_queue.enqueue_many([{}, {}, {}, {}])
    held_lease, finished_lease, failed_lease = (take(timed_queue, "ann") for _ in range(3))
    timed_queue.finish(finished_lease, {})
    timed_queue.fail(failed_lease, "no")
    assert timed_queue.remove_all(state) == 1
    stats = timed_queue.stats()
    assert [one for one in leaseq.STATES if getattr(stats, one) == 0] == [state]
    if state == "reserved":
        with pytest.raises(leaseq.ItemNotFound):
            timed_queue.finish(held_lease, {})


def test_remove_all_reads_several_pages_and_counts_each_item_once(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue_many(NewItem({}, id=f"{n:03}") for n in range(300))
    take(timed_queue, "ann")  # its second assignment waits, too
    assert timed_queue.remove_all("inbound", limit=280) == 280
    assert timed_queue.remove_all("inbound") == 20
    assert timed_queue.stats().reserved == 0


@pytest.mark.parametrize("answers", [1, 2])
def test_remove_all_keeps_item_that_left_state_after_it_was_listed(
    timed_queue: leaseq.Queue, answers: int
) -> None:
    timed_queue.configure(answers=answers, holds=9)
    timed_queue.enqueue_many(NewItem({}, id=id) for id in ("first", "second", "third"))
    leases = [take(timed_queue, "ann") for _ in range(3)]

    def finish_second(removed_id: str) -> None:
        if removed_id == "first":
            timed_queue.finish(leases[1], {"v": 2})

    assert timed_queue.remove_all("reserved", on_removed=finish_second) == 2
    assert [answer.result for answer in timed_queue.get("second").answers] == [{"v": 2}]


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        *(("state", bad) for bad in ("", "due", "lost", None, 5, ["dead"])),
        *(("error", bad) for bad in (1, "x" * 2_001)),
        *(("limit", bad) for bad in (0, 1_000_001, "all", True)),
        ("person", ""),
        ("by", ""),
    ],
)
def test_a_bad_filter_is_refused_before_anything_changes(
    timed_queue: leaseq.Queue, dead: list[str], field: str, bad: Any
) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.remove_all(**{"state": "dead", field: bad})
    assert error.value.field == field
    assert timed_queue.stats().dead == len(dead)

"""Revive all dead items, or those that a filter selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def dead(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> list[str]:
    """Six dead items, one second apart: three people, two errors."""
    timed_queue.configure(max_attempts=1)
    for n in range(6):
        timed_queue.enqueue({"n": n}, id=f"item-{n}")
        clock.tick(1)
        person = ("ann", "bob", "bot")[n % 3]
        timed_queue.fail(take(person), f"ValueError: no {n}" if n < 4 else "page 404 is missing")
    return [f"item-{n}" for n in range(6)]


def test_revive_all_revives_longest_dead_items_first(
    timed_queue: leaseq.Queue, sets: Sets, dead: list[str]
) -> None:
    assert timed_queue.revive_all(by="meg") == 6
    assert (sets()["inbound"], sets()["dead"]) == (dead, [])
    assert all(item.failures == 0 for item in timed_queue.items("inbound"))
    events = [
        (event.id, event.person) for event in timed_queue.journal(limit=1_000) if event.what == "revived"
    ]
    assert events == [(id, "meg") for id in dead]
    assert timed_queue.stats().counters["revived"] == 6
    assert timed_queue.revive_all() == 0


@pytest.mark.parametrize(
    ("wanted", "indexes"),
    [
        ({"error": "ValueError"}, [0, 1, 2, 3]),
        ({"error": "404"}, [4, 5]),
        ({"error": "valueerror"}, []),
        ({"person": "bot"}, [2, 5]),
        ({"person": "bot", "error": "ValueError"}, [2]),
        ({"person": "nobody"}, []),
        ({"limit": 2}, [0, 1]),
        ({"error": "404", "limit": 1}, [4]),
    ],
)
def test_revive_all_revives_filtered_items(
    timed_queue: leaseq.Queue, sets: Sets, dead: list[str], wanted: dict[str, Any], indexes: list[int]
) -> None:
    assert timed_queue.revive_all(**wanted) == len(indexes)
    assert sets()["inbound"] == [dead[index] for index in indexes]
    assert sets()["dead"] == [id for id in dead if id not in sets()["inbound"]]


def test_expired_item_is_selected_by_person_not_by_error(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(max_attempts=1, lease_seconds=5)
    timed_queue.enqueue({}, id="one")
    take("ann")
    clock.tick(6)
    assert timed_queue.clear().died == 1
    assert timed_queue.revive_all(error="") == 1, "every error contains the empty string"
    take("ann")
    clock.tick(6)
    timed_queue.clear()
    assert timed_queue.revive_all(error="x") == 0
    assert timed_queue.revive_all(person="ann") == 1


def test_person_filter_matches_last_holder_only(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({}, id="one")
    timed_queue.abandon(take("ann"), again=False)
    timed_queue.fail(take("bob"), "torn")
    assert timed_queue.revive_all(person="ann") == 0
    assert timed_queue.revive_all(person="bob") == 1


def test_an_item_of_several_answers_counts_once(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(answers=3, max_attempts=1)
    for id in ("one", "two"):
        timed_queue.enqueue({}, id=id)
        timed_queue.fail(take("ann"), f"not {id}")
    assert timed_queue.stats().dead == 4, "for each item, the failed assignment and the waiting one"
    assert timed_queue.revive_all(error="not two") == 1
    assert (timed_queue.stats().dead, timed_queue.stats().inbound) == (2, 2)
    assert timed_queue.get("one").state == "dead"
    assert timed_queue.revive_all() == 1
    assert (timed_queue.stats().dead, timed_queue.stats().inbound) == (0, 4)


def test_item_that_dies_again_during_revive_all_stays_dead(
    timed_queue: leaseq.Queue, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a program that fails every item immediately would keep the call running."""
    timed_queue.configure(answers=2, max_attempts=1)
    timed_queue.enqueue({}, id="one")
    timed_queue.fail(take("ann"), "torn")
    assert timed_queue.stats().dead == 2
    revive = timed_queue.revive

    def revive_and_fail(id: str, *, by: str | None = None) -> leaseq.Item:
        item = revive(id, by=by)
        timed_queue.fail(take("bot"), "torn again")
        return item

    monkeypatch.setattr(timed_queue, "revive", revive_and_fail)
    assert timed_queue.revive_all() == 1
    assert timed_queue.stats().counters["failed"] == 2
    assert timed_queue.get("one").state == "dead"


def test_revive_all_reads_several_pages(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.configure(max_attempts=1, holds=100)
    timed_queue.enqueue_many([{"n": n} for n in range(600)])
    for n in range(600):
        timed_queue.fail(take("ann"), "odd" if n % 2 else "even")
    assert timed_queue.revive_all(error="odd") == 300
    assert timed_queue.stats().dead == 300
    assert timed_queue.revive_all(limit=100) == 100
    assert timed_queue.revive_all(limit=1_000) == 200


def test_items_changed_by_others_during_revive_all_are_skipped(
    timed_queue: leaseq.Queue, same_queue: leaseq.Queue, dead: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the list was read, others remove one item, and revive and finish another."""
    revive = timed_queue.revive

    def revive_after_others(id: str, *, by: str | None = None) -> leaseq.Item:
        if id == dead[0]:
            same_queue.remove(dead[1])
            same_queue.revive(dead[2])
            lease = same_queue.reserve("eve")
            assert lease is not None
            assert lease.id == dead[2]
            same_queue.finish(lease, {})
        return revive(id, by=by)

    monkeypatch.setattr(timed_queue, "revive", revive_after_others)
    assert timed_queue.revive_all() == 4
    assert [item.id for item in timed_queue.items("inbound")] == [dead[0], *dead[3:]]
    assert timed_queue.get(dead[2]).state == "finished"


@pytest.mark.parametrize(
    ("field", "bad"),
    [("error", 1), ("error", "x" * 2_001), ("person", ""), ("limit", 0), ("limit", "all"), ("by", "")],
)
def test_a_bad_filter_is_refused_before_anything_changes(
    timed_queue: leaseq.Queue, dead: list[str], field: str, bad: Any
) -> None:
    filters: dict[str, Any] = {field: bad}
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.revive_all(**filters)
    assert error.value.field == field
    assert timed_queue.stats().dead == len(dead)

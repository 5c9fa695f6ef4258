"""`max_abandons`: an item dies when this many people have abandoned it."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take


@pytest.fixture
def limited_queue(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.configure(max_abandons=2)
    timed_queue.enqueue({}, id="a")
    return timed_queue


def test_item_dies_at_limit_with_reasons_in_history(limited_queue: leaseq.Queue, sets: Sets) -> None:
    limited_queue.abandon(take(limited_queue, "ann"), "too dark")
    limited_queue.abandon(take(limited_queue, "bob"), "no idea", again=False)
    assert sets()["dead"] == ["a"]
    item = limited_queue.get("a")
    assert (item.state, item.failures, [g.reason for g in item.history]) == (
        "dead",
        0,
        ["too dark", "no idea"],
    )
    assert [(e.what, e.person) for e in limited_queue.journal()][-2:] == [
        ("abandoned", "bob"),
        ("died", "bob"),
    ]
    assert limited_queue.stats().counters["died"] == 1
    assert limited_queue.reserve("cyd") is None


def test_limit_counts_people_not_abandons(limited_queue: leaseq.Queue) -> None:
    for _ in range(5):
        limited_queue.abandon(take(limited_queue, "ann"))
    limited_queue.abandon(take(limited_queue, "ann"), again=False)
    assert limited_queue.get("a").state == "inbound"


def test_release_and_expiry_do_not_count_as_abandons(limited_queue: leaseq.Queue, clock: Clock) -> None:
    limited_queue.abandon(take(limited_queue, "ann"))
    limited_queue.release(take(limited_queue, "bob").id)
    take(limited_queue, "cyd")
    clock.tick(301)
    limited_queue.clear()
    assert limited_queue.get("a").state == "inbound"


def test_repeated_abandon_counts_once(limited_queue: leaseq.Queue) -> None:
    for person in ("ann", "bob"):
        lease = take(limited_queue, person)
        limited_queue.abandon(lease)
        limited_queue.abandon(lease)
    assert limited_queue.stats().counters["died"] == 1


def test_revive_resets_abandon_count(limited_queue: leaseq.Queue) -> None:
    for person in ("ann", "bob"):
        limited_queue.abandon(take(limited_queue, person), again=False)
    limited_queue.revive("a")
    limited_queue.abandon(take(limited_queue, "ann"))
    assert limited_queue.get("a").state == "inbound"
    limited_queue.abandon(take(limited_queue, "bob"))
    assert limited_queue.get("a").state == "dead"


def test_waiting_assignments_die_and_held_assignment_can_be_finished(limited_queue: leaseq.Queue) -> None:
    limited_queue.configure(answers=3)
    anns, bobs = take(limited_queue, "ann"), take(limited_queue, "bob")
    limited_queue.abandon(take(limited_queue, "cyd"))
    limited_queue.abandon(bobs)
    assert (limited_queue.stats().dead, limited_queue.stats().reserved, limited_queue.stats().inbound) == (
        2,
        1,
        0,
    )
    limited_queue.finish(anns, {"by": "ann"})
    assert [a.person for a in limited_queue.get("a").answers] == ["ann"]
    limited_queue.revive("a")
    assert {take(limited_queue, "cyd").id, take(limited_queue, "dan").id} == {"a"}
    assert limited_queue.reserve("ann") is None, "ann, who answered, does not get it again"


def test_item_without_limit_survives_any_number_of_abandons(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    for n in range(50):
        timed_queue.abandon(take(timed_queue, f"p{n}"), again=n % 2 == 0)
    assert timed_queue.get("a").state == "inbound"

"""Items that a person abandoned: postponed (`again`), or barred from that person permanently."""

from __future__ import annotations

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import take


@pytest.fixture
def abc(timed_queue: leaseq.Queue) -> leaseq.Queue:
    for id in "abc":
        timed_queue.enqueue({}, id=id)
    return timed_queue


def postpone(queue: leaseq.Queue) -> str:
    lease = take(queue, "ann")
    queue.abandon(lease)
    return lease.id


def test_abandoned_items_return_to_same_person_in_abandon_order(abc: leaseq.Queue) -> None:
    ids = [postpone(abc) for _ in range(3)]
    for _ in range(3):
        lease = take(abc, "ann")
        abc.finish(lease, {})
        ids.append(lease.id)
    assert ids == ["a", "b", "c", "a", "b", "c"]
    assert abc.reserve("ann") is None


def test_abandoned_items_return_in_abandon_order_despite_priority(timed_queue: leaseq.Queue) -> None:
    for id, priority in (("later", 200), ("sooner", 1)):
        timed_queue.enqueue({}, id=id, priority=priority)
        timed_queue.abandon(take(timed_queue, "ann"))
    assert take(timed_queue, "ann").id == "later"


def test_new_item_comes_before_abandoned_items(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(holds=2)
    timed_queue.enqueue_many([leaseq.NewItem({}, id="one"), leaseq.NewItem({}, id="another")])
    for lease in [take(timed_queue, "ann"), take(timed_queue, "ann")]:
        timed_queue.abandon(lease)
        clock.tick(1)
    timed_queue.enqueue({}, id="new")
    assert [take(timed_queue, "ann").id, postpone(timed_queue)] == ["new", "one"]


def test_items_can_be_abandoned_repeatedly_in_rotation(abc: leaseq.Queue) -> None:
    assert [postpone(abc) for _ in range(9)] == ["a", "b", "c"] * 3


def test_abandoned_item_is_first_for_other_people(abc: leaseq.Queue) -> None:
    abc.abandon(take(abc, "ann"))
    assert take(abc, "bob").id == "a"


def test_abandon_without_again_bars_item_from_this_person_only(abc: leaseq.Queue, clock: Clock) -> None:
    for _ in range(3):
        abc.abandon(take(abc, "ann"), again=False)
    assert abc.reserve("ann") is None
    explanation = abc.why_nothing("ann")
    assert (explanation.reason, explanation.free_at) == ("not-eligible", None)
    take(abc, "bob")
    clock.tick(301)
    abc.clear()
    assert abc.reserve("ann") is None, "not even when it comes back"
    assert {take(abc, person).id for person in ("bob", "cyd", "dan")} == {"a", "b", "c"}
    abc.enqueue({}, id="new")
    assert take(abc, "ann").id == "new"


def test_postponed_item_returns_after_abandon_by_another_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"))
    bobs = take(timed_queue, "bob")
    assert timed_queue.reserve("ann") is None
    timed_queue.enqueue({}, id="b")
    timed_queue.abandon(bobs)
    lease = take(timed_queue, "ann")
    assert lease.id == "b", "ann postponed a"
    timed_queue.finish(lease, {})
    assert take(timed_queue, "ann").id == "a"


def test_returned_items_behind_barred_items_are_not_skipped(timed_queue: leaseq.Queue) -> None:
    for id in "abcdefg":
        timed_queue.enqueue({}, id=id)
    for _ in "abc":
        timed_queue.abandon(take(timed_queue, "ann"), again=False)
    for lease in [take(timed_queue, f"p{n}") for n in range(6)]:
        timed_queue.abandon(lease)
    ids = []
    while next_lease := timed_queue.reserve("ann"):
        timed_queue.finish(next_lease, {})
        ids.append(next_lease.id)
    assert ids == ["d", "e", "f", "g"]


def test_later_abandon_without_again_bars_postponed_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"))
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.reserve("ann") is None


def test_revived_item_is_available_to_barred_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    timed_queue.fail(take(timed_queue, "bob"), "torn")
    timed_queue.revive("a")
    assert take(timed_queue, "ann").id == "a"


def test_revive_returns_passed_over_item_to_barred_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2, max_attempts=1)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    timed_queue.abandon(take(timed_queue, "bob"), again=False)
    cyds = take(timed_queue, "cyd")
    timed_queue.fail(anns, "torn")
    timed_queue.abandon(cyds)  # held when the other assignments died, so it waits
    assert timed_queue.reserve("bob") is None
    timed_queue.revive("a")
    assert take(timed_queue, "dan").id == "a"
    assert take(timed_queue, "bob").id == "a"


def test_revive_clears_bars_for_waiting_assignments(timed_queue: leaseq.Queue) -> None:
    """With several answers, an abandoned assignment may wait while the other ones are dead."""
    timed_queue.configure(answers=2, max_attempts=1)
    timed_queue.enqueue({}, id="a")
    for person in ("cyd", "eve"):
        timed_queue.abandon(take(timed_queue, person), again=False)
    anns = take(timed_queue, "ann")
    timed_queue.finish(anns, {})
    timed_queue.fail(take(timed_queue, "bob"), "torn")
    timed_queue.abandon(timed_queue.undo_finish(anns))
    assert [timed_queue.reserve(person) for person in ("cyd", "eve")] == [None, None]
    timed_queue.revive("a")
    assert [take(timed_queue, person).id for person in ("cyd", "eve")] == ["a", "a"]


def test_item_enqueued_again_after_remove_has_no_bars(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    timed_queue.remove("a")
    timed_queue.enqueue({}, id="a")
    assert take(timed_queue, "ann").id == "a"


def test_remove_deletes_bars_and_postponed_entries(abc: leaseq.Queue, server: Server) -> None:
    for again in (True, False, True):
        abc.abandon(take(abc, "ann"), again=again)
    for id in "abc":
        abc.remove(id)
    keys = Keys(abc.name)
    assert not server.redis.exists(keys.relations, f"leaseq:{{{abc.name}}}:later::ann")


def test_bar_survives_pause_and_resume(abc: leaseq.Queue) -> None:
    abc.abandon(take(abc, "ann"), again=False)
    abc.pause()
    abc.resume()
    abc.abandon(take(abc, "ann"), again=False)
    assert take(abc, "ann").id == "c"


def test_item_returned_just_after_barred_item_is_reserved(abc: leaseq.Queue) -> None:
    """The two are returned a microsecond apart."""
    anns, bobs = take(abc, "ann"), take(abc, "bob")
    abc.abandon(anns, again=False)
    abc.abandon(bobs)
    assert take(abc, "ann").id == bobs.id


def test_reserve_script_continues_at_saved_cursor(timed_queue: leaseq.Queue) -> None:
    """Calls the script directly: ``reserve`` repeats it until everything was searched."""
    timed_queue.configure(holds=100)
    timed_queue.enqueue_many([{}] * 101)
    for lease in [take(timed_queue, "ann") for _ in range(100)]:
        timed_queue.abandon(lease, again=False)
    assert [timed_queue._commands.run("reserve", "ann", "once").code for _ in range(2)] == [
        b"more",
        b"leased",
    ]


def test_reserve_finds_item_behind_250_barred_items(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """A call passes over at most a hundred entries; ``reserve`` hides that from the caller."""
    timed_queue.configure(holds=100)
    timed_queue.enqueue_many(leaseq.NewItem({}, id=f"{n:03}") for n in range(250))
    for _ in range(250):
        timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.reserve("ann") is None
    timed_queue.enqueue({}, id="new")
    timed_queue.enqueue({}, id="newer")
    lease = take(timed_queue, "ann")
    assert lease.id == "new"
    for n in range(230):  # each is returned as a new entry after the cursor
        take(timed_queue, f"p{n % 3}")
    clock.tick(301)
    timed_queue.clear()
    outcome = timed_queue.finish(lease, {}, then_reserve=True, request_id="once")
    assert outcome.next is not None
    assert outcome.next.id == "newer"
    timed_queue.enqueue({}, id="newest")
    assert timed_queue.finish(lease, {}, then_reserve=True, request_id="once").next == outcome.next
    timed_queue.remove("newest")
    timed_queue.finish(outcome.next, {})
    assert timed_queue.why_nothing("ann").reason in (None, "not-eligible")
    assert timed_queue.reserve("ann") is None
    assert timed_queue.why_nothing("ann").reason == "not-eligible"


def test_postponed_entries_are_deleted_after_items_are_finished(abc: leaseq.Queue, server: Server) -> None:
    """Postponed items that others finished cost a person nothing."""
    for id in "abc":
        assert take(abc, "ann").id == id
        abc.abandon(take(abc, "ann"))
    for _ in "abc":
        abc.finish(take(abc, "bob"), {})
    assert abc.reserve("ann") is None
    assert list(server.redis.scan_iter(match=f"leaseq:{{{abc.name}}}:later:*", count=10_000)) == []


@pytest.mark.parametrize("person", ["a b", "=ann", "~", "-", "@ann", "x\u00e4:y", "a/b", "%a+"])
def test_bars_and_postponed_items_work_with_unusual_person_names(abc: leaseq.Queue, person: str) -> None:
    abc.abandon(take(abc, person), again=False)
    abc.abandon(take(abc, person))
    assert [take(abc, other).id for other in ("ann", f"{person}x")] == ["a", "b"]
    abc.release("a"), abc.release("b")
    ids = []
    while lease := abc.reserve(person):
        ids.append(lease.id)
        abc.finish(lease, {})
    assert ids == ["c", "b"]

"""An assignment to one person can be taken back: then anybody may have the item again."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take
from tests.support.refused import refused


def unassigned_events(queue: leaseq.Queue) -> list[tuple[str | None, str | None, object]]:
    return [(e.id, e.person, e.detail) for e in queue.journal() if e.what == "unassigned"]


def test_unassigned_item_goes_to_anybody_first(timed_queue: leaseq.Queue) -> None:
    for id in "abc":
        timed_queue.enqueue({}, id=id)
    timed_queue.assign("c", "bob")
    item = timed_queue.unassign("c", by="mona")
    assert (item.state, item.assigned_to) == ("inbound", ())
    assert unassigned_events(timed_queue) == [("c", "mona", "bob")]
    assert take(timed_queue, "ann").id == "c"
    assert take(timed_queue, "bob").id == "a"


def test_unassign_of_an_unassigned_item_changes_nothing(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    before = timed_queue.get("a")
    assert timed_queue.unassign("a") == before
    timed_queue.assign("a", "bob")
    timed_queue.unassign("a")
    before = timed_queue.get("a")
    assert timed_queue.unassign("a") == before
    assert len(unassigned_events(timed_queue)) == 1
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.unassign("missing")


def test_assignment_of_others_is_kept_if_asked_for(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob", unless="assigned")
    assert timed_queue.unassign("a", person="ann").assigned_to == ("bob",)
    with refused("assigned", "id"):
        timed_queue.assign("a", "ann", unless="assigned")
    with refused("one_of", "unless"):
        timed_queue.assign("a", "ann", unless="held")  # type: ignore[arg-type]
    assert timed_queue.assign("a", "bob", unless="assigned").assigned_to == ("bob",)
    assert timed_queue.unassign("a", person="bob").assigned_to == ()
    assert timed_queue.assign("a", "ann", unless="assigned").assigned_to == ("ann",)


def test_unassigned_item_needs_its_skills_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.assign("a", "bob")
    timed_queue.unassign("a")
    assert timed_queue.reserve("bob") is None
    assert take(timed_queue, "ann", "fr").id == "a"


def test_unassigned_scheduled_item_is_open_when_due(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a", delay=60)
    timed_queue.assign("a", "bob")
    assert timed_queue.unassign("a").state == "scheduled"
    clock.tick(61)
    assert take(timed_queue, "ann").id == "a"


def test_holder_of_an_unassigned_item_keeps_it(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    lease = take(timed_queue, "bob")
    item = timed_queue.unassign("a")
    assert (item.state, item.assigned_to) == ("reserved", ())
    assert [one.token for one in item.leases] == [lease.token]
    timed_queue.release("a")
    assert take(timed_queue, "ann").id == "a"


def test_unassigned_dead_item_is_open_once_it_is_revived(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    timed_queue.fail(take(timed_queue, "bob"), "torn")
    assert timed_queue.unassign("a").state == "dead"
    timed_queue.revive("a")
    assert take(timed_queue, "ann").id == "a"


def test_unassign_opens_all_assignments_of_an_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), 1)
    timed_queue.release(take(timed_queue, "dan").id)  # the third one exists, too
    timed_queue.assign("a", "bob")
    timed_queue.assign("a", "cyd")
    assert timed_queue.get("a").assigned_to == ("bob", "cyd")
    assert timed_queue.unassign("a").assigned_to == ()
    assert {detail for _, _, detail in unassigned_events(timed_queue)} == {"bob", "cyd"}
    assert {take(timed_queue, "eve").id, take(timed_queue, "fay").id} == {"a"}
    assert timed_queue.reserve("ann") is None, "she has answered it"


def test_person_who_passed_over_an_item_gets_it_once_it_is_unassigned(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "ann"))
    timed_queue.assign("a", "bob")
    assert timed_queue.reserve("ann") is None
    timed_queue.unassign("a")
    assert take(timed_queue, "ann").id == "a"


def test_unassign_wakes_a_waiter(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="a")
    queue.assign("a", "bob")
    assert queue.reserve("ann") is None
    queue.unassign("a")
    assert take(queue, "ann").id == "a"


def test_unassign_all_frees_what_is_assigned_to_one_person(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(max_attempts=1, holds=2)
    for id in ("dead", "held", "late", "w1", "w2", "z"):
        timed_queue.enqueue({}, id=id, delay=60 if id == "late" else 0)
    timed_queue.assign("dead", "bob")
    timed_queue.fail(take(timed_queue, "bob"), "torn")
    timed_queue.assign("held", "bob")
    lease = take(timed_queue, "bob")
    timed_queue.enqueue({}, id="more", priority=10)
    for id in ("late", "more", "w1"):
        timed_queue.assign(id, "bob")
    timed_queue.assign("w2", "cyd")
    assert timed_queue.unassign_all("bob", by="mona") == 5
    assert timed_queue.unassign_all("bob") == 0
    assert {id for id, by, detail in unassigned_events(timed_queue) if (by, detail) == ("mona", "bob")} == {
        "dead",
        "held",
        "late",
        "more",
        "w1",
    }
    assert timed_queue.get("w2").assigned_to == ("cyd",)
    timed_queue.release("held")
    timed_queue.revive("dead")
    clock.tick(61)
    freed_ids = [take(timed_queue, f"p{n}").id for n in range(6)]
    assert sorted(freed_ids) == ["dead", "held", "late", "more", "w1", "z"]
    assert lease.id == "held"


def test_unassign_all_takes_more_than_one_step(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(leaseq.NewItem({}, id=f"i{n:03}") for n in range(130))
    for n in range(130):
        timed_queue.assign(f"i{n:03}", "bob")
    assert timed_queue.unassign_all("bob") == 130
    assert all(not item.assigned_to for item in timed_queue.items("inbound", limit=200))


def test_person_export_names_only_present_assignments(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    timed_queue.unassign("a")
    assert list(timed_queue.person_items("bob")) == []

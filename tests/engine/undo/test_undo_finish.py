"""undo_finish: a finish is undone, at most 15 seconds after it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take
from tests.support.refused import refused


def test_undo_finish_returns_lease_with_answer_as_draft(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    new_lease = timed_queue.undo_finish(lease)
    assert (new_lease.id, new_lease.payload, new_lease.draft, new_lease.attempt) == (
        "a",
        {"n": 1},
        {"ok": True},
        1,
    )
    assert new_lease.token > lease.token
    assert timed_queue.mine("ann") == [new_lease]
    assert (sets()["finished"], sets()["reserved"]) == ([], ["a"])
    assert (timed_queue.get("a").state, timed_queue.get("a").answers) == ("reserved", ())
    history = [(grant.how, grant.undone) for grant in timed_queue.get("a").history]
    assert history == [("undone", "finished"), ("held", None)]
    timed_queue.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"ok": False}]
    stats = timed_queue.stats()
    assert (stats.finished, stats.counters["undone"], stats.counters["finished"]) == (1, 1, 2)
    assert [event.what for event in timed_queue.journal()][-3:] == ["undone", "reserved", "finished"]


def test_next_item_stays_held_after_undone_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([leaseq.NewItem({}, id="a"), leaseq.NewItem({}, id="b")])
    lease = take(timed_queue, "ann")
    next_lease = timed_queue.finish(lease, {}, then_reserve=True).next
    new_lease = timed_queue.undo_finish(lease)
    assert timed_queue.mine("ann") == [new_lease, next_lease]
    assert take(timed_queue, "ann") == new_lease, (
        "at the limit the oldest is returned, which is the undone one"
    )
    assert timed_queue.finish(new_lease, {}, then_reserve=True).next == next_lease


def test_undo_finish_is_refused_for_another_person_or_after_15_seconds(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease)  # not finished yet
    timed_queue.finish(lease, {})
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(id="a", token=lease.token, person="bob")
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.undo_finish(id="b", token=lease.token, person="ann")
    clock.tick(15.1)
    with refused("undo"):
        timed_queue.undo_finish(lease)
    assert timed_queue.get("a").state == "finished"


def test_repeated_undo_finish_undoes_once(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    new_lease = timed_queue.undo_finish(lease, request_id="r1")
    assert timed_queue.undo_finish(lease, request_id="r1") == new_lease
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id="r2")
    assert timed_queue.stats().counters["undone"] == 1


def test_repeated_finish_after_undo_is_refused(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    new_lease = timed_queue.undo_finish(lease)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lease, {"ok": True})  # a retry after a late or lost reply
    timed_queue.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"ok": False}]


def test_one_of_several_answers_is_undone_and_replaced(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    anns, bobs = take(timed_queue, "ann"), take(timed_queue, "bob")
    timed_queue.finish(bobs, {"by": "bob"})
    timed_queue.finish(anns, {"by": "ann"})
    new_lease = timed_queue.undo_finish(anns)
    assert [answer.person for answer in timed_queue.get("a").answers] == ["bob"]
    timed_queue.abandon(new_lease)
    assert timed_queue.reserve("bob") is None, "they answered it"
    assert take(timed_queue, "ann").draft == {"by": "ann"}
    timed_queue.finish(timed_queue.mine("ann")[0], {"by": "ann, again"})
    assert timed_queue.get("a").state == "finished"
    assert timed_queue.reserve("ann") is None, "they answered it"


def test_removing_item_after_undo_removes_drafts_of_other_people(timed_queue: leaseq.Queue) -> None:
    """A new item with the same id has no draft."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    bobs, cyds = take(timed_queue, "bob"), take(timed_queue, "cyd")
    timed_queue.save_draft(cyds, {"typed": "by cyd"})
    timed_queue.abandon(cyds)
    timed_queue.finish(bobs, {})
    timed_queue.finish(timed_queue.undo_finish(bobs), {})
    timed_queue.finish(take(timed_queue, "ann"), {})
    timed_queue.remove("a")
    timed_queue.enqueue({}, id="a")
    assert take(timed_queue, "cyd").draft is None


def test_undone_item_counts_as_overdue_again(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a", due=datetime.fromtimestamp(clock.now / 1e6, UTC))
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    clock.tick(5)
    assert timed_queue.stats().overdue == 0
    timed_queue.undo_finish(lease)
    assert timed_queue.stats().overdue == 1
    assert [item.id for item in timed_queue.by_due().items] == ["a"]


def test_expired_lease_from_undo_returns_item_with_draft(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    timed_queue.undo_finish(lease)
    clock.tick(301)
    assert timed_queue.clear().returned == 1
    assert take(timed_queue, "ann").draft == {"ok": True}


def test_passed_over_item_is_reserved_after_undo(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    assert timed_queue.reserve("ann") is None
    timed_queue.abandon(timed_queue.undo_finish(lease))
    take(timed_queue, "bob")
    assert take(timed_queue, "ann").id == "a"


def test_repeated_undo_finish_after_renew_returns_current_lease(timed_queue: leaseq.Queue) -> None:
    """The reply to the undo was lost, and then their page renewed the lease and saved a draft."""
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    new_lease = timed_queue.undo_finish(lease, request_id="r1")
    for number in range(2):
        new_lease = timed_queue.renew(new_lease, request_id=f"renew-{number}")
    timed_queue.save_draft(new_lease, {"ok": False})
    leases = timed_queue.mine("ann")
    assert [timed_queue.undo_finish(lease, request_id="r1")] == leases
    assert (leases[0].token, leases[0].draft) == (new_lease.token, {"ok": False})
    assert timed_queue.stats().counters["undone"] == 1


@pytest.mark.parametrize(
    ("person", "first", "second"),
    [
        ("ann", "undo-12", "undo-1"),
        ("bo qx", "undo-1", "x"),
        ("bo ux", "undo-1", "x"),
        ("bo ax w", "undo-1", "x"),
    ],
)
def test_request_id_of_undo_is_compared_whole(
    timed_queue: leaseq.Queue, person: str, first: str, second: str
) -> None:
    """A request id that is a part of another id, or of the person's name in the grant, is a new request."""
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, person)
    timed_queue.finish(lease, {})
    timed_queue.undo_finish(lease, request_id=first)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id=second)


def test_request_id_of_renew_is_not_taken_for_undo(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.renew(lease, request_id="r")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id="r")
    assert timed_queue.stats().counters["undone"] == 0


def test_request_id_of_undo_is_not_taken_for_renew(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    new_lease = timed_queue.undo_finish(lease, request_id="r")
    clock.tick(100)
    renewed_lease = timed_queue.renew(new_lease, request_id="r")
    assert renewed_lease.expires_at > new_lease.expires_at
    assert timed_queue.renew(new_lease, request_id="r") == renewed_lease, "a retry returns the same lease"


def finish_with_lost_lease(queue: leaseq.Queue, lease: leaseq.Lease, result: object) -> None:
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, result)


@pytest.mark.parametrize("is_renewed", [False, True])
def test_undo_finish_is_refused_for_adopted_answer(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets, is_renewed: bool
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    if is_renewed:
        timed_queue.renew(lease)
    clock.tick(301)
    take(timed_queue, "bob")
    finish_with_lost_lease(timed_queue, lease, {"by": "ann"})
    timed_queue.adopt("a", lease.token, by="meg")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease)
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"by": "ann"}]
    assert (sets()["finished"], timed_queue.mine("ann")) == (["a"], [])
    assert timed_queue.stats().counters["undone"] == 0


def test_undo_finish_is_refused_if_adopted_answer_replaced_own_answer(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"v": 1})
    finish_with_lost_lease(timed_queue, lease, {"v": 2})
    timed_queue.adopt("a", lease.token)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease)
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"v": 2}]


def test_adopted_answer_is_not_undone_but_other_answers_are(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    clock.tick(301)
    bobs, cyds, dans = take(timed_queue, "bob"), take(timed_queue, "cyd"), take(timed_queue, "dan")
    finish_with_lost_lease(timed_queue, anns, {"by": "ann"})
    timed_queue.abandon(cyds)
    timed_queue.finish(bobs, {"by": "bob"})
    timed_queue.finish(dans, {"by": "dan"})
    timed_queue.adopt("a", anns.token)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(anns)
    assert timed_queue.undo_finish(bobs).draft == {"by": "bob"}


def test_finish_can_be_undone_repeatedly(timed_queue: leaseq.Queue) -> None:
    """The request id of the first undo, which is stored in the grant, does not prevent another undo."""
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    for number in range(3):
        timed_queue.finish(lease, {"n": number})
        lease = timed_queue.undo_finish(lease, request_id="r")
        assert lease.draft == {"n": number}
        lease = timed_queue.renew(lease)


def test_attempts_equal_grants_after_undo_of_late_answer(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """The undone grant belonged to the assignment that somebody else has now."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    clock.tick(301)
    take(timed_queue, "bob")
    assert timed_queue.finish(anns, {}).late
    new_lease = timed_queue.undo_finish(anns)
    item = timed_queue.get("a")
    assert (new_lease.attempt, item.attempts, len(item.history)) == (1, 3, 3)

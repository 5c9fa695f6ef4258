"""A finish can be taken back for a few seconds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take


def test_they_hold_it_again_with_their_answer_as_the_draft(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.enqueue({"n": 1}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    new_lease = timed_queue.undo_finish(lease)
    assert (new_lease.id, new_lease.payload, new_lease.draft, new_lease.attempt) == (
        "a",
        {"n": 1},
        {"ok": True},
        2,
    )
    assert new_lease.token > lease.token
    assert timed_queue.mine("ann") == [new_lease]
    assert (sets()["finished"], sets()["reserved"]) == ([], ["a"])
    assert (timed_queue.get("a").state, timed_queue.get("a").answers) == ("reserved", ())
    assert [grant.how for grant in timed_queue.get("a").history] == ["undone", "held"]
    timed_queue.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"ok": False}]
    stats = timed_queue.stats()
    assert (stats.finished, stats.counters["undone"], stats.counters["finished"]) == (1, 1, 2)
    assert [event.what for event in timed_queue.journal()][-3:] == ["undone", "reserved", "finished"]


def test_the_next_item_stays_in_their_hands_behind_it(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([leaseq.NewItem({}, id="a"), leaseq.NewItem({}, id="b")])
    lease = take(timed_queue, "ann")
    next_lease = timed_queue.finish(lease, {}, then_reserve=True).next
    new_lease = timed_queue.undo_finish(lease)
    assert timed_queue.mine("ann") == [new_lease, next_lease]
    assert take(timed_queue, "ann") == new_lease, (
        "at the limit the oldest is returned, which is the undone one"
    )
    assert timed_queue.finish(new_lease, {}, then_reserve=True).next == next_lease


def test_only_who_finished_it_and_only_for_some_seconds(timed_queue: leaseq.Queue, clock: Clock) -> None:
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
    with pytest.raises(leaseq.Invalid, match="15 seconds"):
        timed_queue.undo_finish(lease)
    assert timed_queue.get("a").state == "finished"


def test_sent_twice_it_is_undone_once(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    new_lease = timed_queue.undo_finish(lease, request_id="r1")
    assert timed_queue.undo_finish(lease, request_id="r1") == new_lease
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id="r2")
    assert timed_queue.stats().counters["undone"] == 1


def test_the_finish_that_was_undone_counts_no_more(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    new_lease = timed_queue.undo_finish(lease)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(lease, {"ok": True})  # a retry after a late or lost reply
    timed_queue.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"ok": False}]


def test_one_of_several_answers_is_undone_and_given_anew(timed_queue: leaseq.Queue) -> None:
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


def test_who_else_has_a_draft_is_not_forgotten(timed_queue: leaseq.Queue) -> None:
    """The draft is deleted with the item: a new item with the same id has none."""
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


def test_its_due_date_counts_again(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a", due=datetime.fromtimestamp(clock.now / 1e6, UTC))
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    clock.tick(5)
    assert timed_queue.stats().overdue == 0
    timed_queue.undo_finish(lease)
    assert timed_queue.stats().overdue == 1
    assert [item.id for item in timed_queue.by_due().items] == ["a"]


def test_walked_away_from_it_comes_back_like_any_other(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"ok": True})
    timed_queue.undo_finish(lease)
    clock.tick(301)
    assert timed_queue.clear().returned == 1
    assert take(timed_queue, "ann").draft == {"ok": True}


def test_what_they_looked_past_since_they_had_answered_is_theirs_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    assert timed_queue.reserve("ann") is None
    timed_queue.abandon(timed_queue.undo_finish(lease))
    take(timed_queue, "bob")
    assert take(timed_queue, "ann").id == "a"


def test_sent_again_after_a_renewal_of_theirs_it_gives_what_they_hold(timed_queue: leaseq.Queue) -> None:
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
def test_another_request_is_not_taken_for_one_that_its_id_is_a_piece_of(
    timed_queue: leaseq.Queue, person: str, first: str, second: str
) -> None:
    """Nor if it is a part of the person's name: such a request undid nothing, and must not succeed."""
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, person)
    timed_queue.finish(lease, {})
    timed_queue.undo_finish(lease, request_id=first)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id=second)


def test_the_request_id_of_a_renewal_is_not_taken_for_that_of_an_undo(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.renew(lease, request_id="r")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease, request_id="r")
    assert timed_queue.stats().counters["undone"] == 0


def test_the_request_id_of_an_undo_is_not_taken_for_that_of_a_renewal(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    new_lease = timed_queue.undo_finish(lease, request_id="r")
    clock.tick(100)
    renewed_lease = timed_queue.renew(new_lease, request_id="r")
    assert renewed_lease.expires_at > new_lease.expires_at
    assert timed_queue.renew(new_lease, request_id="r") == renewed_lease, "a retry returns the same lease"


def finish_late(queue: leaseq.Queue, lease: leaseq.Lease, result: object) -> None:
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, result)


@pytest.mark.parametrize("is_renewed", [False, True])
def test_an_answer_that_a_manager_adopted_is_the_manager_s(
    timed_queue: leaseq.Queue, clock: Clock, sets: Sets, is_renewed: bool
) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    if is_renewed:
        timed_queue.renew(lease)
    clock.tick(301)
    take(timed_queue, "bob")
    finish_late(timed_queue, lease, {"by": "ann"})
    timed_queue.adopt("a", lease.token, by="meg")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease)
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"by": "ann"}]
    assert (sets()["finished"], timed_queue.mine("ann")) == (["a"], [])
    assert timed_queue.stats().counters["undone"] == 0


def test_also_one_that_a_manager_took_in_place_of_their_own(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"v": 1})
    finish_late(timed_queue, lease, {"v": 2})
    timed_queue.adopt("a", lease.token)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(lease)
    assert [answer.result for answer in timed_queue.get("a").answers] == [{"v": 2}]


def test_of_several_answers_the_one_that_was_adopted_stays_and_their_own_can_be_undone(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    clock.tick(301)
    bobs, cyds, dans = take(timed_queue, "bob"), take(timed_queue, "cyd"), take(timed_queue, "dan")
    finish_late(timed_queue, anns, {"by": "ann"})
    timed_queue.abandon(cyds)
    timed_queue.finish(bobs, {"by": "bob"})
    timed_queue.finish(dans, {"by": "dan"})
    timed_queue.adopt("a", anns.token)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(anns)
    assert timed_queue.undo_finish(bobs).draft == {"by": "bob"}


def test_what_was_undone_and_finished_again_can_be_undone_again(timed_queue: leaseq.Queue) -> None:
    """The mark of an undo in the grant, like that of an adoption, must not prevent it."""
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    for number in range(3):
        timed_queue.finish(lease, {"n": number})
        lease = timed_queue.undo_finish(lease, request_id="r")
        assert lease.draft == {"n": number}
        lease = timed_queue.renew(lease)


def test_a_late_answer_that_took_another_assignment_is_counted_once(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
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

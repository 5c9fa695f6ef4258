"""A finish can be taken back for a few seconds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.taking import take


def test_they_hold_it_again_with_their_answer_as_the_draft(timed: leaseq.Queue, sets: Sets) -> None:
    timed.enqueue({"n": 1}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {"ok": True})
    new_lease = timed.undo_finish(lease)
    assert (new_lease.id, new_lease.payload, new_lease.draft, new_lease.attempt) == (
        "a",
        {"n": 1},
        {"ok": True},
        2,
    )
    assert new_lease.token > lease.token
    assert timed.mine("ann") == [new_lease]
    assert (sets()["finished"], sets()["reserved"]) == ([], ["a"])
    assert (timed.get("a").state, timed.get("a").answers) == ("reserved", ())
    assert [grant.how for grant in timed.get("a").history] == ["undone", "held"]
    timed.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed.get("a").answers] == [{"ok": False}]
    stats = timed.stats()
    assert (stats.finished, stats.counters["undone"], stats.counters["finished"]) == (1, 1, 2)
    assert [event.what for event in timed.journal()][-3:] == ["undone", "reserved", "finished"]


def test_the_next_item_stays_in_their_hands_behind_it(timed: leaseq.Queue) -> None:
    timed.enqueue_many([leaseq.NewItem({}, id="a"), leaseq.NewItem({}, id="b")])
    lease = take(timed, "ann")
    next_lease = timed.finish(lease, {}, then_reserve=True).next
    new_lease = timed.undo_finish(lease)
    assert timed.mine("ann") == [new_lease, next_lease]
    assert take(timed, "ann") == new_lease, "full hands give the oldest, and that is what they went back to"
    assert timed.finish(new_lease, {}, then_reserve=True).next == next_lease


def test_only_who_finished_it_and_only_for_some_seconds(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease)  # not finished yet
    timed.finish(lease, {})
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(id="a", token=lease.token, person="bob")
    with pytest.raises(leaseq.ItemNotFound):
        timed.undo_finish(id="b", token=lease.token, person="ann")
    clock.tick(15.1)
    with pytest.raises(leaseq.Invalid, match="15 seconds"):
        timed.undo_finish(lease)
    assert timed.get("a").state == "finished"


def test_sent_twice_it_is_undone_once(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {})
    new_lease = timed.undo_finish(lease, request_id="r1")
    assert timed.undo_finish(lease, request_id="r1") == new_lease
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease, request_id="r2")
    assert timed.stats().counters["undone"] == 1


def test_the_finish_that_was_undone_counts_no_more(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {"ok": True})
    new_lease = timed.undo_finish(lease)
    with pytest.raises(leaseq.LeaseLost):
        timed.finish(lease, {"ok": True})  # its reply was late, or lost
    timed.finish(new_lease, {"ok": False})
    assert [answer.result for answer in timed.get("a").answers] == [{"ok": False}]


def test_one_of_several_answers_is_undone_and_given_anew(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    anns, bobs = take(timed, "ann"), take(timed, "bob")
    timed.finish(bobs, {"by": "bob"})
    timed.finish(anns, {"by": "ann"})
    new_lease = timed.undo_finish(anns)
    assert [answer.person for answer in timed.get("a").answers] == ["bob"]
    timed.abandon(new_lease)
    assert timed.reserve("bob") is None, "they answered it"
    assert take(timed, "ann").draft == {"by": "ann"}
    timed.finish(timed.mine("ann")[0], {"by": "ann, again"})
    assert timed.get("a").state == "finished"
    assert timed.reserve("ann") is None, "they answered it"


def test_who_else_has_a_draft_is_not_forgotten(timed: leaseq.Queue) -> None:
    """It goes with the item: an item of the same id begins with none."""
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    bobs, cyds = take(timed, "bob"), take(timed, "cyd")
    timed.save_draft(cyds, {"typed": "by cyd"})
    timed.abandon(cyds)
    timed.finish(bobs, {})
    timed.finish(timed.undo_finish(bobs), {})
    timed.finish(take(timed, "ann"), {})
    timed.remove("a")
    timed.enqueue({}, id="a")
    assert take(timed, "cyd").draft is None


def test_its_due_date_counts_again(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a", due=datetime.fromtimestamp(clock.now / 1e6, UTC))
    lease = take(timed, "ann")
    timed.finish(lease, {})
    clock.tick(5)
    assert timed.stats().overdue == 0
    timed.undo_finish(lease)
    assert timed.stats().overdue == 1
    assert [item.id for item in timed.by_due().items] == ["a"]


def test_walked_away_from_it_comes_back_like_any_other(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {"ok": True})
    timed.undo_finish(lease)
    clock.tick(301)
    assert timed.clear().returned == 1
    assert take(timed, "ann").draft == {"ok": True}


def test_what_they_looked_past_since_they_had_answered_is_theirs_again(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {})
    assert timed.reserve("ann") is None
    timed.abandon(timed.undo_finish(lease))
    take(timed, "bob")
    assert take(timed, "ann").id == "a"


def test_sent_again_after_a_renewal_of_theirs_it_gives_what_they_hold(timed: leaseq.Queue) -> None:
    """The reply to the undo was lost; meanwhile their page renewed the lease, and saved a draft."""
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {"ok": True})
    new_lease = timed.undo_finish(lease, request_id="r1")
    for number in range(2):
        new_lease = timed.renew(new_lease, request_id=f"renew-{number}")
    timed.save_draft(new_lease, {"ok": False})
    leases = timed.mine("ann")
    assert [timed.undo_finish(lease, request_id="r1")] == leases
    assert (leases[0].token, leases[0].draft) == (new_lease.token, {"ok": False})
    assert timed.stats().counters["undone"] == 1


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
    timed: leaseq.Queue, person: str, first: str, second: str
) -> None:
    """Nor for a piece of the person's name: nothing was undone by it, and it does not say so."""
    timed.enqueue({}, id="a")
    lease = take(timed, person)
    timed.finish(lease, {})
    timed.undo_finish(lease, request_id=first)
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease, request_id=second)


def test_the_request_id_of_a_renewal_is_not_taken_for_that_of_an_undo(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.renew(lease, request_id="r")
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease, request_id="r")
    assert timed.stats().counters["undone"] == 0


def test_the_request_id_of_an_undo_is_not_taken_for_that_of_a_renewal(
    timed: leaseq.Queue, clock: Clock
) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {})
    new_lease = timed.undo_finish(lease, request_id="r")
    clock.tick(100)
    renewed_lease = timed.renew(new_lease, request_id="r")
    assert renewed_lease.expires_at > new_lease.expires_at
    assert timed.renew(new_lease, request_id="r") == renewed_lease, "sent again it is the same one"


def finish_late(queue: leaseq.Queue, lease: leaseq.Lease, result: object) -> None:
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(lease, result)


@pytest.mark.parametrize("is_renewed", [False, True])
def test_an_answer_that_a_manager_adopted_is_the_manager_s(
    timed: leaseq.Queue, clock: Clock, sets: Sets, is_renewed: bool
) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    if is_renewed:
        timed.renew(lease)
    clock.tick(301)
    take(timed, "bob")
    finish_late(timed, lease, {"by": "ann"})
    timed.adopt("a", lease.token, by="meg")
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease)
    assert [answer.result for answer in timed.get("a").answers] == [{"by": "ann"}]
    assert (sets()["finished"], timed.mine("ann")) == (["a"], [])
    assert timed.stats().counters["undone"] == 0


def test_also_one_that_a_manager_took_in_place_of_their_own(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    timed.finish(lease, {"v": 1})
    finish_late(timed, lease, {"v": 2})
    timed.adopt("a", lease.token)
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(lease)
    assert [answer.result for answer in timed.get("a").answers] == [{"v": 2}]


def test_of_several_answers_the_one_that_was_adopted_stays_and_their_own_can_be_undone(
    timed: leaseq.Queue, clock: Clock
) -> None:
    timed.configure(answers=3)
    timed.enqueue({}, id="a")
    anns = take(timed, "ann")
    clock.tick(301)
    bobs, cyds, dans = take(timed, "bob"), take(timed, "cyd"), take(timed, "dan")
    finish_late(timed, anns, {"by": "ann"})
    timed.abandon(cyds)
    timed.finish(bobs, {"by": "bob"})
    timed.finish(dans, {"by": "dan"})
    timed.adopt("a", anns.token)
    with pytest.raises(leaseq.LeaseLost):
        timed.undo_finish(anns)
    assert timed.undo_finish(bobs).draft == {"by": "bob"}


def test_what_was_undone_and_finished_again_can_be_undone_again(timed: leaseq.Queue) -> None:
    """Though it is told by a mark of the grant who undid it, as it is who adopted one."""
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    for number in range(3):
        timed.finish(lease, {"n": number})
        lease = timed.undo_finish(lease, request_id="r")
        assert lease.draft == {"n": number}
        lease = timed.renew(lease)


def test_a_late_answer_that_took_another_assignment_is_counted_once(
    timed: leaseq.Queue, clock: Clock
) -> None:
    """The grant that is undone was of the assignment that somebody else has by now."""
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    anns = take(timed, "ann")
    clock.tick(301)
    take(timed, "bob")
    assert timed.finish(anns, {}).late
    new_lease = timed.undo_finish(anns)
    item = timed.get("a")
    assert (new_lease.attempt, item.attempts, len(item.history)) == (1, 3, 3)

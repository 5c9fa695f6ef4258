"""reopen: a manager takes an answer back, the item is inbound again, and the answer is kept as a late one."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take
from tests.support.refused import refused


@pytest.fixture
def finished_lease(timed_queue: leaseq.Queue) -> leaseq.Lease:
    """Ann has answered "one"; "two" is waiting."""
    timed_queue.enqueue({"n": 1}, id="one")
    timed_queue.enqueue({"n": 2}, id="two")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {"by": "ann"})
    return lease


def test_reopened_item_is_first_inbound_and_its_answer_is_kept(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease, sets: Sets
) -> None:
    item = timed_queue.reopen("one", finished_lease.token, reason="read it again", by="meg")
    assert (item.state, item.answers) == ("inbound", ())
    assert [(answer.person, answer.token, answer.result) for answer in item.late_answers] == [
        ("ann", finished_lease.token, {"by": "ann"})
    ]
    (grant,) = item.history
    assert (grant.how, grant.reason) == ("reopened", "read it again")
    assert sets()["finished"] == []
    event = timed_queue.journal()[-1]
    assert (event.what, event.id, event.token, event.person) == (
        "reopened",
        "one",
        finished_lease.token,
        "meg",
    )
    assert event.detail == "read it again"
    counters = timed_queue.stats().counters
    assert (counters["reopened"], counters["finished"], counters["reserved"]) == (1, 1, 1)
    lease = take(timed_queue, "bob")
    assert (lease.id, lease.attempt, lease.draft) == ("one", 2, None)
    timed_queue.finish(lease, {"by": "bob"})
    assert [answer.result for answer in timed_queue.get("one").answers] == [{"by": "bob"}]


def test_person_gets_reopened_answer_as_draft(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    timed_queue.reopen("one", finished_lease.token)
    assert take(timed_queue, "ann").draft == {"by": "ann"}


def test_reopen_assigns_item_to_given_person(timed_queue: leaseq.Queue, finished_lease: leaseq.Lease) -> None:
    assert timed_queue.reopen("one", finished_lease.token, to="ann", by="meg").assigned_to == ("ann",)
    assert [event.what for event in timed_queue.journal()[-2:]] == ["reopened", "assigned"]
    assert take(timed_queue, "bob").id == "two"
    lease = take(timed_queue, "ann")
    assert (lease.id, lease.draft) == ("one", {"by": "ann"})


def test_reopen_to_person_is_refused_at_limit_of_rows(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    timed_queue.enqueue_many(leaseq.NewItem({}, requires=(f"s{n}",)) for n in range(500))
    with refused("maximum", what="rows") as error:
        timed_queue.reopen("one", finished_lease.token, to="ann")
    assert error.value.field == "to"
    assert timed_queue.get("one").state == "finished"
    assert timed_queue.reopen("one", finished_lease.token).state == "inbound", "it may wait for anybody"


def test_repeated_reopen_reopens_once(timed_queue: leaseq.Queue, finished_lease: leaseq.Lease) -> None:
    first = timed_queue.reopen("one", finished_lease.token, by="meg")
    assert timed_queue.reopen("one", finished_lease.token, by="meg") == first
    assert timed_queue.stats().counters["reopened"] == 1


def test_reopened_answer_can_be_adopted_and_reopened_again(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    for _ in range(2):
        timed_queue.reopen("one", finished_lease.token)
        item = timed_queue.adopt("one", finished_lease.token, by="meg")
        assert (item.state, [answer.result for answer in item.answers]) == ("finished", [{"by": "ann"}])
        assert item.late_answers == ()


def test_undo_and_finish_are_refused_after_reopen(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    timed_queue.reopen("one", finished_lease.token)
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.undo_finish(finished_lease)
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(finished_lease, {"by": "ann"})
    assert error.value.answer_kept
    assert len(timed_queue.get("one").late_answers) == 1, "the answer was already kept"


def test_reopen_is_refused_for_token_without_answer(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    bobs = take(timed_queue, "bob")
    for id, token in (("one", 99), ("two", bobs.token), ("two", finished_lease.token)):
        with refused("token", what="answer"):
            timed_queue.reopen(id, token)
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.reopen("gone", finished_lease.token)


def test_reopen_returns_only_one_of_several_answers_to_inbound(timed_queue: leaseq.Queue, sets: Sets) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    for person in ("ann", "bob"):
        timed_queue.finish(take(timed_queue, person), {"by": person})
    anns = timed_queue.get("a").answers[0].token
    with refused("holds_or_answered", what="part"):
        timed_queue.reopen("a", anns, to="bob")
    item = timed_queue.reopen("a", anns)
    assert (item.state, [answer.person for answer in item.answers]) == ("inbound", ["bob"])
    assert sets()["finished"] == ["a\a2"]
    assert timed_queue.reserve("bob") is None, "they answered it"
    timed_queue.finish(take(timed_queue, "ann"), {"by": "ann, again"})
    assert sorted(answer.person for answer in timed_queue.get("a").answers) == ["ann", "bob"]


def test_reopened_item_is_due_again_and_no_longer_assigned(timed_queue: leaseq.Queue, clock: Clock) -> None:
    due = timed_queue.get(
        timed_queue.enqueue({}, id="a", due=leaseq.engine.codec.to_datetime(clock.now)).id
    ).due
    timed_queue.assign("a", "ann")
    lease = take(timed_queue, "ann")
    timed_queue.finish(lease, {})
    assert timed_queue.by_due().items == ()
    timed_queue.reopen("a", lease.token)
    assert [(item.id, item.due) for item in timed_queue.by_due().items] == [("a", due)]
    assert take(timed_queue, "bob").id == "a"


def test_reopened_late_answer_for_other_assignment_counts_as_attempt(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    late_lease = take(timed_queue, "ann")
    clock.tick(301)
    take(timed_queue, "bob")
    assert timed_queue.finish(late_lease, {"by": "ann"}).late
    timed_queue.reopen("a", late_lease.token, reason="look again")
    assert take(timed_queue, "cyd").attempt == 2


def test_attempts_continue_after_adopted_answer_was_reopened(
    timed_queue: leaseq.Queue, finished_lease: leaseq.Lease
) -> None:
    late_lease = take(timed_queue, "ann")
    timed_queue.release("two")
    assert take(timed_queue, "bob").attempt == 2
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(late_lease, {"by": "ann"})
    timed_queue.adopt("two", late_lease.token)
    assert timed_queue.reopen("two", late_lease.token).attempts == 2
    assert take(timed_queue, "eve").attempt == 3
    assert timed_queue.get("two").attempts == 3


def answer_after_giving_back(queue: leaseq.Queue) -> leaseq.Lease:
    """The lease that Ann finished, of an item that she had given back before."""
    queue.configure(max_abandons=2, answers=2)
    queue.enqueue({}, id="a")
    queue.abandon(take(queue, "ann"))
    take(queue, "eve")
    take(queue, "dan")
    queue.release("a")
    lease = take(queue, "ann")
    queue.finish(lease, {})
    return lease


@pytest.mark.parametrize("corrected_by", [(), ("mona",), ("ann",), ("mona", "ann")])
@pytest.mark.parametrize("is_adopted", [False, True])
def test_reopened_answer_keeps_earlier_abandon_of_same_person(
    timed_queue: leaseq.Queue, corrected_by: tuple[str, ...], is_adopted: bool
) -> None:
    lease = answer_after_giving_back(timed_queue)
    if is_adopted:
        timed_queue.reopen("a", lease.token)
        timed_queue.adopt("a", lease.token)
    token = lease.token
    for n, by in enumerate(corrected_by):
        timed_queue.correct("a", token, {"n": n}, by=by)
        (token,) = (answer.token for answer in timed_queue.get("a").answers)
    timed_queue.reopen("a", token)
    timed_queue.abandon(take(timed_queue, "bob"))
    assert timed_queue.get("a").state == "dead", "two people gave it back"


def test_give_back_before_an_answer_counts_only_once_the_answer_does_not(timed_queue: leaseq.Queue) -> None:
    lease = answer_after_giving_back(timed_queue)
    timed_queue.abandon(take(timed_queue, "bob"))
    assert timed_queue.get("a").state == "inbound", "ann did it after all"
    timed_queue.revive("a")
    timed_queue.reopen("a", lease.token)
    timed_queue.abandon(take(timed_queue, "cyd"))
    assert timed_queue.get("a").state == "dead"


def test_give_back_before_a_revive_does_not_count_after_reopen(timed_queue: leaseq.Queue) -> None:
    lease = answer_after_giving_back(timed_queue)
    timed_queue.fail(take(timed_queue, "bob"), "torn", retry=False)
    timed_queue.revive("a")
    timed_queue.reopen("a", lease.token)
    timed_queue.abandon(take(timed_queue, "cyd"))
    assert timed_queue.get("a").state == "inbound"

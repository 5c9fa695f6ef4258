"""Several answers: an item is given to as many people as its queue wants answers, and never twice to one
person."""

from __future__ import annotations

import random

import pytest

import leaseq
from tests.conftest import Clock
from tests.engine.conftest import Sets
from tests.support.leases import take
from tests.support.refused import refused


def test_at_most_three_people_hold_item_that_wants_three_answers(three: leaseq.Queue) -> None:
    three.enqueue({"text": "hello"}, id="a")
    leases = [take(three, person) for person in ("ann", "bob", "cyd")]
    assert {(lease.id, lease.payload["text"], lease.attempt) for lease in leases} == {("a", "hello", 1)}
    assert len({lease.token for lease in leases}) == 3
    assert three.reserve("dan") is None
    assert three.why_nothing("dan").reason == "held"
    assert [grant.person for grant in three.get("a").leases] == ["ann", "bob", "cyd"]


def test_nobody_gets_an_item_twice(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    three.finish(take(three, "ann"), {"by": "ann"})
    assert three.reserve("ann") is None
    assert three.why_nothing("ann").reason == "not-eligible"
    three.configure(holds=2)
    take(three, "bob")
    assert three.reserve("bob") is None, "no second assignment while they hold one"


def test_every_item_gets_first_answer_before_second_answers(three: leaseq.Queue) -> None:
    for id in "abc":
        three.enqueue({}, id=id)
    ids = []
    for person in ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida"):
        lease = take(three, person)
        ids.append(lease.id)
        three.finish(lease, {})
    assert ids == ["a", "b", "c"] * 3
    assert three.reserve("jon") is None
    assert three.why_nothing("jon").reason == "empty"


def test_item_enqueued_later_gets_first_answer_before_second_answers(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    assert take(three, "ann").id == "a"
    three.enqueue({}, id="b")
    assert [take(three, person).id for person in ("bob", "cyd")] == ["b", "a"]


def test_an_item_is_finished_when_all_of_its_answers_are_there(three: leaseq.Queue, sets: Sets) -> None:
    three.enqueue({}, id="a")
    states = []
    for person in ("ann", "bob", "cyd"):
        lease = take(three, person)
        states.append(three.get("a").state)
        three.finish(lease, {"by": person})
        states.append(three.get("a").state)
    assert states == ["reserved", "inbound", "reserved", "inbound", "reserved", "finished"]
    item = three.get("a")
    assert [(a.person, a.result) for a in item.answers] == [(p, {"by": p}) for p in ("ann", "bob", "cyd")]
    assert item.attempts == 3
    assert three.stats().finished == 3
    assert [(a.id, a.person) for a in three.answers()] == [("a", "ann"), ("a", "bob"), ("a", "cyd")]
    assert [i.assignment for i in three.items("finished")] == [1, 2, 3]
    assert sets()["finished"] == ["a", "a\a2", "a\a3"]


def test_item_never_gets_more_answers_than_policy_wants(three: leaseq.Queue, clock: Clock) -> None:
    chance = random.Random(5)
    for n in range(12):
        three.enqueue({}, id=f"{n}")
    three.configure(max_attempts=1000)
    people = [f"p{n}" for n in range(5)]
    for _ in range(900):
        lease = three.reserve(chance.choice(people))
        if lease is None:
            clock.tick(400)
            continue
        draw = chance.random()
        if draw < 0.5:
            three.finish(lease, {"by": lease.person})
        elif draw < 0.7:
            three.abandon(lease)
        elif draw < 0.8:
            three.fail(lease, "no")
        clock.tick(chance.choice([1, 100]))
    for n in range(12):
        item = three.get(f"{n}")
        assert item.state == "finished"
        assert len(item.answers) == 3
        assert len({answer.person for answer in item.answers}) == 3


def test_failures_of_all_assignments_count_together(three: leaseq.Queue, clock: Clock) -> None:
    three.enqueue({}, id="a")
    leases = [take(three, person) for person in ("ann", "bob", "cyd")]
    assert three.fail(leases[0], "torn").retry_at is not None
    assert three.fail(leases[1], "torn").retry_at is not None
    clock.tick(301)
    assert (three.clear().died, three.get("a").failures, three.stats().dead) == (1, 3, 3)


def test_item_dies_with_all_waiting_assignments_at_failure_limit(three: leaseq.Queue, sets: Sets) -> None:
    three.configure(retry_seconds=0)
    three.enqueue({}, id="a")
    bobs = [take(three, person) for person in ("ann", "bob")][1]
    three.fail(three.mine("ann")[0], "torn")
    three.fail(take(three, "ann"), "torn")
    assert three.fail(take(three, "cyd"), "torn").retry_at is None
    assert sets()["inbound"] == []
    assert three.get("a").failures == 3
    three.finish(bobs, {"by": "bob"})  # holders may still finish
    assert three.get("a").state == "dead"
    assert three.reserve("dan") is None
    item = three.revive("a")
    assert (item.state, item.failures, len(item.answers)) == ("inbound", 0, 1)
    assert three.reserve("bob") is None, "they answered it"
    assert take(three, "dan").id == "a"


def test_journal_has_event_for_each_assignment_that_dies(three: leaseq.Queue) -> None:
    """The one that failed, the one that was waiting, and the one that came back later."""
    three.configure(max_attempts=1)
    three.enqueue({}, id="a")
    take(three, "ann")
    bobs = take(three, "bob")

    def died_events() -> list[tuple[str | None, str | None]]:
        return [(event.id, event.person) for event in three.journal() if event.what == "died"]

    three.fail(bobs, "torn")
    assert died_events() == [("a", "bob"), ("a", None)]
    three.release("a")
    assert died_events() == [("a", "bob"), ("a", None), ("a", None)]


def test_new_item_with_id_of_removed_item_has_no_old_history(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    take(three, "ann")
    three.abandon(take(three, "bob"))
    take(three, "cyd")
    three.remove("a")
    three.enqueue({}, id="a")
    take(three, "ann"), take(three, "bob")
    assert [grant.person for grant in three.get("a").history] == ["ann", "bob"]


@pytest.mark.parametrize("ending", ["abandon", "fail", "release", "expiry"])
def test_assignment_held_when_item_died_dies_when_returned(
    three: leaseq.Queue, clock: Clock, sets: Sets, ending: str
) -> None:
    three.configure(max_attempts=1)
    three.enqueue({}, id="a")
    cyds, bobs, anns = [take(three, person) for person in ("cyd", "bob", "ann")]
    three.fail(bobs, "torn")
    if ending == "abandon":
        three.abandon(anns)
        three.abandon(cyds)
    elif ending == "fail":
        assert [three.fail(lease, "torn").retry_at for lease in (anns, cyds)] == [None, None]
    elif ending == "release":
        three.release("a")
    else:
        clock.tick(301)
        assert three.clear().died == 2
    assert (three.get("a").state, sets()["inbound"], three.stats().counters["died"]) == ("dead", [], 3)
    assert three.reserve("dan") is None
    assert three.revive("a").state == "inbound"
    three.abandon(take(three, "dan"))
    assert three.stats().inbound == 3, "after the revive it no longer dies when returned"


def test_release_and_remove_apply_to_all_assignments(three: leaseq.Queue, sets: Sets) -> None:
    three.enqueue({}, id="a")
    for person in ("ann", "bob"):
        take(three, person)
    assert three.release("a").leases == ()
    assert three.stats().counters["released"] == 2
    take(three, "cyd")
    three.remove("a")
    assert all(not ids for ids in sets().values())
    assert three.stats().inbound == 0
    with pytest.raises(leaseq.ItemNotFound):
        three.get("a")
    assert three.mine("cyd") == []
    assert three.enqueue({}, id="a").added
    assert len([person for person in ("ann", "bob", "cyd", "dan") if three.reserve(person)]) == 3


def test_draft_of_one_person_survives_answer_of_another(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    anns, bobs = take(three, "ann"), take(three, "bob")
    three.save_draft(anns, {"by": "ann"})
    three.save_draft(bobs, {"by": "bob"})
    three.finish(anns, {})
    three.abandon(bobs)
    assert take(three, "bob").draft == {"by": "bob"}
    assert take(three, "cyd").draft is None


def test_raising_answers_applies_only_to_unfinished_items(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.enqueue({}, id="b")
    timed_queue.finish(take(timed_queue, "ann"), {})
    timed_queue.configure(answers=2)
    assert [take(timed_queue, person).id for person in ("bob", "cyd")] == ["b", "b"]
    assert timed_queue.get("a").state == "finished", "finished items get no more answers"


def test_lowering_answers_keeps_existing_leases_and_drafts(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    anns, bobs, cyds = (take(three, person) for person in ("ann", "bob", "cyd"))
    three.save_draft(cyds, {"half": 1})
    three.finish(anns, {})
    three.configure(answers=1)
    three.finish(bobs, {})
    assert three.mine("cyd")[0].draft == {"half": 1}
    three.finish(cyds, {})
    assert len(three.get("a").answers) == 3


def test_the_draft_of_somebody_who_answered_is_not_shared(three: leaseq.Queue) -> None:
    three.configure(share_drafts=True)
    three.enqueue({}, id="a")
    anns, bobs = take(three, "ann"), take(three, "bob")
    three.save_draft(anns, {"by": "ann"})
    three.save_draft(bobs, {"by": "bob"})
    three.finish(bobs, {})
    assert take(three, "cyd").draft == {"by": "ann"}


def test_revive_does_nothing_or_is_refused_if_no_assignment_is_dead(three: leaseq.Queue) -> None:
    three.enqueue({}, id="a")
    leases = [take(three, person) for person in ("ann", "bob", "cyd")]
    for lease in leases[:2]:
        three.finish(lease, {})
    three.revive("a")  # nothing of it is dead, so nothing changes
    assert three.get("a").state == "reserved"
    three.finish(leases[2], {})
    with refused("state", "id", id="a", state="finished"):
        three.revive("a")


def test_the_next_assignment_of_an_item_has_its_priority(three: leaseq.Queue) -> None:
    three.enqueue({}, id="normal")
    three.enqueue({}, id="urgent", priority=1)
    assert [take(three, person).id for person in ("ann", "bob", "cyd", "dan")] == 3 * ["urgent"] + ["normal"]

"""An assigned item is for one person until they give it back."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.leases import take
from tests.support.refused import refused

UNUSUAL_NAMES = ["a b", "a/b", "50%", "x:y", "@ann", "fr", "high", "\u65e5\u672c", "-", "=~", "*", "a.b+c"]


def test_assigned_item_goes_only_and_first_to_its_person(timed_queue: leaseq.Queue) -> None:
    for id in "abc":
        timed_queue.enqueue({}, id=id)
    assert timed_queue.assign("c", "bob", by="mona").assigned_to == ("bob",)
    assert [take(timed_queue, "ann").id, take(timed_queue, "cyd").id] == ["a", "b"]
    assert timed_queue.reserve("dan") is None
    assert timed_queue.why_nothing("dan").reason == "not-eligible"
    assert timed_queue.why_nothing("bob").reason is None
    assert take(timed_queue, "bob").id == "c"
    events = [(e.id, e.person, e.detail) for e in timed_queue.journal() if e.what == "assigned"]
    assert events == [("c", "mona", "bob")]
    assert timed_queue.stats().counters["assigned"] == 1


def test_item_stays_assigned_after_expiry_fail_and_release(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    take(timed_queue, "bob")
    clock.tick(301)
    assert timed_queue.reserve("ann") is None
    timed_queue.fail(take(timed_queue, "bob"), "torn")
    clock.tick(60)
    assert timed_queue.reserve("ann") is None
    timed_queue.release(take(timed_queue, "bob").id)
    assert timed_queue.reserve("ann") is None
    assert take(timed_queue, "bob").attempt == 4


@pytest.mark.parametrize("again", [True, False])
def test_abandoned_item_is_no_longer_assigned(timed_queue: leaseq.Queue, again: bool) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.assign("a", "bob")
    timed_queue.abandon(take(timed_queue, "bob"), again=again)
    assert timed_queue.get("a").assigned_to == ()
    assert timed_queue.reserve("ann") is None, "only people with the skill get it"
    assert take(timed_queue, "ann", "fr").id == "a"


def test_assigned_person_needs_no_skills(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr", "legal"])
    timed_queue.assign("a", "bob")
    assert timed_queue.reserve("ann", skills=["fr", "legal"]) is None
    assert take(timed_queue, "bob").id == "a"


def test_assigned_item_that_comes_due_precedes_waiting_items(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="due", delay=60)
    timed_queue.assign("due", "bob")
    timed_queue.enqueue({}, id="waits")
    clock.tick(61)
    assert timed_queue.clear().released == 1
    assert take(timed_queue, "bob").id == "due"


def test_assigned_scheduled_item_goes_to_its_person_when_due(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue({}, id="a", delay=60)
    assert timed_queue.assign("a", "bob").state == "scheduled"
    assert timed_queue.reserve("bob") is None
    clock.tick(61)
    assert timed_queue.reserve("ann") is None
    assert take(timed_queue, "bob").id == "a"


def test_item_can_be_reassigned_and_repeated_assign_counts_once(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.assign("a", "bob")
    timed_queue.assign("a", "bob")
    assert timed_queue.stats().counters["assigned"] == 1
    timed_queue.assign("a", "cyd")
    assert timed_queue.reserve("bob") is None
    assert take(timed_queue, "cyd").id == "a"


def test_declined_item_is_granted_if_assigned_to_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.abandon(take(timed_queue, "bob"), again=False)
    assert timed_queue.reserve("bob") is None
    timed_queue.assign("a", "bob")
    assert take(timed_queue, "bob").id == "a"


@pytest.mark.parametrize("person", ["bob", "ann"])
@pytest.mark.parametrize("state", ["reserved", "finished", "dead"])
def test_assign_is_refused_for_reserved_finished_or_dead_item(
    timed_queue: leaseq.Queue, state: str, person: str
) -> None:
    """Also for the person who has or had it."""
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    if state == "finished":
        timed_queue.finish(lease, {})
    elif state == "dead":
        timed_queue.fail(lease, "no")
    with refused("state", "id", id="a", state=state):
        timed_queue.assign("a", person)
    assert timed_queue.stats().counters["assigned"] == 0


def test_assign_of_missing_item_raises_item_not_found(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure()
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.assign("a", "bob")


def test_expired_lease_is_not_renewed_if_item_is_assigned_to_another(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="a")
    stale = take(timed_queue, "ann")
    clock.tick(301)
    timed_queue.clear()
    timed_queue.assign("a", "bob")
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.renew(stale)
    assert timed_queue.finish(stale, {}).late, "but the late answer counts"


def test_assign_is_refused_for_person_that_answered_or_holds_item(
    timed_queue: leaseq.Queue,
) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), {})
    take(timed_queue, "bob")
    for person in ("ann", "bob"):
        with pytest.raises(leaseq.Invalid) as error:
            timed_queue.assign("a", person)
        assert error.value.field == "person"
    timed_queue.assign("a", "cyd")
    assert timed_queue.reserve("dan") is None
    assert take(timed_queue, "cyd").id == "a"


def test_answer_for_other_assignment_unassigns_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    timed_queue.abandon(take(timed_queue, "bob"))
    timed_queue.assign("a", "bob")  # the second assignment, the only waiting one
    timed_queue.abandon(anns)  # now the first one is ahead of it
    timed_queue.finish(take(timed_queue, "bob"), {})
    assert timed_queue.get("a").assigned_to == ()
    assert take(timed_queue, "cyd").id == "a"


def test_passed_over_assignment_is_reserved_after_assign_of_another_one(
    timed_queue: leaseq.Queue,
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    anns = take(timed_queue, "ann")
    timed_queue.abandon(take(timed_queue, "bob"), again=False)
    assert timed_queue.reserve("bob") is None
    timed_queue.abandon(anns)
    timed_queue.assign("a", "bob")
    timed_queue.abandon(take(timed_queue, "bob"))
    timed_queue.finish(take(timed_queue, "ann"), {})
    assert take(timed_queue, "bob").id == "a"


def test_late_answer_does_not_take_assignment_of_another_person(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    stale = take(timed_queue, "ann")
    clock.tick(301)
    take(timed_queue, "bob")
    timed_queue.assign("a", "cyd")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed_queue.finish(stale, {})
    assert error.value.answer_kept
    assert take(timed_queue, "cyd").id == "a"


@pytest.mark.parametrize("person", ["eva", "eva b"])
def test_declining_item_unassigns_other_assignment_of_person(timed_queue: leaseq.Queue, person: str) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    alices = take(timed_queue, "alice")
    timed_queue.assign("a", person)  # the second assignment, the only waiting one
    timed_queue.abandon(alices)
    timed_queue.abandon(take(timed_queue, person), again=False)  # the first one, which was ahead of it
    assert timed_queue.get("a").assigned_to == ()
    assert [take(timed_queue, other).id for other in ("bob", "cyd")] == ["a", "a"]
    assert timed_queue.reserve(person) is None


def test_declining_item_unassigns_scheduled_assignment_of_person(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2, retry_seconds=60)
    timed_queue.enqueue({}, id="a")
    alices, bobs = take(timed_queue, "alice"), take(timed_queue, "bob")
    timed_queue.fail(bobs, "torn")
    timed_queue.assign("a", "eva")
    timed_queue.abandon(alices)
    timed_queue.abandon(take(timed_queue, "eva"), again=False)
    clock.tick(61)
    assert [take(timed_queue, other).id for other in ("bob", "cyd")] == ["a", "a"]


def test_item_that_died_of_abandons_is_unassigned_when_revived(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2, max_abandons=2)
    timed_queue.enqueue({}, id="a")
    alices = take(timed_queue, "alice")
    timed_queue.assign("a", "eva")
    timed_queue.abandon(alices)
    timed_queue.abandon(take(timed_queue, "eva"), again=False)
    assert timed_queue.get("a").state == "dead"
    assert timed_queue.revive("a").assigned_to == ()
    assert [take(timed_queue, other).id for other in ("bob", "cyd")] == ["a", "a"]


def test_postponing_item_keeps_other_assignment_of_person(
    timed_queue: leaseq.Queue,
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    alices = take(timed_queue, "alice")
    timed_queue.assign("a", "eva")
    timed_queue.abandon(alices)
    timed_queue.abandon(take(timed_queue, "eva"))
    assert timed_queue.get("a").assigned_to == ("eva",)
    assert take(timed_queue, "bob").id == "a"
    assert timed_queue.reserve("cyd") is None
    assert take(timed_queue, "eva").id == "a"


@pytest.mark.parametrize("person", UNUSUAL_NAMES)
def test_assign_accepts_any_name(timed_queue: leaseq.Queue, person: str) -> None:
    """Including names that look like a row, a sign, a pattern or a part of a path."""
    others = [name for name in UNUSUAL_NAMES if name != person]
    timed_queue.enqueue_many(leaseq.NewItem({}, id=f"%d[{n}]-*^$") for n in range(3))
    for n in range(3):
        timed_queue.assign(f"%d[{n}]-*^$", person)
    for other in others:
        assert timed_queue.reserve(other, skills=["fr", "high"]) is None
    timed_queue.abandon(take(timed_queue, person), again=False)
    assert timed_queue.reserve(others[0]) is not None
    assert [timed_queue.why_nothing(person).reason, timed_queue.get("%d[0]-*^$").leases[0].person] == [
        None,
        others[0],
    ]
    pairs, page = [], timed_queue.page("inbound", limit=1)
    while True:
        pairs += [(item.id, item.assigned_to) for item in page.items]
        if page.after is None:
            break
        page = timed_queue.page("inbound", limit=1, after=page.after)
    assert pairs == [("%d[1]-*^$", (person,)), ("%d[2]-*^$", (person,))]
    timed_queue.finish(take(timed_queue, person), {})
    assert take(timed_queue, person).id == "%d[2]-*^$"


@pytest.mark.parametrize("again", [True, False])
def test_revived_assignments_stay_assigned_until_person_refuses_one(
    timed_queue: leaseq.Queue, again: bool
) -> None:
    """If they may not have the item again, none of its assignments may wait for them."""
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    bobs = take(timed_queue, "bob")
    timed_queue.finish(bobs, {})
    timed_queue.assign("a", "ann")
    timed_queue.reopen("a", bobs.token, to="ann")
    assert timed_queue.get("a").assigned_to == ("ann", "ann")
    timed_queue.fail(take(timed_queue, "ann"), "torn", retry=False)
    timed_queue.revive("a")
    assert timed_queue.reserve("bob") is None
    timed_queue.abandon(take(timed_queue, "ann"), again=again)
    others = [timed_queue.reserve(person) for person in ("cyd", "dan")]
    assert [lease is not None for lease in others] == [True, not again]
    assert timed_queue.get("a").assigned_to == (("ann",) if again else ())

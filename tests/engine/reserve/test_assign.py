"""An item that is assigned: one person's, until they give it back."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock
from tests.support.taking import take

ODD = ["a b", "a/b", "50%", "x:y", "@ann", "fr", "high", "\u65e5\u672c", "-", "=~", "*", "a.b+c"]


def test_only_they_may_reserve_it_and_they_get_it_first(timed: leaseq.Queue) -> None:
    for id in "abc":
        timed.enqueue({}, id=id)
    assert timed.assign("c", "bob", by="mona").assigned_to == ("bob",)
    assert [take(timed, "ann").id, take(timed, "cyd").id] == ["a", "b"]
    assert timed.reserve("dan") is None
    assert timed.why_nothing("dan").reason == "not-eligible"
    assert timed.why_nothing("bob").reason is None
    assert take(timed, "bob").id == "c"
    events = [(e.id, e.person, e.detail) for e in timed.journal() if e.what == "assigned"]
    assert events == [("c", "mona", "bob")]
    assert timed.stats().counters["assigned"] == 1


def test_it_stays_theirs_when_a_lease_runs_out_or_a_try_fails(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a")
    timed.assign("a", "bob")
    take(timed, "bob")
    clock.tick(301)
    assert timed.reserve("ann") is None
    timed.fail(take(timed, "bob"), "torn")
    clock.tick(60)
    assert timed.reserve("ann") is None
    timed.release(take(timed, "bob").id)
    assert timed.reserve("ann") is None
    assert take(timed, "bob").attempt == 4


@pytest.mark.parametrize("again", [True, False])
def test_given_back_it_is_anybodys(timed: leaseq.Queue, again: bool) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    timed.assign("a", "bob")
    timed.abandon(take(timed, "bob"), again=again)
    assert timed.get("a").assigned_to == ()
    assert timed.reserve("ann") is None, "of those who can"
    assert take(timed, "ann", "fr").id == "a"


def test_skills_do_not_matter_to_whom_it_is_assigned(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a", requires=["fr", "legal"])
    timed.assign("a", "bob")
    assert timed.reserve("ann", skills=["fr", "legal"]) is None
    assert take(timed, "bob").id == "a"


def test_one_that_comes_due_is_ahead_of_what_never_left(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="due", delay=60)
    timed.assign("due", "bob")
    timed.enqueue({}, id="waits")
    clock.tick(61)
    assert timed.clear().released == 1
    assert take(timed, "bob").id == "due"


def test_one_that_is_scheduled_goes_to_them_when_due(timed: leaseq.Queue, clock: Clock) -> None:
    timed.enqueue({}, id="a", delay=60)
    assert timed.assign("a", "bob").state == "scheduled"
    assert timed.reserve("bob") is None
    clock.tick(61)
    assert timed.reserve("ann") is None
    assert take(timed, "bob").id == "a"


def test_it_may_be_assigned_anew_and_twice_to_one_is_once(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.assign("a", "bob")
    timed.assign("a", "bob")
    assert timed.stats().counters["assigned"] == 1
    timed.assign("a", "cyd")
    assert timed.reserve("bob") is None
    assert take(timed, "cyd").id == "a"


def test_who_said_never_gets_it_all_the_same_when_it_is_assigned_to_them(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a")
    timed.abandon(take(timed, "bob"), again=False)
    assert timed.reserve("bob") is None
    timed.assign("a", "bob")
    assert take(timed, "bob").id == "a"


@pytest.mark.parametrize("person", ["bob", "ann"])
@pytest.mark.parametrize("state", ["reserved", "finished", "dead"])
def test_what_does_not_wait_is_not_assigned(timed: leaseq.Queue, state: str, person: str) -> None:
    """Nor to the one who has it, or had it."""
    timed.configure(max_attempts=1)
    timed.enqueue({}, id="a")
    lease = take(timed, "ann")
    if state == "finished":
        timed.finish(lease, {})
    elif state == "dead":
        timed.fail(lease, "no")
    with pytest.raises(leaseq.Invalid, match=f"'a' is {state}") as error:
        timed.assign("a", person)
    assert error.value.field == "id"
    assert timed.stats().counters["assigned"] == 0


def test_an_item_that_is_not_there(timed: leaseq.Queue) -> None:
    timed.configure()
    with pytest.raises(leaseq.ItemNotFound):
        timed.assign("a", "bob")


def test_a_lease_that_ran_out_is_not_taken_back_from_whom_it_is_assigned_to(
    timed: leaseq.Queue, clock: Clock
) -> None:
    timed.enqueue({}, id="a")
    stale = take(timed, "ann")
    clock.tick(301)
    timed.clear()
    timed.assign("a", "bob")
    with pytest.raises(leaseq.LeaseLost):
        timed.renew(stale)
    assert timed.finish(stale, {}).late, "but what was typed counts"


def test_a_person_who_answered_or_holds_an_item_is_not_assigned_the_rest_of_it(timed: leaseq.Queue) -> None:
    timed.configure(answers=3)
    timed.enqueue({}, id="a")
    timed.finish(take(timed, "ann"), {})
    take(timed, "bob")
    for person in ("ann", "bob"):
        with pytest.raises(leaseq.Invalid) as error:
            timed.assign("a", person)
        assert error.value.field == "person"
    timed.assign("a", "cyd")
    assert timed.reserve("dan") is None
    assert take(timed, "cyd").id == "a"


def test_what_is_assigned_to_somebody_who_answers_otherwise_is_anybodys(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    anns = take(timed, "ann")
    timed.abandon(take(timed, "bob"))
    timed.assign("a", "bob")  # the second assignment, the only one that waits
    timed.abandon(anns)  # now the first one comes before it
    timed.finish(take(timed, "bob"), {})
    assert timed.get("a").assigned_to == ()
    assert take(timed, "cyd").id == "a"


def test_what_they_looked_past_shows_again_when_another_part_is_assigned_to_them(
    timed: leaseq.Queue,
) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    anns = take(timed, "ann")
    timed.abandon(take(timed, "bob"), again=False)
    assert timed.reserve("bob") is None
    timed.abandon(anns)
    timed.assign("a", "bob")
    timed.abandon(take(timed, "bob"))
    timed.finish(take(timed, "ann"), {})
    assert take(timed, "bob").id == "a"


def test_a_late_answer_takes_nothing_that_is_assigned_to_another(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    stale = take(timed, "ann")
    clock.tick(301)
    take(timed, "bob")
    timed.assign("a", "cyd")
    with pytest.raises(leaseq.LeaseLost) as error:
        timed.finish(stale, {})
    assert error.value.answer_kept
    assert take(timed, "cyd").id == "a"


@pytest.mark.parametrize("person", ["eva", "eva b"])
def test_who_will_never_have_an_item_again_loses_the_rest_of_it_that_is_assigned_to_them(
    timed: leaseq.Queue, person: str
) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    alices = take(timed, "alice")
    timed.assign("a", person)  # the second assignment, the only one that waits
    timed.abandon(alices)
    timed.abandon(take(timed, person), again=False)  # the first one, which came before it
    assert timed.get("a").assigned_to == ()
    assert [take(timed, other).id for other in ("bob", "cyd")] == ["a", "a"]
    assert timed.reserve(person) is None


def test_also_where_the_rest_of_it_waits_for_its_time(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(answers=2, retry_seconds=60)
    timed.enqueue({}, id="a")
    alices, bobs = take(timed, "alice"), take(timed, "bob")
    timed.fail(bobs, "torn")
    timed.assign("a", "eva")
    timed.abandon(alices)
    timed.abandon(take(timed, "eva"), again=False)
    clock.tick(61)
    assert [take(timed, other).id for other in ("bob", "cyd")] == ["a", "a"]


def test_and_where_it_died_of_being_given_back_and_is_revived(timed: leaseq.Queue) -> None:
    timed.configure(answers=2, max_abandons=2)
    timed.enqueue({}, id="a")
    alices = take(timed, "alice")
    timed.assign("a", "eva")
    timed.abandon(alices)
    timed.abandon(take(timed, "eva"), again=False)
    assert timed.get("a").state == "dead"
    assert timed.revive("a").assigned_to == ()
    assert [take(timed, other).id for other in ("bob", "cyd")] == ["a", "a"]


def test_who_gives_it_back_for_later_keeps_the_rest_of_it_that_is_assigned_to_them(
    timed: leaseq.Queue,
) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a")
    alices = take(timed, "alice")
    timed.assign("a", "eva")
    timed.abandon(alices)
    timed.abandon(take(timed, "eva"))
    assert timed.get("a").assigned_to == ("eva",)
    assert take(timed, "bob").id == "a"
    assert timed.reserve("cyd") is None
    assert take(timed, "eva").id == "a"


@pytest.mark.parametrize("person", ODD)
def test_any_name_will_do(timed: leaseq.Queue, person: str) -> None:
    """Names that look like a row, a sign, a pattern or a part of a path."""
    others = [name for name in ODD if name != person]
    timed.enqueue_many(leaseq.NewItem({}, id=f"%d[{n}]-*^$") for n in range(3))
    for n in range(3):
        timed.assign(f"%d[{n}]-*^$", person)
    for other in others:
        assert timed.reserve(other, skills=["fr", "high"]) is None
    timed.abandon(take(timed, person), again=False)
    assert timed.reserve(others[0]) is not None
    assert [timed.why_nothing(person).reason, timed.get("%d[0]-*^$").leases[0].person] == [None, others[0]]
    pairs, page = [], timed.page("inbound", limit=1)
    while True:
        pairs += [(item.id, item.assigned_to) for item in page.items]
        if page.after is None:
            break
        page = timed.page("inbound", limit=1, after=page.after)
    assert pairs == [("%d[1]-*^$", (person,)), ("%d[2]-*^$", (person,))]
    timed.finish(take(timed, person), {})
    assert take(timed, person).id == "%d[2]-*^$"

"""Items that require skills: only people who have all of them get one, and nobody else pays for it."""

from __future__ import annotations

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.taking import take


def test_all_of_them_are_needed(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="both", requires=["legal", "fr"])
    for skills in ([], ["fr"], ["legal"], ["fr-legal"], ["f", "r", "legal"]):
        assert timed.reserve("ann", skills=skills) is None
        assert timed.why_nothing("ann", skills).reason == "not-eligible"
    assert timed.why_nothing("ann", ["legal", "fr"]).reason is None
    lease = take(timed, "ann", "x", "legal", "fr")
    assert lease.id == "both"
    assert timed.get("both").requires == ("fr", "legal")


@pytest.mark.parametrize("extra", [0, 8])  # rows asked for by name, and all looked through
def test_the_oldest_that_they_can_do_comes_first_whatever_it_requires(
    timed: leaseq.Queue, extra: int
) -> None:
    skills = ["fr", "legal", *(f"s{n}" for n in range(extra))]
    for id, needs in [("1", ["fr"]), ("2", []), ("3", ["de"]), ("4", ["fr", "legal"]), ("5", ["legal"])]:
        timed.enqueue({}, id=id, requires=needs)
    timed.enqueue({}, id="soon", requires=["legal"], priority=1)
    ids = []
    while lease := timed.reserve("ann", skills=skills):
        timed.finish(lease, {})
        ids.append(lease.id)
    assert ids == ["soon", "1", "2", "4", "5"]


def test_what_comes_back_still_requires_them(timed: leaseq.Queue, clock: Clock) -> None:
    timed.configure(max_attempts=2, retry_seconds=10)
    timed.enqueue({}, id="a", requires=["fr"], delay=5)
    clock.tick(6)
    timed.abandon(take(timed, "ann", "fr"))
    assert timed.reserve("bob") is None
    timed.fail(take(timed, "ann", "fr"), "torn")
    clock.tick(11)
    assert timed.reserve("bob") is None
    take(timed, "ann", "fr")
    clock.tick(301)
    assert timed.reserve("bob") is None
    assert timed.get("a").state == "dead"
    timed.revive("a")
    assert timed.reserve("bob") is None
    assert take(timed, "cyd", "fr").id == "a"


def test_every_answer_requires_them(timed: leaseq.Queue) -> None:
    timed.configure(answers=2)
    timed.enqueue({}, id="a", requires=["fr"])
    timed.finish(take(timed, "ann", "fr"), {})
    assert timed.reserve("bob") is None
    assert take(timed, "bob", "fr").id == "a"


def test_finish_and_next_looks_with_the_same_skills(timed: leaseq.Queue) -> None:
    timed.enqueue_many([NewItem({}, id="a", requires=("fr",)), NewItem({}, id="b", requires=("fr",))])
    outcome = timed.finish(take(timed, "ann", "fr"), {}, then_reserve=True, skills=["fr"])
    assert outcome.next is not None
    assert outcome.next.id == "b"
    assert timed.finish(outcome.next, {}, then_reserve=True).next is None


def test_who_gains_a_skill_sees_what_waited(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="plain")
    timed.enqueue({}, id="french", requires=["fr"])
    timed.abandon(take(timed, "ann"), again=False)
    assert timed.reserve("ann") is None
    assert take(timed, "ann", "fr").id == "french"


def test_a_pause_stops_these_too(timed: leaseq.Queue) -> None:
    timed.enqueue({}, id="a", requires=["fr"])
    timed.pause("lunch")
    assert timed.reserve("ann", skills=["fr"]) is None
    assert timed.why_nothing("ann", ["fr"]).reason == "paused"
    timed.enqueue({}, id="b", requires=["legal"])
    timed.resume()
    assert timed.reserve("bob") is None
    assert {take(timed, "ann", "fr").id, take(timed, "cyd", "legal").id} == {"a", "b"}


def test_a_skill_may_be_called_like_a_shelf(timed: leaseq.Queue) -> None:
    names = ["high", "normal", "low", "returned", "2", "normal-2"]
    timed.enqueue_many(
        NewItem({}, id=name, requires=(name,), priority=p)
        for name, p in zip(names, [1, 100] * 3, strict=True)
    )
    assert timed.reserve("ann") is None
    assert timed.stats().inbound == 6
    for name in names:
        assert take(timed, f"p{name}", name).id == name


def test_too_many_sets_of_skills_are_refused_and_nothing_of_them_enters(timed: leaseq.Queue) -> None:
    timed.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(490))
    with pytest.raises(leaseq.Invalid, match="at most 500 different sets") as error:
        timed.enqueue_many(NewItem({}, requires=(f"t{n}",)) for n in range(11))
    assert error.value.field == "requires"
    assert timed.stats().inbound == 490
    assert timed.enqueue_many(NewItem({}, requires=(f"t{n}",)) for n in range(10)).added == 10
    assert timed.enqueue({}, requires=["s1"]).added, "one that is in use"
    with pytest.raises(leaseq.Invalid) as error:
        timed.assign(timed.items("inbound", limit=1)[0].id, "ann")
    assert error.value.field == "person"


def test_sets_that_nothing_waits_for_do_not_count(timed: leaseq.Queue, server: Server) -> None:
    timed.enqueue_many(NewItem({}, id=f"{n}", requires=(f"s{n}",)) for n in range(500))
    for n in range(500):
        timed.remove(f"{n}")
    assert timed.enqueue({}, id="a", requires=["new"]).added
    assert server.redis.hlen(Keys(timed.name).rows) == 1
    assert take(timed, "ann", "new").id == "a"


def test_a_set_that_emptied_is_no_longer_looked_through(timed: leaseq.Queue, server: Server) -> None:
    timed.enqueue({}, requires=["fr"])
    timed.finish(take(timed, "ann", "fr"), {})
    assert timed.reserve("ann", skills=["fr"]) is None
    assert not server.redis.exists(Keys(timed.name).rows)

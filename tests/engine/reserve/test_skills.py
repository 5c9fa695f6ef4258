"""Items that require skills: only people with all of these skills get one."""

from __future__ import annotations

import pytest

import leaseq
from leaseq import NewItem
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.support.leases import take
from tests.support.refused import refused


def test_reserve_needs_all_required_skills(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="both", requires=["legal", "fr"])
    for skills in ([], ["fr"], ["legal"], ["fr-legal"], ["f", "r", "legal"]):
        assert timed_queue.reserve("ann", skills=skills) is None
        assert timed_queue.why_nothing("ann", skills).reason == "not-eligible"
    assert timed_queue.why_nothing("ann", ["legal", "fr"]).reason is None
    lease = take(timed_queue, "ann", "x", "legal", "fr")
    assert lease.id == "both"
    assert timed_queue.get("both").requires == ("fr", "legal")


@pytest.mark.parametrize("extra", [0, 8])  # rows read by name, or all rows searched
def test_oldest_eligible_item_is_first_regardless_of_required_skills(
    timed_queue: leaseq.Queue, extra: int
) -> None:
    skills = ["fr", "legal", *(f"s{n}" for n in range(extra))]
    for id, needs in [("1", ["fr"]), ("2", []), ("3", ["de"]), ("4", ["fr", "legal"]), ("5", ["legal"])]:
        timed_queue.enqueue({}, id=id, requires=needs)
    timed_queue.enqueue({}, id="soon", requires=["legal"], priority=1)
    ids = []
    while lease := timed_queue.reserve("ann", skills=skills):
        timed_queue.finish(lease, {})
        ids.append(lease.id)
    assert ids == ["soon", "1", "2", "4", "5"]


def test_returned_item_still_requires_skills(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(max_attempts=2, retry_seconds=10)
    timed_queue.enqueue({}, id="a", requires=["fr"], delay=5)
    clock.tick(6)
    timed_queue.abandon(take(timed_queue, "ann", "fr"))
    assert timed_queue.reserve("bob") is None
    timed_queue.fail(take(timed_queue, "ann", "fr"), "torn")
    clock.tick(11)
    assert timed_queue.reserve("bob") is None
    take(timed_queue, "ann", "fr")
    clock.tick(301)
    assert timed_queue.reserve("bob") is None
    assert timed_queue.get("a").state == "dead"
    timed_queue.revive("a")
    assert timed_queue.reserve("bob") is None
    assert take(timed_queue, "cyd", "fr").id == "a"


def test_every_answer_requires_skills(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.finish(take(timed_queue, "ann", "fr"), {})
    assert timed_queue.reserve("bob") is None
    assert take(timed_queue, "bob", "fr").id == "a"


def test_finish_and_next_uses_given_skills(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many([NewItem({}, id="a", requires=("fr",)), NewItem({}, id="b", requires=("fr",))])
    outcome = timed_queue.finish(take(timed_queue, "ann", "fr"), {}, then_reserve=True, skills=["fr"])
    assert outcome.next is not None
    assert outcome.next.id == "b"
    assert timed_queue.finish(outcome.next, {}, then_reserve=True).next is None


def test_person_with_new_skill_gets_waiting_item(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="plain")
    timed_queue.enqueue({}, id="french", requires=["fr"])
    timed_queue.abandon(take(timed_queue, "ann"), again=False)
    assert timed_queue.reserve("ann") is None
    assert take(timed_queue, "ann", "fr").id == "french"


def test_pause_stops_items_that_require_skills(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", requires=["fr"])
    timed_queue.pause("lunch")
    assert timed_queue.reserve("ann", skills=["fr"]) is None
    assert timed_queue.why_nothing("ann", ["fr"]).reason == "paused"
    timed_queue.enqueue({}, id="b", requires=["legal"])
    timed_queue.resume()
    assert timed_queue.reserve("bob") is None
    assert {take(timed_queue, "ann", "fr").id, take(timed_queue, "cyd", "legal").id} == {"a", "b"}


def test_skill_may_have_name_of_shelf(timed_queue: leaseq.Queue) -> None:
    names = ["high", "normal", "low", "returned", "2", "normal-2"]
    timed_queue.enqueue_many(
        NewItem({}, id=name, requires=(name,), priority=p)
        for name, p in zip(names, [1, 100] * 3, strict=True)
    )
    assert timed_queue.reserve("ann") is None
    assert timed_queue.stats().inbound == 6
    for name in names:
        assert take(timed_queue, f"p{name}", name).id == name


def test_more_than_500_sets_of_skills_are_refused_and_nothing_is_added(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue_many(NewItem({}, requires=(f"s{n}",)) for n in range(490))
    with refused("maximum", what="rows") as error:
        timed_queue.enqueue_many(NewItem({}, requires=(f"t{n}",)) for n in range(11))
    assert error.value.field == "requires"
    assert timed_queue.stats().inbound == 490
    assert timed_queue.enqueue_many(NewItem({}, requires=(f"t{n}",)) for n in range(10)).added == 10
    assert timed_queue.enqueue({}, requires=["s1"]).added, "a set that is already in use"
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.assign(timed_queue.items("inbound", limit=1)[0].id, "ann")
    assert error.value.field == "person"


def test_sets_of_skills_without_waiting_items_do_not_count(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.enqueue_many(NewItem({}, id=f"{n}", requires=(f"s{n}",)) for n in range(500))
    for n in range(500):
        timed_queue.remove(f"{n}")
    assert timed_queue.enqueue({}, id="a", requires=["new"]).added
    assert server.redis.hlen(Keys(timed_queue.name).rows) == 1
    assert take(timed_queue, "ann", "new").id == "a"


def test_row_of_emptied_set_of_skills_is_removed(timed_queue: leaseq.Queue, server: Server) -> None:
    timed_queue.enqueue({}, requires=["fr"])
    timed_queue.finish(take(timed_queue, "ann", "fr"), {})
    assert timed_queue.reserve("ann", skills=["fr"]) is None
    assert not server.redis.exists(Keys(timed_queue.name).rows)

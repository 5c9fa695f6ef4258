from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.refused import refused

Take = Callable[[str], leaseq.Lease]


@pytest.fixture
def stale(timed_queue: leaseq.Queue, take: Take, clock: Clock) -> leaseq.Lease:
    """Ann's answer to "one" came after bob got the item, and is kept; bob holds the item."""
    timed_queue.enqueue({"n": 1}, id="one")
    lease = take("ann")
    clock.tick(301)
    take("bob")
    finish_late(timed_queue, lease, {"by": "ann"})
    return lease


def finish_late(queue: leaseq.Queue, lease: leaseq.Lease, result: object) -> None:
    with pytest.raises(leaseq.LeaseLost) as error:
        queue.finish(lease, result)
    assert error.value.answer_kept


def answers(item: leaseq.Item) -> tuple[list[object], list[object]]:
    return [a.result for a in item.answers], [a.result for a in item.late_answers]


def test_a_late_answer_becomes_the_answer_and_the_holder_loses_the_item(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, sets: Sets
) -> None:
    item = timed_queue.adopt("one", stale.token, by="meg")
    assert item.state == "finished"
    assert answers(item) == ([{"by": "ann"}], [])
    assert (item.answers[0].person, item.answers[0].token, item.answers[0].late) == ("ann", stale.token, True)
    assert item.leases == ()
    assert timed_queue.mine("bob") == []
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": ["one"], "dead": []}
    event = timed_queue.journal()[-1]
    assert (event.what, event.id, event.person, event.token) == ("adopted", "one", "meg", stale.token)
    assert sorted(g.token for g in item.history) == [1, 2]


def test_adopted_answer_keeps_its_finish_time(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, clock: Clock
) -> None:
    (late_answer,) = timed_queue.get("one").late_answers
    clock.tick(3_600)
    item = timed_queue.adopt("one", stale.token, by="meg")
    assert item.answers[0].finished_at == late_answer.finished_at
    assert [grant.ended_at for grant in item.history if grant.token == stale.token] == [
        late_answer.finished_at
    ]
    assert item.state_since - late_answer.finished_at > timedelta(minutes=59), (
        "the item's time is that of the adoption"
    )
    until = late_answer.finished_at + timedelta(minutes=1)
    assert [one.result for one in timed_queue.answers(since=late_answer.finished_at, until=until)] == [
        {"by": "ann"}
    ]
    assert list(timed_queue.answers(since=until)) == []


def test_adoption_writes_released_finished_and_adopted_events(
    timed_queue: leaseq.Queue, stale: leaseq.Lease
) -> None:
    bobs = timed_queue.mine("bob")[0]
    timed_queue.adopt("one", stale.token, by="meg")
    assert [(event.what, event.token, event.person) for event in timed_queue.journal()[-3:]] == [
        ("released", bobs.token, "meg"),
        ("finished", stale.token, "ann"),
        ("adopted", stale.token, "meg"),
    ]


def test_adoption_for_finished_item_writes_only_adopted_event(
    timed_queue: leaseq.Queue, stale: leaseq.Lease
) -> None:
    timed_queue.finish(timed_queue.mine("bob")[0], {"by": "bob"})
    before = timed_queue.journal()
    timed_queue.adopt("one", stale.token, by="meg")
    assert [event.what for event in timed_queue.journal()[len(before) :]] == ["adopted"]


def test_holder_answer_after_adoption_is_kept_as_late_answer(
    timed_queue: leaseq.Queue, stale: leaseq.Lease
) -> None:
    bobs = timed_queue.mine("bob")[0]
    timed_queue.adopt("one", stale.token)
    finish_late(timed_queue, bobs, {"by": "bob"})
    assert answers(timed_queue.get("one")) == ([{"by": "ann"}], [{"by": "bob"}])


def test_repeated_adoption_changes_nothing(timed_queue: leaseq.Queue, stale: leaseq.Lease) -> None:
    first = timed_queue.adopt("one", stale.token)
    assert timed_queue.adopt("one", stale.token) == first
    assert timed_queue.stats().counters["finished"] == 1
    assert [e.what for e in timed_queue.journal()].count("adopted") == 1


@pytest.mark.parametrize("state", ["inbound", "scheduled", "dead", "finished"])
def test_late_answer_is_adopted_in_any_item_state(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, sets: Sets, state: str
) -> None:
    lease = timed_queue.mine("bob")[0]
    timed_queue.configure(max_attempts=2 if state == "dead" else 9)
    if state == "inbound":
        timed_queue.abandon(lease)
    elif state == "finished":
        timed_queue.finish(lease, {"by": "bob"})
    else:
        timed_queue.fail(lease, "no")
    assert timed_queue.get("one").state == state
    timed_queue.adopt("one", stale.token)
    assert sets() == {"inbound": [], "reserved": [], "scheduled": [], "finished": ["one"], "dead": []}
    assert timed_queue.stats().counters["finished"] == 1


def test_replaced_answer_is_kept_and_can_be_adopted_again(
    timed_queue: leaseq.Queue, stale: leaseq.Lease
) -> None:
    bobs = timed_queue.mine("bob")[0]
    timed_queue.finish(bobs, {"by": "bob"})
    assert answers(timed_queue.adopt("one", stale.token)) == ([{"by": "ann"}], [{"by": "bob"}])
    assert answers(timed_queue.adopt("one", bobs.token)) == ([{"by": "bob"}], [{"by": "ann"}])
    assert timed_queue.stats().counters["finished"] == 1


def test_late_answer_replaces_answer_of_same_lease(timed_queue: leaseq.Queue, take: Take) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    timed_queue.finish(lease, {"v": 1})
    finish_late(timed_queue, lease, {"v": 2})
    assert answers(timed_queue.adopt("one", lease.token)) == ([{"v": 2}], [{"v": 1}])


def test_adopted_answer_keeps_attempt_and_reserve_time_of_lease(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.enqueue({}, id="one")
    timed_queue.fail(take("ann"), "no text")
    clock.tick(3_600)
    lease = take("bob")
    timed_queue.finish(lease, {"v": 1})
    finish_late(timed_queue, lease, {"v": 2})
    timed_queue.configure(lease_seconds=17)
    (answer,) = timed_queue.adopt("one", lease.token).answers
    assert (answer.result, answer.attempt) == ({"v": 2}, 2)
    (grant,) = (one for one in timed_queue.get("one").history if one.token == lease.token)
    assert (grant.attempt, grant.reserved_at) == (2, lease.reserved_at)


def test_newest_of_several_late_answers_with_same_token_is_adopted(
    timed_queue: leaseq.Queue, take: Take
) -> None:
    timed_queue.enqueue({}, id="one")
    lease = take("ann")
    timed_queue.finish(lease, {"v": 1})
    finish_late(timed_queue, lease, {"v": 2})
    finish_late(timed_queue, lease, {"v": 3})
    assert answers(timed_queue.adopt("one", lease.token)) == ([{"v": 3}], [{"v": 2}, {"v": 1}])


def test_token_without_late_answer_is_refused(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, sets: Sets
) -> None:
    before = sets()
    with refused("token", what="late") as error:
        timed_queue.adopt("one", 99)
    assert error.value.field == "token"
    assert sets() == before
    with pytest.raises(leaseq.ItemNotFound):
        timed_queue.adopt("nobody", 1)
    timed_queue.enqueue({}, id="new")
    with refused("token", what="late"):
        timed_queue.adopt("new", 1)


def test_adoption_deletes_drafts_of_item(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, server: Server
) -> None:
    timed_queue.save_draft(timed_queue.mine("bob")[0], {"half": 1})
    timed_queue.adopt("one", stale.token)
    assert not server.redis.exists(Keys(timed_queue.name).drafts)


def test_adoption_with_several_answers_keeps_other_drafts_and_due_date(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a", due=datetime(2020, 1, 1, tzinfo=UTC))
    stale = take("ann")
    clock.tick(301)
    bobs, cyds, dans = take("bob"), take("cyd"), take("dan")
    timed_queue.save_draft(dans, {"half": 1})
    timed_queue.finish(bobs, {})
    timed_queue.finish(cyds, {})
    finish_late(timed_queue, stale, {"by": "ann"})
    timed_queue.adopt("a", stale.token)
    assert timed_queue.mine("dan")[0].draft == {"half": 1}
    assert timed_queue.stats().overdue == 1


def test_adoption_is_refused_while_same_person_holds_item(
    timed_queue: leaseq.Queue, take: Take, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a")
    stale = take("ann")
    clock.tick(301)
    take("bob")
    cyds = take("cyd")
    finish_late(timed_queue, stale, {"v": 1})
    timed_queue.abandon(cyds)
    second_lease = take("ann")
    with pytest.raises(leaseq.Invalid) as error:
        timed_queue.adopt("a", stale.token)
    assert error.value.field == "token"
    timed_queue.abandon(second_lease)
    timed_queue.adopt("a", stale.token)
    assert [a.result for a in timed_queue.get("a").answers] == [{"v": 1}]
    assert timed_queue.reserve("ann") is None


def test_late_answer_is_adopted_after_its_lease_left_history(
    timed_queue: leaseq.Queue, stale: leaseq.Lease, take: Take
) -> None:
    timed_queue.release("one")
    for n in range(50):
        timed_queue.abandon(take(f"p{n}"), "x" * 2_000)
    assert stale.token not in [grant.token for grant in timed_queue.get("one").history]
    item = timed_queue.adopt("one", stale.token)
    assert [(a.person, a.token, a.result) for a in item.answers] == [("ann", stale.token, {"by": "ann"})]
    assert item.state == "finished"

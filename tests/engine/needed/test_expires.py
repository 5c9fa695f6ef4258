"""Items with a time after which nobody needs their answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.engine.conftest import Sets
from tests.support.leases import not_none


def take(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


def at(clock: Clock, seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=clock.now) + timedelta(seconds=seconds)


def test_waiting_item_dies_unanswered(timed_queue: leaseq.Queue, sets: Sets, clock: Clock) -> None:
    for id, arguments in {"seconds": {"expires": 60}, "moment": {"expires": at(clock, 60)}}.items():
        timed_queue.enqueue("x", id=id, **arguments)  # type: ignore[arg-type]
    timed_queue.enqueue("x", id="scheduled", expires=60, delay=61)
    timed_queue.enqueue("x", id="stays")
    assert timed_queue.get("moment").expires == at(clock, 60)
    clock.tick(59)
    assert timed_queue.clear().died == 0
    clock.tick(1.1)
    assert timed_queue.clear().died == 3
    assert (sets()["inbound"], sorted(sets()["dead"])) == (["stays"], ["moment", "scheduled", "seconds"])
    item = timed_queue.get("seconds")
    assert (item.died_of, item.last_error, item.failures) == ("expired", "expired unanswered", 0)
    assert [event.id for event in timed_queue.journal() if event.what == "lapsed"] == sets()["dead"]


def test_reserve_never_returns_expired_item(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """Also if more have expired than one call ends, and the clear job has stopped."""
    timed_queue.enqueue_many(leaseq.NewItem(n, expires=60) for n in range(100))
    timed_queue.enqueue("x", id="needed")
    clock.tick(61)
    assert take(timed_queue, "bob").id == "needed"
    timed_queue.enqueue_many(leaseq.NewItem(n, expires=60) for n in range(100))
    timed_queue.enqueue("x", id="next")
    lease = take(timed_queue)
    timed_queue.renew(lease)
    clock.tick(61)
    finished = timed_queue.finish(lease, "yes", then_reserve=True)
    assert finished.next is not None
    assert finished.next.id == "next"
    assert timed_queue.stats().dead == 199


def test_holder_may_finish_after_deadline(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.enqueue("x", id="one", expires=10)
    lease = take(timed_queue)
    clock.tick(11)
    timed_queue.clear()
    timed_queue.finish(lease, "yes")
    item = timed_queue.get("one")
    assert (item.state, item.died_of) == ("finished", None)
    clock.tick(1)
    reopened = timed_queue.reopen("one", lease.token)
    assert (reopened.state, reopened.expires) == ("inbound", None), "a manager needs it again"
    timed_queue.abandon(take(timed_queue, "bob"))
    assert timed_queue.get("one").state == "inbound"


@pytest.mark.parametrize("way", ["abandon", "fail", "release", "expire"])
def test_held_item_dies_when_it_comes_back_after_deadline(
    timed_queue: leaseq.Queue, clock: Clock, way: str
) -> None:
    timed_queue.configure(lease_seconds=100)
    timed_queue.enqueue("x", id="one", expires=10)
    lease = take(timed_queue)
    clock.tick(11)
    assert timed_queue.clear().died == 0
    assert timed_queue.get("one").state == "reserved"
    if way == "abandon":
        timed_queue.abandon(lease)
    elif way == "fail":
        timed_queue.fail(lease)
    elif way == "release":
        timed_queue.release("one")
    else:
        clock.tick(90)
        timed_queue.clear()
        with pytest.raises(leaseq.LeaseLost):
            timed_queue.finish(lease, "too late")
    item = timed_queue.get("one")
    assert (item.state, item.died_of, item.last_error) == ("dead", "expired", "expired unanswered")
    assert timed_queue.reserve("bob") is None


@pytest.mark.parametrize("how", ["finish", "fail"])
def test_undone_end_does_not_make_item_needed_again(
    timed_queue: leaseq.Queue, clock: Clock, how: str
) -> None:
    timed_queue.enqueue("x", id="one", expires=5)
    lease = take(timed_queue)
    if how == "finish":
        timed_queue.finish(lease, "yes")
    else:
        timed_queue.fail(lease, retry=False)
    clock.tick(6)
    timed_queue.clear()
    lease = timed_queue.undo_finish(lease) if how == "finish" else timed_queue.take_back(lease)
    timed_queue.abandon(lease)
    assert timed_queue.reserve("bob") is None
    assert timed_queue.get("one").died_of == "expired"


def test_clear_ends_and_forgets_no_more_than_its_limit(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(keep_finished_seconds=5)
    for n in range(4):
        timed_queue.enqueue(n)
        timed_queue.finish(take(timed_queue), "yes")
    timed_queue.enqueue_many(leaseq.NewItem(n, expires=10) for n in range(2))
    clock.tick(11)
    cleared = timed_queue.clear(2)
    assert (cleared.died, cleared.forgotten, cleared.more) == (2, 0, True)


def test_item_that_somebody_waits_for_keeps_its_deadline(three: leaseq.Queue, clock: Clock) -> None:
    three.enqueue("x", id="one", expires=10)
    for person in (None, "ann"):
        if person:
            three.finish(take(three, person), "yes")
        with pytest.raises(leaseq.StillWaiting):
            three.wait_for("one", 0)
    three.enqueue("x", id="two", expires=10)
    three.finish(take(three), "yes")
    with pytest.raises(leaseq.StillWaiting):
        three.wait_for("two", 0)
    clock.tick(11)
    three.clear()
    assert [three.get(id).died_of for id in ("one", "two")] == ["expired", "expired"]


@pytest.mark.parametrize("microseconds", [-100, 0, 1])  # the queue counts a microsecond for each call
def test_calls_in_the_microsecond_of_the_deadline(
    timed_queue: leaseq.Queue, clock: Clock, microseconds: int
) -> None:
    """Who holds the item may finish it, nobody gets one that waits, and each ends once."""
    timed_queue.enqueue("x", id="held", expires=10)
    lease = take(timed_queue)
    with pytest.raises(leaseq.StillWaiting):
        timed_queue.ask("x", id="waits", timeout=10, wait=0)
    deadlines = {id: timed_queue.get(id).expires for id in ("held", "waits")}
    clock.now += round((not_none(deadlines["held"]) - at(clock, 0)).total_seconds() * 1e6) + microseconds
    timed_queue.finish(lease, "yes")
    answered = timed_queue.wait_for("held")
    assert (answered.result, answered.late) == ("yes", microseconds > 0)
    clock.now += round((not_none(deadlines["waits"]) - at(clock, 0)).total_seconds() * 1e6) + microseconds
    reserved = timed_queue.reserve("bob")
    assert (reserved is not None) == (microseconds < 0)
    timed_queue.clear()
    events = [(event.what, event.id) for event in timed_queue.journal()]
    assert events.count(("finished", "held")) == 1
    assert ("lapsed", "held") not in events
    assert events.count(("lapsed", "waits")) == (microseconds >= 0)


def test_lease_expires_with_deadline(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """Both at one time: the item ends once, and its answer is refused, but kept."""
    timed_queue.configure(lease_seconds=10)
    timed_queue.enqueue("x", id="one", expires=10)
    lease = take(timed_queue)
    clock.tick(11)
    timed_queue.clear()
    with pytest.raises(leaseq.LeaseLost) as lost:
        timed_queue.finish(lease, "yes")
    assert lost.value.answer_kept
    events = [event.what for event in timed_queue.journal()]
    assert (events.count("died"), events.count("lapsed")) == (1, 1)


def test_deadline_of_ended_item_leaves_no_trace(
    timed_queue: leaseq.Queue, server: Server, clock: Clock
) -> None:
    timed_queue.enqueue("x", id="one", expires=10)
    timed_queue.finish(take(timed_queue), "yes")
    clock.tick(11)
    assert timed_queue.clear().died == 0
    assert not server.redis.exists(f"leaseq:{{{timed_queue.name}}}:expiring")
    assert timed_queue.get("one").state == "finished"
    timed_queue.enqueue("x", id="two", expires=10)
    timed_queue.remove("two")
    assert not server.redis.exists(f"leaseq:{{{timed_queue.name}}}:expiring")


WITHOUT_ZONE = datetime(2027, 1, 1)  # noqa: DTZ001 - it is to be refused


@pytest.mark.parametrize("expires", [0, -1, "60", True, float("nan"), float("inf"), 4e8, WITHOUT_ZONE, []])
def test_bad_deadline_is_refused(queue: leaseq.Queue, expires: Any) -> None:
    with pytest.raises(leaseq.Invalid) as refusal:
        queue.enqueue("x", expires=expires)
    assert refusal.value.field == "expires"


def test_past_deadline_is_accepted_and_over(timed_queue: leaseq.Queue, clock: Clock) -> None:
    """A program that adds its items again after a failure must not fail for one that is over."""
    timed_queue.enqueue("x", id="one", expires=at(clock, -5))
    assert timed_queue.reserve("ann") is None
    assert timed_queue.get("one").died_of == "expired"

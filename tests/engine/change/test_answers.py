"""Fewer or more answers than before: what an item no longer needs is closed, and no answer is lost."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import UTC, datetime

import pytest

import leaseq
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.support.leases import take


@pytest.fixture
def two_of_three(timed_queue: leaseq.Queue) -> leaseq.Queue:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a", due=None)
    for person in ("ann", "bob"):
        timed_queue.finish(take(timed_queue, person), {"by": person})
    return timed_queue


def closed_events(queue: leaseq.Queue) -> int:
    return sum(event.what == "closed" for event in queue.journal(limit=1_000))


def test_waiting_assignment_is_closed(two_of_three: leaseq.Queue) -> None:
    assert two_of_three.get("a").state == "inbound"
    item = two_of_three.change("a", answers=2, by="mona")
    assert (item.state, [one.person for one in item.answers]) == ("finished", ["ann", "bob"])
    assert two_of_three.reserve("cyd") is None
    assert two_of_three.stats().inbound == 0
    assert closed_events(two_of_three) == 1
    assert two_of_three.change("a", answers=2) == item
    (outcome,) = two_of_three.outcomes(["a"])
    assert outcome is not None
    assert (outcome.state, len(outcome.answers)) == ("finished", 2)
    assert len(list(two_of_three.answers())) == 2


@pytest.mark.parametrize("ending", ["abandon", "expire", "fail", "release"])
def test_assignment_that_was_handed_out_is_closed_when_it_comes_back(
    two_of_three: leaseq.Queue, clock: Clock, ending: str
) -> None:
    lease = take(two_of_three, "cyd")
    assert two_of_three.change("a", answers=2).state == "reserved"
    if ending == "abandon":
        two_of_three.abandon(lease)
    elif ending == "fail":
        two_of_three.fail(lease, "torn")
    elif ending == "release":
        two_of_three.release("a")
    clock.tick(3_600)
    two_of_three.clear()
    assert two_of_three.get("a").state == "finished"
    assert two_of_three.reserve("dan") is None
    if ending == "expire":
        with pytest.raises(leaseq.LeaseLost) as lost:
            two_of_three.finish(lease, {"by": "cyd"})
        assert lost.value.answer_kept
        assert [one.result for one in two_of_three.get("a").late_answers] == [{"by": "cyd"}]
        assert two_of_three.stats().counters["finished"] == 2
        assert two_of_three.adopt("a", lease.token).state == "finished"
        assert len(two_of_three.get("a").answers) == 3
        assert two_of_three.stats().counters["finished"] == 3


@pytest.mark.parametrize("ending", ["abandon", "fail", "expire"])
@pytest.mark.parametrize("is_closed_on_return", [True, False])
def test_closed_assignment_cannot_be_held_again(
    two_of_three: leaseq.Queue, clock: Clock, ending: str, is_closed_on_return: bool
) -> None:
    two_of_three.configure(retry_seconds=0.001)
    lease = take(two_of_three, "cyd")
    if is_closed_on_return:
        two_of_three.change("a", answers=2)
    if ending == "abandon":
        two_of_three.abandon(lease)
    elif ending == "fail":
        two_of_three.fail(lease, "torn")
    clock.tick(1 if ending != "expire" else 3_600)
    two_of_three.clear()
    two_of_three.change("a", answers=2)
    call = two_of_three.renew if ending == "expire" else two_of_three.take_back
    with pytest.raises(leaseq.LeaseLost) as lost:
        call(lease)
    assert lost.value.item.state == "finished", "it is no longer needed"
    assert two_of_three.get("a").state == "finished"
    with pytest.raises(leaseq.LeaseLost) as late:
        two_of_three.finish(lease, {"by": "cyd"})
    assert late.value.answer_kept


def test_undone_answer_is_held_again_although_others_are_closed(two_of_three: leaseq.Queue) -> None:
    lease = two_of_three.get("a").history[-1]
    two_of_three.change("a", answers=2)
    again = two_of_three.undo_finish(id="a", token=lease.token, person="bob")
    assert (again.draft, two_of_three.get("a").state) == ({"by": "bob"}, "reserved")
    two_of_three.abandon(again)
    two_of_three.finish(take(two_of_three, "cyd"), {"by": "cyd"})
    item = two_of_three.get("a")
    assert (item.state, [one.person for one in item.answers]) == ("finished", ["ann", "cyd"])


@pytest.mark.parametrize("needed", [2, 3])
def test_assignment_that_is_not_needed_does_not_die(
    timed_queue: leaseq.Queue, clock: Clock, needed: int
) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a", max_attempts=1)
    for person in ("ann", "bob"):
        timed_queue.finish(take(timed_queue, person), {"by": person})
    take(timed_queue, "cyd")
    timed_queue.change("a", answers=needed)
    clock.tick(3_600)
    cleared = timed_queue.clear()
    died = int(needed == 3)
    assert (cleared.returned, cleared.died) == (1 - died, died)
    stats = timed_queue.stats()
    assert (stats.dead, stats.counters["died"]) == (died, died)


def test_failed_assignment_that_is_not_needed_is_closed_at_once(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=3, holds=2, retry_seconds=3)
    timed_queue.enqueue({}, id="a", max_attempts=2)
    ann, bob, cyd = (take(timed_queue, person) for person in ("ann", "bob", "cyd"))
    timed_queue.change("a", answers=2)
    assert timed_queue.fail(ann, "torn").retry_at is None, "it is not tried again"
    assert (timed_queue.stats().scheduled, closed_events(timed_queue)) == (0, 1)
    timed_queue.finish(bob, {"by": "bob"})
    clock.tick(3_600)
    cleared = timed_queue.clear(2)
    assert (cleared.returned, cleared.died) == (0, 1)
    stats = timed_queue.stats()
    assert (timed_queue.get("a").state, stats.dead, stats.counters["died"]) == ("dead", 1, 1)
    assert timed_queue.finish(cyd, {"by": "cyd"}).late, "nobody else was granted it since"
    assert timed_queue.get("a").state == "finished"


def test_item_with_all_its_answers_is_finished_when_the_last_holder_fails(
    two_of_three: leaseq.Queue,
) -> None:
    lease = take(two_of_three, "cyd")
    two_of_three.change("a", answers=2)
    two_of_three.fail(lease, "torn")
    assert two_of_three.get("a").state == "finished"


def test_item_is_overdue_again_once_its_dead_assignment_is_closed(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2)
    timed_queue.enqueue({}, id="a", due=datetime.fromtimestamp(clock.now / 1e6 + 1, UTC))
    timed_queue.fail(take(timed_queue, "ann"), "torn", retry=False)
    timed_queue.revive("a")
    lease = take(timed_queue, "ann")
    take(timed_queue, "bob")
    timed_queue.fail(lease, "torn", retry=False)
    clock.tick(2)
    assert timed_queue.stats().overdue == 0, "it would have to be revived first"
    timed_queue.change("a", answers=1)
    assert (timed_queue.get("a").state, timed_queue.stats().overdue) == ("reserved", 1)


def test_dead_assignments_are_no_more_than_the_answers_that_are_missing(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=3, lease_seconds=60)
    timed_queue.enqueue({}, id="a", max_attempts=1)
    ann, bob = take(timed_queue, "ann"), take(timed_queue, "bob")
    clock.tick(50)
    cyd = take(timed_queue, "cyd")
    clock.tick(50)
    timed_queue.clear()
    assert timed_queue.stats().dead == 2
    timed_queue.change("a", answers=2)
    timed_queue.finish(cyd, {"by": "cyd"})
    assert timed_queue.stats().dead == 1
    assert timed_queue.finish(ann, {"by": "ann"}).late
    with pytest.raises(leaseq.LeaseLost) as lost:
        timed_queue.finish(bob, {"by": "bob"})
    assert lost.value.answer_kept
    assert timed_queue.get("a").state == "finished"


def test_adopted_answer_closes_what_is_no_longer_needed(timed_queue: leaseq.Queue, clock: Clock) -> None:
    timed_queue.configure(answers=3, lease_seconds=60)
    timed_queue.enqueue({}, id="a")
    ann = take(timed_queue, "ann")
    clock.tick(30)
    bob, cyd = take(timed_queue, "bob"), take(timed_queue, "cyd")
    timed_queue.change("a", answers=2)
    clock.tick(40)
    timed_queue.clear()
    with pytest.raises(leaseq.LeaseLost):
        timed_queue.finish(ann, {"by": "ann"})
    timed_queue.finish(bob, {"by": "bob"})
    timed_queue.release(cyd.id)
    assert timed_queue.get("a").state == "inbound"
    item = timed_queue.adopt("a", ann.token)
    assert (item.state, len(item.answers)) == ("finished", 2)
    assert timed_queue.reserve("dan") is None


def test_closed_assignments_count_among_the_finished_that_are_kept(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=2, keep_finished_count=2)
    for id in "ab":
        timed_queue.enqueue({}, id=id)
        timed_queue.finish(take(timed_queue, "ann"), 1)
        timed_queue.clear()
        clock.tick(1)
        timed_queue.change(id, answers=1)
    clock.tick(1)
    assert timed_queue.clear().forgotten == 1
    assert timed_queue.get("b").state == "finished"


def test_assignments_that_are_closed_together_are_kept_one_by_one(
    timed_queue: leaseq.Queue, clock: Clock
) -> None:
    timed_queue.configure(answers=3, keep_finished_count=1, keep_dead_seconds=15)
    timed_queue.enqueue({}, id="a", max_attempts=1)
    for person in ("ann", "bob", "cyd"):
        take(timed_queue, person)
    clock.tick(3_600)
    assert timed_queue.clear().died == 3
    timed_queue.change("a", answers=1)
    clock.tick(20)
    assert timed_queue.clear().forgotten == 0, "one of the two that were closed is kept"


def test_answer_of_the_holder_counts(two_of_three: leaseq.Queue) -> None:
    lease = take(two_of_three, "cyd")
    two_of_three.change("a", answers=1)
    two_of_three.finish(lease, {"by": "cyd"})
    item = two_of_three.get("a")
    assert (item.state, len(item.answers)) == ("finished", 3)


def test_scheduled_and_dead_assignments_are_closed(two_of_three: leaseq.Queue, clock: Clock) -> None:
    two_of_three.configure(max_attempts=2)
    two_of_three.fail(take(two_of_three, "cyd"), "torn")
    assert two_of_three.get("a").state == "scheduled"
    clock.tick(10)
    two_of_three.fail(take(two_of_three, "dan"), "torn")
    assert two_of_three.get("a").state == "dead"
    assert two_of_three.change("a", answers=2).state == "finished"
    assert two_of_three.stats().dead == 0


def test_no_further_assignment_is_made(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    assert timed_queue.change("a", answers=1).state == "inbound"
    timed_queue.finish(take(timed_queue, "ann"), 1)
    assert timed_queue.get("a").state == "finished"


def test_policy_lowered_before_the_item(two_of_three: leaseq.Queue) -> None:
    two_of_three.configure(answers=2)
    assert two_of_three.get("a").state == "inbound", "it was given out for three"
    assert two_of_three.change("a", answers=2).state == "finished"


def test_item_that_needs_fewer_still_waits_for_the_rest(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(answers=3)
    timed_queue.enqueue({}, id="a")
    for person in ("ann", "bob"):
        timed_queue.release(take(timed_queue, person).id)
    timed_queue.finish(take(timed_queue, "ann"), 1)
    assert timed_queue.change("a", answers=2).state == "inbound"
    timed_queue.finish(take(timed_queue, "bob"), 2)
    assert timed_queue.get("a").state == "finished"


def test_finished_item_waits_for_one_more_person(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a", due=datetime(2100, 1, 1, tzinfo=UTC))
    timed_queue.finish(take(timed_queue, "ann"), 1)
    item = timed_queue.change("a", answers=3, by="mona")
    assert (item.state, item.answers_needed, len(item.answers)) == ("inbound", 3, 1)
    assert timed_queue.change("a", answers=3) == item
    assert timed_queue.reserve("ann") is None
    assert timed_queue.find("due").items
    for person in ("bob", "cyd"):
        timed_queue.finish(take(timed_queue, person), {"by": person})
    item = timed_queue.get("a")
    assert (item.state, [one.person for one in item.answers]) == ("finished", ["ann", "bob", "cyd"])
    assert not timed_queue.find("due").items
    assert timed_queue.reserve("dan") is None


def test_closed_assignment_is_opened_again(two_of_three: leaseq.Queue) -> None:
    two_of_three.change("a", answers=1)
    assert two_of_three.change("a", answers=4).state == "inbound"
    for person in ("cyd", "dan"):
        two_of_three.finish(take(two_of_three, person), {})
    item = two_of_three.get("a")
    assert (item.state, len(item.answers), two_of_three.reserve("eve")) == ("finished", 4, None)


@pytest.mark.parametrize("ending", ["finish", "abandon", "expire", "fail"])
def test_held_item_gets_another_holder(timed_queue: leaseq.Queue, clock: Clock, ending: str) -> None:
    timed_queue.enqueue({}, id="a")
    lease = take(timed_queue, "ann")
    timed_queue.change("a", answers=2)
    timed_queue.finish(take(timed_queue, "bob"), 2)
    if ending == "finish":
        timed_queue.finish(lease, 1)
    elif ending == "abandon":
        timed_queue.abandon(lease)
    elif ending == "fail":
        timed_queue.fail(lease, "torn")
    clock.tick(3_600)
    timed_queue.clear()
    if ending != "finish":
        timed_queue.finish(take(timed_queue, "cyd"), 3)
    assert timed_queue.reserve("ann" if ending == "finish" else "bob") is None
    assert (timed_queue.get("a").state, len(timed_queue.get("a").answers)) == ("finished", 2)


def test_person_whose_answer_was_corrected_is_not_asked_again(timed_queue: leaseq.Queue) -> None:
    timed_queue.enqueue({}, id="a")
    timed_queue.finish(take(timed_queue, "ann"), 1)
    timed_queue.correct("a", timed_queue.get("a").answers[0].token, 2, by="mona")
    timed_queue.change("a", answers=2)
    assert [timed_queue.reserve(person) for person in ("ann", "mona")] == [None, None]
    timed_queue.finish(take(timed_queue, "bob"), 2)
    assert timed_queue.get("a").state == "finished"


def test_dead_item_gets_its_further_answers_when_it_is_revived(timed_queue: leaseq.Queue) -> None:
    timed_queue.configure(max_attempts=1)
    timed_queue.enqueue({}, id="a")
    timed_queue.fail(take(timed_queue, "ann"), "torn")
    assert timed_queue.change("a", answers=2).state == "dead"
    timed_queue.revive("a")
    for person in ("ann", "bob"):
        timed_queue.finish(take(timed_queue, person), {})
    assert (timed_queue.get("a").state, timed_queue.reserve("cyd")) == ("finished", None)


def test_reopened_answer_waits_again_unless_there_are_enough(two_of_three: leaseq.Queue) -> None:
    two_of_three.change("a", answers=2)
    first = two_of_three.get("a").answers[0]
    assert two_of_three.reopen("a", first.token).state == "inbound"
    two_of_three.finish(take(two_of_three, "cyd"), 3)
    two_of_three.change("a", answers=1)
    second = two_of_three.get("a").answers[0]
    item = two_of_three.reopen("a", second.token)
    assert (item.state, len(item.answers)) == ("finished", 1)


class Crowd:
    """People who do anything with two items, while a manager changes how many answers these need."""

    def __init__(self, queue: leaseq.Queue, seed: int) -> None:
        self.queue, self.choose = queue, random.Random(seed)
        self.leases: list[leaseq.Lease] = []
        self.given: set[tuple[str, int]] = set()

    def act(self) -> None:
        acts = [self.reserve, self.reserve, self.finish, self.give_back, self.fail, self.change, self.reopen]
        acts.append(self.revive)
        with suppress(leaseq.LeaseLost, leaseq.Invalid):
            self.choose.choice(acts)()
        self.queue.clear()

    def lease(self) -> leaseq.Lease:
        if not self.leases:
            self.reserve()
        return self.choose.choice(self.leases)

    def reserve(self) -> None:
        if lease := self.queue.reserve(self.choose.choice("vwxyz")):
            self.leases.append(lease)

    def finish(self) -> None:
        lease = self.lease()
        try:
            self.queue.finish(lease, {"n": lease.token})
        except leaseq.LeaseLost as lost:
            if not lost.answer_kept:
                return
        self.given.add((lease.id, lease.token))

    def give_back(self) -> None:
        self.queue.abandon(self.lease(), again=self.choose.choice([True, False]))

    def fail(self) -> None:
        self.queue.fail(self.lease(), "torn")

    def change(self) -> None:
        self.queue.change(self.choose.choice("ab"), answers=self.choose.randint(1, 4))

    def revive(self) -> None:
        self.queue.revive(self.choose.choice("ab"))

    def reopen(self) -> None:
        id = self.choose.choice("ab")
        for answer in self.queue.get(id).answers[:1]:
            self.queue.reopen(id, answer.token)


@pytest.mark.walks(20)
def test_every_assignment_is_in_one_set_and_no_answer_is_lost(
    server: Server, timed_queue: leaseq.Queue, clock: Clock, seed: int
) -> None:
    timed_queue.configure(answers=3, holds=2, max_attempts=3, retry_seconds=5)
    timed_queue.enqueue_many(leaseq.NewItem({}, id=id) for id in "ab")
    crowd = Crowd(timed_queue, seed)
    crowd.reserve()
    for step in range(120):
        clock.tick((0.1, 1, 7, 100, 301)[step % 5])
        crowd.act()
        sets = server_contents.sets(server.redis, timed_queue.name)
        waiting = list(server_contents.scores(server.redis, timed_queue.name))
        members = sorted([*waiting, *sets["reserved"], *sets["finished"], *sets["dead"]])
        stored = server.redis.hkeys(f"leaseq:{{{timed_queue.name}}}:items")
        assert members == sorted(member.decode() for member in stored)
        items = [timed_queue.get(id) for id in "ab"]
        kept = {(item.id, one.token) for item in items for one in (*item.answers, *item.late_answers)}
        assert crowd.given <= kept
        for item in items:
            people = [answer.person for answer in item.answers]
            assert len(people) == len(set(people))
            assert item.state != "finished" or len(people) >= item.answers_needed

"""Anything in any order: the real queue against the model, after every step. Once as a plain queue, and once
with the rules for people: several answers, skills, assigned items, a limit to how many give an item back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

import leaseq
from tests.conftest import Server
from tests.engine import looking
from tests.engine.machine import NEW, SKILLS, New, Watched
from tests.engine.model_items import Item

PEOPLE = st.sampled_from(list(SKILLS))
RESULTS = st.sampled_from([{"label": "good"}, {"label": "bad"}])
INDEX = st.integers(0, 1_000)


class Machine(Watched):
    @precondition(lambda self: self.few())
    @rule(many=st.lists(NEW, min_size=1, max_size=3))
    def enqueue(self, many: list[New]) -> None:
        self.add(many)

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def enqueue_again(self, index: int) -> None:
        id = self.id(index)
        added = self.queue.enqueue({"n": id}, id=id, max_attempts=2).added
        assert added == self.model.enqueue(Item(id, "normal", 2), None, self.now)
        if added:  # it was removed: a new item, for which old leases are worth nothing
            self.leases = [lease for lease in self.leases if lease.id != id]

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def enqueue_its_like(self, index: int) -> None:
        item = Item(f"{len(self.ids)}", "normal", 2, payload=self.payload(index))
        twin = self.model.twin(item, self.now)
        done = self.queue.enqueue({"n": item.payload}, id=item.id, max_attempts=2)
        assert done == leaseq.Enqueued(twin.id if twin else item.id, twin is None)
        if self.model.enqueue(item, None, self.now):
            self.ids.append(item.id)

    @rule(people=st.lists(PEOPLE, min_size=1, max_size=5), twice=st.booleans(), go_on=st.booleans())
    def reserve(self, people: list[str], twice: bool, go_on: bool) -> None:
        if self.model.paused and go_on:  # else half of all days would be pauses
            self.pause_or_resume()
        for person in people:
            self.come(person, twice)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX)
    def renew(self, index: int) -> None:
        lease = self.lease(index)
        part = self.latest(lease, "held", "expired")
        call = lambda: self.queue.renew(lease)  # noqa: E731
        if part is None:
            self.refused(lease, call)
        elif part.state == "reserved":
            part.grants[-1].expires = call().expires_at
        elif not self.model.may_take_back(part):
            self.refused(lease, call)
        elif self.model.alive(lease.person, self.now) >= self.model.rules.holds:
            with pytest.raises(leaseq.Invalid, match="leases at once"):
                call()
        else:
            self.model.leave(part)
            part.state, part.grants[-1].how = "reserved", "held"
            part.grants[-1].expires = call().expires_at
            self.model.hands[lease.person].append(part)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, result=RESULTS, then_reserve=st.booleans())
    def finish(self, index: int, result: object, then_reserve: bool) -> None:
        lease = self.lease(index)
        skills = SKILLS[lease.person]
        call = lambda: self.queue.finish(lease, result, then_reserve=then_reserve, skills=skills)  # noqa: E731
        if lease.id not in self.model.items:
            self.refused(lease, call)
            return
        expected = self.model.finish(lease.id, lease.token, lease.person, result, self.now)
        if expected in ("kept", "refused"):
            with pytest.raises(leaseq.LeaseLost) as lost:
                call()
            assert lost.value.answer_kept == (expected == "kept")
            return
        done = call()
        assert done.replayed == (expected == "again")
        assert expected == "again" or done.late == (expected == "late")
        if then_reserve:
            self.got(lease.person, done.next)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, how=st.sampled_from(["failed", "later", "never"]), come=st.booleans())
    def give_back(self, index: int, how: str, come: bool) -> None:
        lease = self.lease(index)

        def call() -> Any:
            if how == "failed":
                return self.queue.fail(lease, "no")
            return self.queue.abandon(lease, again=how == "later")

        ending = "failed" if how == "failed" else "abandoned"
        part = self.latest(lease, "held", ending)
        if part is None:
            self.refused(lease, call)
            return
        until = getattr(call(), "retry_at", None)
        if part.grants[-1].how == "held":  # else the same again: nothing happens
            self.model.give_back(part, ending, how == "later", until)
        if come:
            self.come(lease.person)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, draft=st.integers())
    def save_draft(self, index: int, draft: int) -> None:
        lease = self.lease(index)
        part = self.latest(lease, "held", "expired")
        if part is None:
            self.refused(lease, lambda: self.queue.save_draft(lease, draft))
        else:
            self.queue.save_draft(lease, {"n": draft})
            part.item.drafts[lease.person] = {"n": draft}

    @rule(limit=st.sampled_from([1, 2, 50]))
    def clear(self, limit: int) -> None:
        done = self.queue.clear(limit)
        expected = self.model.sweep(self.now, limit)
        assert {"returned": done.returned, "released": done.released, "died": done.died} == expected
        assert done.forgotten == self.forgotten(limit - sum(expected.values()))
        assert done.more == (self.model.something_is_due(self.now) or bool(self.model.old(self.now)))

    def forgotten(self, limit: int) -> int:
        """How many are to go now; the queue chooses which."""
        left = looking.sets(self.server.redis, self.queue.name)["finished"]
        old = self.model.old(self.now)
        for item in [item for item in old if item.id not in left]:
            self.model.forget(item)
        return min(limit, len(old))

    @rule(seconds=st.sampled_from([1, 2, 5, 10, 30]))
    def time_goes_by(self, seconds: int) -> None:
        self.clock.tick(seconds)

    @rule()
    def people_walk_away(self) -> None:
        self.clock.tick(10)
        self.clear(50)

    @precondition(lambda self: self.ids)
    @rule(index=INDEX, move=st.sampled_from(["revive", "revive", "release", "remove"]), come=st.booleans())
    def manage(self, index: int, move: str, come: bool) -> None:
        self.move(index, move)
        for person in SKILLS if come else ():
            self.come(person)

    def move(self, index: int, move: str) -> None:
        id = self.id(index)
        call = lambda: getattr(self.queue, move)(id)  # noqa: E731
        item = self.model.items.get(id)
        if item is None:
            with pytest.raises(leaseq.ItemNotFound):
                call()
        elif move == "remove":
            call()
            self.model.remove(id)
        elif move == "release":
            call()
            for part in item.parts:
                if part.state == "reserved":
                    self.model.give_back(part, "released", True, None)
        elif item.state == "finished":
            with pytest.raises(leaseq.Invalid):
                call()
        else:
            call()
            self.model.revive(item)

    @precondition(lambda self: self.model.items and not self.plain)
    @rule(index=INDEX, person=PEOPLE)
    def assign(self, index: int, person: str) -> None:
        item = list(self.model.items.values())[index % len(self.model.items)]
        if self.model.assign(item, person):
            assert person in self.queue.assign(item.id, person).assigned_to
        else:
            with pytest.raises(leaseq.Invalid):
                self.queue.assign(item.id, person)

    @precondition(lambda self: not self.plain)
    @rule(answers=st.integers(1, 3))
    def change_policy(self, answers: int) -> None:
        self.queue.configure(answers=answers)
        self.model.rules.answers = answers

    @rule()
    def pause_or_resume(self) -> None:
        (self.queue.resume if self.model.paused else self.queue.pause)()
        self.model.paused = not self.model.paused


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "people"])
def test_anything_in_any_order(server: Server, plain: bool) -> None:
    Machine.server, Machine.plain = server, plain
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=200,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

"""Random sequences of calls: the real queue against the model, after every step. Once as a plain queue, and
once with the rules for people: several answers, skills, assigned items, a limit to how many people give an
item back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.engine.model.choices import NEW, SKILLS, New
from tests.engine.model.items import Item
from tests.engine.model.machine_asking import AskingMachine
from tests.engine.model.machine_managing import INDEX, PEOPLE
from tests.support.refused import refused
from tests.support.state_machines import run_machine

RESULTS = st.sampled_from([{"label": "good"}, {"label": "bad"}])


class Machine(AskingMachine):
    @precondition(lambda self: self.has_room())
    @rule(specs=st.lists(NEW, min_size=1, max_size=3), reserve_now=st.booleans())
    def enqueue(self, specs: list[New], reserve_now: bool) -> None:
        self.add(specs)
        if reserve_now:
            self.woken_waiters_reserve()

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def enqueue_again(self, index: int) -> None:
        id = self.id(index)
        added = self.queue.enqueue({"n": id}, id=id, max_attempts=2).added
        assert added == self.model.enqueue(Item(id, "normal", 2), None, self.now)
        if added:  # it was removed before: a new item, so old leases are worthless
            self.leases = [lease for lease in self.leases if lease.id != id]

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def enqueue_equal_payload(self, index: int) -> None:
        item = Item(f"{len(self.ids)}", "normal", 2, payload=self.payload(index))
        twin = self.model.twin(item, self.now)
        result = self.queue.enqueue({"n": item.payload}, id=item.id, max_attempts=2)
        assert result == leaseq.Enqueued(twin.id if twin else item.id, twin is None)
        if self.model.enqueue(item, None, self.now):
            self.ids.append(item.id)

    @rule(people=st.lists(PEOPLE, min_size=1, max_size=5), twice=st.booleans(), go_on=st.booleans())
    def reserve(self, people: list[str], twice: bool, go_on: bool) -> None:
        if self.model.paused and go_on:  # otherwise half of the time would be pauses
            self.pause_or_resume()
        for person in people:
            self.reserve_now(person, twice)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX)
    def renew(self, index: int) -> None:
        lease = self.lease(index)
        part = self.latest(lease, "held", "expired")
        call: Callable[[], leaseq.Lease] = lambda: self.queue.renew(lease)  # noqa: E731
        if part:
            (grant,) = (one for one in self.queue.get(lease.id).history if one.token == lease.token)
            assert grant.renewable == (part.state != "reserved" and self.model.may_take_back(part))
        if part is None:
            self.check_refused(lease, call)
        elif part.state == "reserved":
            part.grants[-1].expires = call().expires_at
        elif not self.model.may_take_back(part):
            self.check_refused(lease, call)
        elif self.model.alive(lease.person, self.now) >= self.model.rules.holds:
            with refused("maximum", "holds", what="leases"):
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
        call = partial(self.queue.finish, lease, result, then_reserve=then_reserve, skills=skills)
        if lease.id not in self.model.items:
            self.check_refused(lease, call)
            return
        expected = self.model.finish(lease.id, lease.token, lease.person, result, self.now)
        if expected in ("kept", "refused"):
            with pytest.raises(leaseq.LeaseLost) as error:
                call()
            assert error.value.answer_kept == (expected == "kept")
            return
        outcome = call()
        assert outcome.replayed == (expected == "again")
        assert expected == "again" or outcome.late == (expected == "late")
        if then_reserve:
            self.check_lease(lease.person, outcome.next)

    @precondition(lambda self: self.leases)
    @rule(
        index=INDEX,
        how=st.sampled_from(["failed", "later", "never"]),
        following=st.sampled_from(["nothing", "reserve", "in one call"]),
    )
    def give_back(self, index: int, how: str, following: str) -> None:
        lease = self.lease(index)
        then_reserve, skills = following == "in one call", SKILLS[lease.person]

        def call() -> Any:
            if how == "failed":
                return self.queue.fail(lease, "no", then_reserve=then_reserve, skills=skills)
            return self.queue.abandon(lease, again=how == "later", then_reserve=then_reserve, skills=skills)

        ending = "failed" if how == "failed" else "abandoned"
        part = self.latest(lease, "held")
        if part is None:
            is_known = lease.id in self.model.items
            earlier_grant = self.model.granted_part(lease.id, lease.token, lease.person) if is_known else None
            if earlier_grant and earlier_grant[1].how == ending:
                outcome = call()  # a repeated call changes nothing, even if another person has it by now
            else:
                self.check_refused(lease, call)
                return
        else:
            outcome = call()
            self.model.give_back(part, ending, how == "later", getattr(outcome, "retry_at", None))
        if then_reserve:
            self.check_lease(lease.person, outcome.next)
        elif following == "reserve":
            self.reserve_now(lease.person)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, draft=st.integers())
    def save_draft(self, index: int, draft: int) -> None:
        lease = self.lease(index)
        part = self.latest(lease, "held", "expired")
        if part is None:
            self.check_refused(lease, lambda: self.queue.save_draft(lease, draft))
        else:
            self.queue.save_draft(lease, {"n": draft})
            part.item.drafts[lease.person] = {"n": draft}

    @rule(limit=st.sampled_from([1, 2, 50]))
    def clear(self, limit: int) -> None:
        result = self.queue.clear(limit)
        counts, has_more = self.model.clear(self.now, limit)
        expected = leaseq.Cleared(
            counts["returned"], counts["released"], counts["died"], has_more, counts["forgotten"]
        )
        assert result == expected
        self.forget_old()

    @rule(seconds=st.sampled_from([0, 1, 2, 5, 10, 30]), backwards=st.booleans())
    def time_passes(self, seconds: int, backwards: bool) -> None:
        """Let time pass. Up to five seconds, waiters look now and then, often enough to count as present."""
        steps = {0: [0], 5: [2, 2, 1]}.get(seconds, [seconds])
        for step in steps:
            self.clock.tick(step)
            if seconds <= 5:
                self.all_look(backwards)

    @rule()
    def all_leases_expire(self) -> None:
        self.clock.tick(10)
        self.clear(50)

    @precondition(lambda self: self.weeks < 4)  # after months, their cursors are forgotten
    @rule()
    def everybody_is_away_for_two_weeks(self) -> None:
        """Long enough for clear to forget people without leases."""
        self.weeks += 2
        for _ in range(2):
            self.clock.tick(8 * 86_400)
            for _ in range(4):
                self.clear(50)

    @rule(durable=st.sampled_from(["server", "fsync"]), person=PEOPLE)
    def change_durable(self, durable: Any, person: str) -> None:
        if self.server is not self.servers["fsync"]:
            if durable == "fsync":
                with pytest.raises(leaseq.Invalid):
                    self.queue.configure(durable=durable)
            return
        self.queue.configure(durable=durable)
        before = self.waits()
        self.reserve_now(person)
        assert (self.waits() > before) == (durable == "fsync")

    def waits(self) -> int:
        """Return how often a call waited for the disk."""
        stats: Any = self.server.redis.info("commandstats")
        return int(stats.get("cmdstat_waitaof", {"calls": 0})["calls"])

    @rule(people=st.lists(PEOPLE, min_size=1, max_size=4))
    def wait(self, people: list[str]) -> None:
        self.all_wait(people)

    @precondition(lambda self: self.waiting)
    @rule(index=INDEX, end=st.sampled_from(["look", "look", "leave", "die"]))
    def wait_on(self, index: int, end: str) -> None:
        waiter = list(self.waiting)[index % len(self.waiting)]
        with self.apart():
            if end == "look":
                self.look(waiter)
                return
            person = self.waiting.pop(waiter)
            if end == "leave":
                was_woken = self.model.waiting_list.is_woken(waiter)
                self.queue._commands.run("end_wait", waiter, person, f"wait of {waiter}", 0)
                self.model.waiting_list.leave(waiter)
                if was_woken:
                    self.pass_on()

    @precondition(lambda self: self.waiting)
    @rule()
    def woken_waiters_reserve(self) -> None:
        """Let all woken waiters look: afterwards nobody waits although there is an item for them."""
        waiting_list = self.model.waiting_list
        with self.apart():
            while woken_names := [waiter for waiter in self.waiting if waiting_list.is_woken(waiter)]:
                self.look(woken_names[0])
        if self.model.paused or len(waiting_list.standing()) < len(
            waiting_list.waiters
        ):  # a woken waiter died
            return
        for waiter in waiting_list.standing():
            person = self.waiting.get(waiter.name)
            if (
                person
                and waiter.until > self.now
                and self.model.alive(person, self.now) < self.model.rules.holds
            ):
                assert not self.model.may_have(person, SKILLS[person])


@pytest.fixture(scope="module")
def disk() -> Iterator[Server]:
    """A server that fsyncs each write, as the policy's `durable` needs it."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as embedded:
        client = leaseq.connect(embedded.url)
        yield Server(embedded.url, client)
        client.close()


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "people"])
def test_random_calls_match_model(server: Server, disk: Server, plain: bool) -> None:
    Machine.servers, Machine.plain = {"server": server, "fsync": disk}, plain
    run_machine(Machine, examples=20, steps=40)  # ./dev soak runs 200 on each engine

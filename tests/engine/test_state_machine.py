"""Anything in any order: the real queue against the model, after every step."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import leaseq
from leaseq import NewItem
from leaseq.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import looking
from tests.engine.model import Model

PEOPLE = st.sampled_from(["ann", "bob", "cyd", "dan"])
PRIORITIES = st.sampled_from([10, 100, 100, 200])
BAND = {10: "high", 100: "normal", 200: "low"}
DELAYS = st.sampled_from([0, 0, 0, 4.25])
RESULTS = st.sampled_from([{"label": "good"}, {"label": "bad"}])
INDEX = st.integers(0, 1_000)
# Leases and delays end between whole seconds, and time goes by in whole ones: nothing ends on the dot.
LEASE_SECONDS = 9.5
numbers = itertools.count()


class Machine(RuleBasedStateMachine):
    server: Server

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.queue = leaseq.Queue(self.server.client, f"machine.{next(numbers)}", clock=self.clock)
        self.queue.configure(lease_seconds=LEASE_SECONDS, holds=2, retry_seconds=3.3)
        self.model = Model(holds=2)
        self.leases: list[leaseq.Lease] = []  # every one ever given, stale ones included
        self.ids: list[str] = []

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now / 1e6, UTC) + timedelta(milliseconds=1)

    def lease(self, index: int) -> leaseq.Lease:
        """A lease, mostly one of the latest."""
        return self.leases[-1 - index % min(len(self.leases), 12)]

    def id(self, index: int) -> str:
        """An item, mostly one that is there, and of those often one in hand or dead."""
        sets = self.model.sets()
        likely = sets["reserved"] + sets["dead"] if index % 3 else list(self.model.items)
        among = likely if likely and index % 7 else self.ids
        return among[index % len(among)]

    def live(self, lease: leaseq.Lease) -> bool:
        """Whether the item is there and this is its latest grant, and not over by a move."""
        item = self.model.items.get(lease.id)
        if item is None or not self.model.is_latest(lease.id, lease.token, lease.person):
            return False
        return item.grants[-1].how == "held"

    def refused(self, lease: leaseq.Lease, call: Any) -> None:
        missing = lease.id not in self.model.items
        with pytest.raises(leaseq.ItemNotFound if missing else leaseq.LeaseLost):
            call()

    def got(self, expected: list[str], person: str, lease: leaseq.Lease | None) -> None:
        if lease is None:
            assert not expected
            return
        assert lease.id in expected
        self.model.granted(lease.id, lease.token, person, lease.expires_at)
        assert lease.person == person
        assert lease.draft == self.model.items[lease.id].drafts.get(person)
        assert lease.attempt == len(self.model.items[lease.id].grants)
        self.leases.append(lease)

    @precondition(lambda self: len(self.model.items) < 8)  # few, so that they come round often
    @rule(many=st.lists(st.tuples(PRIORITIES, DELAYS, st.integers(1, 5)), min_size=1, max_size=4))
    def enqueue(self, many: list[tuple[int, float, int]]) -> None:
        new = [
            NewItem({}, id=f"{len(self.ids) + n}", priority=priority, delay=delay, max_attempts=attempts)
            for n, (priority, delay, attempts) in enumerate(many)
        ]
        assert self.queue.enqueue_many(new).added == len(new)
        for item in new:
            until = self.queue.get(item.id or "").since if item.delay else None
            self.model.enqueue(item.id or "", BAND[item.priority], item.max_attempts or 0, until)
            self.ids.append(item.id or "")

    @precondition(lambda self: self.ids)
    @rule(index=INDEX)
    def enqueue_again(self, index: int) -> None:
        id = self.id(index)
        added = self.queue.enqueue({}, id=id, max_attempts=2).added
        assert added == self.model.enqueue(id, "normal", 2, None)
        if added:  # it was removed: a new item, for which old leases are worth nothing
            self.leases = [lease for lease in self.leases if lease.id != id]

    @rule(person=PEOPLE, twice=st.booleans())
    def reserve(self, person: str, twice: bool) -> None:
        request = f"request-{next(numbers)}"
        lease = self.queue.reserve(person, request_id=request)
        self.got(self.model.reserve(person, self.now), person, lease)
        if lease and twice:
            assert self.queue.reserve(person, request_id=request) == lease
            self.model.reserve(person, self.now)  # what else ran out came back

    @precondition(lambda self: self.leases)
    @rule(index=INDEX)
    def renew(self, index: int) -> None:
        lease = self.lease(index)
        item = self.model.items.get(lease.id)
        call = lambda: self.queue.renew(lease)  # noqa: E731
        if item and self.live(lease):
            item.grants[-1].expires = call().expires_at
            return
        latest = item and self.model.is_latest(lease.id, lease.token, lease.person)
        if not (item and latest and item.grants[-1].how == "expired" and item.state == "inbound"):
            self.refused(lease, call)
        elif self.model.alive(lease.person, self.now) >= 2:
            with pytest.raises(leaseq.Invalid, match="at most 2 leases"):
                call()
        else:
            self.model.leave(item)
            item.state, item.grants[-1].how = "reserved", "held"
            item.grants[-1].expires = call().expires_at
            self.model.hands[lease.person].append(lease.id)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, result=RESULTS, then_reserve=st.booleans())
    def finish(self, index: int, result: object, then_reserve: bool) -> None:
        lease = self.lease(index)
        call = lambda: self.queue.finish(lease, result, then_reserve=then_reserve)  # noqa: E731
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
            self.got(self.model.reserve(lease.person, self.now), lease.person, done.next)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, fail=st.booleans(), again=st.booleans())
    def give_back(self, index: int, fail: bool, again: bool) -> None:
        lease = self.lease(index)
        call = lambda: self.queue.fail(lease, "no") if fail else self.queue.abandon(lease, again=again)  # noqa: E731
        if not self.live(lease):
            item = self.model.items.get(lease.id)
            how = "failed" if fail else "abandoned"
            latest = item and self.model.is_latest(lease.id, lease.token, lease.person)
            if item and latest and item.grants[-1].how == how:
                call()  # the same again: nothing happens
            else:
                self.refused(lease, call)
            return
        until = getattr(call(), "retry_at", None)
        self.model.give_back(lease.id, "failed" if fail else "abandoned", until, self.now)
        if not fail:
            item = self.model.items[lease.id]
            (item.later if again else item.never).add(lease.person)

    @precondition(lambda self: self.leases)
    @rule(index=INDEX, draft=st.integers())
    def save_draft(self, index: int, draft: int) -> None:
        lease = self.lease(index)
        item = self.model.items.get(lease.id)
        latest = item and self.model.is_latest(lease.id, lease.token, lease.person)
        if item and latest and item.grants[-1].how in ("held", "expired"):
            self.queue.save_draft(lease, {"n": draft})
            item.drafts[lease.person] = {"n": draft}
        else:
            self.refused(lease, lambda: self.queue.save_draft(lease, draft))

    @rule(limit=st.sampled_from([1, 2, 50]))
    def clear(self, limit: int) -> None:
        done = self.queue.clear(limit)
        expected = self.model.sweep(self.now, limit)
        assert {"returned": done.returned, "released": done.released, "died": done.died} == expected
        assert done.more == self.model.something_is_due(self.now)

    @rule(seconds=st.sampled_from([1, 2, 5, 10, 30]))
    def time_goes_by(self, seconds: int) -> None:
        self.clock.tick(seconds)

    @rule()
    def people_walk_away(self) -> None:
        self.clock.tick(10)
        self.clear(50)

    @precondition(lambda self: self.ids)
    @rule(index=INDEX, move=st.sampled_from(["revive", "release", "remove"]))
    def manage(self, index: int, move: str) -> None:
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
            if item.state == "reserved":
                self.model.give_back(id, "released", None, self.now)
        elif item.state == "finished":
            with pytest.raises(leaseq.Invalid):
                call()
        else:
            call()
            if item.state == "dead":
                item.failures = 0
                item.later.clear()
                item.never.clear()
                self.model.wait(item, returned=True)
                self.model.count("revived")

    @rule()
    def pause_or_resume(self) -> None:
        (self.queue.resume if self.model.paused else self.queue.pause)()
        self.model.paused = not self.model.paused

    @invariant()
    def every_item_is_where_it_ought_to_be(self) -> None:
        """Conservation and order in one: the same ids, in the same sets, in the same order, each once."""
        real = looking.sets(self.server.redis, self.queue.name)
        assert real == self.model.sets()
        assert looking.shelves(self.server.redis, self.queue.name) == self.model.shelves
        assert sorted(id for ids in real.values() for id in ids) == sorted(self.model.items)

    @invariant()
    def people_hold_what_they_were_granted(self) -> None:
        for person, hands in self.model.hands.items():
            held = self.server.redis.hget(Keys(self.queue.name).ledger, f"p:{person}") or b""
            assert [id for id in held.decode().split("\t")[1:] if id] == hands

    @invariant()
    def counts_are_right(self) -> None:
        counters = self.queue.stats().counters
        assert {what: n for what, n in counters.items() if n} == self.model.counters

    def teardown(self) -> None:
        """Nothing that was typed is missing, and each transition was told once."""
        found = [(a.id, a.token, a.result, a.late) for a in self.queue.answers(with_late=True)]
        late = [(i.id, *answer) for i in self.model.items.values() for answer in i.late]
        done = [self.model.items[id].grants[-1] for id in self.model.finished]
        answers = [(id, g.token, g.result) for id, g in zip(self.model.finished, done, strict=True)]
        assert sorted((answer[:3] for answer in found), key=str) == sorted([*answers, *late], key=str)
        told = [event.what for event in self.queue.journal(limit=10_000)]
        for what, count in self.model.counters.items():
            assert told.count(what) == count
        for id, item in self.model.items.items():
            real = self.queue.get(id)
            assert (real.state, real.failures, real.attempts) == (item.state, item.failures, len(item.grants))
            assert [(g.token, g.person, g.how) for g in real.history] == [
                (g.token, g.person, g.how) for g in item.grants
            ]


def test_anything_in_any_order(server: Server) -> None:
    Machine.server = server
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

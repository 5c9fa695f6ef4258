"""Random calls without a model: the numbers of events in the journal equal the counters, and no record of an
item has an empty part."""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from datetime import UTC, datetime

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import leaseq
from leaseq.engine.keys import Keys
from leaseq.engine.scripts import SCRIPTS
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.support.state_machines import run_machine

numbers = itertools.count()
# No name can occur in a request id, which is hexadecimal.
PEOPLE: dict[str, tuple[str, ...]] = {"ann": (), "bo y": ("fr",), "cyd": ("fr",), "dan": ()}
person = st.sampled_from(list(PEOPLE))
id = st.sampled_from(["one", "two", "three"])
index = st.integers(0, 10)
UNRECORDED_SCRIPTS = {
    "end_wait",
    "confirm",
    "check_alerts",
    "follow",
    "unfollow",
    "delete",
    "delete_keys",
    "load",
    "load_items",
    "ask",
}  # they write, but record no event about items or policy, or delete the journal


class JournalTotals(RuleBasedStateMachine):
    server: Server

    @initialize(
        answers=st.integers(1, 3), holds=st.integers(1, 2), max_abandons=st.sampled_from([None, None, 2])
    )
    def begin(self, answers: int, holds: int, max_abandons: int | None) -> None:
        self.clock = Clock()
        self.queue = leaseq.Queue(self.server.client, f"books.{next(numbers)}", clock=self.clock)
        self.queue.configure(answers=answers, holds=holds, max_abandons=max_abandons, lease_seconds=60)
        self.leases: list[leaseq.Lease] = []
        self.tokens = 0
        for name in ("one", "two"):
            self.queue.enqueue({}, id=name)
        for name in PEOPLE:
            self.reserve(name)

    def lease(self, index: int) -> leaseq.Lease:
        return self.leases[-1 - index % len(self.leases)]

    @rule(
        id=id,
        delay=st.sampled_from([0, 0, 30]),
        fr=st.booleans(),
        payload=st.integers(0, 3),
        expires=st.sampled_from([None, None, 50]),
        to=st.none() | st.none() | person,
        form=st.sampled_from([None, {}]),
    )
    def enqueue(
        self,
        id: str,
        delay: float,
        fr: bool,
        payload: int,
        expires: float | None,
        to: str | None,
        form: leaseq.Json,
    ) -> None:
        self.queue.enqueue(
            payload, id=id, delay=delay, requires=("fr",) if fr else (), expires=expires, to=to, form=form
        )

    @rule(person=person)
    def reserve(self, person: str) -> None:
        lease = self.queue.reserve(person, skills=PEOPLE[person])
        self.leases += [lease] if lease else []

    @rule(index=index)
    def renew(self, index: int) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.renew(self.lease(index))

    @rule(index=index)
    def save_draft(self, index: int) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.save_draft(self.lease(index), {"half": 1})

    @rule(index=index, result=st.integers(0, 1), go_on=st.booleans())
    def finish(self, index: int, result: int, go_on: bool) -> None:
        lease = self.lease(index)
        with contextlib.suppress(leaseq.LeaseqError):
            outcome = self.queue.finish(lease, result, then_reserve=go_on, skills=PEOPLE[lease.person])
            self.leases += [outcome.next] if outcome.next else []

    @rule(index=index)
    def undo_finish(self, index: int) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.leases.append(self.queue.undo_finish(self.lease(index)))

    @rule(index=index)
    def take_back(self, index: int) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.leases.append(self.queue.take_back(self.lease(index)))

    @rule(index=index, again=st.booleans(), go_on=st.booleans())
    def abandon(self, index: int, again: bool, go_on: bool) -> None:
        lease = self.lease(index)
        with contextlib.suppress(leaseq.LeaseqError):
            outcome = self.queue.abandon(lease, again=again, then_reserve=go_on, skills=PEOPLE[lease.person])
            self.leases += [outcome.next] if outcome.next else []

    @rule(index=index)
    def fail(self, index: int) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.fail(self.lease(index), "torn")

    @rule()
    def clear(self) -> None:
        self.queue.clear()

    @rule(id=id)
    def cancel(self, id: str) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.cancel(id)

    @rule(id=id)
    def revive(self, id: str) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.revive(id)

    @rule(id=id, person=st.none() | person)
    def release(self, id: str, person: str | None) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.release(id, person=person)

    @rule(id=id, person=person)
    def assign(self, id: str, person: str) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.assign(id, person)

    @rule(id=id)
    def unassign(self, id: str) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.unassign(id)

    @rule(person=person)
    def unassign_person(self, person: str) -> None:
        self.queue.unassign_all(person)

    @rule(id=id, by=st.none() | person)
    def decide(self, id: str, by: str | None) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            tokens = [answer.token for answer in self.queue.get(id).answers]
            self.queue.decide(id, 1, how="reviewed", by=by, tokens=tokens)

    @rule(person=person, again=st.booleans())
    def stop(self, person: str, again: bool) -> None:
        self.queue.stop(person)
        if again:
            self.queue.let_work(person)

    @rule(id=id, priority=st.sampled_from([10, 100, 200]), fr=st.booleans(), delay=st.sampled_from([0, 30]))
    def change(self, id: str, priority: int, fr: bool, delay: float) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.change(id, priority=priority, requires=("fr",) if fr else ())
            self.queue.change(id, payload={"priority": priority}, delay=delay)

    @rule(id=id)
    def remove(self, id: str) -> None:
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.remove(id)

    @rule(id=id, people=st.lists(person, max_size=2, unique=True), late=st.booleans(), fr=st.booleans())
    def restore(self, id: str, people: list[str], late: bool, fr: bool) -> None:
        self.tokens += 1_000
        self.queue.raise_tokens(self.tokens)
        item = leaseq.NewItem({}, id=id, requires=("fr",) if fr else ())
        finished_at = datetime.fromtimestamp(self.clock() / 1e6 - 9, UTC)
        answers = [
            leaseq.GivenAnswer(self.tokens - n, name, 1, finished_at, late, stands=not late or n == 1)
            for n, name in enumerate(people, 1)
        ]
        self.queue.restore(item, answers)

    @rule(index=index)
    def adopt(self, index: int) -> None:
        """Adopt a late answer, or sometimes a token without one."""
        late = [answer for item in self.queue.late_items() for answer in item.late_answers]
        answer = (late or self.leases)[index % len(late or self.leases)]
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.adopt(answer.id, answer.token)

    @rule(index=index, person=st.none() | person)
    def reopen(self, index: int, person: str | None) -> None:
        answer = self.answer(index)
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.reopen(answer.id, answer.token, to=person)

    @rule(person=person)
    def erase_person(self, person: str) -> None:
        """Erase a person: afterwards nothing has their name, and the number of answers is unchanged."""
        before = self.tokens_and_people()
        new_name = f"erased-{next(numbers)}"
        self.queue.erase_person(person, new_name)
        assert server_contents.naming(self.server.redis, self.queue.name, person) <= {"journal"}
        assert self.tokens_and_people() == [
            (token, new_name if name == person else name) for token, name in before
        ]

    def tokens_and_people(self) -> list[tuple[int, str]]:
        return sorted((answer.token, answer.person) for answer in self.queue.answers(with_late=True))

    @rule(index=index, by=person)
    def correct(self, index: int, by: str) -> None:
        answer = self.answer(index)
        with contextlib.suppress(leaseq.LeaseqError):
            self.queue.correct(answer.id, answer.token, {}, by=by)

    def answer(self, index: int) -> leaseq.Answer | leaseq.Lease:
        """Return an answer that counts, or sometimes a lease without one."""
        answers = list(self.queue.answers()) or self.leases
        return answers[index % len(answers)]

    @rule(pause=st.booleans())
    def pause_or_resume(self, pause: bool) -> None:
        self.queue.pause() if pause else self.queue.resume()

    @rule(
        answers=st.integers(1, 3), keep=st.sampled_from([None, None, 90]), dedupe=st.sampled_from([0, 0, 90])
    )
    def configure(self, answers: int, keep: float | None, dedupe: float) -> None:
        self.queue.configure(answers=answers, keep_finished_seconds=keep, dedupe_seconds=dedupe)

    @rule(seconds=st.sampled_from([1, 10, 40, 61]))
    def time_passes(self, seconds: float) -> None:
        self.clock.tick(seconds)

    @rule(people=st.permutations(list(PEOPLE)))
    def leases_expire_and_others_reserve(self, people: list[str]) -> None:
        """Afterwards, answers with the expired leases are late."""
        self.clock.tick(61)
        for name in people:
            self.reserve(name)

    def teardown(self) -> None:
        if not hasattr(self, "queue"):
            return
        events = Counter(event.what for event in self.queue.journal(limit=10_000))
        counters = self.queue.stats().counters
        assert {kind: events[kind] for kind in counters if kind != "deduped"} == {
            kind: n
            for kind, n in counters.items()
            if kind != "deduped"  # which changes nothing
        }
        keys, redis = Keys(self.queue.name), self.server.redis
        for record in (*redis.hvals(keys.history), *redis.hvals(keys.late)):
            assert all(block.strip() for block in record.split(b"\n\n")), record
        self.check_nothing_is_left()

    def check_nothing_is_left(self) -> None:
        """Nothing is left of removed items and of people who stay away, except that they are stopped."""
        for person in PEOPLE:
            self.queue.let_work(person)
        for id in ("one", "two", "three"):
            self.remove(id)
        for days in (2, 100, 2):
            self.clock.tick(days * 86_400)
            for _ in range(8):
                self.queue.clear()
        keys = self.server.redis.scan_iter(match=f"leaseq:{{{self.queue.name}}}:*", count=10_000)
        assert {key.rpartition(b":")[2] for key in keys if b":seen:" not in key} == {b"ledger", b"journal"}
        fields = self.server.redis.hkeys(Keys(self.queue.name).ledger)
        assert [name for name in fields if name.startswith((b"p:", b"g:"))] == []


def test_journal_totals_equal_counters(server: Server) -> None:
    verbs = {name for name, script in SCRIPTS.items() if script.writes} - UNRECORDED_SCRIPTS
    rules = {verb for verb in dir(JournalTotals) if verb in SCRIPTS} | {"pause", "resume"}
    assert rules == verbs, "there is a rule for each verb"
    JournalTotals.server = server
    run_machine(JournalTotals, examples=30, steps=50)

"""A queue and its model in parallel, and what must hold after every step."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

import leaseq
from leaseq import NewItem, WhyNothing
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server
from tests.engine import server_contents
from tests.engine.model.choices import BAND, FORM, LEASE_SECONDS, NEW, SKILLS, New
from tests.engine.model.items import Item, Part, Rules
from tests.engine.model.model import Model

numbers = itertools.count()


class WatchedMachine(RuleBasedStateMachine):
    servers: dict[str, Server]  # by the durability that they offer: see the policy's `durable`
    plain: bool

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.leases: list[leaseq.Lease] = []  # all leases ever granted, including stale ones
        self.undone_finishes: list[
            tuple[leaseq.Lease, str, leaseq.Lease]
        ] = []  # the finished lease, the request, the new lease
        self.ids: list[str] = []
        self.waiting: dict[str, str] = {}  # waiter → the person
        self.published_names: list[str] = []  # those whose wake-ups were received since the last step
        self.weeks = 0  # for which everybody was away
        self.most_items = 6 if self.plain else 3  # few, so that each is used often

    @initialize(
        holds=st.integers(1, 3),
        answers=st.integers(1, 3),
        max_abandons=st.sampled_from([None, None, 2, 3]),
        keep=st.sampled_from([None, 0.5, 15.5]),
        keep_count=st.sampled_from([None, None, 1, 2]),
        keep_dead=st.sampled_from([None, 0.5, 15.5]),
        dedupe=st.sampled_from([0, 20.5]),
        durable=st.sampled_from(["server"] * 7 + ["fsync"]),
        specs=st.lists(NEW, min_size=1, max_size=3),
        waiting=st.lists(st.sampled_from(list(SKILLS)), max_size=6),
    )
    def begin(
        self,
        holds: int,
        answers: int,
        max_abandons: int | None,
        keep: float | None,
        keep_count: int | None,
        keep_dead: float | None,
        dedupe: float,
        durable: leaseq.Durable,
        specs: list[New],
        waiting: list[str],
    ) -> None:
        self.server = self.servers[durable]
        self.queue = leaseq.Queue(self.server.client, f"machine.{next(numbers)}", clock=self.clock)
        channel = f"leaseq:{{{self.queue.name}}}:wake"
        self.wakes = self.server.pubsub(channel)
        self.wakes.subscribe(channel)
        rules = Rules(holds, 1 if self.plain else answers, max_abandons, keep, keep_count, keep_dead, dedupe)
        self.make(rules, durable)
        self.add(specs)
        for person in list(SKILLS)[:4]:
            self.reserve_now(person)

        self.all_wait(waiting)

    def make(self, rules: Rules, durable: leaseq.Durable) -> None:
        self.queue.configure(lease_seconds=LEASE_SECONDS, retry_seconds=3.3, durable=durable, **vars(rules))
        self.model = Model(rules, lambda: self.now)

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now / 1e6, UTC) + timedelta(milliseconds=1)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Give the actions of waiters separate times, so that nobody's presence ends at the exact moment."""
        self.clock.tick(0.0005)
        yield
        self.clock.tick(0.0005)

    def has_room(self) -> bool:
        return (
            sum(item.state not in ("finished", "dead") for item in self.model.items.values())
            < self.most_items
        )

    def add(self, specs: list[New]) -> None:
        new_items, items = [], []
        for n, new in enumerate(specs):
            spec = new._replace(requires=(), expires=None, to=None, has_form=False) if self.plain else new
            id, form = f"{len(self.ids) + n}", FORM if spec.has_form else None
            due = None if spec.due_in is None else self.now + timedelta(seconds=spec.due_in)
            head = (spec.priority, spec.delay, spec.requires, due, spec.attempts)
            new_items.append(NewItem({"n": id}, id, *head, form=form, expires=spec.expires, to=spec.to))
            items.append(Item(id, BAND[spec.priority], spec.attempts, spec.requires, due, form=form))
        assert self.queue.enqueue_many(new_items).added == len(new_items)
        for new_item, item in zip(new_items, items, strict=True):
            real_item = self.queue.get(item.id)
            item.expires = real_item.expires
            self.model.enter_expiring(item)
            until = real_item.state_since if new_item.delay else None
            self.model.enqueue(item, until, self.now, new_item.to)
            self.ids.append(item.id)

    def reserve_now(self, person: str, twice: bool = False) -> None:
        """Let a person reserve. Mostly there is an item for them."""
        if self.has_room() and not self.model.parts("inbound"):
            self.add([New()])
        request = f"request-{next(numbers)}"
        lease = self.queue.reserve(person, skills=SKILLS[person], request_id=request)
        self.check_lease(person, lease)
        if lease and twice:
            assert self.queue.reserve(person, skills=SKILLS[person], request_id=request) == lease
            self.model.sweep(self.now, 8)  # other expired leases came back

    def lease(self, index: int) -> leaseq.Lease:
        """Return a lease, mostly one of the latest; every third time a person reserves a new one."""
        if index % 3 == 0:
            self.reserve_now(list(SKILLS)[index // 3 % len(SKILLS)])
            index = 0
        return self.leases[-1 - index % min(len(self.leases), 12)]

    def id(self, index: int) -> str:
        """Return an item's id, mostly an existing one; of those often one that is held or dead."""
        busy_ids = [part.item.id for part in self.model.parts("reserved") + self.model.parts("dead")]
        likely_ids = busy_ids if index % 3 else list(self.model.items)
        ids = likely_ids if likely_ids and index % 7 else self.ids
        return ids[index % len(ids)]

    def payload(self, index: int) -> str:
        item = self.model.items.get(self.id(index))
        return (item and item.payload) or self.id(index)

    def latest(self, lease: leaseq.Lease, *endings: str) -> Part | None:
        """Return the assignment with this latest grant if the grant is held or has one of these endings."""
        part = self.model.latest(lease.id, lease.token, lease.person)
        return part if part and part.grants[-1].how in endings else None

    def check_refused(self, lease: leaseq.Lease, call: Any) -> None:
        is_missing = lease.id not in self.model.items
        with pytest.raises(leaseq.ItemNotFound if is_missing else leaseq.LeaseLost):
            call()

    def check_lease(self, person: str, lease: leaseq.Lease | None, waiter: str = "") -> None:
        """Check that a reserve returned what the model expects."""
        expected = self.model.in_hand(person, self.now)
        self.forget_old()
        if not expected:
            if waiter and not self.model.waiting_list.has_turn(waiter):
                assert lease is None, f"{person} overtook others"
                return
            expected = self.model.choose(person, SKILLS[person])
        if lease is None:
            assert not expected, f"{person} got nothing"
            reason, free_at = self.model.why_nothing(self.now)
            assert self.queue.why_nothing(person, SKILLS[person]) == WhyNothing(reason, free_at)
            return
        matching_parts = [part for part in expected if part.item.id == lease.id]
        assert matching_parts, f"{person} got {lease.id}"
        part = self.reserved_part(matching_parts)
        self.model.waiting_list.leave(waiter)
        self.model.add_grant(part, lease.token, person, lease.expires_at)
        assert lease.person == person
        assert lease.payload == part.item.payload_now
        assert lease.form == part.item.form
        assert lease.draft == part.item.drafts.get(person)
        assert lease.attempt == part.attempts
        self.leases.append(lease)

    def forget_old(self) -> None:
        """Forget in the model the old items that the queue has chosen to forget."""
        sets = server_contents.sets(self.server.redis, self.queue.name)
        kept_names, old_items = {*sets["finished"], *sets["dead"]}, self.model.old(self.now)
        for item in [item for item in old_items if item.id not in kept_names]:
            self.model.forget(item)

    def reserved_part(self, parts: list[Part]) -> Part:
        """Return which of these assignments of one item was handed out."""
        reserved_names = server_contents.sets(self.server.redis, self.queue.name)["reserved"]
        return next(part for part in parts if part.name in reserved_names)

    @invariant()
    def sets_and_counters_match_model(self) -> None:
        """Conservation and order together: the same members in the same sets and order, each once."""
        real_sets = server_contents.sets(self.server.redis, self.queue.name)
        assert {state: real_sets[state] for state in self.model.sets()} == self.model.sets()
        assert (
            server_contents.rows(self.server.redis, self.queue.name, self.model.shelves) == self.model.shelves
        )
        stats = self.queue.stats()
        assert stats.waiting == sum(waiter.until >= self.now for waiter in self.model.waiting_list.standing())
        assert stats.inbound == len(self.model.parts("inbound")), "nothing is on any other shelf"
        assert {kind: n for kind, n in stats.counters.items() if n} == self.model.counters, (
            stats.counters,
            self.model.counters,
        )
        assert stats.overdue == sum(due < self.now for due in self.model.due())

    def all_wait(self, people: list[str]) -> None:
        """Let people reserve what is there, and then wait."""
        with self.apart():
            for person in people:
                for _ in range(2 + self.model.rules.holds - len(self.model.hands.get(person, []))):
                    if person not in self.waiting.values():
                        waiter = f"waiter-{next(numbers)}"
                        self.waiting[waiter] = person
                        self.look(waiter)

    def all_look(self, backwards: bool) -> None:
        with self.apart():
            for waiter in list(self.waiting)[:: -1 if backwards else 1]:
                self.look(waiter)

    def look(self, waiter: str) -> None:
        """Let a waiter look, with or without a wake-up. No two look at the same moment."""
        self.clock.tick(0.0001)
        person, waiting_list = self.waiting[waiter], self.model.waiting_list
        was_woken, earlier_leases = (
            waiting_list.is_woken(waiter),
            [(lease.id, lease.token) for lease in self.leases],
        )
        skills = ",".join(sorted(SKILLS[person]))
        outcome = self.queue._reserve(person, f"request-{next(numbers)}", skills, waiter, was_woken)
        lease = outcome if isinstance(outcome, leaseq.Lease) else None
        if waiting_list.look_unwoken(waiter):
            assert lease is None, f"{person} overtook others"
            if waiting_list.is_woken(waiter):
                return
        elif waiting_list.has_turn(waiter):
            self.check_lease(person, lease, waiter)
        if isinstance(outcome, leaseq.Lease):
            del self.waiting[waiter]
            if was_woken and (outcome.id, outcome.token) in earlier_leases:
                self.pass_on()
            return
        waiting_list.stand(waiter)
        soonest = self.model.soonest()
        if soonest and waiter in [one.name for one in waiting_list.standing()[:2]]:
            assert outcome.seconds <= (soonest - self.now).total_seconds() + 0.002, (
                "they look when a lease expires"
            )
        if was_woken:
            self.pass_on(waiter)

    def pass_on(self, behind: str | None = None) -> None:
        """Wake the next if a woken one doesn't take the item. If nothing is waiting, it doesn't matter
        whether this happens, nor whether absent waiters are dropped."""
        self.hear()
        waiting_list = self.model.waiting_list
        is_waiting = not self.model.paused and self.model.parts("inbound")
        if is_waiting or len(self.published_names) > len(waiting_list.woken_names):
            waiting_list.wake(behind)
        else:
            waiting_list.drop(self.standing())

    def standing(self) -> list[str]:
        return [name.decode() for name in self.server.redis.zrange(Keys(self.queue.name).waiters, 0, -1)]

    def hear(self) -> None:
        """Read all wake-ups up to now: the reply to a ping comes after them."""
        self.wakes.ping()
        while (message := self.wakes.get_message(timeout=5)) is None or message["type"] != "pong":
            if message and message["type"] == "message":
                self.published_names += message["data"].decode().split(" ")

    @invariant()
    def line_matches_model(self) -> None:
        """Waiters are in the order in which they began; woken ones have left and were notified in order."""
        waiting_list = self.model.waiting_list
        keys = Keys(self.queue.name)
        pipe = self.server.redis.pipeline(transaction=True)
        pipe.zrange(keys.waiters, 0, -1).hkeys(keys.waiter_times).hexists(keys.ledger, "woken")
        standing_names, known_names, has_waiters = pipe.execute()
        assert [name.decode() for name in standing_names] == [
            waiter.name for waiter in waiting_list.standing()
        ]
        assert {name.decode() for name in known_names} == set(waiting_list.waiters)
        assert has_waiters == bool(waiting_list.waiters), "without waiters, a move has no extra cost"
        self.hear()
        assert self.published_names == waiting_list.woken_names
        self.published_names, waiting_list.woken_names = [], []

    @invariant()
    def deadlines_match_model(self) -> None:
        for name in ("expiring", "questions"):
            real = self.server.redis.zrange(getattr(Keys(self.queue.name), name), 0, -1)
            expected = sorted(item.id for item in self.model.items.values() if name in item.lists)
            assert sorted(id.decode() for id in real) == expected, (name, real, expected)
        has_forms = self.server.redis.exists(Keys(self.queue.name).forms)
        assert has_forms == any(item.form for item in self.model.items.values())

    @invariant()
    def hands_match_model(self) -> None:
        for person, hands in self.model.hands.items():
            assert server_contents.hands(self.server.redis, self.queue.name, person) == [
                part.name for part in hands
            ]

    def teardown(self) -> None:
        """No answer is missing, nobody answered twice, and each transition was recorded once."""
        if not hasattr(self, "model"):
            return
        self.wakes.close()
        results = [(a.id, a.token, a.person, a.result) for a in self.queue.answers(with_late=True)]
        late_answers = [(item.id, *answer) for item in self.model.items.values() for answer in item.late]
        answers = [
            (part.item.id, part.grants[-1].token, part.grants[-1].person, part.grants[-1].result)
            for part in self.model.parts("finished")
            if part.has_answer
        ]
        assert sorted(results, key=str) == sorted([*answers, *late_answers], key=str)
        assert len({(id, person) for id, _, person, _ in answers}) == len(answers)
        kinds: list[str] = [event.what for event in self.queue.journal(limit=10_000)]
        for kind, count in self.model.counters.items():
            assert kinds.count(kind) == count or kind == "deduped"  # it is no transition
        for id, item in self.model.items.items():
            real_item = self.queue.get(id)
            grants = sorted((g.token, g.person, g.how) for part in item.parts for g in part.grants)
            assert [(g.token, g.person, g.how) for g in real_item.history] == grants
            assert (real_item.state, real_item.failures) == (item.state, item.failures)
            assert real_item.payload == item.payload_now
            assert (real_item.expires, real_item.form) == (item.expires, item.form)
            assert (real_item.requires, real_item.due) == (item.requires, item.due)
            open_parts = [part for part in item.parts if part.state not in ("finished", "dead")]
            assert real_item.assigned_to == tuple(part.assigned for part in open_parts if part.assigned)

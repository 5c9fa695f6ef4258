"""A queue and its model side by side, and what must hold after every step."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

import leaseq
from leaseq import NewItem, Nothing
from tests.conftest import Clock, Server
from tests.engine import looking
from tests.engine.model import Model
from tests.engine.model_items import Item, Part, Rules

SKILLS: dict[str, tuple[str, ...]] = {"ann": (), "b b": ("fr",), "cyd": ("fr", "legal"), "@d:1": ("fr",)}
# Leases and delays end between whole seconds, and time goes by in whole ones: nothing ends on the dot.
LEASE_SECONDS = 9.5
numbers = itertools.count()

BAND = {10: "high", 100: "normal", 200: "low"}
New = tuple[int, float, int, float | None, tuple[str, ...]]  # priority, delay, attempts, due in, requires
NEW: st.SearchStrategy[New] = st.tuples(
    st.sampled_from([10, 100, 100, 200]),
    st.sampled_from([0, 0, 0, 4.25]),
    st.integers(1, 4),
    st.sampled_from([None, None, -7.5, 12.5]),
    st.sampled_from([(), (), (), ("fr",), ("fr", "legal")]),
)


class Watched(RuleBasedStateMachine):
    server: Server
    plain: bool

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.queue = leaseq.Queue(self.server.client, f"machine.{next(numbers)}", clock=self.clock)
        self.leases: list[leaseq.Lease] = []  # every one ever given, stale ones included
        self.ids: list[str] = []
        self.most_items = 6 if self.plain else 3  # few, so that they come round often

    @initialize(
        holds=st.integers(1, 3),
        answers=st.integers(1, 3),
        max_abandons=st.sampled_from([None, None, 2, 3]),
        keep=st.sampled_from([None, 0.5, 15.5]),
        dedupe=st.sampled_from([0, 20.5]),
        many=st.lists(NEW, min_size=1, max_size=3),
    )
    def begin(
        self,
        holds: int,
        answers: int,
        max_abandons: int | None,
        keep: float | None,
        dedupe: float,
        many: list[New],
    ) -> None:
        rules = Rules(holds, 1 if self.plain else answers, max_abandons, keep, dedupe)
        self.queue.configure(lease_seconds=LEASE_SECONDS, retry_seconds=3.3, **vars(rules))
        self.model = Model(rules)
        self.add(many)
        for person in SKILLS:
            self.come(person)

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now / 1e6, UTC) + timedelta(milliseconds=1)

    def few(self) -> bool:
        return (
            sum(item.state not in ("finished", "dead") for item in self.model.items.values())
            < self.most_items
        )

    def add(self, many: list[New]) -> None:
        new, items = [], []
        for n, (priority, delay, attempts, due_in, needs) in enumerate(many):
            id, requires = f"{len(self.ids) + n}", () if self.plain else needs
            due = None if due_in is None else self.now + timedelta(seconds=due_in)
            new.append(NewItem({"n": id}, id, priority, delay, requires, due, attempts))
            items.append(Item(id, BAND[priority], attempts, requires, due))
        assert self.queue.enqueue_many(new).added == len(new)
        for one, item in zip(new, items, strict=True):
            self.model.enqueue(item, self.queue.get(item.id).since if one.delay else None, self.now)
            self.ids.append(item.id)

    def come(self, person: str, twice: bool = False) -> None:
        """Somebody reserves. There mostly is something."""
        if self.few() and not self.model.parts("inbound"):
            self.add([(100, 0, 2, None, ())])
        request = f"request-{next(numbers)}"
        lease = self.queue.reserve(person, skills=SKILLS[person], request_id=request)
        self.got(person, lease)
        if lease and twice:
            assert self.queue.reserve(person, skills=SKILLS[person], request_id=request) == lease
            self.model.sweep(self.now, 8)  # what else ran out came back

    def lease(self, index: int) -> leaseq.Lease:
        """A lease, mostly one of the latest, and every third time one that is asked for now."""
        if index % 3 == 0:
            self.come(list(SKILLS)[index // 3 % len(SKILLS)])
            index = 0
        return self.leases[-1 - index % min(len(self.leases), 12)]

    def id(self, index: int) -> str:
        """An item, mostly one that is there, and of those often one in hand or dead."""
        busy = [part.item.id for part in self.model.parts("reserved") + self.model.parts("dead")]
        likely = busy if index % 3 else list(self.model.items)
        among = likely if likely and index % 7 else self.ids
        return among[index % len(among)]

    def payload(self, index: int) -> str:
        item = self.model.items.get(self.id(index))
        return (item and item.payload) or self.id(index)

    def latest(self, lease: leaseq.Lease, *how: str) -> Part | None:
        """The assignment whose latest grant this is, where that is held or ended so."""
        part = self.model.latest(lease.id, lease.token, lease.person)
        return part if part and part.grants[-1].how in how else None

    def refused(self, lease: leaseq.Lease, call: Any) -> None:
        missing = lease.id not in self.model.items
        with pytest.raises(leaseq.ItemNotFound if missing else leaseq.LeaseLost):
            call()

    def got(self, person: str, lease: leaseq.Lease | None) -> None:
        """What a reserve gave is what it ought to give."""
        expected = self.model.reserve(person, SKILLS[person], self.now)
        if lease is None:
            assert not expected, f"{person} got nothing"
            reason, free_at = self.model.why_nothing(self.now)
            assert self.queue.why_nothing(person, SKILLS[person]) == Nothing(reason, free_at)
            return
        found = [part for part in expected if part.item.id == lease.id]
        assert found, f"{person} got {lease.id}"
        part = self.reserved(found)
        self.model.granted(part, lease.token, person, lease.expires_at)
        assert lease.person == person
        assert lease.draft == part.item.drafts.get(person)
        assert lease.attempt == part.attempts
        self.leases.append(lease)

    def reserved(self, parts: list[Part]) -> Part:
        """Which of these assignments of one item was handed out."""
        real = looking.sets(self.server.redis, self.queue.name)["reserved"]
        return next(part for part in parts if part.name in real)

    @invariant()
    def every_assignment_is_where_it_ought_to_be(self) -> None:
        """Conservation and order in one: the same in the same sets, in the same order, each once."""
        real = looking.sets(self.server.redis, self.queue.name)
        assert {state: real[state] for state in self.model.sets()} == self.model.sets()
        assert looking.rows(self.server.redis, self.queue.name, self.model.shelves) == self.model.shelves
        stats = self.queue.stats()
        assert stats.inbound == len(self.model.parts("inbound")), "and on no other shelf"
        assert {what: n for what, n in stats.counters.items() if n} == self.model.counters
        assert stats.overdue == sum(due < self.now for due in self.model.overdue.values())

    @invariant()
    def people_hold_what_they_were_granted(self) -> None:
        for person, hands in self.model.hands.items():
            assert looking.hands(self.server.redis, self.queue.name, person) == [part.name for part in hands]

    def teardown(self) -> None:
        """Nothing that was typed is missing, nobody answered twice, and each transition was told once."""
        if not hasattr(self, "model"):
            return
        found = [(a.id, a.token, a.person, a.result) for a in self.queue.answers(with_late=True)]
        late = [(item.id, *answer) for item in self.model.items.values() for answer in item.late]
        answers = [
            (part.item.id, part.grants[-1].token, part.grants[-1].person, part.grants[-1].result)
            for part in self.model.parts("finished")
        ]
        assert sorted(found, key=str) == sorted([*answers, *late], key=str)
        assert len({(id, person) for id, _, person, _ in answers}) == len(answers)
        told = [event.what for event in self.queue.journal(limit=10_000)]
        for what, count in self.model.counters.items():
            assert told.count(what) == count or what == "deduped"  # which is no transition
        for id, item in self.model.items.items():
            real = self.queue.get(id)
            grants = sorted((g.token, g.person, g.how) for part in item.parts for g in part.grants)
            assert [(g.token, g.person, g.how) for g in real.history] == grants
            assert (real.state, real.failures) == (item.state, item.failures)
            assert real.payload == {"n": item.payload or id}
            open = [part for part in item.parts if part.state not in ("finished", "dead")]
            assert real.assigned_to == tuple(part.assigned for part in open if part.assigned)

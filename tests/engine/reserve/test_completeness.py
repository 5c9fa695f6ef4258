"""Reserve returns nothing only if there is nothing for this person, and otherwise the first that they may
have: the queue against brute force, over random days."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Clock, Server

PEOPLE = {"ann": (), "bob": ("fr",), "cyd": ("fr", "legal"), "d e": ("legal",)}
NEEDS: list[tuple[str, ...]] = [(), (), (), ("fr",), ("fr", "legal")]


@dataclass
class KnownItem:
    """What brute force records about an item."""

    requires: tuple[str, ...]
    answerers: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # people who postponed it
    beside: set[str] = field(default_factory=set)  # had one of its assignments: may have passed others
    assigned: dict[int, str] = field(default_factory=dict)  # assignment → person


class Workday:
    def __init__(self, server: Server, name: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.server, self.clock = server, Clock()
        self.queue = leaseq.Queue(server.client, name, clock=self.clock)
        self.answers = self.chance.choice([1, 1, 2, 3])
        self.holds = self.chance.choice([1, 2, 3])
        self.queue.configure(answers=self.answers, holds=self.holds, lease_seconds=60, max_attempts=100)
        self.items: dict[str, KnownItem] = {}
        self.leases: dict[str, leaseq.Lease] = {}  # by token

    def waiting_entries(self) -> list[tuple[str, int, str, str, float]]:
        """Return item, assignment, row, shelf and score of all waiting entries in the server."""
        queue_keys = Keys(self.queue.name)
        entries = []
        shelf_keys = list(self.server.redis.scan_iter(match=f"{queue_keys.inbound}*", count=1000))
        reads = self.server.redis.pipeline(transaction=False)
        for key in shelf_keys:
            reads.zrange(key, 0, -1, withscores=True)
        for key, members in zip(shelf_keys, reads.execute(), strict=True):
            suffix = key.decode().removeprefix(queue_keys.inbound).removeprefix(":") or "normal"
            parts = suffix.split(":")
            row = parts.pop(0) if parts[0] not in ("high", "normal", "low") else ""
            for member, score in members:
                id, _, number = member.decode().partition("\a")
                entries.append((id, int(number or 1), row, ":".join(parts), score))
        return sorted(entries)  # the server returns keys in any order

    def in_hand(self, person: str) -> set[str]:
        return {lease.id for lease in self.queue.mine(person)}

    def may_have(self, person: str, id: str, number: int, own_ids: set[str]) -> bool:
        item = self.items[id]
        assignee = item.assigned.get(number)
        fits = assignee == person if assignee else set(item.requires) <= set(PEOPLE[person])
        return fits and person not in item.answerers | item.never and id not in own_ids

    @staticmethod
    def rank(shelf: str, score: float) -> tuple[int, int, bool, float]:
        band, *rest = shelf.split(":")
        number = int(rest[0]) if rest and rest[0].isdigit() else 1
        return ["high", "normal", "low"].index(band), number, "returned" not in rest, score

    def reserve(self, person: str) -> None:
        held_ids = self.in_hand(person)
        is_full = len(held_ids) >= self.holds
        self.queue.clear()
        for expired_lease in [
            lease for lease in self.leases.values() if lease.expires_at.timestamp() * 1e6 <= self.clock.now
        ]:
            del self.leases[str(expired_lease.token)]
        before = self.waiting_entries()
        ids_after_clear = self.in_hand(person)
        candidates = [w for w in before if self.may_have(person, w[0], w[1], ids_after_clear)]
        explanation = self.queue.why_nothing(person, PEOPLE[person])
        lease = self.queue.reserve(person, skills=PEOPLE[person])
        if is_full:
            assert lease
            assert lease.id in held_ids
            return
        if lease is None:
            assert not candidates, (person, candidates)
            assert explanation.reason == ("not-eligible" if before else "held" if self.leases else "empty")
            return
        assert explanation.reason is None
        assert lease.id in {w[0] for w in candidates}, (person, lease)
        first_choices = [
            w for w in candidates if person not in self.items[w[0]].later | self.items[w[0]].beside
        ]
        after = {w[:2] for w in self.waiting_entries()}
        taken_entries = [w for w in before if w[:2] not in after]
        assert [w[0] for w in taken_entries] == [lease.id]
        if first_choices and person not in self.items[lease.id].beside:
            assert taken_entries[0] == min(first_choices, key=lambda w: self.rank(w[3], w[4]))
        self.leases[str(lease.token)] = lease
        for other in PEOPLE:  # holders of an assignment pass over the item's others
            if self.answers > 1 and lease.id in self.in_hand(other):
                self.items[lease.id].beside.add(other)

    def step(self) -> None:
        person = self.chance.choice(list(PEOPLE))
        draw = self.chance.random()
        leases = [lease for lease in self.leases.values() if lease.person == person]
        lease = self.chance.choice(leases) if leases else None
        if draw < 0.12 and len(self.items) < 40:
            id = f"i{len(self.items)}"
            needs = self.chance.choice(NEEDS)
            self.queue.enqueue({}, id=id, requires=needs, priority=self.chance.choice([10, 100, 100, 200]))
            self.items[id] = KnownItem(needs)
        elif draw < 0.55 or lease is None:
            self.reserve(person)
        elif draw < 0.58:
            self.clock.tick(self.chance.choice([5, 61]))
        elif draw < 0.62:
            self.assign(person)
        elif draw < 0.7:
            self.change()
        elif lease.expires_at.timestamp() * 1e6 > self.clock.now:
            self.end(lease, person)
        self.clock.tick(0.001)

    def assign(self, person: str) -> None:
        entries = self.waiting_entries()
        if not entries:
            return
        self.queue.clear()
        id = self.chance.choice(entries)[0]
        item = self.items[id]
        before = self.queue.get(id).assigned_to
        if person not in before and (person in item.answerers or id in self.in_hand(person)):
            with pytest.raises(leaseq.Invalid):
                self.queue.assign(id, person)
            return
        self.queue.assign(id, person)
        item.never.discard(person)
        item.later.discard(person)
        for number in {w[1] for w in self.waiting_entries() if w[0] == id and w[2] == f"@{person}"}:
            item.assigned[number] = person

    def change(self) -> None:
        if not (entries := self.waiting_entries()):
            return
        id = self.chance.choice(entries)[0]
        needs = self.chance.choice([self.items[id].requires, self.chance.choice(NEEDS)])
        priority = self.chance.choice([10, 10, 100, 200])
        self.items[id].requires = self.queue.change(id, priority=priority, requires=needs).requires

    def end(self, lease: leaseq.Lease, person: str) -> None:
        item = self.items[lease.id]
        del self.leases[str(lease.token)]
        draw = self.chance.random()
        if draw < 0.5:
            self.queue.finish(lease, {})
            if self.answers > 1:
                item.answerers.add(person)
            return
        if draw < 0.65:
            self.queue.release(lease.id)
            for token, other in list(self.leases.items()):
                if other.id == lease.id:
                    del self.leases[token]
            return
        again = draw < 0.85
        self.queue.abandon(lease, again=again)
        (item.later if again else item.never).add(person)
        for number, name in list(item.assigned.items()):
            if name == person:
                waiting_numbers = {
                    w[1] for w in self.waiting_entries() if w[0] == lease.id and w[2] == f"@{person}"
                }
                if number not in waiting_numbers:
                    del item.assigned[number]


@pytest.mark.walks(40)
def test_reserve_returns_first_eligible_item_in_random_workday(
    server: Server, queue_name: str, seed: int
) -> None:
    day = Workday(server, queue_name, seed)
    for _ in range(250):
        day.step()
    assert len(day.items) > 5

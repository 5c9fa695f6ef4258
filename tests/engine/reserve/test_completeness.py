"""Reserve says "nothing" only if there is nothing that this person may have, and what it gives is what comes
first for them: the queue against brute force, over random days."""

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
    """What brute force knows of an item."""

    requires: tuple[str, ...]
    answered: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # gave it back, to see it again
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
        self.held: dict[str, leaseq.Lease] = {}  # by token

    def waiting(self) -> list[tuple[str, int, str, str, float]]:
        """Item, assignment, row, shelf and score of all that waits, as it lies in the server."""
        keys = Keys(self.queue.name)
        entries = []
        found = list(self.server.redis.scan_iter(match=f"{keys.inbound}*", count=1000))
        reads = self.server.redis.pipeline(transaction=False)
        for key in found:
            reads.zrange(key, 0, -1, withscores=True)
        for key, members in zip(found, reads.execute(), strict=True):
            place = key.decode().removeprefix(keys.inbound).removeprefix(":") or "normal"
            parts = place.split(":")
            row = parts.pop(0) if parts[0] not in ("high", "normal", "low") else ""
            for member, score in members:
                id, _, number = member.decode().partition("\a")
                entries.append((id, int(number or 1), row, ":".join(parts), score))
        return sorted(entries)  # the server's order of keys is its own

    def in_hand(self, person: str) -> set[str]:
        return {lease.id for lease in self.queue.mine(person)}

    def may_have(self, person: str, id: str, number: int, mine: set[str]) -> bool:
        item = self.items[id]
        assigned = item.assigned.get(number)
        fits = assigned == person if assigned else set(item.requires) <= set(PEOPLE[person])
        return fits and person not in item.answered | item.never and id not in mine

    @staticmethod
    def rank(shelf: str, score: float) -> tuple[int, int, bool, float]:
        band, *rest = shelf.split(":")
        number = int(rest[0]) if rest and rest[0].isdigit() else 1
        return ["high", "normal", "low"].index(band), number, "returned" not in rest, score

    def reserve(self, person: str) -> None:
        mine = self.in_hand(person)
        full = len(mine) >= self.holds
        self.queue.clear()
        for over in [
            lease for lease in self.held.values() if lease.expires_at.timestamp() * 1e6 <= self.clock.now
        ]:
            del self.held[str(over.token)]
        before = self.waiting()
        still_mine = self.in_hand(person)
        could = [w for w in before if self.may_have(person, w[0], w[1], still_mine)]
        why = self.queue.why_nothing(person, PEOPLE[person])
        lease = self.queue.reserve(person, skills=PEOPLE[person])
        if full:
            assert lease
            assert lease.id in mine
            return
        if lease is None:
            assert not could, (person, could)
            assert why.reason == ("not-eligible" if before else "held" if self.held else "empty")
            return
        assert why.reason is None
        assert lease.id in {w[0] for w in could}, (person, lease)
        first = [w for w in could if person not in self.items[w[0]].later | self.items[w[0]].beside]
        after = {w[:2] for w in self.waiting()}
        taken = [w for w in before if w[:2] not in after]
        assert [w[0] for w in taken] == [lease.id]
        if first and person not in self.items[lease.id].beside:
            assert taken[0] == min(first, key=lambda w: self.rank(w[3], w[4]))
        self.held[str(lease.token)] = lease
        for other in PEOPLE:  # who has one of an item in hand passes over its other assignments
            if self.answers > 1 and lease.id in self.in_hand(other):
                self.items[lease.id].beside.add(other)

    def step(self) -> None:
        person = self.chance.choice(list(PEOPLE))
        what = self.chance.random()
        mine = [lease for lease in self.held.values() if lease.person == person]
        lease = self.chance.choice(mine) if mine else None
        if what < 0.12 and len(self.items) < 40:
            id = f"i{len(self.items)}"
            needs = self.chance.choice(NEEDS)
            self.queue.enqueue({}, id=id, requires=needs, priority=self.chance.choice([10, 100, 100, 200]))
            self.items[id] = KnownItem(needs)
        elif what < 0.55 or lease is None:
            self.reserve(person)
        elif what < 0.58:
            self.clock.tick(self.chance.choice([5, 61]))
        elif what < 0.62:
            self.assign(person)
        elif what < 0.7:
            self.change()
        elif lease.expires_at.timestamp() * 1e6 > self.clock.now:
            self.end(lease, person)
        self.clock.tick(0.001)

    def assign(self, person: str) -> None:
        waiting = self.waiting()
        if not waiting:
            return
        self.queue.clear()
        id = self.chance.choice(waiting)[0]
        item = self.items[id]
        before = self.queue.get(id).assigned_to
        if person not in before and (person in item.answered or id in self.in_hand(person)):
            with pytest.raises(leaseq.Invalid):
                self.queue.assign(id, person)
            return
        self.queue.assign(id, person)
        item.never.discard(person)
        item.later.discard(person)
        for number in {w[1] for w in self.waiting() if w[0] == id and w[2] == f"@{person}"}:
            item.assigned[number] = person

    def change(self) -> None:
        if not (waiting := self.waiting()):
            return
        id = self.chance.choice(waiting)[0]
        needs = self.chance.choice([self.items[id].requires, self.chance.choice(NEEDS)])
        priority = self.chance.choice([10, 10, 100, 200])
        self.items[id].requires = self.queue.change(id, priority=priority, requires=needs).requires

    def end(self, lease: leaseq.Lease, person: str) -> None:
        item = self.items[lease.id]
        del self.held[str(lease.token)]
        how = self.chance.random()
        if how < 0.5:
            self.queue.finish(lease, {})
            if self.answers > 1:
                item.answered.add(person)
            return
        if how < 0.65:
            self.queue.release(lease.id)
            for token, other in list(self.held.items()):
                if other.id == lease.id:
                    del self.held[token]
            return
        again = how < 0.85
        self.queue.abandon(lease, again=again)
        (item.later if again else item.never).add(person)
        for number, who in list(item.assigned.items()):
            if who == person:
                waits = {w[1] for w in self.waiting() if w[0] == lease.id and w[2] == f"@{person}"}
                if number not in waits:
                    del item.assigned[number]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_hidden_from_anybody(server: Server, queue_name: str, seed: int) -> None:
    day = Workday(server, queue_name, seed)
    for _ in range(250):
        day.step()
    assert len(day.items) > 5

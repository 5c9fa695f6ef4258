"""What a queue ought to do, in plain Python: a list for each set, a dict for each item. It knows no script.

It takes from the real queue only what the real queue chooses: tokens, and the times at which leases run
out and items come due.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

TAKEN_BACK_BY_A_RESERVE = 8
BANDS = ("high", "normal", "low")


@dataclass
class Grant:
    token: int
    person: str
    expires: datetime
    how: str = "held"
    result: object = None


@dataclass
class Item:
    id: str
    band: str
    max_attempts: int
    state: str = ""
    failures: int = 0
    until: datetime | None = None  # scheduled: when it is due
    grants: list[Grant] = field(default_factory=list)
    drafts: dict[str, object] = field(default_factory=dict)
    late: list[tuple[int, object]] = field(default_factory=list)
    later: set[str] = field(default_factory=set)  # gave it back: they see it when nothing else waits for them
    never: set[str] = field(default_factory=set)  # gave it back for good

    @property
    def grant(self) -> Grant | None:
        return self.grants[-1] if self.grants else None


class Model:
    def __init__(self, holds: int) -> None:
        self.holds = holds
        self.paused = False
        self.items: dict[str, Item] = {}
        self.shelves: dict[str, list[str]] = {
            f"{band}{kind}": [] for band in BANDS for kind in (":returned", "")
        }
        self.finished: list[str] = []
        self.dead: list[str] = []
        self.hands: dict[str, list[str]] = {}
        self.counters: dict[str, int] = {}
        self.last_token = 0

    def sets(self) -> dict[str, list[str]]:
        held = [item for item in self.items.values() if item.state == "reserved"]
        waiting = [item for item in self.items.values() if item.state == "scheduled"]
        return {
            "inbound": [id for shelf in self.shelves.values() for id in shelf],
            "reserved": [i.id for i in sorted(held, key=lambda i: i.grants[-1].expires)],
            "scheduled": [i.id for i in sorted(waiting, key=lambda i: (i.until, i.id))],
            "finished": self.finished,
            "dead": self.dead,
        }

    def count(self, what: str) -> None:
        self.counters[what] = self.counters.get(what, 0) + 1

    # Where an item is

    def leave(self, item: Item) -> None:
        for ids in (*self.shelves.values(), self.finished, self.dead):
            if item.id in ids:
                ids.remove(item.id)
        item.until = None

    def wait(self, item: Item, returned: bool) -> None:
        self.leave(item)
        item.state = "inbound"
        self.shelves[item.band + (":returned" if returned else "")].append(item.id)

    def schedule(self, item: Item, until: datetime) -> None:
        self.leave(item)
        item.state, item.until = "scheduled", until

    def die(self, item: Item) -> None:
        self.leave(item)
        item.state = "dead"
        self.dead.append(item.id)
        self.count("died")

    def end(self, item: Item, how: str) -> None:
        grant = item.grants[-1]
        grant.how = how
        self.hands[grant.person].remove(item.id)

    # Moves

    def enqueue(self, id: str, band: str, max_attempts: int, until: datetime | None) -> bool:
        if id in self.items:
            return False
        item = self.items[id] = Item(id, band, max_attempts)
        if until:
            self.schedule(item, until)
        else:
            self.wait(item, returned=False)
        self.count("enqueued")
        return True

    def expire(self, item: Item) -> str:
        self.end(item, "expired")
        self.count("expired")
        item.failures += 1
        if item.failures >= item.max_attempts:
            self.die(item)
            return "died"
        self.wait(item, returned=True)
        return "returned"

    def sweep(self, now: datetime, limit: int) -> dict[str, int]:
        sets = self.sets()
        found = [self.items[id] for id in sets["reserved"] if self.items[id].grants[-1].expires <= now][
            :limit
        ]
        done = [self.expire(item) for item in found]
        for id in sets["scheduled"]:
            item = self.items[id]
            if len(done) < limit and item.until and item.until <= now:
                self.wait(item, returned=bool(item.grants))
                done.append("released")
        return {what: done.count(what) for what in ("returned", "released", "died")}

    def something_is_due(self, now: datetime) -> bool:
        return any(
            (item.state == "reserved" and item.grants[-1].expires <= now)
            or (item.until and item.until <= now)
            for item in self.items.values()
        )

    def reserve(self, person: str, now: datetime) -> list[str]:
        """Which item this person ought to get: one of these. The caller then says ``granted``."""
        self.sweep(now, TAKEN_BACK_BY_A_RESERVE)
        for id in list(self.hands.get(person, [])):
            if self.items[id].grants[-1].expires <= now:
                self.expire(self.items[id])
        hands = self.hands.get(person, [])
        if len(hands) >= self.holds:
            return hands[:1]
        if self.paused:
            return []
        waiting = [id for id in self.sets()["inbound"] if person not in self.items[id].never]
        first = [id for id in waiting if person not in self.items[id].later]
        return first[:1] or waiting

    def alive(self, person: str, now: datetime) -> int:
        """How many leases a person has that did not run out."""
        return sum(self.items[id].grants[-1].expires > now for id in self.hands[person])

    def granted(self, id: str, token: int, person: str, expires: datetime) -> None:
        item = self.items[id]
        if item.state == "reserved":
            assert (item.grants[-1].token, item.grants[-1].person) == (token, person)
            return
        assert token == self.last_token + 1
        self.last_token = token
        self.leave(item)
        item.state = "reserved"
        item.grants.append(Grant(token, person, expires))
        self.hands.setdefault(person, []).append(id)
        self.count("reserved")

    def is_latest(self, id: str, token: int, person: str) -> bool:
        grant = self.items[id].grant
        return grant is not None and (grant.token, grant.person) == (token, person)

    def finish(self, id: str, token: int, person: str, result: object, now: datetime) -> str:
        """in time, late, again, kept or refused"""
        item, grant = self.items[id], self.items[id].grant
        if grant and self.is_latest(id, token, person):
            if grant.how in ("held", "expired"):
                late = grant.expires <= now
                if grant.how == "held":
                    self.end(item, "finished")
                grant.how, grant.result = "finished", result
                self.leave(item)
                item.state = "finished"
                item.drafts.clear()
                self.finished.append(id)
                self.count("finished")
                return "late" if late else "in time"
            if grant.how == "finished" and grant.result == result:
                return "again"
        if not any((g.token, g.person) == (token, person) for g in item.grants):
            return "refused"
        if (token, result) not in item.late:
            item.late.append((token, result))
            self.count("late")
        return "kept"

    def give_back(self, id: str, how: str, until: datetime | None, now: datetime) -> None:
        """abandoned, released, or failed: to be tried again then, or dead."""
        item = self.items[id]
        self.end(item, how)
        self.count(how)
        if how != "failed":
            self.wait(item, returned=True)
            return
        item.failures += 1
        if item.failures >= item.max_attempts:
            self.die(item)
        elif until:
            self.schedule(item, until)

    def remove(self, id: str) -> None:
        item = self.items.pop(id)
        self.leave(item)
        if item.state == "reserved":
            self.hands[item.grants[-1].person].remove(id)

"""The items of the model of a queue in their sets, and who holds them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tests.engine.model.items import BANDS, Item, Part, Rules
from tests.engine.model.waiting_list import WaitingList

LATER = 4e15  # greater than any score, but small enough to count up exactly


class Sets:
    def __init__(self, rules: Rules, now: Callable[[], datetime]) -> None:
        self.rules = rules
        self.now = now
        self.waiting_list = WaitingList(now)
        self.paused = False
        self.items: dict[str, Item] = {}
        self.shelves: dict[tuple[str, str], list[str]] = {("", name): [] for name in BANDS}
        self.finished: list[str] = []
        self.dead: list[str] = []
        self.hands: dict[str, list[Part]] = {}
        self.counters: dict[str, int] = {}
        self.looked_past: dict[str, set[int]] = {}  # person → entries
        self.shelves_passed: set[tuple[str, str]] = set()  # shelves on which anybody passed over an entry
        self.first: dict[str, tuple[Item, datetime]] = {}  # payload → the item that entered with it, and when
        self.entries = 0
        self.last_token = 0

    def parts(self, state: str) -> list[Part]:
        return [part for item in self.items.values() for part in item.parts if part.state == state]

    def due(self) -> list[datetime]:
        """Return the due dates of unfinished items without dead assignments, which would have to be revived
        first."""

        def counts(item: Item) -> bool:
            return item.state != "finished" and all(part.state != "dead" for part in item.parts)

        return [item.due for item in self.items.values() if item.due and counts(item)]

    def sets(self) -> dict[str, list[str]]:
        reserved_parts = sorted(self.parts("reserved"), key=lambda part: part.grants[-1].expires)
        scheduled_parts = sorted(self.parts("scheduled"), key=lambda part: (part.until, part.name))
        return {
            "reserved": [part.name for part in reserved_parts],
            "scheduled": [part.name for part in scheduled_parts],
            "finished": self.finished,
            "dead": self.dead,
        }

    def part(self, name: str) -> Part:
        id, _, number = name.partition("\a")
        return self.items[id].parts[int(number or 1) - 1]

    def count(self, kind: str) -> None:
        self.counters[kind] = self.counters.get(kind, 0) + 1

    def leave(self, part: Part) -> None:
        for names in (*self.shelves.values(), self.finished, self.dead):
            if part.name in names:
                names.remove(part.name)
        part.until = None

    def close(self, part: Part) -> None:
        """End an assignment that the item no longer needs, without an answer."""
        self.leave(part)
        part.state, part.finished_at = "finished", self.now()
        self.finished.append(part.name)
        if part.item.state == "finished":
            part.item.drafts.clear()
            part.item.lists.discard("questions")

    def wait(self, part: Part, returned: bool) -> None:
        if part.is_surplus:
            self.close(part)
            return
        self.entries += 1
        self.enter(part, self.shelf_of(part, returned), LATER + self.entries)

    def shelf_of(self, part: Part, returned: bool) -> tuple[str, str]:
        name = part.item.band + (f":{part.number}" if part.number > 1 else "")
        return part.row, name + (":returned" if returned else "")

    def enter(self, part: Part, shelf: tuple[str, str], order: float) -> None:
        self.leave(part)
        part.state, part.shelf, part.order, part.entry = "inbound", shelf, order, self.entries
        names = self.shelves.setdefault(shelf, [])
        names.append(part.name)
        names.sort(key=lambda name: self.part(name).order)
        if not self.paused:
            self.waiting_list.wake()

    def move(self, part: Part, order: float) -> None:
        """Move it after a change of priority or skills: by its age, but after everything that anybody passed
        over, since they would not see it ahead of that."""
        shelf = self.shelf_of(part, "returned" in part.shelf[1])
        if shelf != part.shelf:
            assert order == part.order or (order > part.order and shelf in self.shelves_passed)
            self.entries += 1
            self.enter(part, shelf, order)

    def schedule(self, part: Part, until: datetime) -> None:
        self.leave(part)
        part.state, part.until = "scheduled", until

    def resume(self) -> None:
        self.paused = False
        for _ in self.parts("inbound"):
            self.waiting_list.wake()

    def soonest(self) -> datetime | None:
        """Return when the next lease expires or the next item comes due."""
        leases = [part.grants[-1].expires for part in self.parts("reserved")]
        return min([*leases, *(part.until for part in self.parts("scheduled") if part.until)], default=None)

    def is_due(self, now: datetime) -> bool:
        first = self.soonest()
        return first is not None and first <= now

    def enter_expiring(self, item: Item) -> None:
        if item.expires:
            item.lists.add("questions" if item.is_asked else "expiring")

    def need_again(self, item: Item, now: datetime) -> None:
        item.ended, item.died = "", False
        if item.expires and item.expires <= now:
            item.expires = None
        self.enter_expiring(item)

    def hold_again(self, item: Item) -> None:
        """Somebody has it again, perhaps after nobody needed it any more."""
        if "expiring" not in item.lists:
            self.enter_expiring(item)
        item.died |= bool(item.ended)

    def expired_entries(self, now: datetime) -> list[tuple[str, Item]]:
        """The entries of the lists of deadlines that are over."""
        due = [item for item in self.items.values() if item.expires and item.expires <= now]
        due.sort(key=lambda item: (item.expires, item.id))
        return [(name, item) for name in ("expiring", "questions") for item in due if name in item.lists]

    def end_expired(self, name: str, item: Item) -> bool:
        """End what waits of an item whose time is over. Return whether anything died."""
        item.lists.discard(name)
        open_parts = [part for part in item.parts if part.state not in ("finished", "dead")]
        if not open_parts or item.ended:
            return False
        item.ended = "expired"
        for part in open_parts:
            if part.state == "reserved":
                item.died = True
            else:
                self.bury(part)
        return any(part.state == "dead" for part in open_parts)

    def die(self, part: Part) -> bool:
        """Let the item's waiting assignments die with this one. Return whether this one died: it is closed if
        it is no longer needed."""
        part.item.died |= any(p.state == "reserved" for p in part.item.parts if p is not part)
        for dying_part in [p for p in part.item.parts if p is part or p.state in ("inbound", "scheduled")]:
            self.bury(dying_part)
        return part.state == "dead"

    def bury(self, part: Part) -> None:
        if part.is_surplus:
            self.close(part)
            return
        self.leave(part)
        part.state, part.died_at = "dead", self.now()
        self.dead.append(part.name)
        self.count("died")
        others = [one for one in part.item.parts if one is not part]
        if part.item.ended == "expired" and all(one.state != "dead" for one in others):
            self.count("lapsed")
        if part.item.is_asked and part.number == 1:
            part.item.lists.discard("questions")

    def end(self, part: Part, ending: str) -> None:
        grant = part.grants[-1]
        grant.how = ending
        self.hands[grant.person].remove(part)

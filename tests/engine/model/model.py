"""What a queue ought to do, in plain Python and by brute force, without any script.

It takes from the real queue only what the real queue chooses: tokens, and the times at which leases expire
and items come due.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from leaseq import NothingReason
from tests.engine.model.grants import Grants
from tests.engine.model.items import Item, Part

TAKEN_BACK_BY_A_RESERVE = 8
CLEARED_BY_A_CALL = 40  # of the script; a reserve calls it if there are items that nobody needs any more


class Model(Grants):
    def enqueue(self, item: Item, until: datetime | None, now: datetime, to: str | None = None) -> bool:
        if item.id in self.items:
            return False
        if self.twin(item, now):
            self.count("deduped")
            return False
        self.first[item.payload or item.id] = item, now
        self.items[item.id] = item
        item.parts = [Part(item, 1, assigned=to)]
        if to:
            self.count("assigned")
        if until:
            self.schedule(item.parts[0], until)
        else:
            self.wait(item.parts[0], returned=False)
        self.count("enqueued")
        return True

    def twin(self, item: Item, now: datetime) -> Item | None:
        """Return the item with this payload while its window is open."""
        first, entered_at = self.first.get(item.payload or item.id, (item, now))
        is_there = self.items.get(first.id) is first
        return first if is_there and (now - entered_at).total_seconds() < self.rules.dedupe_seconds else None

    def fails(self, part: Part) -> bool:
        """Count a failure; return whether the item's attempts are used up."""
        part.item.failures += 1
        return part.item.died or part.item.failures >= part.item.max_attempts

    def expire(self, part: Part) -> str:
        self.end(part, "expired")
        self.count("expired")
        if self.fails(part):
            return "died" if self.die(part) else "returned"
        self.wait(part, returned=True)
        return "returned"

    def sweep(self, now: datetime, limit: int) -> dict[str, int]:
        sets = self.sets()
        expired_parts = [part for part in map(self.part, sets["reserved"]) if part.grants[-1].expires <= now]
        endings = [self.expire(part) for part in expired_parts[:limit]]
        for part in map(self.part, sets["scheduled"]):
            if len(endings) < limit and part.state == "scheduled" and part.until and part.until <= now:
                self.wait(part, returned=bool(part.attempts or part.assigned))
                endings.append("released")
        return {ending: endings.count(ending) for ending in ("returned", "released", "died")}

    def clear_once(self, now: datetime, moves: int) -> tuple[dict[str, int], int, int]:
        """Return what sweep returns, how many items died since their time was over, and how many were
        looked at for that."""
        entries = self.expired_entries(now)[:moves]
        died = sum([self.end_expired(name, item) for name, item in entries])
        return self.sweep(now, moves - len(entries)), died, len(entries)

    def clear(self, now: datetime, limit: int) -> tuple[dict[str, int], bool]:
        """Return what clear returns: its counts, and whether there is more. What is forgotten, the queue
        chooses."""
        totals = dict.fromkeys(("returned", "released", "died", "forgotten"), 0)
        has_more = True
        while has_more and sum(totals.values()) < limit:
            moves = min(limit - sum(totals.values()), CLEARED_BY_A_CALL)
            counts, died, looked = self.clear_once(now, moves)
            old = len(self.old(now)) - totals["forgotten"]
            forgotten = min(moves - looked - sum(counts.values()), old)
            for name, count in {**counts, "forgotten": forgotten}.items():
                totals[name] += count
            totals["died"] += died
            has_more = self.is_due(now) or bool(self.expired_entries(now)) or old > forgotten
        return totals, has_more

    def old(self, now: datetime) -> list[Item]:
        """Return the finished or dead items to forget: those that are too old, or too many."""
        rules = self.rules
        limit = len(self.finished) if rules.keep_finished_count is None else rules.keep_finished_count
        surplus_names = self.finished[: max(len(self.finished) - limit, 0)]

        def is_past(since: datetime | None, keep: float | None) -> bool:
            return since is not None and keep is not None and (now - since).total_seconds() > keep

        def is_old(part: Part) -> bool:
            if part.state == "finished":
                return part.name in surplus_names or is_past(part.finished_at, rules.keep_finished_seconds)
            return part.state == "dead" and is_past(part.died_at, rules.keep_dead_seconds)

        return [item for item in self.items.values() if all(map(is_old, item.parts))]

    def forget(self, item: Item) -> None:
        self.remove(item.id)
        self.count("forgotten")

    def waiting_for(self, person: str, skills: tuple[str, ...]) -> Iterator[Part]:
        """Yield all assignments on the rows that they qualify for, in the order of precedence."""
        for part in sorted(self.parts("inbound"), key=lambda part: part.rank):
            fits = set(part.item.requires) <= set(skills)
            if part.assigned == person or (fits and part.assigned is None):
                yield part

    def in_hand(self, person: str, now: datetime) -> list[Part]:
        """Return the lease that a person at their limit gets again, after expired ones came back."""
        self.sweep(now, TAKEN_BACK_BY_A_RESERVE)
        while self.expired_entries(now):
            self.clear_once(now, CLEARED_BY_A_CALL)
            self.sweep(now, TAKEN_BACK_BY_A_RESERVE)
        for part in list(self.hands.get(person, [])):
            if part.grants[-1].expires <= now:
                self.expire(part)
        hands = self.hands.get(person, [])
        return hands[:1] if len(hands) >= self.rules.holds else []

    def choose(self, person: str, skills: tuple[str, ...]) -> list[Part]:
        """Return the assignments of which this person ought to get one. Then call ``add_grant``."""
        if self.paused:
            return []
        passed_entries = self.looked_past.setdefault(person, set())
        parts_again: list[Part] = []
        for part in self.waiting_for(person, skills):
            is_free = self.may_answer(part.item, person) and person not in part.item.never
            if is_free and part.entry not in passed_entries and person not in part.item.later:
                return [part]
            passed_entries.add(part.entry)
            self.shelves_passed.add(part.shelf)
            if is_free:
                parts_again.append(part)
        return parts_again

    def may_have(self, person: str, skills: tuple[str, ...]) -> bool:
        """Whether anything is waiting for them."""
        waiting_parts = self.waiting_for(person, skills)
        return any(self.may_answer(p.item, person) and person not in p.item.never for p in waiting_parts)

    def why_nothing(self, now: datetime) -> tuple[NothingReason | None, datetime | None]:
        """Explain a reserve that returned nothing."""
        if self.paused:
            return "paused", None
        if self.is_due(now):
            return None, None
        if self.parts("inbound"):
            return "not-eligible", self.soonest()
        return ("held" if self.parts("reserved") else "empty"), self.soonest()

    def alive(self, person: str, now: datetime) -> int:
        """Return how many unexpired leases a person has."""
        return sum(part.grants[-1].expires > now for part in self.hands.get(person, []))

    def give_back(self, part: Part, ending: str, again: bool, until: datetime | None) -> None:
        """End a lease as abandoned, released, or failed; a failed item is retried at ``until``, or dead."""
        item, person = part.item, part.grants[-1].person
        self.end(part, ending)
        self.count(ending)
        if ending == "failed":
            if self.fails(part):
                self.die(part)
            elif until:
                assert not part.is_surplus
                self.schedule(part, until)
            else:
                self.close(part)
            return
        if ending == "abandoned":
            part.assigned = None
            part.grants[-1].was_later = person in item.later
            (item.never if again else item.later).discard(person)
            (item.later if again else item.never).add(person)
        abandons = (item.later | item.never) - item.answerers
        if item.died or len(abandons) >= (self.rules.max_abandons or 1_000):
            self.die(part)
        else:
            self.wait(part, returned=True)
        if ending == "abandoned" and not again:
            self.unassign(part, person)

    def revive(self, item: Item) -> None:
        dead = [part for part in item.parts if part.state == "dead"]
        waiting = [part for part in item.parts if part.state == "inbound"]
        if not dead:
            return
        item.failures = 0
        self.need_again(item, self.now())
        item.later.clear()
        item.never.clear()
        for part in dead:
            self.wait(part, returned=True)
            self.count("revived")
        for part in waiting:
            self.wait(part, returned=True)
        if item.needed is not None:
            self.open_missing(item)

    def cancel(self, item: Item) -> None:
        open_parts = [part for part in item.parts if part.state not in ("finished", "dead")]
        item.ended = "cancelled" if open_parts else item.ended
        for part in open_parts:
            if part.state == "reserved":
                self.end(part, "released")
                self.count("released")
            self.bury(part)
        if open_parts:
            item.lists.clear()
            self.count("cancelled")

    def assign(self, item: Item, person: str) -> bool:
        """Assign the item; return False if that is refused."""
        open = [part for part in item.parts if part.state not in ("finished", "dead")]
        if any(part.assigned == person for part in open):
            return True
        free = [part for part in open if part.state in ("inbound", "scheduled")]
        if not free or not self.may_answer(item, person):
            return False
        part = next((part for part in free if part.assigned is None), free[0])
        item.later.discard(person)
        item.never.discard(person)
        part.assigned = person
        if part.state == "inbound":
            self.wait(part, returned=True)
        self.count("assigned")
        return True

    def may_change(self, item: Item, payload: object, *, delayed: bool) -> bool:
        """``delayed``: a delay is given, even 0."""
        states = [part.state for part in item.parts]
        is_taken = "reserved" in states or "finished" in states
        is_waiting = "inbound" in states or "scheduled" in states
        return (is_waiting or ("dead" in states and not delayed)) and not (payload and is_taken)

    def needed(self, item: Item) -> int:
        """How many answers it needs. It gets no further assignment once the last one was handed out."""
        if item.needed is not None:
            return item.needed
        count = len(item.parts)
        return count if item.parts[-1].grants else max(self.rules.answers, count)

    def need(self, item: Item, answers: int) -> None:
        """Close what the item no longer needs, except for what is held, or open what it lacks."""
        if answers == self.needed(item):
            return
        item.needed = answers
        for part in reversed(item.parts):
            if part.state not in ("reserved", "finished") and part.is_surplus:
                self.close(part)
        self.open_missing(item)

    def open_missing(self, item: Item) -> None:
        if item.died or item.ended or any(part.state == "dead" for part in item.parts):
            return
        closed = [part for part in item.parts if part.state == "finished" and not part.has_answer]
        missing = self.needed(item) - len(item.parts) + len(closed)
        if missing <= 0:
            return
        grants = [grant for part in item.parts for grant in part.grants]
        item.answerers |= {grant.person for grant in grants if grant.how in ("finished", "corrected")}
        for part in closed[:missing]:
            self.wait(part, returned=bool(part.attempts))
        if missing > len(closed) and item.parts[-1].grants:
            item.parts.append(Part(item, len(item.parts) + 1))
            self.wait(item.parts[-1], returned=False)

    def change(self, item: Item, payload: object, delayed: bool, now: bool, scores: dict[str, float]) -> None:
        """Apply a change whose new values are already set. ``scores``: its assignments' scores after it."""
        if payload:
            item.changed, item.changed_at = payload, self.last_token
        for part in item.parts:
            if delayed and part.state in ("inbound", "scheduled"):
                self.schedule(part, datetime.fromtimestamp(scores[part.name] / 1e6, UTC))
            elif now and part.state == "scheduled":
                self.wait(part, returned=bool(part.attempts or part.assigned))
            elif part.state == "inbound":
                self.move(part, scores[part.name])

    def remove(self, id: str) -> None:
        reserved_parts = [part for part in self.items[id].parts if part.state == "reserved"]
        for _ in reserved_parts[1:]:  # the event of the removal names only one lease
            self.count("released")
        for part in self.items.pop(id).parts:
            self.leave(part)
            if part in reserved_parts:
                self.hands[part.grants[-1].person].remove(part)

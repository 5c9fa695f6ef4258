"""The life of a grant: given, answered in time or late, taken back."""

from __future__ import annotations

from datetime import datetime

from tests.engine.model.items import Grant, Item, Part
from tests.engine.model.sets import Sets


class Grants(Sets):
    def may_answer(self, item: Item, person: str) -> bool:
        return person not in item.answerers and all(
            part.item is not item for part in self.hands.get(person, [])
        )

    def add_next_part(self, part: Part) -> None:
        """Create the next assignment when one is handed out for the first time."""
        if not part.attempts and len(part.item.parts) == part.number < (
            part.item.needed or self.rules.answers
        ):
            part.item.parts.append(Part(part.item, part.number + 1))
            self.wait(part.item.parts[-1], returned=False)

    def add_grant(self, part: Part, token: int, person: str, expires: datetime) -> None:
        if part.state == "reserved":
            assert (part.grants[-1].token, part.grants[-1].person) == (token, person)
            return
        assert token == self.last_token + 1
        self.last_token = token
        self.add_next_part(part)
        self.leave(part)
        part.state = "reserved"
        part.attempts += 1
        part.grants.append(Grant(token, person, expires, part.attempts))
        self.hands.setdefault(person, []).append(part)
        self.count("reserved")

    def latest(self, id: str, token: int, person: str) -> Part | None:
        """Return the assignment with this latest grant."""
        for part in self.items[id].parts if id in self.items else ():
            if part.grant and (part.grant.token, part.grant.person) == (token, person):
                return part
        return None

    def granted_part(self, id: str, token: int, person: str) -> tuple[Part, Grant] | None:
        """Return the assignment that had this grant, with the grant."""
        for part in self.items[id].parts:
            for grant in part.grants:
                if (grant.token, grant.person) == (token, person):
                    return part, grant
        return None

    def may_take_back(self, part: Part) -> bool:
        person = part.grants[-1].person
        return (
            part.grants[-1].how == "expired"
            and part.grants[-1].token > part.item.changed_at
            and part.state == "inbound"
            and part.assigned in (None, person)
            and self.may_answer(part.item, person)
        )

    def finish(self, id: str, token: int, person: str, result: object, now: datetime) -> str:
        """Return "in time", "late", "again", "kept" or "refused"."""
        item, part = self.items[id], self.latest(id, token, person)
        grant = part.grant if part else None
        if part and grant and grant.how == "held":
            self.end(part, "finished")
            return self.answer(part, grant, result, late=grant.expires <= now, now=now)
        is_current_payload = token > item.changed_at  # granted since the last change of the payload
        is_expired = part is not None and grant is not None and grant.how == "expired"
        if part and (part.state == "finished" or (part.state == "dead" and item.ended)):
            is_expired = False  # it was closed, or cancelled
        if is_current_payload and is_expired and self.may_answer(item, person):
            assert part
            assert grant
            return self.answer(part, grant, result, late=True, now=now)
        if grant and (grant.how, grant.result) == ("finished", result):
            return "again"
        earlier_grant = self.granted_part(id, token, person)
        if earlier_grant is None:
            return "refused"
        is_late = is_current_payload and not part and earlier_grant[1].how == "expired"
        if is_late and (other := self.free_part(item, person)):
            earlier_grant[0].grants.remove(earlier_grant[1])
            self.add_next_part(other)
            other.grants.append(earlier_grant[1])
            earlier_grant[1].moved = True
            return self.answer(other, earlier_grant[1], result, late=True, now=now)
        if (token, person, result) not in item.late:
            item.late.append((token, person, result))
            self.count("late")
        return "kept"

    def free_part(self, item: Item, person: str) -> Part | None:
        """Return an assignment that a late answer may take, if the item has several."""
        if len(item.parts) == 1 or not self.may_answer(item, person):
            return None
        free_parts = [p for p in item.parts if p.state == "inbound" and p.assigned in (None, person)]
        return free_parts[0] if free_parts else None

    def answer(self, part: Part, grant: Grant, result: object, late: bool, now: datetime) -> str:
        item, part.finished_at = part.item, now
        if "questions" in item.lists:
            item.lists = {"expiring"} if len(item.parts) > 1 else item.lists - {"questions"}
        grant.how, grant.result = "finished", result
        self.leave(part)
        part.state = "finished"
        self.finished.append(part.name)
        self.count("finished")
        if len(item.parts) > 1:
            item.answerers.add(grant.person)
            item.drafts.pop(grant.person, None)
            self.unassign(part, grant.person)
        if item.state == "finished":
            item.drafts.clear()
        return "late" if late else "in time"

    def undo(self, part: Part, token: int, expires: datetime) -> None:
        """Take a finish back: the person holds it again, as the first of their leases."""
        item, grant = part.item, part.grants[-1]
        grant.how = "undone"
        part.finished_at = None
        item.drafts[grant.person] = grant.result
        if grant.person in item.answerers:
            item.answerers.discard(grant.person)
            for other in item.parts:
                if other.state == "inbound":
                    self.wait(other, returned=True)
        self.hold_again(item)
        self.continue_attempt(part, token, expires)
        hands = self.hands[grant.person]
        hands.insert(0, hands.pop())
        self.count("undone")

    def continue_attempt(self, part: Part, token: int, expires: datetime) -> None:
        """Grant the assignment again to the person who undid the end of their grant."""
        grant = part.grants[-1]
        self.add_grant(part, token, grant.person, expires)
        if not grant.moved:
            part.attempts -= 1
            part.grants[-1].attempt = grant.attempt

    def has_another(self, part: Part, person: str) -> bool:
        """Whether the person holds or answered another assignment of the item."""
        others = (one.grant for one in part.item.parts if one is not part)
        return any(one and one.person == person and one.how in ("held", "finished") for one in others)

    def replace_answer(self, part: Part, ending: str) -> Grant:
        """Let a manager take the answer back, or replace it: it becomes a late one."""
        grant = part.grants[-1]
        grant.how = ending
        part.item.late.append((grant.token, grant.person, grant.result))
        self.count(ending)
        return grant

    def reopen(self, part: Part, to: str | None) -> None:
        item, grant = part.item, self.replace_answer(part, "reopened")
        item.drafts[grant.person] = grant.result
        part.finished_at = part.assigned = None
        part.attempts = max(part.attempts, 1)
        correctors = [one.person for one in part.grants if one.how == "corrected"]
        freed_people = [person for person in correctors if not self.has_another(part, person)]
        if item.ended or item.expires:
            self.need_again(item, self.now())
        for person in [grant.person, *freed_people, *([to] if to else [])]:
            if person in item.answerers:
                item.answerers.discard(person)
                for other in item.parts:
                    if other.state == "inbound":
                        self.wait(other, returned=True)
        if to:
            item.later.discard(to)
            item.never.discard(to)
            part.assigned = to
            self.count("assigned")
        self.wait(part, returned=True)

    def correct(self, part: Part, token: int, person: str, result: object, now: datetime) -> None:
        before = self.replace_answer(part, "corrected")
        assert token == self.last_token + 1
        self.last_token = token
        part.grants.append(Grant(token, person, now, before.attempt))
        item, finished_count = part.item, self.counters["finished"]
        self.answer(part, part.grants[-1], result, late=False, now=now)
        self.counters["finished"] = finished_count  # a replaced answer does not change the number
        assert item.state != "finished" or not item.drafts

    def may_undo(self, part: Part) -> bool:
        """Whether an abandon or a fail may be taken back: not if other assignments died with this one, or if
        it is no longer needed, or they have the item by another assignment."""
        if part.state == "finished" or not self.may_answer(part.item, part.grants[-1].person):
            return False
        return part.state != "dead" or (len(part.item.parts) == 1 and not part.item.ended)

    def take_back(self, part: Part, token: int, expires: datetime) -> None:
        """Undo an abandon or a fail: the person holds it again, as the first of their leases."""
        item, grant = part.item, part.grants[-1]
        if grant.how == "failed":
            item.failures = max(0, item.failures - 1)  # a revive may have reset it since
        elif grant.person in item.later | item.never:  # a revive may have reset it since
            item.later.discard(grant.person)
            item.never.discard(grant.person)
            if grant.was_later:
                item.later.add(grant.person)
        grant.how = "undone"
        self.hold_again(item)
        if part.state == "dead":
            self.count("revived")
        self.continue_attempt(part, token, expires)
        hands = self.hands[grant.person]
        hands.insert(0, hands.pop())

    def unassign_item(self, item: Item, person: str | None = None) -> None:
        """Open the item's assignments that are assigned to a person, or to anybody, to everybody."""
        for part in item.parts:
            if part.assigned and person in (None, part.assigned) and part.state != "finished":
                part.assigned = None
                if part.state == "inbound":
                    self.wait(part, returned=True)

    def unassign(self, answered_part: Part, person: str) -> None:
        for part in answered_part.item.parts:
            if part is not answered_part and part.assigned == person:
                part.assigned = None
                if part.state == "inbound":
                    self.wait(part, returned=True)

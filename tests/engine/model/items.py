"""The parts of the model of a queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

BANDS = ("high", "normal", "low")


@dataclass
class Rules:
    holds: int = 2
    answers: int = 1
    max_abandons: int | None = None
    keep_finished_seconds: float | None = None
    keep_finished_count: int | None = None
    keep_dead_seconds: float | None = None
    dedupe_seconds: float = 0


@dataclass
class Grant:
    token: int
    person: str
    expires: datetime
    attempt: int
    how: str = "held"
    result: object = None
    moved: bool = False  # from another assignment of the item, in whose attempts it is counted
    was_later: bool = False  # its person had given the item back for later before


@dataclass
class Item:
    id: str
    band: str
    max_attempts: int
    requires: tuple[str, ...] = ()
    due: datetime | None = None
    payload: str = ""  # the id in its payload: its own, or that of an item with the same payload
    changed: object = None  # the payload that replaced it
    changed_at: int = 0  # the latest token at that time
    needed: int | None = None  # how many answers it needs, if a manager changed that
    failures: int = 0
    died: bool = False  # it died while somebody held an assignment
    ended: str = ""  # why nobody needs it any more: cancelled or expired
    expires: datetime | None = None
    is_asked: bool = False  # somebody waits for its answer
    lists: set[str] = field(default_factory=set)  # of deadlines, in which it is: expiring, questions
    form: object = None
    drafts: dict[str, object] = field(default_factory=dict)
    late: list[tuple[int, str, object]] = field(default_factory=list)  # token, person, result
    answerers: set[str] = field(default_factory=set)
    # People who postponed it until nothing else is left, or declined it permanently. If they answered it
    # since, that counts again once the answer no longer does.
    later: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    parts: list[Part] = field(default_factory=list)

    @property
    def payload_now(self) -> object:
        return self.changed or {"n": self.payload or self.id}

    @property
    def state(self) -> str:
        states = {part.state for part in self.parts}
        return next(s for s in ("reserved", "inbound", "scheduled", "dead", "finished") if s in states)


@dataclass
class Part:
    """An assignment: one of the answers that an item is to get."""

    item: Item
    number: int
    state: str = ""
    shelf: tuple[str, str] = ("", "")  # inbound: row and shelf
    entry: int = 0  # inbound: the number of this entry among all entries
    order: float = 0  # inbound: its real score if it was read, otherwise a number above all scores
    until: datetime | None = None  # scheduled: when it is due
    assigned: str | None = None
    attempts: int = 0
    finished_at: datetime | None = None
    died_at: datetime | None = None
    grants: list[Grant] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.item.id if self.number == 1 else f"{self.item.id}\a{self.number}"

    @property
    def grant(self) -> Grant | None:
        return self.grants[-1] if self.grants else None

    @property
    def has_answer(self) -> bool:
        return self.state == "finished" and self.grant is not None and self.grant.how == "finished"

    @property
    def is_surplus(self) -> bool:
        """Whether the item's other assignments that are not closed are as many as it needs."""
        others = [
            part
            for part in self.item.parts
            if part is not self and (part.has_answer or part.state != "finished")
        ]
        return self.item.needed is not None and len(others) >= self.item.needed

    @property
    def row(self) -> str:
        return f"@{self.assigned}" if self.assigned else "+".join(self.item.requires)

    @property
    def rank_in_row(self) -> tuple[int, int, bool, float]:
        return self.rank if self.state == "inbound" else (0, 0, False, 0)

    @property
    def rank(self) -> tuple[int, int, bool, float]:
        _, name = self.shelf
        return BANDS.index(name.split(":")[0]), self.number, "returned" not in name, self.order

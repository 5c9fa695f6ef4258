"""The people of a team at work: what each does now, and did today, searched and sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from leaseq.webapp.context import accounts, state
from leaseq.webapp.store.accounts import Person
from leaseq.webapp.store.accounts.leases import Held
from leaseq.webapp.store.activity import DayFigures

Doing: TypeAlias = Literal["working", "break", "idle", "disabled"]


@dataclass(frozen=True, slots=True)
class Row:
    """A person, what they do now, and their day."""

    person: Person
    doing: Doing
    since: datetime | None  # of the item or the break
    held: Sequence[Held]
    signed_in_at: datetime | None
    today: DayFigures
    has_factor: bool


_NEVER = datetime.min.replace(tzinfo=UTC)
_ORDER: tuple[Doing, ...] = ("working", "break", "idle", "disabled")
ORDERS: dict[str, tuple[Callable[[Row], Any], bool]] = {
    "name": (lambda row: row.person.name.casefold(), False),
    "state": (lambda row: (_ORDER.index(row.doing), row.since or _NEVER), False),
    "team": (lambda row: (not row.person.team, row.person.team.casefold()), False),
    "done": (lambda row: row.today.finished, True),
    "each": (lambda row: row.today.seconds_each or 0, True),
    "back": (lambda row: row.today.gave_back, True),
    "seen": (lambda row: row.signed_in_at or _NEVER, True),
}
"""What the list is sorted by: its key, and whether the highest comes first."""


def rows_of(criteria: Mapping[str, str]) -> list[Row]:
    """The people who match, in the order that is asked for."""
    people = [one for one in accounts().people() if _matches(one, criteria)]
    rows = _rows(people)
    if criteria.get("state") in _ORDER:
        rows = [row for row in rows if row.doing == criteria["state"]]
    key, downward = ORDERS[criteria.get("sort", "name") if criteria.get("sort") in ORDERS else "name"]
    return sorted(rows, key=key, reverse=downward)


def _matches(one: Person, criteria: Mapping[str, str]) -> bool:
    text, role, team = (criteria.get(name, "").strip() for name in ("q", "role", "team"))
    if text and text.casefold() not in one.name.casefold() and text not in one.skills:
        return False
    if (role and role != one.role) or (team and team != one.team):
        return False
    queue = criteria.get("queue")
    if queue and not state().access.of(queue).lets_work(one):
        return False
    return not one.disabled if criteria.get("state") == "active" else True


def _rows(people: Sequence[Person]) -> list[Row]:
    held = accounts().held_by_each([one.name for one in people])
    today, breaks = state().activity.of_everybody(), state().breaks.all()
    signed_in, factors = accounts().signed_in(), accounts().factors.who()
    return [
        Row(
            one,
            *_doing(one, held[one.name], breaks.get(one.name)),
            held[one.name],
            signed_in.get(one.name),
            sum(today.get(one.name, {}).values(), DayFigures()),
            one.name in factors,
        )
        for one in people
    ]


def _doing(one: Person, held: Sequence[Held], on_break: datetime | None) -> tuple[Doing, datetime | None]:
    """An item taken after the break began has ended it."""
    if one.disabled:
        return "disabled", None
    if on_break is not None and not (held and held[0].since > on_break):
        return "break", on_break
    return ("working", held[0].since) if held else ("idle", None)

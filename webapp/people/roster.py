"""The people and their work: now, in the last hour and today."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import leaseq
from leaseq import webhooks
from leaseq.webapp.context import State
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.accounts.traces import HeldItem, held_by_each
from leaseq.webapp.store.activity import DayFigures
from leaseq.webapp.store.queue_access import Access, sees

WorkState: TypeAlias = Literal["working", "break", "idle", "disabled"]
WORK_STATES: tuple[WorkState, ...] = ("working", "break", "idle", "disabled")
CRITERIA = ("q", "role", "state", "team", "queue", "sort", "order")
"""The query arguments of a search for people and its order."""


@dataclass(frozen=True, slots=True)
class Row:
    """A person, their current state, and their work today."""

    person: Person
    work_state: WorkState
    since: datetime | None  # of the item or the break
    held: Sequence[HeldItem]
    signed_in_at: datetime | None
    last_hour: int  # items finished
    today: DayFigures
    has_factor: bool


_NEVER = datetime.min.replace(tzinfo=UTC)
ORDERS: dict[str, tuple[Callable[[Row], Any], bool]] = {
    "name": (lambda row: row.person.label.casefold(), False),
    "state": (lambda row: (WORK_STATES.index(row.work_state), row.since or _NEVER), False),
    "team": (lambda row: (not row.person.team, row.person.team.casefold()), False),
    "hour": (lambda row: row.last_hour, True),
    "done": (lambda row: row.today.finished, True),
    "each": (lambda row: row.today.seconds_each or 0, True),
    "back": (lambda row: row.today.abandoned, True),
    "seen": (lambda row: row.signed_in_at or _NEVER, True),
}
"""The orders of the list: sort key, and whether the highest comes first by default."""


def is_downward(criteria: Mapping[str, str]) -> bool:
    """Whether the highest comes first."""
    by_default = ORDERS[sort_of(criteria)][1]
    return {"up": False, "down": True}.get(criteria.get("order", ""), by_default)


def sort_of(criteria: Mapping[str, str]) -> str:
    sort = criteria.get("sort", "name")
    return sort if sort in ORDERS else "name"


@dataclass(frozen=True, slots=True)
class View:
    """The people whom somebody sees. Admins see everything; managers see the people who may work on their
    queues, and these people's work there, but nothing of their accounts."""

    rows: Sequence[Row]
    queues: Sequence[str]  # that the viewer may manage
    is_complete: bool  # whether these are all queues

    @property
    def teams(self) -> list[str]:
        return sorted({row.person.team for row in self.rows if row.person.team})

    def find(self, name: str) -> Row | None:
        return next((row for row in self.rows if row.person.name == name), None)

    def matching(self, criteria: Mapping[str, str], access: Mapping[str, Access]) -> list[Row]:
        """The matching people, in the requested order."""
        queue, state = criteria.get("queue"), criteria.get("state")
        rows = [row for row in self.rows if _matches(row.person, criteria)]
        if queue:
            of_queue = access[queue] if queue in self.queues else None
            rows = [row for row in rows if of_queue and of_queue.lets_work(row.person)]
        if state in WORK_STATES:
            rows = [row for row in rows if row.work_state == state]
        rows = sorted(rows, key=ORDERS["name"][0])
        return sorted(rows, key=ORDERS[sort_of(criteria)][0], reverse=is_downward(criteria))


@dataclass(frozen=True, slots=True)
class Roster:
    """A snapshot of all people."""

    rows: Sequence[Row]
    hours: Mapping[str, Mapping[str, int]]  # items finished in the last hour, by person and queue
    days: Mapping[str, Mapping[str, DayFigures]]  # today, by person and queue
    access: Mapping[str, Access]  # by queue
    titles: Mapping[str, str]  # of the queues

    @classmethod
    def read(cls, state: State) -> Roster:
        people = state.accounts.people()
        held = held_by_each(state.client, [account.name for account in people])
        days, hours, breaks = state.activity.of_all_people(), state.activity.last_hour(), state.breaks.all()
        sign_in_times, factors = state.accounts.last_sign_ins(), state.accounts.factors.names()
        names = [name for name in leaseq.queues(state.client) if name != webhooks.QUEUE]
        rows = [
            Row(
                account,
                *_doing(account, held[account.name], breaks.get(account.name)),
                held[account.name],
                sign_in_times.get(account.name),
                sum(hours.get(account.name, {}).values()),
                sum(days.get(account.name, {}).values(), DayFigures()),
                account.name in factors,
            )
            for account in people
        ]
        access = {name: state.access.get(name) for name in names}
        return cls(rows, hours, days, access, {name: state.shared_queue(name).title for name in names})

    def person(self, name: str) -> Person | None:
        return next((row.person for row in self.rows if row.person.name == name), None)

    def view_for(self, viewer: Person) -> View:
        queues = [name for name, access in self.access.items() if access.lets_manage(viewer)]
        is_whole = len(queues) == len(self.access)
        if viewer.role == "admin":
            return View(self.rows, queues, is_whole)
        managed = [self.access[queue] for queue in queues]
        rows = [self._restrict(row, queues) for row in self.rows if sees(viewer, row.person, managed)]
        return View(rows, queues, is_whole)

    def _restrict(self, row: Row, queues: Sequence[str]) -> Row:
        """The row, limited to the person's work on these queues."""
        name = row.person.name
        held = [lease for lease in row.held if lease.queue in queues]
        hour, day = self.hours.get(name, {}), self.days.get(name, {})
        work_state: tuple[WorkState, datetime | None] = (row.work_state, row.since)
        if row.work_state == "working":
            work_state = ("working", held[0].since) if held else ("idle", None)
        return replace(
            row,
            work_state=work_state[0],
            since=work_state[1],
            held=held,
            signed_in_at=None,
            last_hour=sum(hour.get(queue, 0) for queue in queues),
            today=sum((day[queue] for queue in queues if queue in day), DayFigures()),
            has_factor=False,
        )


def _matches(account: Person, criteria: Mapping[str, str]) -> bool:
    text, role, team = (criteria.get(name, "").strip() for name in ("q", "role", "team"))
    names = f"{account.name}\n{account.shown_name}".casefold()
    if text and text.casefold() not in names and text not in account.skills:
        return False
    if (role and role != account.role) or (team and team != account.team):
        return False
    return not account.disabled if criteria.get("state") == "active" else True


def _doing(
    account: Person, held: Sequence[HeldItem], break_start: datetime | None
) -> tuple[WorkState, datetime | None]:
    """The person's state and since when. An item taken during a break ends the break."""
    if account.disabled:
        return "disabled", None
    if break_start is not None and not (held and held[0].since > break_start):
        return "break", break_start
    return ("working", held[0].since) if held else ("idle", None)

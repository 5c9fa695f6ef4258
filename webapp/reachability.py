"""Waiting items that nobody can take: assigned to somebody who may not work on the queue, or with skills that
nobody has who may. The engine counts what waits in each row; who people are is known here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import leaseq
from leaseq.webapp.store.accounts import Person
from leaseq.webapp.store.queue_access import Access

Reason = Literal["disabled", "access", "unknown", "skills"]


@dataclass(frozen=True, slots=True)
class UnreachableRow:
    """Items that wait for the same skills or the same person, and why nobody can take them."""

    reason: Reason
    requires: tuple[str, ...]
    person: str | None
    waiting: int


def may_work(person: Person, access: Access) -> bool:
    """Whether a person can get the queue's items at all."""
    return not person.disabled and access.lets_work(person)


def skill_sets(people: Iterable[Person], access: Access) -> set[frozenset[str]]:
    """The skills of each person who may work on the queue."""
    return {frozenset(person.skills) for person in people if may_work(person, access)}


def lacking_skills(requires: Collection[str], skill_sets: Collection[frozenset[str]]) -> tuple[str, ...]:
    """Of an item's skills, those that nobody has; all of them if nobody has all; none if somebody does."""
    if any(skills.issuperset(requires) for skills in skill_sets):
        return ()
    known = frozenset[str]().union(*skill_sets)
    return tuple(skill for skill in requires if skill not in known) or tuple(requires)


def unreachable_rows(
    queue: leaseq.Queue, access: Access, read_people: Callable[[], Sequence[Person]]
) -> list[UnreachableRow]:
    """The rows that nobody can take, the largest first. ``read_people`` is called only if items wait for
    skills or for one person."""
    rows = [row for row in queue.waiting_rows() if row.requires or row.person is not None]
    if not rows:
        return []
    people = {person.name: person for person in read_people()}
    sets_by_skill: dict[str, list[frozenset[str]]] = {}
    for skills in skill_sets(people.values(), access):
        for skill in skills:
            sets_by_skill.setdefault(skill, []).append(skills)
    found = [
        UnreachableRow(reason, row.requires, row.person, row.waiting)
        for row in rows
        if (reason := _reason(row, access, people, sets_by_skill)) is not None
    ]
    return sorted(found, key=lambda row: -row.waiting)


def count_unreachable(rows: Iterable[UnreachableRow]) -> int:
    return sum(row.waiting for row in rows)


def _reason(
    row: leaseq.WaitingRow,
    access: Access,
    people: dict[str, Person],
    sets_by_skill: dict[str, list[frozenset[str]]],
) -> Reason | None:
    """Why nobody can take a row. ``sets_by_skill``: for each skill, the skills of those who have it."""
    if row.person is None:
        candidates = min((sets_by_skill.get(skill, []) for skill in row.requires), key=len)
        return None if any(skills.issuperset(row.requires) for skills in candidates) else "skills"
    person = people.get(row.person)
    if person is None:
        return "unknown"
    if person.disabled:
        return "disabled"
    return None if access.lets_work(person) else "access"

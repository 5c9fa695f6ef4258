"""Changes who may work on a queue and manage it, for both the page and REST."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import leaseq
from leaseq import Invalid
from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.reachability import lacking_skills, skill_sets
from leaseq.webapp.security.audit_log import log_change, skip_log
from leaseq.webapp.store.accounts import Person
from leaseq.webapp.store.person_data import unassign_all
from leaseq.webapp.store.queue_access import Access, Group


class AccessChange(NamedTuple):
    """The new access, and how many items that were assigned to people who lost it anybody may have now."""

    access: Access
    unassigned: int


def people_of(queue: str) -> list[Person]:
    """The people who may work on the queue, by name: its managers must not see anybody else."""
    access = state().access.get(queue)
    return [one for one in accounts().people() if access.lets_work(one)]


def worker_name(queue: str, name: str, field: str = "person") -> str:
    """The stored name of somebody who can be assigned an item: they may sign in and work on the queue. Raises
    Invalid with this field for others."""
    name = accounts().worker_name(name, field)
    if not state().access.get(queue).lets_work(accounts().get(name)):
        raise Invalid(field, "somebody who may work on the queue", f"{name!r} has no access to this queue")
    return name


def skill_sets_of(queue: str) -> set[frozenset[str]]:
    """The skills of each person who may work on the queue. Without a queue: on any."""
    return skill_sets(accounts().people(), state().access.get(queue))


def unmet_skills(queue: str, requires: Collection[str]) -> tuple[str, ...]:
    """Skills for which nobody could take an item: perhaps they are misspelt."""
    return lacking_skills(requires, skill_sets_of(queue)) if requires else ()


class UnmatchedName(NamedTuple):
    """A team or a skill of a group that no person who may sign in has."""

    kind: str  # teams or skills
    name: str


def unmatched_names(access: Access) -> list[UnmatchedName]:
    """The teams and skills of an access that match nobody: perhaps they are misspelt."""
    groups = [group for group in (access.work, access.manage) if group]
    if not any(group.teams or group.skills for group in groups):
        return []
    people = [one for one in accounts().people() if not one.disabled]
    teams, skills = {one.team for one in people}, {skill for one in people for skill in one.skills}
    found = [UnmatchedName("teams", name) for group in groups for name in group.teams if name not in teams]
    found += [
        UnmatchedName("skills", name) for group in groups for name in group.skills if name not in skills
    ]
    return list(dict.fromkeys(found))


def change_access(queue: str, change: Callable[[Access], Access]) -> AccessChange:
    """Set a queue's access to the result of ``change``. What was assigned to people who may no longer work on
    it becomes available to everybody. Raises Invalid."""
    before, after = state().access.change(queue, lambda access: checked_access(change(access)))
    if after != before:
        log_change("queue.access", queue, f"work: {_words(after.work)}; manage: {_words(after.manage)}")
    else:
        skip_log()
    return AccessChange(after, _unassign_lost(leaseq.Queue(state().client, queue), before, after))


def _unassign_lost(queue: leaseq.Queue, before: Access, after: Access) -> int:
    if before == after:
        return 0
    assignees = {row.person for row in queue.waiting_rows()}
    lost = [
        one.name
        for one in accounts().people()
        if one.name in assignees and before.lets_work(one) and not after.lets_work(one)
    ]
    return sum(unassign_all(accounts(), queue, name, by=person().name) for name in lost)


def checked_access(access: Access) -> Access:
    """The access, if this request's person may set it. Raises Invalid."""
    access = Access(_checked_group("work", access.work), _checked_group("manage", access.manage))
    if not access.lets_manage(person()):
        reason = f"{person().name!r} is in none of these groups, and could not change it back"
        raise Invalid("manage", "a group that you are in, or everybody", reason)
    return access


def _checked_group(field: str, group: Group | None) -> Group | None:
    if group is None:
        return None
    names = {one.name for one in accounts().people()}
    unknown_names = [name for name in group.people if name not in names]
    if unknown_names:
        raise Invalid(field, "people who have an account", f"nobody is named {unknown_names[0]!r}")
    return group


def _words(group: Group | None) -> str:
    if group is None:
        return "everybody"
    kinds = (("people", group.people), ("skills", group.skills), ("teams", group.teams))
    return " ".join(f"{kind} {', '.join(names)}" for kind, names in kinds if names)

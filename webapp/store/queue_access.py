"""The access to queues, to work on them or to manage them, for everybody whose role allows it or some people.
And the waiting items that nobody can take: the engine counts what waits in each row, but doesn't know the
people.

Hash: queue -> access (JSON). A queue that is not in it is open to everybody.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import leaseq
from leaseq import Client, Invalid, validation, webhooks
from leaseq.backup import StoredKeys
from leaseq.webapp.store.accounts import Accounts
from leaseq.webapp.store.accounts.model import Person, at_least, checked_team
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.base import CachedHash, Command

MAX_PEOPLE = 500
MAX_TEAMS = 50
FRESH_SECONDS = 1.0
"""How long the access to queues is used once it is read; then changes of other processes take effect."""

_KEY = "leaseq:{@access}:queues"  # no queue can have this name: it has an '@'
STORED = (StoredKeys(_KEY, "hash"),)


@dataclass(frozen=True, slots=True)
class Group:
    """The people who are named, have one of the skills, or are in one of the teams."""

    people: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()

    def includes(self, person: Person) -> bool:
        return (
            person.name in self.people
            or (person.team != "" and person.team in self.teams)
            or not set(self.skills).isdisjoint(person.skills)
        )

    def replace_person(self, person: str, to: str) -> Group:
        """The group without a person; if nobody else is in it, with the other name in their place."""
        group = replace(self, people=tuple(other for other in self.people if other != person))
        return group or replace(self, people=(to,))

    def __bool__(self) -> bool:
        return bool(self.people or self.skills or self.teams)


@dataclass(frozen=True, slots=True)
class Access:
    """The access to a queue. None: everybody whose role allows it. Admins always may."""

    work: Group | None = None
    manage: Group | None = None

    def lets_manage(self, person: Person) -> bool:
        if not at_least(person.role, "manager"):
            return False
        return person.role == "admin" or self.manage is None or self.manage.includes(person)

    def lets_work(self, person: Person) -> bool:
        """Whether a person may work on a queue; those who may manage it may."""
        return self.work is None or self.work.includes(person) or self.lets_manage(person)

    def replace_person(self, person: str, to: str) -> Access:
        """The access without a person: see `Group.replace_person`."""
        return Access(*(group and group.replace_person(person, to) for _, group in _groups(self)))


_ADMINS_ONLY = Access(Group(), Group())
"""The access to the webhook deliveries, whose payloads are events of all queues and of people."""


class QueueAccess(CachedHash):
    """The access to all queues."""

    key = _KEY
    fresh_seconds = FRESH_SECONDS

    def get(self, queue: str) -> Access:
        if queue == webhooks.QUEUE:
            return _ADMINS_ONLY
        raw = self._read().get(queue.encode())
        return _loaded(raw) if raw else Access()

    def read(self, queue: str) -> Access:
        """The access as it is now, for a decision that was prepared long ago."""
        self.expire()
        return self.get(queue)

    def reads(self, queue: str | None) -> Sequence[Command]:
        """Commands that read the access to this queue, or to all."""
        return (("HGETALL", _KEY) if queue is None else ("HGET", _KEY, queue),)

    def lets_manage_all(self, person: Person) -> bool:
        return all(_loaded(raw).lets_manage(person) for raw in self._read().values())

    def forget_queue(self, queue: str) -> None:
        """Delete the access to a queue that is deleted."""
        self._client.ask(("HDEL", _KEY, queue))
        self.expire()

    def of_person(self, person: str) -> dict[str, list[str]]:
        """For each queue that names a person: whether to work on it, to manage it, or both."""
        kinds_by_queue = {
            queue.decode(): [
                kind for kind, group in _groups(_loaded(raw)) if group and person in group.people
            ]
            for queue, raw in self._read().items()
        }
        return {queue: kinds for queue, kinds in kinds_by_queue.items() if kinds}

    def rename_person(self, person: str, to: str) -> None:
        """Remove a person from all groups. A group that has nobody else gets the other name, since an empty
        group is invalid."""
        self.expire()
        for queue in self.of_person(person):
            self.change(queue, lambda access: access.replace_person(person, to))

    def has_team(self, team: str) -> bool:
        """Whether a team is named anywhere."""
        accesses = map(_loaded, self._read().values())
        return any(group and team in group.teams for access in accesses for _, group in _groups(access))

    def add_team_beside(self, team: str, new: str) -> None:
        """Give a team the access that another one has, to all queues in one transaction."""
        self._change_teams(lambda teams: (*teams, new) if team in teams and new not in teams else teams)

    def remove_team(self, team: str) -> None:
        """Take a team out of all groups, in one transaction. Another must be beside it in each, since an
        empty group is invalid."""
        self._change_teams(lambda teams: tuple(other for other in teams if other != team))

    def _change_teams(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> None:
        def transaction(pipe: Any) -> None:
            entries = pipe.hgetall(_KEY)
            pipe.multi()
            for queue, raw in entries.items():
                access = _loaded(raw)
                groups = {
                    name: group and replace(group, teams=change(group.teams))
                    for name, group in _groups(access)
                }
                if (after := Access(**groups)) != access:
                    pipe.hset(_KEY, queue, json.dumps(asdict(after), ensure_ascii=False))

        self._redis.transaction(transaction, _KEY)
        self.expire()

    def set(self, queue: str, access: Access) -> None:
        """Set a queue's access. Raises Invalid."""
        self.change(queue, lambda _: access)

    def change(self, queue: str, change: Callable[[Access], Access]) -> tuple[Access, Access]:
        """Set a queue's access to the result of ``change``, in one transaction. Returns the access before and
        after. Raises Invalid."""

        def transaction(pipe: Any) -> tuple[Access, Access]:
            raw = pipe.hget(_KEY, queue)
            before = _loaded(raw) if raw else Access()
            after = change(before)
            for name, group in _groups(after):
                if group is not None:
                    _check(name, group)
            pipe.multi()
            if after == Access():
                pipe.hdel(_KEY, queue)
            else:
                pipe.hset(_KEY, queue, json.dumps(asdict(after), ensure_ascii=False))
            return before, after

        result: tuple[Access, Access] = self._redis.transaction(transaction, _KEY, value_from_callable=True)
        self.expire()
        return result


def _groups(access: Access) -> tuple[tuple[str, Group | None], ...]:
    return (("work", access.work), ("manage", access.manage))


@lru_cache(maxsize=10_000)
def _loaded(raw: bytes) -> Access:
    groups: dict[str, dict[str, Any] | None] = json.loads(raw)
    return Access(
        **{
            name: None if group is None else Group(**{kind: tuple(names) for kind, names in group.items()})
            for name, group in groups.items()
        }
    )


def _check(name: str, group: Group) -> None:
    if not group:
        raise Invalid(name, "format", what="group")
    if len(group.people) > MAX_PEOPLE:
        raise Invalid(name, "maximum", what="group_people", maximum=MAX_PEOPLE, count=len(group.people))
    if len(group.teams) > MAX_TEAMS:
        raise Invalid(name, "maximum", what="group_teams", maximum=MAX_TEAMS, count=len(group.teams))


def group_of(name: str, people: Iterable[str], skills: Iterable[str], teams: Iterable[str]) -> Group:
    """A group of checked names, without repetitions. Raises Invalid with this field."""
    group = Group(tuple(dict.fromkeys(people)), tuple(skills), tuple(dict.fromkeys(filter(None, teams))))
    _check(name, group)  # first, since there may be very many names
    return Group(
        tuple(dict.fromkeys(validation.person_name(person, name) for person in group.people)),
        validation.skills(group.skills),
        tuple(dict.fromkeys(checked_team(team, name) for team in group.teams)),
    )


def worker_name(accounts: Accounts, access: QueueAccess, queue: str, name: str, field: str) -> str:
    """The stored name of somebody who can be assigned an item: they may sign in and work on the queue. Raises
    Invalid with this field for others."""
    name = accounts.worker_name(name, field)
    if not access.get(queue).lets_work(accounts.get(name)):
        raise Invalid(field, "access", what="none", name=name)
    return name


def why_not(client: Client, maker: str, type: str, queue: str | None) -> str | None:
    """The reason why this person may not see a webhook of this type and queue. Endpoints that were added on
    the command line have no such person."""
    record = People(client).find(maker)
    if record is None:
        return None
    person = record.person()
    if person.disabled:
        return f"{maker}, who added or enabled it, is disabled"
    if not at_least(person.role, "admin" if type.startswith("person.") else "manager"):
        return f"{maker}, who added or enabled it, has no longer the role for {type}"
    if queue is not None and not QueueAccess(client).get(queue).lets_manage(person):
        return f"{maker}, who added or enabled it, may not manage the queue {queue}"
    return None


Reason = Literal["disabled", "access", "unknown", "skills", "offline"]
"""Why nobody can take what waits: the person it waits for is disabled, may not work on the queue or has no
account; nobody has the skills; or none of those who could take it is online."""


@dataclass(frozen=True, slots=True)
class UnreachableRow:
    """Items that wait for the same skills or the same person, and why nobody can take them."""

    reason: Reason
    requires: tuple[str, ...]
    person: str | None
    waiting: int


def sees(viewer: Person, person: Person, managed: Iterable[Access]) -> bool:
    """Whether somebody sees a person's work: admins everybody's, managers that of the people who may work on
    their queues. ``managed``: the access to these queues."""
    if viewer.role == "admin":
        return True
    return not person.disabled and any(access.lets_work(person) for access in managed)


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
    queue: leaseq.Queue,
    access: Access,
    read_people: Callable[[], Sequence[Person]],
    online: Collection[str] | None = None,
) -> list[UnreachableRow]:
    """The rows that nobody can take, the largest first. ``read_people`` is called only if items wait for
    skills or for one person. With ``online``, also those, last, that nobody of these names can take."""
    rows = [row for row in queue.waiting_rows() if row.requires or row.person is not None]
    if not rows:
        return []
    people = {person.name: person for person in read_people()}
    sets_by_skill = _sets_by_skill(people.values(), access)
    present = None
    if online is not None:
        present = _sets_by_skill((people[name] for name in online if name in people), access)
    found = [
        UnreachableRow(reason, row.requires, row.person, row.waiting)
        for row in rows
        if (reason := _reason(row, access, people, sets_by_skill)) is not None
        or (online is not None and present is not None and (reason := _absence(row, online, present)))
    ]
    return sorted(found, key=lambda row: (row.reason == "offline", -row.waiting))


def _sets_by_skill(people: Iterable[Person], access: Access) -> dict[str, list[frozenset[str]]]:
    """For each skill, the skills of each person who has it and may work on the queue."""
    sets: dict[str, list[frozenset[str]]] = {}
    for skills in skill_sets(people, access):
        for skill in skills:
            sets.setdefault(skill, []).append(skills)
    return sets


def count_unreachable(rows: Iterable[UnreachableRow]) -> int:
    """How many items nobody can take, online or not."""
    return sum(row.waiting for row in rows if row.reason != "offline")


def _reason(
    row: leaseq.WaitingRow,
    access: Access,
    people: dict[str, Person],
    sets_by_skill: dict[str, list[frozenset[str]]],
) -> Reason | None:
    """The reason why nobody can take a row."""
    if row.person is None:
        return None if _has_all(row.requires, sets_by_skill) else "skills"
    person = people.get(row.person)
    if person is None:
        return "unknown"
    if person.disabled:
        return "disabled"
    return None if access.lets_work(person) else "access"


def _absence(
    row: leaseq.WaitingRow, online: Collection[str], sets_by_skill: dict[str, list[frozenset[str]]]
) -> Reason | None:
    """Whether nobody online can take a row. ``sets_by_skill``: of those who are."""
    is_there = row.person in online if row.person is not None else _has_all(row.requires, sets_by_skill)
    return None if is_there else "offline"


def _has_all(requires: Sequence[str], sets_by_skill: dict[str, list[frozenset[str]]]) -> bool:
    """Whether somebody has all of the skills."""
    candidates = min((sets_by_skill.get(skill, []) for skill in requires), key=len)
    return any(skills.issuperset(requires) for skills in candidates)

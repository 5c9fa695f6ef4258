"""People, and the marks of those who were erased."""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from leaseq import Invalid, LeaseqError, ServerRefused
from leaseq.names import find_lookalike
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import Person, Role
from leaseq.webapp.store.base import Store

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Erasure:
    """An unfinished erasure. The pseudonym, which replaces the name, is stored only until it is finished."""

    name: str
    pseudonym: str
    by: str
    began: float  # seconds since the epoch

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


class Erasures(Store):
    def new(self, name: str, by: str) -> Erasure:
        """An erasure with a random pseudonym, not stored yet."""
        return Erasure(name, f"erased-{secrets.token_hex(6)}", by, self._clock())

    def find(self, name: str) -> Erasure | None:
        """The unfinished erasure of this name."""
        raw = self._redis.hget(model.ERASING, name)
        return load_erasure(raw) if raw else None

    def all(self) -> list[Erasure]:
        """The unfinished erasures, the oldest first."""
        records = self._redis.hvals(model.ERASING)
        return sorted(map(load_erasure, records), key=lambda erasure: erasure.began)

    def finish(self, name: str) -> None:
        """Delete the erasure with its pseudonym, which frees the name."""
        self._redis.hdel(model.ERASING, name)


def load_erasure(raw: bytes) -> Erasure:
    fields: dict[str, Any] = json.loads(raw)
    return Erasure(**fields)


@dataclass(frozen=True, slots=True)
class Record:
    """The stored form of a person."""

    name: str
    role: Role
    created: float
    skills: tuple[str, ...] = ()
    disabled: bool = False
    password: str | None = None  # its hash
    version: int = 1
    team: str = ""
    shown_name: str = ""

    def person(self) -> Person:
        return Person(
            name=self.name,
            role=self.role,
            skills=self.skills,
            team=self.team,
            disabled=self.disabled,
            version=self.version,
            has_password=self.password is not None,
            created_at=datetime.fromtimestamp(self.created, UTC),
            shown_name=self.shown_name,
        )

    def dump(self) -> str:
        fields = {"schema": model.SCHEMA, **asdict(self)}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def load(cls, raw: bytes) -> Record:
        fields: dict[str, Any] = json.loads(raw)
        schema = fields.pop("schema")
        if schema > model.SCHEMA:
            raise ServerRefused("newer", what="accounts", name=str(schema))
        return cls(**{**fields, "skills": tuple(fields["skills"])})


class NoSuchPerson(LeaseqError):
    """There is nobody of this name."""

    def __init__(self, name: str) -> None:
        self.tell("not_found", what="person", name=name)


def refuse_taken(name: str, people: Mapping[str, Record], field: str = "name") -> None:
    """Raise Invalid if somebody has the name or is shown by it, or by one that looks like it."""
    names = {*people, *(record.shown_name for record in people.values() if record.shown_name)}
    if name in names:
        raise Invalid(field, "taken", what="person", name=name)
    refuse_lookalike(name, names, field)


def refuse_lookalike(name: str, names: Iterable[str], field: str = "name") -> None:
    similar_name = find_lookalike(name, names)
    if similar_name is not None:
        raise Invalid(field, "taken", what="similar", name=name, other=similar_name)


def _spellings(name: str) -> Iterable[str]:
    if name.isascii():
        return (name,)
    return dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))))


class People(Store):
    """Reads and writes records."""

    changes = 0
    """How often this process changed a record."""

    def find(self, name: str) -> Record | None:
        """The person of this name, in any Unicode form: é is one character or two."""
        for spelling in _spellings(name):
            raw = self._redis.hget(model.PEOPLE, spelling)
            if raw:
                return Record.load(raw)
        return None

    def get(self, name: str) -> Record:
        record = self.find(name)
        if record is None:
            raise NoSuchPerson(name)
        return record

    def all(self) -> list[Record]:
        records = map(Record.load, self._redis.hvals(model.PEOPLE))
        return sorted(records, key=lambda record: record.name.casefold())

    def by_name(self) -> dict[str, Record]:
        return {record.name: record for record in self.all()}

    def add(self, record: Record) -> None:
        """Add a record, or raise Invalid if somebody has its name or its shown name, or one that looks like
        it."""

        def new(people: dict[str, Record]) -> Record:
            refuse_taken(record.name, people)
            if record.shown_name:
                refuse_taken(record.shown_name, people, "shown_name")
            return record

        self.write(new)

    def change(self, name: str, *, end_sessions: bool = False, **changes: Any) -> Record:
        """Change some fields. Raises Invalid if no admin would be left."""

        def changed(people: dict[str, Record]) -> Record:
            if name not in people:
                raise NoSuchPerson(name)
            after = replace(people[name], version=people[name].version + end_sessions, **changes)
            if _administers(people[name]) and not any(map(_administers, (people | {name: after}).values())):
                raise _only_admin_error("disabled" if after.disabled else "role", name)
            if after.shown_name and after.shown_name != people[name].shown_name:
                others = {other: record for other, record in people.items() if other != name}
                refuse_taken(after.shown_name, others, "shown_name")
            return after

        return self.write(changed)

    def rename_team(self, team: str, to: str) -> int:
        """Put everybody of a team into another one, in one transaction. Returns their number. Raises Invalid
        if both teams have people."""

        def transaction(pipe: Any) -> int:
            records = list(map(Record.load, pipe.hvals(model.PEOPLE)))
            members = [record for record in records if record.team == team]
            if members and any(record.team == to for record in records):
                raise Invalid("to", "taken", what="team", name=to)
            pipe.multi()
            for record in members:
                pipe.hset(model.PEOPLE, record.name, replace(record, team=to).dump())
            return len(members)

        return self._transaction(transaction, model.PEOPLE)

    def erase(self, name: str, new_erasure: Erasure) -> Erasure:
        """Delete a record, and begin an erasure or find the one in progress, in one transaction. Raises
        Invalid if no admin would be left."""

        def transaction(pipe: Any) -> Erasure:
            raw = pipe.hget(model.ERASING, name)
            people = {record.name: record for record in map(Record.load, pipe.hvals(model.PEOPLE))}
            record = people.pop(name, None)
            if record and _administers(record) and not has_admin(list(people.values())):
                raise _only_admin_error("name", name)
            erasure = load_erasure(raw) if raw else new_erasure
            pipe.multi()
            pipe.hset(model.ERASING, name, erasure.dump())
            pipe.hdel(model.PEOPLE, name)
            return erasure

        return self._transaction(transaction, model.PEOPLE, model.ERASING)

    def rehash(self, name: str, old_hash: str, new_hash: str) -> None:
        """Store the hash of the same password at another cost, unless the password has been changed since."""

        def rehashed(people: dict[str, Record]) -> Record:
            if name not in people:  # has been erased
                raise NoSuchPerson(name)
            record = people[name]
            return replace(record, password=new_hash) if record.password == old_hash else record

        self.write(rehashed)

    def write(
        self,
        make: Callable[[dict[str, Record]], Record],
        *,
        one_time_key: str | None = None,
        check: Callable[[bytes | None], None] | None = None,
        deleted_field: tuple[str, str] | None = None,
    ) -> Record:
        """Store the record that ``make`` returns, given all people, in one transaction.

        ``one_time_key`` is deleted in the same transaction, after ``check`` was called with its value;
        ``deleted_field`` names a hash and its field that are deleted with it.
        """

        def transaction(pipe: Any) -> Record:
            if one_time_key is not None and check is not None:
                check(pipe.get(one_time_key))
            records = map(Record.load, pipe.hvals(model.PEOPLE))
            people = {record.name: record for record in records}
            record = make(people)
            if record.name not in people and pipe.hexists(model.ERASING, record.name):
                raise erasing_error(record.name)
            pipe.multi()
            pipe.hset(model.PEOPLE, record.name, record.dump())
            if one_time_key is not None:
                pipe.delete(one_time_key)
            if deleted_field is not None:
                pipe.hdel(*deleted_field)
            return record

        return self._transaction(transaction, model.PEOPLE, *([one_time_key] if one_time_key else []))

    def _transaction(self, change: Callable[[Any], _T], *watched_keys: str) -> _T:
        result: _T = self._redis.transaction(change, *watched_keys, value_from_callable=True)
        self.changes += 1
        return result


def erasing_error(name: str) -> Invalid:
    return Invalid("name", "taken", what="erasure", name=name)


def _only_admin_error(field: str, name: str) -> Invalid:
    return Invalid(field, "only_admin", name=name)


def _administers(record: Record) -> bool:
    return record.role == "admin" and not record.disabled and record.password is not None


def may_grant_access(by: str, people: Mapping[str, Record]) -> bool:
    """Whether the links of ``by`` are still valid: not if ``by`` is an admin who was disabled or lost the
    role. An author without an account created them on the command line."""
    maker = people.get(by)
    return maker is None or (maker.role == "admin" and not maker.disabled)


def has_admin(records: list[Record]) -> bool:
    return any(map(_administers, records))

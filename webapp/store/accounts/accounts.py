"""The accounts' operations, for the pages, REST and the command line."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from leaseq import Invalid, validation
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import (
    FULL_SCOPE,
    ApiToken,
    Person,
    checked_days,
    checked_role,
    checked_scope,
    checked_shown_name,
    checked_team,
)
from leaseq.webapp.store.accounts.people import Erasure
from leaseq.webapp.store.accounts.provider import ProviderSignIn
from leaseq.webapp.store.accounts.tokens import FRESH_SECONDS
from leaseq.webapp.store.accounts.traces import release_all


class Accounts(ProviderSignIn):
    """People and their rights. ``by`` is the author of a change, for the managers' log."""

    _shown_names: tuple[float, int, Mapping[str, str]] = (0.0, -1, {})
    """When they expire, how many changes they include, and the shown names."""

    # People

    def find(self, name: str) -> Person | None:
        record = self._people.find(name)
        return record.person() if record else None

    def get(self, name: str) -> Person:
        """The person of this name. Raises NoSuchPerson."""
        return self._people.get(name).person()

    def people(self) -> list[Person]:
        """Everybody, by name."""
        return [record.person() for record in self._people.all()]

    def worker_name(self, name: str, field: str = "person") -> str:
        """The stored name of a person who may sign in, since items can be assigned only to them. Raises
        Invalid with this field for others."""
        person = self.find(name)
        if person is None or person.disabled:
            raise Invalid(field, "account", what="disabled" if person else "unknown", name=name)
        return person.name

    def add(
        self,
        name: str,
        *,
        by: str,
        role: str = "worker",
        skills: Iterable[str] = (),
        team: str = "",
        password: str | None = None,
        shown_name: str = "",
    ) -> Person:
        """Add a person. Without a password they can't sign in until one is set, for instance by a link."""
        record = self._new(name, role, skills, password, checked_team(team))
        record = replace(record, shown_name=_shown_name(shown_name, record.name))
        self._people.add(record)
        self.log.write(by, "person.added", record.name, role=record.role, shown_name=record.shown_name)
        return record.person()

    def change(
        self,
        name: str,
        *,
        by: str,
        role: str | None = None,
        skills: Iterable[str] | None = None,
        team: str | None = None,
        disabled: bool | None = None,
        shown_name: str | None = None,
    ) -> Person:
        """Change the given fields. A person who is disabled is signed out everywhere, their tokens stop
        working, and their leases end."""
        changes: dict[str, Any] = {}
        if role is not None:
            changes["role"] = checked_role(role)
        if skills is not None:
            changes["skills"] = validation.skills(skills)
        if team is not None:
            changes["team"] = checked_team(team)
        if disabled is not None:
            changes["disabled"] = disabled
        before = self._people.get(name)
        name = before.name
        if shown_name is not None:
            changes["shown_name"] = _shown_name(shown_name, name)
        person = self._people.change(name, end_sessions=bool(disabled), **changes).person()
        differences = {
            field: (getattr(before, field), value)
            for field, value in changes.items()
            if field != "disabled" and getattr(before, field) != value
        }
        if differences:
            self.log.write(by, "person.changed", name, changes=differences)
        if disabled is not None and disabled != before.disabled:
            self.log.write(by, "person.disabled" if disabled else "person.enabled", name)
        if disabled:
            release_all(self._client, name, by=by)
        return person

    def shown_names(self) -> Mapping[str, str]:
        """The shown name of each person who has one. Those that other processes change are read within a
        second."""
        until, changes, names = self._shown_names
        if until <= time.monotonic() or changes != self._people.changes:
            changes = self._people.changes
            records = self._people.all()
            names = {record.name: record.shown_name for record in records if record.shown_name}
            self._shown_names = (time.monotonic() + FRESH_SECONDS, changes, names)
        return names

    def rename_team(self, team: str, to: str, *, by: str) -> int:
        """Put everybody of a team, and who is invited to it, into another one, which must be empty. Returns
        the number of people. Access to queues is not changed: see `leaseq.webapp.services.people`."""
        count = self._people.rename_team(team, to)
        self._invitations.rename_team(team, to)
        self.log.write(by, "person.team-renamed", team, new_name=to, people=count)
        return count

    def begin_erasure(self, name: str, *, by: str) -> Erasure:
        """Delete a person's account with all that lets them sign in, or find their erasure in progress.
        Nobody can have the name until `finish_erasure`. An account of this name is not required."""
        record = self._people.find(name)
        name = record.name if record else validation.person_name(name, "name")
        erasure = self._people.erase(name, self.erasures.new(name, by))
        self._tokens.revoke_all(name)
        self.traces.end_sign_in(name)
        return erasure

    def finish_erasure(self, erasure: Erasure) -> None:
        """Put the pseudonym into the log, delete what is left of the person in the accounts, and free the
        name."""
        name, to = erasure.name, erasure.pseudonym
        self._tokens.revoke_all(name)  # tokens created just as the erasure began
        self.traces.end_sign_in(name)
        self.traces.rename_in_notices(name, to)
        self.traces.delete_sign_ins(name)
        self.log.add(to if erasure.by == name else erasure.by, "person.erased", to)
        self.traces.rename_in_log(name, to)
        self.erasures.finish(name)

    def last_sign_ins(self) -> dict[str, datetime]:
        """The time of each person's last sign-in."""
        times = self._redis.hgetall(model.SIGNED_IN)
        return {name.decode(): datetime.fromtimestamp(int(at), UTC) for name, at in times.items()}

    # Signing in

    def verify(self, name: str, password: str) -> Person | None:
        """The person, if the password is right and they may sign in, else None. A failure takes as long as a
        success."""
        person = self.person_of_password(name, password)
        return person if person is not None and not person.disabled else None

    def person_of_password(self, name: str, password: str) -> Person | None:
        """The person, disabled or not, if the password is right, else None. A failure takes as long as a
        success."""
        record = self._people.find(name)
        if not self._passwords.matches(password, record.password if record else None):
            return None
        if record is None or record.password is None:
            return None
        new_hash = self._passwords.rehashed(password, record.password)
        if new_hash is not None:
            self._people.rehash(record.name, record.password, new_hash)
        return record.person()

    def set_password(self, name: str, password: str, *, by: str) -> Person:
        """Set a new password. It ends every session of the person."""
        name = self._people.get(name).name
        password_hash = self._passwords.hash(password, name)
        record = self._people.change(name, end_sessions=True, password=password_hash)
        self._notify(name, "sign-in.password-set", by=by)
        return record.person()

    def end_sessions(self, name: str, *, by: str) -> Person:
        """End all sessions of a person."""
        name = self._people.get(name).name
        person = self._people.change(name, end_sessions=True).person()
        self.log.write(by, "sign-in.sessions-ended", name)
        return person

    def turn_on_factor(self, name: str, code: str) -> tuple[Person, list[str]]:
        """Require codes of this person from now on. Ends their sessions; returns their recovery codes."""
        codes = self.factors.confirm(name, code)
        person = self._people.change(name, end_sessions=True).person()
        self._notify(name, "sign-in.factor-on", by=name)
        return person, codes

    def turn_off_factor(self, name: str, *, by: str) -> bool:
        """Turn the second factor off: by the person, or by an admin when the device is lost."""
        was_enabled = self.factors.remove(name)
        if was_enabled:
            self._notify(name, "sign-in.factor-off", by=by)
        return was_enabled

    # API tokens

    def create_token(
        self,
        person: str,
        name: str,
        *,
        by: str,
        scope: str | None = None,
        queue: str | None = None,
        days: int | None = None,
        until: datetime | None = None,
    ) -> str:
        """Create a token that acts as the person, and return it in plain text, this once. Without a scope it
        may do all that their role may; without days and ``until`` it is valid until it is revoked. Raises
        Invalid for a disabled person."""
        record = self._people.get(person)
        if record.disabled:
            raise Invalid("person", "account", what="token", name=person)
        token_scope = checked_scope(scope or FULL_SCOPE[record.role], record.role)
        token_queue = validation.queue_name(queue) if queue else None
        token = self._tokens.create(record.name, name, token_scope, token_queue, checked_days(days), until)
        self._notify(
            record.name, "token.made", by=by, token=name.strip(), scope=token_scope, queue=token_queue
        )
        return token

    def tokens(self, person: str | None = None) -> list[ApiToken]:
        return self._tokens.of_person(person)

    def token_record(self, token: str) -> ApiToken | None:
        """The record of a token in plain text, such as one just created."""
        return self._tokens.find(token)

    def rotate_token(self, token: ApiToken, *, by: str) -> str:
        """Replace a token with a new one with the same rights and expiry, returned in plain text, this once.
        The old one stops working."""
        new_token = self._tokens.rotate(token)
        self._notify(token.person, "token.rotated", by=by, token=token.name)
        return new_token

    def revoke_token(self, id: str, *, by: str, person: str | None = None) -> ApiToken:
        token = self._tokens.revoke(id, person)
        self.log.write(by, "token.revoked", token.person, token=token.name)
        return token

    def revoke_tokens(self, person: str, *, by: str) -> int:
        """Revoke all tokens of a person; returns how many were valid."""
        count = self._tokens.revoke_all(person)
        if count:
            self.log.write(by, "token.all-revoked", person, tokens=count)
        return count


def _shown_name(text: str, name: str) -> str:
    """A shown name as it is stored: "" if it is the name itself. Raises Invalid."""
    shown = checked_shown_name(text)
    return "" if shown == name else shown

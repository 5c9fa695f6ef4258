"""What the pages, REST and the command line do with people."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from leaseq import Client, Invalid, strict
from webapp.accounts import keys
from webapp.accounts.attempts import Attempts
from webapp.accounts.log import LogEntry, latest_entries, write_entry
from webapp.accounts.model import ApiToken, Person, checked_name, checked_role
from webapp.accounts.passwords import Passwords
from webapp.accounts.people import People, Record, has_admin
from webapp.accounts.secret import digest, new_secret
from webapp.accounts.tokens import Tokens

SETUP_SECONDS = 86_400
LINK_SECONDS = 3 * 86_400


class Accounts:
    """People and what they may do. ``by`` is who makes a change; it goes into the managers' log."""

    def __init__(self, client: Client, *, passwords: Passwords | None = None) -> None:
        self._client = client
        self._redis: Any = client.redis  # gives bytes, which redis-py's types don't know
        self._people = People(client)
        self._tokens = Tokens(client)
        self.attempts = Attempts(client)
        self._passwords = passwords or Passwords()

    # People

    def find(self, name: str) -> Person | None:
        record = self._people.find(name)
        return record.person() if record else None

    def get(self, name: str) -> Person:
        """The person of this name, or NoSuchPerson."""
        return self._people.get(name).person()

    def people(self) -> list[Person]:
        """Everybody, by name."""
        return [record.person() for record in self._people.all()]

    def who_works(self, name: str) -> str:
        """The name again, where somebody has it who may sign in: only they can be given an item."""
        found = self.find(name)
        if found is None or found.disabled:
            why = "is disabled" if found else "has no account"
            raise Invalid("person", "somebody with an account that is not disabled", f"{name!r} {why}")
        return found.name

    def add(
        self,
        name: str,
        *,
        by: str,
        role: str = "worker",
        skills: Iterable[str] = (),
        password: str | None = None,
    ) -> Person:
        """A new person. Without a password they can't sign in until one is set, by a link for instance."""
        record = Record(
            name=checked_name(name),
            role=checked_role(role),
            created=time.time(),
            skills=strict.skills(skills),
            password=self._passwords.hash(password, name) if password is not None else None,
        )
        self._people.add(record)
        write_entry(self._client, by, "added", record.name, f"as {record.role}")
        return record.person()

    def change(
        self,
        name: str,
        *,
        by: str,
        role: str | None = None,
        skills: Iterable[str] | None = None,
        disabled: bool | None = None,
    ) -> Person:
        """Change what is given. Who is disabled is signed out everywhere, and their tokens stop working."""
        changes: dict[str, Any] = {}
        if role is not None:
            changes["role"] = checked_role(role)
        if skills is not None:
            changes["skills"] = strict.skills(skills)
        if disabled is not None:
            changes["disabled"] = disabled
        person = self._people.change(name, end_sessions=bool(disabled), **changes).person()
        said = {**changes, "skills": " ".join(person.skills)} if "skills" in changes else changes
        detail = ", ".join(f"{field}: {value}" for field, value in said.items())
        write_entry(self._client, by, "changed", name, detail)
        return person

    # Passwords

    def verify(self, name: str, password: str) -> Person | None:
        """The person, where the password is theirs and they may sign in. It takes as long where not."""
        record = self._people.find(name)
        if not self._passwords.matches(password, record.password if record else None):
            return None
        if record is None or record.password is None or record.disabled:
            return None
        renewed = self._passwords.renewed(password, record.password)
        if renewed is not None:
            self._people.change(name, password=renewed)
        return record.person()

    def set_password(self, name: str, password: str, *, by: str) -> Person:
        """A new password. It ends every session of the person."""
        record = self._people.change(name, end_sessions=True, password=self._passwords.hash(password, name))
        write_entry(self._client, by, "set the password of", name)
        return record.person()

    def password_link(self, name: str, *, by: str) -> str:
        """A one-time token by which the person may choose a password, good for three days."""
        self._people.get(name)
        token = new_secret()
        with self._client.translating():
            self._redis.set(keys.link(digest(token)), name, ex=LINK_SECONDS)
        write_entry(self._client, by, "made a password link for", name)
        return token

    def link_is_for(self, token: str) -> str | None:
        """Whose password this token may set, while it may."""
        with self._client.translating():
            found = self._redis.get(keys.link(digest(token)))
        return found.decode() if found else None

    def use_link(self, token: str, password: str) -> Person:
        """Set a password by a one-time token, which is spent by it."""
        key = keys.link(digest(token))
        name = self.link_is_for(token) or ""
        hashed = self._passwords.hash(password, name)

        def check(kept: bytes | None) -> None:
            if kept is None or kept.decode() != name:
                raise Invalid("token", "a link that was not used yet", "this link was used or is too old")

        def with_password(people: dict[str, Record]) -> Record:
            return replace(people[name], password=hashed, version=people[name].version + 1)

        record = self._people.write(with_password, spend=key, check=check)
        write_entry(self._client, name, "set the password of", name, "by a link")
        return record.person()

    def end_sessions(self, name: str) -> Person:
        """Sign a person out everywhere."""
        return self._people.change(name, end_sessions=True).person()

    # The first admin

    def setup_token(self) -> str | None:
        """A one-time token to choose the first admin's name and password; None where there is an admin.

        It is good for a day. A new one replaces the one before.
        """
        if has_admin(self._people.all()):
            return None
        token = new_secret()
        with self._client.translating():
            self._redis.set(keys.SETUP, digest(token), ex=SETUP_SECONDS)
        return token

    def setup_is_open(self, token: str) -> bool:
        with self._client.translating():
            kept = self._redis.get(keys.SETUP)
        return kept is not None and hmac.compare_digest(kept, digest(token).encode())

    def set_up(self, token: str, name: str, password: str) -> Person:
        """Make the first admin by the one-time token, which is spent by it."""
        admin = Record(
            name=checked_name(name),
            role="admin",
            created=time.time(),
            password=self._passwords.hash(password, name),
        )

        def check(kept: bytes | None) -> None:
            if kept is None or not hmac.compare_digest(kept, digest(token).encode()):
                raise Invalid(
                    "token", "the link that `leaseq up` printed last", "this link was used or is too old"
                )

        def first(people: dict[str, Record]) -> Record:
            if has_admin(list(people.values())):
                raise Invalid("token", "a place without an admin", "there is an admin already: sign in")
            return admin

        record = self._people.write(first, spend=keys.SETUP, check=check)
        write_entry(self._client, record.name, "added", record.name, "as the first admin")
        return record.person()

    # API tokens

    def create_token(self, person: str, name: str, *, by: str) -> str:
        """A token that acts as the person, in the clear: nobody can read it again."""
        self._people.get(person)
        token = self._tokens.create(person, name)
        write_entry(self._client, by, "made a token for", person, name)
        return token

    def person_by_token(self, token: str) -> Person | None:
        name = self._tokens.person_of(token)
        record = self._people.find(name) if name is not None else None
        return record.person() if record and not record.disabled else None

    def tokens(self, person: str | None = None) -> list[ApiToken]:
        return self._tokens.of(person)

    def revoke_token(self, id: str, *, by: str, person: str | None = None) -> ApiToken:
        token = self._tokens.revoke(id, person)
        write_entry(self._client, by, "revoked a token of", token.person, token.name)
        return token

    def log(self, limit: int = 50) -> list[LogEntry]:
        """Who changed what, the latest first."""
        return latest_entries(self._client, limit)

"""The ways to an account: the set-up, sign-up links, and links to set a password."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from leaseq import Client, Invalid, validation
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.factors import Factors
from leaseq.webapp.store.accounts.log import Log
from leaseq.webapp.store.accounts.model import (
    ID_LENGTH,
    Invitation,
    Person,
    Role,
    checked_name,
    checked_role,
    checked_team,
    digest,
    new_secret,
)
from leaseq.webapp.store.accounts.passwords import Passwords
from leaseq.webapp.store.accounts.people import (
    Erasures,
    People,
    Record,
    erasing_error,
    has_admin,
    may_grant_access,
    refuse_lookalike,
    refuse_taken,
)
from leaseq.webapp.store.accounts.sessions import SESSION_SECONDS, Attempts, Sessions, SignIns
from leaseq.webapp.store.accounts.tokens import Callers, Tokens
from leaseq.webapp.store.accounts.traces import Traces
from leaseq.webapp.store.base import Store

LINK_SECONDS = 3 * 86_400


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link's record: the person, the version of their sessions, and who created it."""

    name: str
    version: int
    by: str

    def is_valid(self, people: Mapping[str, Record]) -> bool:
        """Whether it may be used: not if the person has since got another password, been signed out
        everywhere or been disabled, nor if its author has lost the right to create it."""
        record = people.get(self.name)
        return record is not None and record.version == self.version and may_grant_access(self.by, people)


class Links(Store):
    def make(self, link: PasswordLink) -> str:
        """Create a link; returns its token in plain text, this once."""
        token = new_secret()
        self._redis.set(model.link_key(digest(token)), json.dumps(asdict(link)), ex=LINK_SECONDS)
        return token

    def find(self, token: str) -> PasswordLink | None:
        """The record of this token, unless it was used or has expired."""
        raw = self._redis.get(model.link_key(digest(token)))
        return PasswordLink(**json.loads(raw)) if raw else None


MAX_DAYS = 30
DAYS = 7
_DAY = 86_400


class Invitations(Store):
    def make(
        self, name: str | None, role: Role, skills: tuple[str, ...], team: str, days: object, by: str
    ) -> str:
        """Create an invitation; returns its token in plain text, this once."""
        seconds = validation.integer(days, "days", 1, MAX_DAYS) * _DAY
        token, now = new_secret(), time.time()
        record = {
            "name": name,
            "role": role,
            "skills": skills,
            "team": team,
            "by": by,
            "created": now,
            "expires": now + seconds,
        }
        token_hash = digest(token)
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(model.INVITATIONS, token_hash, json.dumps(record, ensure_ascii=False))
        pipe.set(model.invitation_key(token_hash), 1, ex=seconds)
        pipe.execute()
        return token

    def find(self, token: str) -> Invitation | None:
        """The invitation of this token, if it may still be used."""
        token_hash = digest(token)
        pipe = self._redis.pipeline(transaction=True)
        pipe.hget(model.INVITATIONS, token_hash)
        pipe.get(model.invitation_key(token_hash))
        raw, is_open = pipe.execute()
        return _invitation(token_hash, raw) if raw and is_open else None

    def open(self) -> list[Invitation]:
        """The invitations that may be used, latest first. Expired ones are deleted."""
        records = {
            token_hash.decode(): raw for token_hash, raw in self._redis.hgetall(model.INVITATIONS).items()
        }
        invitations = [_invitation(token_hash, raw) for token_hash, raw in records.items()]
        now = datetime.now(UTC)
        expired_ids = {invitation.id for invitation in invitations if invitation.expires_at <= now}
        for token_hash in records:
            if token_hash[:ID_LENGTH] in expired_ids:
                self._redis.hdel(model.INVITATIONS, token_hash)
        open_invitations = [invitation for invitation in invitations if invitation.id not in expired_ids]
        return sorted(open_invitations, key=lambda invitation: invitation.created_at, reverse=True)

    def revoke(self, id: str) -> Invitation:
        invitation = next((invitation for invitation in self.open() if invitation.id == id), None)
        if invitation is None:
            raise Invalid("id", "sign_in", what="no_invitation")
        for token_hash in self._hashes_of(id):
            self._redis.delete(model.invitation_key(token_hash))
            self._redis.hdel(model.INVITATIONS, token_hash)
        return invitation

    def _hashes_of(self, id: str) -> list[str]:
        hashes = map(bytes.decode, self._redis.hkeys(model.INVITATIONS))
        return [token_hash for token_hash in hashes if token_hash.startswith(id)]

    def replace(self, id: str, *, days: int, by: str) -> tuple[Invitation, str]:
        """Put a new link in the place of one that may still be used, which is void from then on. Returns the
        invitation, and its token in plain text, this once. Raises Invalid if the old link was used."""
        old_hash = next(iter(self._hashes_of(id)), "")
        token, seconds, now = new_secret(), days * _DAY, time.time()
        token_hash = digest(token)

        def transaction(pipe: Any) -> bytes:
            record, is_open = pipe.hget(model.INVITATIONS, old_hash), pipe.get(model.invitation_key(old_hash))
            if not record or not is_open:
                raise Invalid("id", "sign_in", what="no_invitation")
            fields = {**json.loads(record), "by": by, "created": now, "expires": now + seconds}
            raw = json.dumps(fields, ensure_ascii=False).encode()
            pipe.multi()
            pipe.hdel(model.INVITATIONS, old_hash)
            pipe.delete(model.invitation_key(old_hash))
            pipe.hset(model.INVITATIONS, token_hash, raw)
            pipe.set(model.invitation_key(token_hash), 1, ex=seconds)
            return raw

        keys = (model.INVITATIONS, model.invitation_key(old_hash))
        raw: bytes = self._redis.transaction(transaction, *keys, value_from_callable=True)
        return _invitation(token_hash, raw), token

    def rename_team(self, team: str, to: str) -> None:
        """Invite those who are invited to a team to another one."""

        def transaction(pipe: Any) -> None:
            records = pipe.hgetall(model.INVITATIONS)
            pipe.multi()
            for token_hash, raw in records.items():
                fields = json.loads(raw)
                if fields.get("team") == team:
                    record = json.dumps({**fields, "team": to}, ensure_ascii=False)
                    pipe.hset(model.INVITATIONS, token_hash, record)

        self._redis.transaction(transaction, model.INVITATIONS)


def _invitation(token_hash: str, raw: bytes) -> Invitation:
    record: dict[str, Any] = json.loads(raw)
    return Invitation(
        id=token_hash[:ID_LENGTH],
        name=record["name"],
        role=record["role"],
        skills=tuple(record["skills"]),
        team=record.get("team", ""),
        by=record["by"],
        created_at=datetime.fromtimestamp(record["created"], UTC),
        expires_at=datetime.fromtimestamp(record["expires"], UTC),
    )


PROBE_SECONDS = 60


class Base(Store):
    def __init__(
        self,
        client: Client,
        *,
        passwords: Passwords | None = None,
        session_seconds: int = SESSION_SECONDS,
    ) -> None:
        super().__init__(client)
        self._people = People(client)
        self._tokens = Tokens(client)
        self.callers = Callers(client, self._people, self._tokens)
        self._passwords = passwords or Passwords()
        self._invitations = Invitations(client)
        self._links = Links(client)
        self.attempts = Attempts(client)
        self.erasures = Erasures(client)
        self.factors = Factors(client)
        self.log = Log(client)
        self.sign_ins = SignIns(client, self._people, self.log)
        self.sessions = Sessions(client, session_seconds)
        self.traces = Traces(client)

    def check_writes(self) -> None:
        """Raise ServerUnavailable or ServerRefused unless the server accepts a write. A server that is full,
        read-only or without its replicas still answers reads."""
        self._redis.set(model.PROBE, 1, ex=PROBE_SECONDS)

    def _notify(self, name: str, what: str, *, by: str, **values: Any) -> None:
        """Log a change of a person's sign-in, and add it to the notices of their next sign-in."""
        self.log.write(by, what, name, **values)
        details = (str(value) for value in values.values() if value)
        self.sign_ins.notify(name, what, by=by, detail=", ".join(details))


SETUP_SECONDS = 86_400


class Onboarding(Base):
    # The first admin

    def setup_token(self) -> str | None:
        """A one-time token to choose the first admin's name and password; None if there is an admin.

        It is valid for a day. A new one replaces the old one.
        """
        if has_admin(self._people.all()):
            return None
        token = new_secret()
        self._redis.set(model.SETUP, digest(token), ex=SETUP_SECONDS)
        return token

    def setup_is_open(self, token: str) -> bool:
        value = self._redis.get(model.SETUP)
        if value is None or not hmac.compare_digest(value, digest(token).encode()):
            return False
        if has_admin(self._people.all()):  # created on the command line since then
            self._redis.delete(model.SETUP)
            return False
        return True

    def set_up(self, token: str, name: str, password: str) -> Person:
        """Create the first admin with the one-time token, which is then used up."""
        admin = self._new(name, "admin", (), password)

        def check(value: bytes | None) -> None:
            if value is None or not hmac.compare_digest(value, digest(token).encode()):
                raise _used_up()

        def first_admin(people: dict[str, Record]) -> Record:
            if has_admin(list(people.values())):
                raise Invalid("token", "sign_in", what="has_admin")
            refuse_lookalike(admin.name, people)
            return admin

        record = self._people.write(first_admin, one_time_key=model.SETUP, check=check)
        self.log.write(record.name, "person.set-up", record.name)
        return record.person()

    # Invitations

    def invite(
        self,
        *,
        by: str,
        role: str = "worker",
        skills: Iterable[str] = (),
        team: str = "",
        name: str | None = None,
        days: int = DAYS,
    ) -> str:
        """A one-time token to sign up. Without a name, the invited person chooses it."""
        invited_name = checked_name(name) if name is not None else None
        if invited_name is not None:
            self._refuse_known(invited_name)
        token = self._invitations.make(
            invited_name, checked_role(role), validation.skills(skills), checked_team(team), days, by
        )
        self.log.write(by, "invitation.made", invited_name or "", role=role, days=days)
        return token

    def _refuse_known(self, name: str) -> None:
        """Refuse a name that somebody has or is invited under, and one that looks like it."""
        refuse_taken(name, self._people.by_name())
        if self.erasures.find(name):
            raise erasing_error(name)
        invited_names = [invitation.name for invitation in self.invitations() if invitation.name is not None]
        if name in invited_names:
            raise Invalid("name", "taken", what="invited", name=name)
        refuse_lookalike(name, invited_names)

    def invitation(self, token: str) -> Invitation | None:
        """The invitation of this token, if it may still be used."""
        invitation = self._invitations.find(token)
        return invitation if invitation and may_grant_access(invitation.by, self._people.by_name()) else None

    def invitations(self) -> list[Invitation]:
        """The invitations that may be used, latest first."""
        people = self._people.by_name()
        return [
            invitation for invitation in self._invitations.open() if may_grant_access(invitation.by, people)
        ]

    def revoke_invitation(self, id: str, *, by: str) -> Invitation:
        invitation = self._invitations.revoke(id)
        self.log.write(by, "invitation.revoked", invitation.name or "")
        return invitation

    def renew_invitation(self, id: str, *, by: str) -> tuple[Invitation, str]:
        """Replace the link of an invitation, for one that was lost. The new one is valid for as many days as
        the old one was at first. Returns the invitation and the token."""
        invitation = next((invitation for invitation in self.invitations() if invitation.id == id), None)
        if invitation is None:
            raise Invalid("id", "sign_in", what="no_invitation")
        days = round((invitation.expires_at - invitation.created_at).total_seconds() / _DAY)
        invitation, token = self._invitations.replace(id, days=days, by=by)
        self.log.write(by, "invitation.renewed", invitation.name or "", role=invitation.role, days=days)
        return invitation, token

    def accept(self, token: str, name: str, password: str) -> Person:
        """Sign up with an invitation, which is then used up. ``name`` is used if the invitation has none."""
        invitation = self._invitations.find(token)
        if invitation is None:
            raise _used_up()
        record = self._new(
            invitation.name or name, invitation.role, invitation.skills, password, invitation.team
        )

        def invited_record(people: dict[str, Record]) -> Record:
            if not may_grant_access(invitation.by, people):
                raise _used_up()
            refuse_taken(record.name, people)
            return record

        token_hash = digest(token)
        self._people.write(
            invited_record,
            one_time_key=model.invitation_key(token_hash),
            check=_check_unused,
            deleted_field=(model.INVITATIONS, token_hash),
        )
        self.log.write(
            record.name, "invitation.used", record.name, role=invitation.role, invited_by=invitation.by
        )
        return record.person()

    # Links to set a password

    def password_link(self, name: str, *, by: str) -> str:
        """A one-time token to choose the person's password, valid for three days."""
        record = self._people.get(name)
        token = self._links.make(PasswordLink(record.name, record.version, by))
        self.log.write(by, "sign-in.link-made", record.name)
        return token

    def password_link_owner(self, token: str) -> str | None:
        """The person whose password this token may set, if it is still valid."""
        link = self._links.find(token)
        return link.name if link and link.is_valid(self._people.by_name()) else None

    def use_link(self, token: str, password: str) -> Person:
        """Set a password with a one-time token, which is then used up. Ends all sessions of the person."""
        link = self._links.find(token)
        if link is None:
            raise _used_up()
        password_hash = self._passwords.hash(password, link.name)

        def with_password(people: dict[str, Record]) -> Record:
            if not link.is_valid(people):
                raise _used_up()
            return replace(people[link.name], password=password_hash, version=link.version + 1)

        record = self._people.write(
            with_password, one_time_key=model.link_key(digest(token)), check=_check_unused
        )
        self._notify(link.name, "sign-in.link-used", by=link.name)
        return record.person()

    def _new(
        self, name: str, role: str, skills: Iterable[str], password: str | None, team: str = ""
    ) -> Record:
        return Record(
            name=checked_name(name),
            role=checked_role(role),
            created=time.time(),
            skills=validation.skills(skills),
            team=team,
            password=self._passwords.hash(password, name) if password is not None else None,
        )


def _used_up() -> Invalid:
    return Invalid("token", "sign_in", what="used_link")


def _check_unused(value: bytes | None) -> None:
    if value is None:
        raise _used_up()

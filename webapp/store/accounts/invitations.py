"""Invitations, and links that set a password."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq import Invalid, validation
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import ID_LENGTH, Invitation, Role, digest, new_secret
from leaseq.webapp.store.accounts.people import Record, may_grant_access
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
        for token_hash in self._redis.hkeys(model.INVITATIONS):
            if token_hash.decode().startswith(id):
                self._redis.delete(model.invitation_key(token_hash.decode()))
                self._redis.hdel(model.INVITATIONS, token_hash)
        return invitation


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

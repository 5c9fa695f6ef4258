"""Invitations: sign-up links, each with the role and skills that the inviter chose."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

from leaseq import Invalid, validation
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.model import Invitation, Role
from leaseq.webapp.store.accounts.secret import ID_LENGTH, digest, new_secret
from leaseq.webapp.store.base import Store

MAX_DAYS = 30
DAYS = 7
_DAY = 86_400


class Invitations(Store):
    def make(
        self, name: str | None, role: Role, skills: tuple[str, ...], team: str, days: object, by: str
    ) -> str:
        """Make an invitation; returns its token, in the clear this once."""
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
        hashed = digest(token)
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            pipe.hset(keys.INVITATIONS, hashed, json.dumps(record, ensure_ascii=False))
            pipe.set(keys.invitation(hashed), 1, ex=seconds)
            pipe.execute()
        return token

    def find(self, token: str) -> Invitation | None:
        """The invitation of this token, while it may be used."""
        hashed = digest(token)
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            pipe.hget(keys.INVITATIONS, hashed)
            pipe.get(keys.invitation(hashed))
            raw, there = pipe.execute()
        return _invitation(hashed, raw) if raw and there else None  # guard: invitation-there

    def open(self) -> list[Invitation]:
        """The invitations that may be used, latest first. Expired ones are deleted."""
        with self._client.translating():
            stored = {hashed.decode(): raw for hashed, raw in self._redis.hgetall(keys.INVITATIONS).items()}
            invitations = [_invitation(hashed, raw) for hashed, raw in stored.items()]
            now = datetime.now(UTC)
            old = {one.id for one in invitations if one.expires_at <= now}
            for hashed in stored:
                if hashed[:ID_LENGTH] in old:
                    self._redis.hdel(keys.INVITATIONS, hashed)
        left = [one for one in invitations if one.id not in old]
        return sorted(left, key=lambda one: one.created_at, reverse=True)

    def revoke(self, id: str) -> Invitation:
        invitation = next((one for one in self.open() if one.id == id), None)
        if invitation is None:
            raise Invalid("id", "an open invitation", "That invitation was used, revoked, or has expired.")
        with self._client.translating():
            for hashed in self._redis.hkeys(keys.INVITATIONS):
                if hashed.decode().startswith(id):
                    self._redis.delete(keys.invitation(hashed.decode()))
                    self._redis.hdel(keys.INVITATIONS, hashed)
        return invitation


def _invitation(hashed: str, raw: bytes) -> Invitation:
    record: dict[str, Any] = json.loads(raw)
    return Invitation(
        id=hashed[:ID_LENGTH],
        name=record["name"],
        role=record["role"],
        skills=tuple(record["skills"]),
        team=record.get("team", ""),
        by=record["by"],
        created_at=datetime.fromtimestamp(record["created"], UTC),
        expires_at=datetime.fromtimestamp(record["expires"], UTC),
    )

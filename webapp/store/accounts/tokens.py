"""API tokens: each acts as its person, within the token's scope."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from leaseq import Invalid
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.model import MAX_TOKENS, ApiToken, Scope, checked_token_name
from leaseq.webapp.store.accounts.secret import ID_LENGTH, digest, new_secret
from leaseq.webapp.store.base import Store

PREFIX = "leaseq_"  # lets a scanner of leaked secrets know one
_MINUTE = 60
_DAY = 86_400


class Tokens(Store):
    """The store of API tokens."""

    changes = 0
    """How often this process changed a token."""

    def create(
        self,
        person: str,
        name: str,
        scope: Scope,
        queue: str | None,
        days: int | None,
        until: datetime | None = None,
    ) -> str:
        """Create a token; returned in the clear, this once. It ends after ``days``, else at ``until``."""
        token = new_secret(PREFIX)
        now = self._clock()
        end = None if until is None else until.timestamp()
        record = {
            "name": checked_token_name(name),
            "person": person,
            "scope": scope,
            "queue": queue,
            "created": now,
            "expires": end if days is None else now + days * _DAY,
        }
        kept = json.dumps(record, ensure_ascii=False)

        def add(pipe: Any) -> None:
            over = self._over(pipe.hgetall(keys.TOKENS), person, now)
            pipe.multi()
            if over:
                pipe.hdel(keys.TOKENS, *over)
                pipe.hdel(keys.TOKENS_USED, *over)
            pipe.hset(keys.TOKENS, digest(token), kept)

        with self._client.translating():
            self._redis.transaction(add, keys.TOKENS)
        return token

    def record_of(self, token: str) -> ApiToken | None:
        """The record of a token in the clear."""
        hashed = digest(token)
        with self._client.translating():
            raw = self._redis.hget(keys.TOKENS, hashed)
        return _token(hashed, json.loads(raw), None) if raw else None

    def rotate(self, rotated: ApiToken) -> str:
        """Replace a token by another with the same rights and the same end, returned in the clear, this once.
        The one before stops working. Invalid where it was revoked meanwhile."""
        token = new_secret(PREFIX)

        def replace(pipe: Any) -> None:
            tokens = pipe.hgetall(keys.TOKENS)
            before = next((one for one in tokens if one.decode()[:ID_LENGTH] == rotated.id), None)
            if before is None:
                raise _gone(rotated.id)
            record = {**json.loads(tokens[before]), "created": self._clock()}
            pipe.multi()
            pipe.hdel(keys.TOKENS, before)
            pipe.hdel(keys.TOKENS_USED, before)
            pipe.hset(keys.TOKENS, digest(token), json.dumps(record, ensure_ascii=False))

        with self._client.translating():
            self._redis.transaction(replace, keys.TOKENS)
        self.changes += 1
        return token

    def _over(self, tokens: dict[bytes, bytes], person: str, now: float) -> list[bytes]:
        """The person's expired tokens to delete before they get another, once they have many. Refused
        where too many are valid."""
        mine = {
            hashed: record
            for hashed, raw in tokens.items()
            if (record := json.loads(raw))["person"] == person
        }
        if len(mine) < MAX_TOKENS:
            return []
        over = [
            hashed for hashed, one in mine.items() if one["expires"] is not None and one["expires"] <= now
        ]
        if len(mine) - len(over) >= MAX_TOKENS:  # guard: token-count
            raise Invalid(
                "tokens",
                f"at most {MAX_TOKENS} of one person",
                f"{person!r} has {MAX_TOKENS} API tokens: revoke unused ones first",
            )
        return over

    def commands(self, hashed: str) -> list[tuple[str, ...]]:
        """The commands whose replies ``used`` reads."""
        return [("HGET", keys.TOKENS, hashed), ("HGET", keys.TOKENS_USED, hashed)]

    def used(self, hashed: str, raw: bytes | None, used: bytes | None) -> ApiToken | None:
        """The token of this digest, from the replies to ``commands``; records that it is used."""
        if not raw:
            return None
        if (now := self._clock()) - int(used or 0) >= _MINUTE:
            with self._client.translating():
                self._redis.hset(keys.TOKENS_USED, hashed, int(now))
        return _token(hashed, json.loads(raw), used)

    def of(self, person: str | None = None) -> list[ApiToken]:
        """The tokens of a person, or of everybody, oldest first, expired ones included."""
        with self._client.translating():
            stored = self._redis.hgetall(keys.TOKENS)
            used = self._redis.hgetall(keys.TOKENS_USED)
        tokens = [
            _token(hashed.decode(), json.loads(raw), used.get(hashed)) for hashed, raw in stored.items()
        ]
        mine = [token for token in tokens if person in (None, token.person)]
        return sorted(mine, key=lambda token: token.created_at)

    def revoke(self, id: str, person: str | None = None) -> ApiToken:
        """Revoke a token. With ``person`` only one of theirs."""
        revoked = next((token for token in self.of(person) if token.id == id), None)
        if revoked is None:
            raise _gone(id)
        self._forget([revoked])
        return revoked

    def revoke_all(self, person: str) -> int:
        """Revoke all tokens of a person; returns how many were valid."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        tokens = self.of(person)
        self._forget(tokens)
        return sum(not token.is_over(now) for token in tokens)

    def forget_queue(self, queue: str) -> None:
        """Revoke the tokens for a queue that is deleted: they must not open a new one of its name."""
        with self._client.translating():
            stored = self._redis.hgetall(keys.TOKENS)
            hashes = [hashed for hashed, raw in stored.items() if json.loads(raw)["queue"] == queue]
            if hashes:
                self._redis.hdel(keys.TOKENS, *hashes)
                self._redis.hdel(keys.TOKENS_USED, *hashes)
                self.changes += 1

    def _forget(self, tokens: Sequence[ApiToken]) -> None:
        ids = {token.id for token in tokens}
        with self._client.translating():
            hashes = [one for one in self._redis.hkeys(keys.TOKENS) if one.decode()[:ID_LENGTH] in ids]
            if hashes:
                self._redis.hdel(keys.TOKENS, *hashes)
                self._redis.hdel(keys.TOKENS_USED, *hashes)
                self.changes += 1


def _gone(id: str) -> Invalid:
    return Invalid("id", "the id of a token that is in use", f"there is no token {id!r}")


def _token(hashed: str, record: dict[str, Any], used: bytes | None) -> ApiToken:
    expires = record["expires"]
    return ApiToken(
        id=hashed[:ID_LENGTH],
        name=record["name"],
        person=record["person"],
        scope=record["scope"],
        queue=record["queue"],
        created_at=datetime.fromtimestamp(record["created"], UTC),
        expires_at=datetime.fromtimestamp(expires, UTC) if expires is not None else None,
        used_at=datetime.fromtimestamp(int(used), UTC) if used else None,
    )

"""Tokens, and the callers that they name."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq import Client, Invalid
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import (
    ID_LENGTH,
    MAX_TOKENS,
    ApiToken,
    Person,
    Scope,
    checked_token_name,
    digest,
    new_secret,
)
from leaseq.webapp.store.accounts.people import People, Record
from leaseq.webapp.store.base import Command, Store

PREFIX = "leaseq_"  # by which scanners for leaked secrets recognize one
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
        """Create a token, returned in plain text, this once. It expires after ``days``, else at ``until``."""
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
        text = json.dumps(record, ensure_ascii=False)

        def add(pipe: Any) -> None:
            expired_hashes = self._expired_hashes(pipe.hgetall(model.TOKENS), person, now)
            pipe.multi()
            if expired_hashes:
                pipe.hdel(model.TOKENS, *expired_hashes)
                pipe.hdel(model.TOKENS_USED, *expired_hashes)
            pipe.hset(model.TOKENS, digest(token), text)

        self._redis.transaction(add, model.TOKENS)
        return token

    def find(self, token: str) -> ApiToken | None:
        """The record of a token in plain text."""
        token_hash = digest(token)
        raw = self._redis.hget(model.TOKENS, token_hash)
        return _token(token_hash, json.loads(raw), None) if raw else None

    def rotate(self, old_token: ApiToken) -> str:
        """Replace a token with a new one with the same rights and expiry, returned in plain text, this once.
        The old one stops working. Raises Invalid if it has been revoked."""
        token = new_secret(PREFIX)

        def replace(pipe: Any) -> None:
            tokens = pipe.hgetall(model.TOKENS)
            old_hash = next((token for token in tokens if token.decode()[:ID_LENGTH] == old_token.id), None)
            if old_hash is None:
                raise _no_such_token(old_token.id)
            record = {**json.loads(tokens[old_hash]), "created": self._clock()}
            pipe.multi()
            pipe.hdel(model.TOKENS, old_hash)
            pipe.hdel(model.TOKENS_USED, old_hash)
            pipe.hset(model.TOKENS, digest(token), json.dumps(record, ensure_ascii=False))

        self._redis.transaction(replace, model.TOKENS)
        self.changes += 1
        return token

    def _expired_hashes(self, tokens: dict[bytes, bytes], person: str, now: float) -> list[bytes]:
        """The person's expired tokens to delete before they get another, once they have many. Raises Invalid
        if too many are valid."""
        own_records = {
            token_hash: record
            for token_hash, raw in tokens.items()
            if (record := json.loads(raw))["person"] == person
        }
        if len(own_records) < MAX_TOKENS:
            return []
        expired_hashes = [
            token_hash
            for token_hash, record in own_records.items()
            if record["expires"] is not None and record["expires"] <= now
        ]
        if len(own_records) - len(expired_hashes) >= MAX_TOKENS:
            raise Invalid("tokens", "maximum", what="tokens", maximum=MAX_TOKENS)
        return expired_hashes

    def commands(self, token_hash: str) -> list[tuple[str, ...]]:
        """The commands whose replies ``record_use`` reads."""
        return [("HGET", model.TOKENS, token_hash), ("HGET", model.TOKENS_USED, token_hash)]

    def record_use(self, token_hash: str, raw: bytes | None, last_use: bytes | None) -> ApiToken | None:
        """The token of this digest, from the replies to ``commands``; also records its use."""
        if not raw:
            return None
        if (now := self._clock()) - int(last_use or 0) >= _MINUTE:
            self._redis.hset(model.TOKENS_USED, token_hash, int(now))
        return _token(token_hash, json.loads(raw), last_use)

    def of_person(self, person: str | None = None) -> list[ApiToken]:
        """The tokens of a person, or of everybody, oldest first, expired ones included."""
        records = self._redis.hgetall(model.TOKENS)
        last_uses = self._redis.hgetall(model.TOKENS_USED)
        tokens = [
            _token(token_hash.decode(), json.loads(raw), last_uses.get(token_hash))
            for token_hash, raw in records.items()
        ]
        matching_tokens = [token for token in tokens if person in (None, token.person)]
        return sorted(matching_tokens, key=lambda token: token.created_at)

    def revoke(self, id: str, person: str | None = None) -> ApiToken:
        """Revoke a token; with ``person``, only if it is theirs."""
        token = next((token for token in self.of_person(person) if token.id == id), None)
        if token is None:
            raise _no_such_token(id)
        self._forget([token])
        return token

    def revoke_all(self, person: str) -> int:
        """Revoke all tokens of a person; returns how many were valid."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        tokens = self.of_person(person)
        self._forget(tokens)
        return sum(not token.is_over(now) for token in tokens)

    def forget_queue(self, queue: str) -> None:
        """Revoke the tokens for a queue that is deleted: they must not be valid for a new one of its name."""
        records = self._redis.hgetall(model.TOKENS)
        self._delete([token_hash for token_hash, raw in records.items() if json.loads(raw)["queue"] == queue])

    def _forget(self, tokens: Sequence[ApiToken]) -> None:
        ids = {token.id for token in tokens}
        hashes = self._redis.hkeys(model.TOKENS)
        self._delete([token_hash for token_hash in hashes if token_hash.decode()[:ID_LENGTH] in ids])

    def _delete(self, hashes: list[bytes]) -> None:
        if hashes:
            self._redis.hdel(model.TOKENS, *hashes)
            self._redis.hdel(model.TOKENS_USED, *hashes)
            self.changes += 1


def _no_such_token(id: str) -> Invalid:
    return Invalid("id", "not_found", what="token", id=id)


def _token(token_hash: str, record: dict[str, Any], last_use: bytes | None) -> ApiToken:
    expires = record["expires"]
    return ApiToken(
        id=token_hash[:ID_LENGTH],
        name=record["name"],
        person=record["person"],
        scope=record["scope"],
        queue=record["queue"],
        created_at=datetime.fromtimestamp(record["created"], UTC),
        expires_at=datetime.fromtimestamp(expires, UTC) if expires is not None else None,
        used_at=datetime.fromtimestamp(int(last_use), UTC) if last_use else None,
    )


FRESH_SECONDS = 1.0
"""How long a caller is used once read. For this long, a token that another process revoked still works here,
and another process's change of its person has no effect (docs/security.md)."""

_MAX_ENTRIES = 10_000  # tokens in the cache; above that, it is cleared


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that sent a token: its person, and the token's scope and queue."""

    person: Person
    token: ApiToken


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    caller: Caller
    until: float  # by the monotonic clock
    changes: int  # of people and tokens by this process, when it was read


class Callers(Store):
    """Reads and caches callers. Changes by this process itself take effect immediately."""

    def __init__(
        self,
        client: Client,
        people: People,
        tokens: Tokens,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, clock=clock)
        self._people, self._tokens, self._monotonic = people, tokens, monotonic
        self._cache: dict[str, _CacheEntry] = {}  # by the token's digest

    def find(self, token: str) -> Caller | None:
        """The caller that this token belongs to, if it is valid."""
        token_hash = digest(token)
        entry, changes = self._cache.get(token_hash), self._people.changes + self._tokens.changes
        if entry is None or entry.until <= self._monotonic() or entry.changes != changes:
            caller = self._read(token_hash, entry.caller.person.name if entry else None)
            if caller is None:
                self._cache.pop(token_hash, None)
                return None
            if len(self._cache) >= _MAX_ENTRIES:
                self._cache.clear()
            entry = self._cache[token_hash] = _CacheEntry(caller, self._monotonic() + FRESH_SECONDS, changes)
        now = datetime.fromtimestamp(self._clock(), UTC)
        return None if entry.caller.token.is_over(now) else entry.caller

    def reads(self, token: str, person: str) -> Sequence[Command]:
        """Commands that read all on which `find` depends, but for the time."""
        return (("HGET", model.TOKENS, digest(token)), ("HGET", model.PEOPLE, person))

    def find_now(self, token: str) -> Caller | None:
        """The same as it is stored now, not as it was read within the last second."""
        self._cache.pop(digest(token), None)
        return self.find(token)

    def _read(self, token_hash: str, name: str | None) -> Caller | None:
        """``name``: the token's person, if known from before, to read both in one round trip."""
        commands = self._tokens.commands(token_hash)
        if name is not None:
            commands.append(("HGET", model.PEOPLE, name))
        raw, last_use, *person = self._client.ask(*commands)
        token = self._tokens.record_use(token_hash, raw, last_use)
        if token is None:
            return None
        record = Record.load(person[0]) if person and person[0] and name == token.person else None
        record = record or self._people.find(token.person)
        return Caller(record.person(), token) if record and not record.disabled else None

"""Programs that call with a token: whose it is and what it may do, read at most once a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from leaseq import Client
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.model import ApiToken, Person
from leaseq.webapp.store.accounts.people import People, Record
from leaseq.webapp.store.accounts.secret import digest
from leaseq.webapp.store.accounts.tokens import Tokens
from leaseq.webapp.store.base import Command, Store

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
        """Commands that read the token and its person."""
        return (("HGET", keys.TOKENS, digest(token)), ("HGET", keys.PEOPLE, person))

    def expire(self, token: str) -> None:
        """Read this token's caller again when it is needed next."""
        self._cache.pop(digest(token), None)

    def _read(self, token_hash: str, name: str | None) -> Caller | None:
        """``name``: the token's person, if known from before, to read both in one round trip."""
        commands = self._tokens.commands(token_hash)
        if name is not None:
            commands.append(("HGET", keys.PEOPLE, name))
        raw, last_use, *person = self._client.ask(*commands)
        token = self._tokens.record_use(token_hash, raw, last_use)
        if token is None:
            return None
        record = Record.load(person[0]) if person and person[0] and name == token.person else None
        record = record or self._people.find(token.person)
        return Caller(record.person(), token) if record and not record.disabled else None

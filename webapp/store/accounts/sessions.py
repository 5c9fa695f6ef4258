"""Sessions, stored in the server and identified by a cookie.

Signing out ends a session, copied cookies included, and raising a person's version ends all of theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from leaseq import Client
from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.model import Person
from leaseq.webapp.store.accounts.people import Record
from leaseq.webapp.store.accounts.secret import digest, new_secret
from leaseq.webapp.store.base import Command, Store

SESSION_SECONDS = 14 * 86_400
SEEN_SECONDS = 3_600  # how often the last use of a session is stored


@dataclass(frozen=True, slots=True)
class _SessionCookie:
    """The content of the cookie: the claimed person and version, and the secret that proves it."""

    secret: str
    version: str
    name: str

    @classmethod
    def read(cls, cookie: str) -> _SessionCookie | None:
        parts = cookie.split(":", 2)
        return cls(*parts) if len(parts) == 3 else None


class Sessions(Store):
    """The sessions; each expires ``seconds`` after its last use."""

    def __init__(self, client: Client, seconds: int = SESSION_SECONDS) -> None:
        super().__init__(client)
        self._seconds = seconds

    def start(self, person: Person) -> str:
        """Start a session; returns the value of its cookie."""
        secret, now = new_secret(), int(time.time())
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=False)
            pipe.set(keys.session(digest(secret)), f"{now} {person.name}", ex=self._seconds)
            pipe.hset(keys.SIGNED_IN, person.name, now)
            pipe.execute()
        return f"{secret}:{person.version}:{person.name}"

    def person(self, cookie: str) -> Person | None:
        """The person of a valid session, in one round trip."""
        result = self.person_with_replies(cookie, lambda _: ())
        return result and result[0]

    def person_with_replies(
        self, cookie: str, commands: Callable[[str], Iterable[Command]]
    ) -> tuple[Person, list[Any]] | None:
        """The person of a valid session, and the replies to more commands for the person's name, sent in the
        same round trip. They may only read, since the session may turn out to be invalid."""
        claim = _SessionCookie.read(cookie)
        if claim is None:
            return None
        key = keys.session(digest(claim.secret))
        raw, session, *replies = self._client.ask(*_reads(claim), *commands(claim.name))
        seen_at, _, owner = (session or b"").decode().partition(" ")
        if raw is None or owner != claim.name:
            return None
        person = Record.load(raw).person()
        if person.disabled or str(person.version) != claim.version:
            return None
        now = int(time.time())
        if now - int(seen_at) >= SEEN_SECONDS:
            with self._client.translating():
                self._redis.set(key, f"{now} {owner}", ex=self._seconds, xx=True)
        return person, replies

    def reads(self, cookie: str) -> Sequence[Command]:
        """Commands that read all on which `person` depends."""
        claim = _SessionCookie.read(cookie)
        return _reads(claim) if claim else ()

    def is_of_disabled_person(self, cookie: str) -> bool:
        """Whether the cookie is of a session of a person who has been disabled since it began."""
        claim = _SessionCookie.read(cookie)
        if claim is None:
            return False
        raw, session = self._client.ask(*_reads(claim))
        owner = (session or b"").decode().partition(" ")[2]
        return raw is not None and owner == claim.name and Record.load(raw).disabled

    def end(self, cookie: str) -> None:
        claim = _SessionCookie.read(cookie)
        if claim is not None:
            with self._client.translating():
                self._redis.delete(keys.session(digest(claim.secret)))


def _reads(claim: _SessionCookie) -> Sequence[Command]:
    return (("HGET", keys.PEOPLE, claim.name), ("GET", keys.session(digest(claim.secret))))

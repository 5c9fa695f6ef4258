"""Sign-ins: attempts, their record, and sessions."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from leaseq import Client
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.log import Log
from leaseq.webapp.store.accounts.model import Person, digest, new_secret
from leaseq.webapp.store.accounts.people import People, Record
from leaseq.webapp.store.base import Command, Store

WINDOW_SECONDS = 300
PER_NAME = 10
PER_ADDRESS = 60
CODES_HERE = 5
"""The number of a person's wrong codes in a row, from one address, without a delay."""
CODES_ANYWHERE = 20
"""The same from all addresses together."""
FIRST_WAIT_SECONDS = 10
LONGEST_WAIT_SECONDS = 900
_SLOW_SECONDS = 86_400
Counter = tuple[str, int]
"""A counter's key, and its limit within the window."""


def password_counters(name: str, address: str) -> list[Counter]:
    place = _place(address)
    return [(digest(f"name {place} {name}"), PER_NAME), (digest(f"address {place}"), PER_ADDRESS)]


@dataclass(frozen=True, slots=True)
class TooManyTries:
    """Too many tries: how long to wait, and whether this is the first refusal in the window."""

    seconds: int
    is_first: bool


def _place(address: str) -> str:
    """The address, or for IPv6 its /64 network, since one client has all of its addresses."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((ip, 64), strict=False)) if isinstance(ip, IPv6Address) else address


def _code_counters(name: str, address: str) -> list[Counter]:
    address_digest, name_digest = digest(f"code {_place(address)} {name}"), digest(f"code {name}")
    return [(address_digest, CODES_HERE), (name_digest, CODES_ANYWHERE)]


def _wait_after(count: int, free_tries: int) -> int:
    """Seconds from the ``count``-th wrong try in a row to the next try."""
    if count < free_tries:
        return 0
    doublings = min(count - free_tries, LONGEST_WAIT_SECONDS.bit_length())
    return min(FIRST_WAIT_SECONDS << doublings, LONGEST_WAIT_SECONDS)


class Attempts(Store):
    """Counts a try before it is made, and uncounts it if it was right, so that concurrent tries can't exceed
    the limit either. Passwords are counted in fixed windows; the counter expires with its window."""

    def begin(self, counters: list[Counter]) -> TooManyTries | None:
        """Count a try of a password, or refuse it."""
        counts = self._add(counters, 1)
        exceeded_counters = [
            counter for counter, count in zip(counters, counts, strict=True) if count > counter[1]
        ]
        if not exceeded_counters:
            return None
        self._add(counters, -1)
        waits = [int(self._redis.ttl(model.failures_key(name))) for name, _ in exceeded_counters]
        return self._refusal(max(1, *waits), exceeded_counters[0])

    def uncount(self, counters: list[Counter]) -> None:
        """Uncount a try that was right."""
        self._add(counters, -1)

    def begin_code(self, name: str, address: str) -> TooManyTries | None:
        """Count a try of a code, which sets when the next may be made, or refuse it."""
        counters, now = _code_counters(name, address), self._clock()

        def count(pipe: Any) -> float:
            entries = [(pipe.get(model.code_wait_key(key)) or b"0 0").split() for key, _ in counters]
            wait = max(float(until) for _, until in entries) - now
            pipe.multi()
            if wait <= 0:
                for (key, free_tries), (count_before, _) in zip(counters, entries, strict=True):
                    tries = int(count_before) + 1
                    until = now + _wait_after(tries, free_tries)
                    pipe.set(model.code_wait_key(key), f"{tries} {until}", ex=_SLOW_SECONDS)
            return wait

        watched_keys = [model.code_wait_key(key) for key, _ in counters]
        wait: float = self._redis.transaction(count, *watched_keys, value_from_callable=True)
        return self._refusal(math.ceil(wait), counters[0]) if wait > 0 else None

    def reset_code_counts(self, name: str, address: str) -> None:
        """Reset the count of wrong codes after a right one."""
        self._redis.delete(*(model.code_wait_key(key) for key, _ in _code_counters(name, address)))

    def _refusal(self, seconds: int, counter: Counter) -> TooManyTries:
        is_first = self._redis.set(model.refusal_logged_key(counter[0]), 1, ex=WINDOW_SECONDS, nx=True)
        return TooManyTries(seconds, bool(is_first))

    def _add(self, counters: list[Counter], amount: int) -> list[int]:
        pipe = self._redis.pipeline(transaction=True)
        for name, _ in counters:
            pipe.set(model.failures_key(name), 0, ex=WINDOW_SECONDS, nx=True)
            pipe.incr(model.failures_key(name), amount)
        return [int(count) for count in pipe.execute()[1::2]]


MAX_NOTICES = 10
_SHOWN = 2  # characters shown of an unknown name: it may be a password in the wrong box


@dataclass(frozen=True, slots=True)
class AccountChange:
    """A change of a person's account since their last sign-in."""

    at: datetime
    what: str  # the log's code
    by: str
    detail: str

    @classmethod
    def load(cls, record: bytes) -> AccountChange:
        at, what, by, detail = json.loads(record)
        return cls(datetime.fromtimestamp(at, UTC), what, by, detail)


@dataclass(frozen=True, slots=True)
class SignInNotices:
    """The notices for a person's sign-in: what happened to the account since the last one."""

    failed: int  # failed sign-ins under their name
    changes: tuple[AccountChange, ...]  # the oldest first


class SignIns(Store):
    """Logs sign-ins. ``method``: a password, a code, or the identity provider."""

    def __init__(self, client: Client, people: People, log: Log) -> None:
        super().__init__(client)
        self._people = people
        self._log = log

    def log_success(self, name: str, method: str, address: str) -> SignInNotices:
        """Log a sign-in. Returns the person's notices, once."""
        self._log.write(name, "sign-in.done", name, method=method, address=address)
        pipe = self._redis.pipeline(transaction=True)
        pipe.hget(model.FAILED, name)
        pipe.hdel(model.FAILED, name)
        pipe.lrange(model.notices_key(name), 0, -1)
        pipe.delete(model.notices_key(name))
        failed_count, _, records, _ = pipe.execute()
        return SignInNotices(int(failed_count or 0), tuple(map(AccountChange.load, reversed(records))))

    def log_failure(self, name: str, method: str, address: str) -> None:
        """Log a wrong password or code, or a refusal by the identity provider."""
        if record := self._log_refusal("sign-in.failed", name, method, address):
            self._redis.hincrby(model.FAILED, record.name, 1)

    def log_limited(self, name: str, method: str, address: str) -> None:
        """Log a try that was refused after too many failures."""
        self._log_refusal("sign-in.limited", name, method, address)

    def _log_refusal(self, what: str, name: str, method: str, address: str) -> Record | None:
        record = self._people.find(name)
        self._log.write("", what, record.name if record else _shortened(name), method=method, address=address)
        return record

    def notify(self, name: str, what: str, *, by: str, detail: str = "") -> None:
        """Add a notice to the person's next sign-in. The latest ten are kept."""
        change = json.dumps([time.time(), what, by, detail], ensure_ascii=False)
        pipe = self._redis.pipeline(transaction=True)
        pipe.lpush(model.notices_key(name), change)
        pipe.ltrim(model.notices_key(name), 0, MAX_NOTICES - 1)
        pipe.execute()


def _shortened(name: str) -> str:
    """The beginning of an unknown name, so that a password typed as a name is not stored."""
    beginning = "".join(character if character.isprintable() else "?" for character in name[:_SHOWN])
    return f"{beginning}… (no account)"


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
        self._client.ask(
            ("SET", model.session_key(digest(secret)), f"{now} {person.name}", "EX", self._seconds),
            ("HSET", model.SIGNED_IN, person.name, now),
        )
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
        raw, session, *replies = self._client.ask(*_reads(claim), *commands(claim.name))
        seen_at, _, owner = (session or b"").decode().partition(" ")
        if raw is None or owner != claim.name:
            return None
        person = Record.load(raw).person()
        if person.disabled or str(person.version) != claim.version:
            return None
        now = int(time.time())
        if now - int(seen_at) >= SEEN_SECONDS:
            key = model.session_key(digest(claim.secret))
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
            self._redis.delete(model.session_key(digest(claim.secret)))


def _reads(claim: _SessionCookie) -> Sequence[Command]:
    return (("HGET", model.PEOPLE, claim.name), ("GET", model.session_key(digest(claim.secret))))

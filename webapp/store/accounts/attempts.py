"""Rate limits on failed sign-ins, counted in the server, so that they apply across all web processes.

Only failures count, so that a whole office behind one address may sign in at nine. A name is counted together
with the address that tries it, so that a stranger elsewhere can't lock anybody out.

Wrong codes of the second factor slow the next ones down: by name and address, and later by name alone,
from any address, since an attacker who tries codes already has the password.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.secret import digest
from leaseq.webapp.store.base import Store

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
        with self._client.translating():
            waits = [int(self._redis.ttl(keys.failures(name))) for name, _ in exceeded_counters]
        return self._refusal(max(1, *waits), exceeded_counters)

    def uncount(self, counters: list[Counter]) -> None:
        """Uncount a try that was right."""
        self._add(counters, -1)

    def begin_code(self, name: str, address: str) -> TooManyTries | None:
        """Count a try of a code, which sets when the next may be made, or refuse it."""
        counters, now = _code_counters(name, address), self._clock()

        def count(pipe: Any) -> float:
            entries = [(pipe.get(keys.code_wait(key)) or b"0 0").split() for key, _ in counters]
            wait = max(float(until) for _, until in entries) - now
            pipe.multi()
            if wait <= 0:
                for (key, free_tries), (count_before, _) in zip(counters, entries, strict=True):
                    tries = int(count_before) + 1
                    until = now + _wait_after(tries, free_tries)
                    pipe.set(keys.code_wait(key), f"{tries} {until}", ex=_SLOW_SECONDS)
            return wait

        watched_keys = [keys.code_wait(key) for key, _ in counters]
        with self._client.translating():
            wait: float = self._redis.transaction(count, *watched_keys, value_from_callable=True)
        return self._refusal(math.ceil(wait), counters[:1]) if wait > 0 else None

    def reset_code_counts(self, name: str, address: str) -> None:
        """Reset the count of wrong codes after a right one."""
        with self._client.translating():
            self._redis.delete(*(keys.code_wait(key) for key, _ in _code_counters(name, address)))

    def _refusal(self, seconds: int, counters: list[Counter]) -> TooManyTries:
        with self._client.translating():
            is_first = self._redis.set(keys.refusal_logged(counters[0][0]), 1, ex=WINDOW_SECONDS, nx=True)
        return TooManyTries(seconds, bool(is_first))

    def _add(self, counters: list[Counter], amount: int) -> list[int]:
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            for name, _ in counters:
                pipe.set(keys.failures(name), 0, ex=WINDOW_SECONDS, nx=True)
                pipe.incr(keys.failures(name), amount)
            return [int(count) for count in pipe.execute()[1::2]]

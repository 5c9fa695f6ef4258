"""Failed sign-ins, counted in the server so that all web processes count together.

Only failures count: a whole office behind one address may sign in at nine. A name is counted together
with the address that tries it, so that a stranger can't lock out somebody who is elsewhere. Codes of the
second factor are counted by name alone: who tries them has the password.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from leaseq import Client
from webapp.accounts import keys
from webapp.accounts.secret import digest

WINDOW_SECONDS = 300
PER_NAME = 10
PER_ADDRESS = 60
PER_CODE = 10
Counter = tuple[str, int]
"""What is counted, and up to how many within the window."""


def of_password(name: str, address: str) -> list[Counter]:
    place = _place(address)
    return [(digest(f"name {place} {name}"), PER_NAME), (digest(f"address {place}"), PER_ADDRESS)]


def of_code(name: str) -> list[Counter]:
    return [(digest(f"code {name}"), PER_CODE)]


def _place(address: str) -> str:
    """Whoever has one IPv6 address has all of its network of 64 bits, and could take another for each try."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else address


class Attempts:
    """Fixed windows: a counter that goes with its window. A try counts before it is made and is taken off
    when it was right, so that many at once are no more than the limit either."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._redis: Any = client.redis  # gives bytes, which redis-py's types don't know

    def begin(self, counters: list[Counter]) -> int:
        """Count a try. 0 where it may be made, else how many seconds to wait first."""
        counts = self._add(counters, 1)
        over = [counter for counter, count in zip(counters, counts, strict=True) if count > counter[1]]
        if not over:
            return 0
        self._add(counters, -1)
        with self._client.translating():
            return max(1, *(int(self._redis.ttl(keys.failures(name))) for name, _ in over))

    def forgive(self, counters: list[Counter]) -> None:
        """Take a try off again: it was right."""
        self._add(counters, -1)

    def _add(self, counters: list[Counter], amount: int) -> list[int]:
        with self._client.translating():
            pipe = self._redis.pipeline(transaction=True)
            for name, _ in counters:
                pipe.set(keys.failures(name), 0, ex=WINDOW_SECONDS, nx=True)
                pipe.incr(keys.failures(name), amount)
            return [int(count) for count in pipe.execute()[1::2]]

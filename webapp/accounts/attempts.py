"""Failed sign-ins, counted in the server so that all web processes count together.

Only failures count: a whole office behind one address may sign in at nine. A name is counted together
with the address that tries it, so that a stranger can't lock out somebody who is elsewhere.
"""

from __future__ import annotations

from typing import Any

from leaseq import Client
from webapp.accounts import keys
from webapp.accounts.secret import digest

WINDOW_SECONDS = 300
PER_NAME = 10
PER_ADDRESS = 60


class Attempts:
    """Fixed windows: a counter that goes with its window."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._redis: Any = client.redis  # gives bytes, which redis-py's types don't know

    def wait_seconds(self, name: str, address: str) -> int:
        """How long this address must wait before it may try this name; 0 where it need not."""
        waits = [0]
        for key, most in _counters(name, address):
            with self._client.translating():
                count = int(self._redis.get(key) or 0)
                left = int(self._redis.ttl(key)) if count >= most else 0
            waits.append(left)
        return max(waits)

    def note_failure(self, name: str, address: str) -> None:
        for key, _ in _counters(name, address):
            with self._client.translating():
                pipe = self._redis.pipeline(transaction=True)
                pipe.set(key, 0, ex=WINDOW_SECONDS, nx=True)
                pipe.incr(key)
                pipe.execute()


def _counters(name: str, address: str) -> list[tuple[str, int]]:
    return [
        (keys.failures(digest(f"name {address} {name}")), PER_NAME),
        (keys.failures(digest(f"address {address}")), PER_ADDRESS),
    ]

"""Who is on a break, and since when.

Hash: name -> seconds since the epoch.
"""

from __future__ import annotations

from datetime import UTC, datetime

from leaseq.backup import StoredKeys
from leaseq.webapp.store.base import Store

_KEY = "leaseq:{@breaks}:since"  # no queue can have this name: it has an '@'
_LONGEST_SECONDS = 86_400  # after that, somebody forgot to end it
STORED = (StoredKeys(_KEY, "hash"),)


class Breaks(Store):
    """Breaks block nothing: they only explain why somebody is not working now."""

    def take(self, person: str) -> None:
        """Begin a break, unless the person is already on one."""
        if self.get(person) is None:
            with self._client.translating():
                self._redis.hset(_KEY, person, round(self._clock()))

    def end(self, person: str) -> None:
        with self._client.translating():
            self._redis.hdel(_KEY, person)

    def get(self, person: str) -> datetime | None:
        """When their break began; None if they are not on one."""
        with self._client.translating():
            return self._time(self._redis.hget(_KEY, person))

    def all(self) -> dict[str, datetime]:
        """When each break began, by name."""
        with self._client.translating():
            fields = self._redis.hgetall(_KEY)
        times = {name.decode(): self._time(since) for name, since in fields.items()}
        return {name: since for name, since in times.items() if since is not None}

    def _time(self, raw: bytes | None) -> datetime | None:
        if raw is None or self._clock() - int(raw) > _LONGEST_SECONDS:
            return None
        return datetime.fromtimestamp(int(raw), UTC)

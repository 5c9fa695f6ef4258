"""Who is on a break, and since when.

Hash: name -> seconds since the epoch.
"""

from __future__ import annotations

from datetime import UTC, datetime

from leaseq.backup import StoredKeys
from leaseq.webapp.store.base import Store

_KEY = "leaseq:{@breaks}:since"  # no queue can have this name: it has an '@'
_LONGEST_SECONDS = 86_400  # after that it has been forgotten rather than taken
STORED = (StoredKeys(_KEY, "hash"),)


class Breaks(Store):
    """Breaks hold nothing up: they only say why somebody does not work now."""

    def take(self, person: str) -> None:
        """Begin a break; one that goes on begins no second time."""
        if self.of(person) is None:
            with self._client.translating():
                self._redis.hset(_KEY, person, round(self._clock()))

    def end(self, person: str) -> None:
        with self._client.translating():
            self._redis.hdel(_KEY, person)

    def of(self, person: str) -> datetime | None:
        """Since when they are on a break."""
        with self._client.translating():
            return self._time(self._redis.hget(_KEY, person))

    def all(self) -> dict[str, datetime]:
        """Since when, by name."""
        with self._client.translating():
            fields = self._redis.hgetall(_KEY)
        times = {name.decode(): self._time(since) for name, since in fields.items()}
        return {name: since for name, since in times.items() if since is not None}

    def _time(self, raw: bytes | None) -> datetime | None:
        if raw is None or self._clock() - int(raw) > _LONGEST_SECONDS:
            return None
        return datetime.fromtimestamp(int(raw), UTC)

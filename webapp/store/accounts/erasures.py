"""Erasures of people that have begun: while one goes on, nobody can have the name."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.base import Store


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure that is not finished. What takes the place of the name is known until then only."""

    name: str
    pseudonym: str
    by: str
    began: float  # seconds since the epoch

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


class Erasures(Store):
    def new(self, name: str, by: str) -> Erasure:
        """One with a random pseudonym, not stored yet."""
        return Erasure(name, f"erased-{secrets.token_hex(6)}", by, self._clock())

    def find(self, name: str) -> Erasure | None:
        """The erasure of this name that is not finished."""
        with self._client.translating():
            raw = self._redis.hget(keys.ERASING, name)
        return load_erasure(raw) if raw else None

    def all(self) -> list[Erasure]:
        """Those that are not finished, the oldest first."""
        with self._client.translating():
            records = self._redis.hvals(keys.ERASING)
        return sorted(map(load_erasure, records), key=lambda one: one.began)

    def finish(self, name: str) -> None:
        """Forget it, and its pseudonym: the name is free."""
        with self._client.translating():
            self._redis.hdel(keys.ERASING, name)


def load_erasure(raw: bytes) -> Erasure:
    fields: dict[str, Any] = json.loads(raw)
    return Erasure(**fields)

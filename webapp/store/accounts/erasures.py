"""Erasures of people in progress: until one is finished, nobody can have the name."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.base import Store


@dataclass(frozen=True, slots=True)
class Erasure:
    """An unfinished erasure. The pseudonym, which replaces the name, is stored only until it is finished."""

    name: str
    pseudonym: str
    by: str
    began: float  # seconds since the epoch

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


class Erasures(Store):
    def new(self, name: str, by: str) -> Erasure:
        """An erasure with a random pseudonym, not stored yet."""
        return Erasure(name, f"erased-{secrets.token_hex(6)}", by, self._clock())

    def find(self, name: str) -> Erasure | None:
        """The unfinished erasure of this name."""
        with self._client.translating():
            raw = self._redis.hget(keys.ERASING, name)
        return load_erasure(raw) if raw else None

    def all(self) -> list[Erasure]:
        """The unfinished erasures, the oldest first."""
        with self._client.translating():
            records = self._redis.hvals(keys.ERASING)
        return sorted(map(load_erasure, records), key=lambda one: one.began)

    def finish(self, name: str) -> None:
        """Delete the erasure with its pseudonym, which frees the name."""
        with self._client.translating():
            self._redis.hdel(keys.ERASING, name)


def load_erasure(raw: bytes) -> Erasure:
    fields: dict[str, Any] = json.loads(raw)
    return Erasure(**fields)

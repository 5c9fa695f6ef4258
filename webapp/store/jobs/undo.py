"""The values that an act on many items replaced, kept for an hour, so that it can be undone.

Hash, per act: item id -> JSON of its values before and after.
Sorted set, per queue: the ids of the latest acts, by when they began.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from leaseq.backup import LeftOut
from leaseq.webapp.store.base import KeyPrefix, Store

MAX_ITEMS = 10_000
"""An act on more items is not kept."""
MAX_ACTS = 20  # per queue: the latest
KEPT_SECONDS = 3_600
_BASE = "leaseq:{@undo}:"  # no queue can have this name: it has an '@'
_key = KeyPrefix(_BASE + "act:")  # by queue and act
_latest_key = KeyPrefix(_BASE + "latest:")  # by queue
STORED = (LeftOut(_BASE + "*", "what a manager did can be undone for an hour"),)


@dataclass(frozen=True, slots=True)
class Changed:
    """An item, with the values that an act replaced, and the new ones."""

    id: str
    before: dict[str, Any]
    after: dict[str, Any]


class UndoStore(Store):
    """The latest acts of each queue."""

    def begin(self, queue: str) -> str:
        """A new act; returns its id. If the queue has too many, the oldest is forgotten."""
        id = secrets.token_urlsafe(9)
        key = _latest_key(queue)
        self._client.ask(("ZADD", key, self._clock(), id), ("EXPIRE", key, KEPT_SECONDS))
        for old_id in self._latest(queue)[:-MAX_ACTS]:
            self._forget(queue, old_id)
        return id

    def add(self, queue: str, id: str, changed: Sequence[Changed], *, earlier: int) -> None:
        """Keep the values of one step; ``earlier``: how many items the earlier steps changed."""
        if earlier + len(changed) > MAX_ITEMS or id not in self._latest(queue):
            self._forget(queue, id)
        elif changed:
            key = _key(queue, id)
            pairs = [(item.id, json.dumps([item.before, item.after])) for item in changed]
            self._client.ask(("HSET", key, *chain.from_iterable(pairs)), ("EXPIRE", key, KEPT_SECONDS))

    def count(self, queue: str, id: str) -> int:
        """How many items can be put back; 0 if the act is not kept."""
        return int(self._redis.hlen(_key(queue, id)))

    def some(self, queue: str, id: str, count: int) -> list[Changed]:
        """Some items of an act, in no order."""
        cursor, fields = self._redis.hscan(_key(queue, id), count=count)
        while cursor and not fields:
            cursor, fields = self._redis.hscan(_key(queue, id), cursor, count=count)
        return [Changed(name.decode(), *json.loads(values)) for name, values in islice(fields.items(), count)]

    def settle(self, queue: str, id: str, ids: Iterable[str]) -> None:
        """Forget these items of an act."""
        self._client.ask(("HDEL", _key(queue, id), *ids))

    def forget_queue(self, queue: str) -> None:
        """Forget the acts of a queue that is deleted."""
        for id in self._latest(queue):
            self._forget(queue, id)
        self._client.ask(("UNLINK", _latest_key(queue)))

    def forget_person(self, _name: str) -> None:
        """Forget all acts: each of them may name the person."""
        for keys in self._keys_like(_BASE + "*"):
            self._client.ask(*(("UNLINK", key) for key in keys))

    def _latest(self, queue: str) -> list[str]:
        return [id.decode() for id in self._redis.zrange(_latest_key(queue), 0, -1)]

    def _forget(self, queue: str, id: str) -> None:
        self._client.ask(("UNLINK", _key(queue, id)), ("ZREM", _latest_key(queue), id))

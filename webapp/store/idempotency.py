"""Idempotency store: responses to requests with an ``Idempotency-Key``, for when they are repeated.

It is in the server next to the accounts: it survives restarts, and all web processes share it. Each person's
responses are kept for a day, up to limits, above which the oldest are deleted.
"""

from __future__ import annotations

import base64
import json
import logging
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leaseq import Client, LeaseqError
from leaseq.backup import LeftOut
from leaseq.webapp.store.accounts.model import digest
from leaseq.webapp.store.base import MARKED_SECONDS, Locks, Store

log = logging.getLogger(__name__)

KEPT_SECONDS = 86_400
MAX_RESPONSES = 10_000  # responses for one person
MAX_BYTES = 8_388_608  # of one person's responses, compressed
MAX_RESPONSE_BYTES = 1_048_576  # of one response, compressed
_BATCH = 100
_BASE = "leaseq:{@sent:"
STORED = (LeftOut(_BASE + "*", "a request is repeated within minutes"),)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A stored response. ``body`` is None if it was too long or must not be stored."""

    hash: str  # of the request's body
    status: int
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class InProgress:
    """The first request is still in progress. ``hash`` is '' while its body is being read."""

    hash: str


class IdempotencyStore(Store):
    """Stores, by person and scope, a digest of the request, and its response."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(client, clock=clock)
        self._locks = Locks(client)

    def begin(self, person: str, scope: str, hash: str) -> StoredResponse | InProgress | None:
        """Return None if the request may proceed, as the only one until `keep`, `drop` or `end`, or this
        process's death. Else return the state of the first request."""
        base = _base(person)
        mark = f"{base}running:{scope}"
        pipe = self._redis.pipeline(transaction=True)
        pipe.get(f"{base}answer:{scope}")
        pipe.set(mark, hash, ex=MARKED_SECONDS, nx=True, get=True)
        record, running_hash = pipe.execute()
        if record is not None:
            return _read(record)
        if running_hash is not None:
            return InProgress(running_hash.decode())
        self._locks.add(mark)
        return None

    def end(self, person: str, scope: str) -> None:
        """Release the request's lock, whatever its outcome."""
        self._locks.end(f"{_base(person)}running:{scope}")

    def drop(self, person: str, scope: str) -> None:
        """Forget a request that was refused and changed nothing, so that its key may be used again."""
        self._log_errors(lambda: self._redis.delete(f"{_base(person)}running:{scope}"))

    def keep(self, person: str, scope: str, answer: StoredResponse) -> None:
        """Store the response. Never raises because of the server: the request has been processed."""
        self._log_errors(lambda: self._keep(_base(person), scope, _write(answer)))

    def of_person(self, person: str) -> list[float]:
        """The time when each of a person's stored responses was sent, in seconds since the epoch."""
        return [at for _, at in self._redis.zrange(f"{_base(person)}kept", 0, -1, withscores=True)]

    def forget_person(self, person: str) -> None:
        """Delete a person's stored responses."""
        base = _base(person)
        while members := self._redis.zrange(f"{base}kept", 0, _BATCH - 1):
            self._redis.delete(*(f"{base}answer:{member.decode().partition(' ')[0]}" for member in members))
            self._redis.zrem(f"{base}kept", *members)
        self._redis.delete(f"{base}bytes")

    def _keep(self, base: str, scope: str, record: bytes) -> None:
        index_key, total_key, size = f"{base}kept", f"{base}bytes", len(record)
        pipe = self._redis.pipeline(transaction=True)
        pipe.zadd(index_key, {f"{scope} {size}": self._clock()})
        pipe.incrby(total_key, size)
        pipe.set(f"{base}answer:{scope}", record, ex=KEPT_SECONDS, get=True)
        pipe.delete(f"{base}running:{scope}")
        pipe.expire(index_key, KEPT_SECONDS)
        pipe.expire(total_key, KEPT_SECONDS)
        pipe.zcard(index_key)
        pipe.zrange(index_key, 0, 0, withscores=True)
        is_new, bytes_kept, old_record, *_, count, oldest = pipe.execute()
        # Two may run at the same time if the first took too long: the later response counts.
        if not is_new:  # the other has the same length
            bytes_kept = self._redis.decrby(total_key, size)
        elif old_record is not None and self._redis.zrem(index_key, f"{scope} {len(old_record)}"):
            bytes_kept, count = self._redis.decrby(total_key, len(old_record)), count - 1
        if count > MAX_RESPONSES or bytes_kept > MAX_BYTES or oldest[0][1] < self._clock() - KEPT_SECONDS:
            self._trim(base, count, bytes_kept)

    def _trim(self, base: str, count: int, bytes_kept: int) -> None:
        """Delete the oldest responses until the rest is within the limits, and those older than a day."""
        cutoff = self._clock() - KEPT_SECONDS
        for member, at in self._redis.zrange(f"{base}kept", 0, _BATCH - 1, withscores=True):
            if at >= cutoff and count <= MAX_RESPONSES and bytes_kept <= MAX_BYTES:
                return
            scope, size = member.decode().split(" ")
            if self._redis.zrem(f"{base}kept", member):
                # It may have expired after its day, and been replaced by a newer one.
                if len(self._redis.get(f"{base}answer:{scope}") or b"") == int(size):
                    self._redis.delete(f"{base}answer:{scope}")
                self._redis.decrby(f"{base}bytes", size)
            count, bytes_kept = count - 1, bytes_kept - int(size)

    def _log_errors(self, act: Callable[[], Any]) -> None:
        try:
            act()
        except LeaseqError:
            log.warning("the response to a request with an idempotency key was not kept", exc_info=True)


def _base(person: str) -> str:
    """All of a person's keys are in one slot of a cluster, and no queue can have this name: it has an '@'.

    kept     sorted set: "scope size" of each response, by when it was sent
    bytes    string: the sum of these sizes
    answer:  string: the response (below)
    running: string: the hash of a request in progress
    """
    return _BASE + digest(person)[:32] + "}:"


def _write(answer: StoredResponse) -> bytes:
    def packed(body: bytes | None) -> bytes:
        text = None if body is None else base64.b85encode(zlib.compress(body)).decode()
        return json.dumps([answer.hash, answer.status, dict(answer.headers), text]).encode()

    record = packed(answer.body)
    return record if len(record) <= MAX_RESPONSE_BYTES else packed(None)


def _read(record: bytes) -> StoredResponse:
    hash, status, headers, text = json.loads(record)
    body = None if text is None else zlib.decompress(base64.b85decode(text))
    return StoredResponse(hash, status, headers, body)

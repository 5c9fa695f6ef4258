"""Open calls: the streams, waits and exports that a person has open, counted over all web processes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from leaseq import LeaseqError
from leaseq.backup import LeftOut
from leaseq.webapp.store.base import KeyPrefix, Store

Kind = Literal["streams", "waits", "exports"]
MAX_OPEN: dict[Kind, int] = {"streams": 10, "waits": 4, "exports": 4}
COUNTED_SECONDS = 60.0
"""How long an open call counts unless it is confirmed; a killed process confirms none."""
_CONFIRM_SECONDS = 20.0
_key = KeyPrefix("leaseq:{@open}:")  # by kind and person
STORED = (LeftOut(_key("*"), "the calls end with the web processes"),)


class TooManyOpen(LeaseqError):
    """The person has the maximum number of this kind open."""

    def __init__(self, kind: Kind) -> None:
        self.tell("too_many", what="open", maximum=MAX_OPEN[kind], kind=kind)
        self.kind = kind


class OpenCall:
    """One stream, wait or export."""

    def __init__(
        self, write: Callable[[], object], end: Callable[[], object], clock: Callable[[], float]
    ) -> None:
        self._write, self._end, self._clock = write, end, clock
        self._confirmed_at = clock()
        self._has_ended = False

    def confirm(self) -> None:
        """Let it count for another minute, unless it has ended. This may be called at any rate."""
        if not self._has_ended and self._clock() - self._confirmed_at >= _CONFIRM_SECONDS:
            self._confirmed_at = self._clock()
            self._write()

    def end(self) -> None:
        """Stop counting it, even if the poller still confirms it once."""
        self._has_ended = True
        self._end()


class OpenCalls(Store):
    """Open calls of all people. Each kind of each person is a sorted set: the calls, by when they stop
    counting."""

    def begin(self, kind: Kind, person: str) -> OpenCall:
        """Count one more. Raises TooManyOpen if that is too many."""
        key, id = _key(kind, person), secrets.token_urlsafe(9)
        if self._count(key, id) > MAX_OPEN[kind]:
            self._end(key, id)
            raise TooManyOpen(kind)
        return OpenCall(lambda: self._count(key, id), lambda: self._end(key, id), self._clock)

    def online(self, people: Sequence[str]) -> set[str]:
        """Those of these people who have a page open that is told of changes, or wait for an item."""
        kinds: tuple[Kind, ...] = ("streams", "waits")
        now = self._clock()
        commands = [("ZCOUNT", _key(kind, person), now, "+inf") for person in people for kind in kinds]
        counts = self._client.ask(*commands) if commands else []
        places = range(0, len(counts), len(kinds))
        return {
            person
            for person, place in zip(people, places, strict=True)
            if any(counts[place : place + len(kinds)])
        }

    def forget_person(self, person: str) -> None:
        self._client.ask(*(("UNLINK", _key(kind, person)) for kind in MAX_OPEN))

    @contextmanager
    def track(self, kind: Kind, person: str) -> Iterator[None]:
        """Count one more during the ``with`` block."""
        call = self.begin(kind, person)
        try:
            yield
        finally:
            call.end()

    def _count(self, key: str, id: str) -> int:
        now = self._clock()
        pipe = self._redis.pipeline(transaction=True)
        pipe.zadd(key, {id: now + COUNTED_SECONDS})
        pipe.zremrangebyrank(key, 0, -100)  # limits calls that were never ended
        pipe.expire(key, int(COUNTED_SECONDS))
        pipe.zcount(key, now, "+inf")
        return int(pipe.execute()[-1])

    def _end(self, key: str, id: str) -> None:
        with suppress(LeaseqError):  # it stops counting anyway
            self._redis.zrem(key, id)

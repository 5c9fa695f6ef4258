"""What clients called and what they were answered, with the times of both: the evidence that is judged."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import leaseq
from leaseq import NewItem

What = Literal["enqueue", "reserve", "finish", "abandon", "fail", "renew", "release"]
Outcome = Literal["ok", "lost", "gone", "refused", "unknown"]
"""``unknown``: no answer came, so it may have happened, now or a little later, or not at all."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What a client was told of a lease."""

    id: str
    token: int
    person: str
    expires: float  # the server's wall clock
    attempt: int

    @classmethod
    def of(cls, lease: leaseq.Lease) -> Granted:
        return cls(lease.id, lease.token, lease.person, lease.expires_at.timestamp(), lease.attempt)


@dataclass(slots=True)
class Call:
    """One call. Times are seconds of this machine's wall clock, which is the servers' clock too."""

    what: What
    person: str = ""
    id: str = ""  # of the item; '' for a reserve
    token: int = 0
    result: Any = None
    start: float = 0.0
    end: float = 0.0
    outcome: Outcome = "unknown"
    added: bool = False  # enqueue
    late: bool = False  # finish
    replayed: bool = False  # finish
    kept: bool = False  # finish, lost
    granted: Granted | None = None  # reserve, renew, and a finish that reserves
    reserves: bool = False  # whether it may have granted an item: reserve, and a finish that reserves
    until: float = 0.0  # fail: when it is tried again; 0: dead


@dataclass
class History:
    """All calls of a run, from all threads, in the order in which they ended."""

    seed: int
    calls: list[Call] = field(default_factory=list)
    grants: int = 0  # calls that were answered with a lease
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def calling(self, call: Call) -> Iterator[Call]:
        """Record a call with what came of it. A refusal is swallowed: it is in the record; ServerUnavailable
        is raised, for the caller to wait."""
        call.start = time.time()
        try:
            yield call
            call.outcome = "ok"
        except leaseq.LeaseLost as lost:
            call.outcome, call.kept = "lost", lost.answer_kept
        except (leaseq.ItemNotFound, leaseq.QueueNotFound):  # a power cut may take the whole queue
            call.outcome = "gone"
        except leaseq.Invalid:
            call.outcome = "refused"
        except leaseq.ServerRefused:
            call.outcome = "unknown"  # a script that broke off has done a part
        finally:
            call.end = time.time()
            with self._lock:
                self.calls.append(call)
                self.grants += call.granted is not None

    def of(self, *what: What) -> list[Call]:
        return [call for call in self.calls if call.what in what]

    def written(self) -> str:
        """A line of JSON a call, to look at where a run has failed."""
        rows = ({name: getattr(call, name) for name in Call.__slots__} for call in self.calls)
        return "\n".join(json.dumps(row, default=_plain) for row in rows)


def _plain(value: object) -> object:
    if isinstance(value, Granted):
        return [value.id, value.token, value.person, value.expires, value.attempt]
    return value.isoformat() if isinstance(value, datetime) else str(value)


class Recorder:
    """A queue whose calls are recorded. It calls the library as a program would."""

    def __init__(self, queue: leaseq.Queue, history: History) -> None:
        self.queue = queue
        self.history = history

    def enqueue(self, id: str, payload: Any) -> Call:
        with self.history.calling(Call("enqueue", id=id)) as call:
            call.added = self.queue.enqueue(payload, id=id).added
        return call

    def fill(self, ids: Iterable[str]) -> None:
        """Put in many new items at once, while nothing goes wrong."""
        start, all_ids = time.time(), list(ids)
        assert self.queue.enqueue_many(NewItem({}, id=id) for id in all_ids).duplicates == 0
        times: dict[str, Any] = {"start": start, "end": time.time()}
        self.history.calls.extend(Call("enqueue", id=id, outcome="ok", added=True, **times) for id in all_ids)

    def reserve(self, person: str, **more: Any) -> leaseq.Lease | None:
        lease = None
        with self.history.calling(Call("reserve", person, reserves=True)) as call:
            lease = self.queue.reserve(person, **more)
            call.granted = Granted.of(lease) if lease else None
        return lease

    def finish(
        self, lease: leaseq.Lease, result: Any, *, then: bool = False
    ) -> tuple[Call, leaseq.Lease | None]:
        following = None
        with self.history.calling(self._of("finish", lease, result=result, reserves=then)) as call:
            done = self.queue.finish(lease, result, then_reserve=then)
            call.late, call.replayed, following = done.late, done.replayed, done.next
            call.granted = Granted.of(following) if following else None
        return call, following

    def abandon(self, lease: leaseq.Lease) -> Call:
        with self.history.calling(self._of("abandon", lease)) as call:
            self.queue.abandon(lease)
        return call

    def fail(self, lease: leaseq.Lease) -> Call:
        with self.history.calling(self._of("fail", lease)) as call:
            at = self.queue.fail(lease, "broken").retry_at
            call.until = at.timestamp() if at else 0.0
        return call

    def renew(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        renewed = None
        with self.history.calling(self._of("renew", lease)) as call:
            renewed = self.queue.renew(lease)
            call.granted = Granted.of(renewed)
        return renewed

    @staticmethod
    def _of(what: What, lease: leaseq.Lease, **more: Any) -> Call:
        return Call(what, lease.person, lease.id, lease.token, **more)

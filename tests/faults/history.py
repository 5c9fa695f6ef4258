"""The calls of clients and their replies, with start and end times: the evidence for the judge."""

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

CallKind = Literal["enqueue", "reserve", "finish", "abandon", "fail", "renew", "release"]
Outcome = Literal["ok", "lost", "gone", "refused", "unknown"]
"""``unknown``: there was no reply; the call may have taken effect, now or a little later, or not at all."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease as a client received it."""

    id: str
    token: int
    person: str
    expires: float  # by the server's wall clock
    attempt: int

    @classmethod
    def of(cls, lease: leaseq.Lease) -> Grant:
        return cls(lease.id, lease.token, lease.person, lease.expires_at.timestamp(), lease.attempt)


@dataclass(slots=True)
class Call:
    """One call. Times are in seconds of this machine's wall clock, which is the servers' clock too."""

    kind: CallKind
    person: str = ""
    id: str = ""  # the item's id; '' for a reserve
    token: int = 0
    result: Any = None
    start: float = 0.0
    end: float = 0.0
    outcome: Outcome = "unknown"
    added: bool = False  # enqueue
    late: bool = False  # finish
    replayed: bool = False  # finish
    answer_kept: bool = False  # finish with outcome "lost"
    grant: Grant | None = None  # for reserve, renew, and finish with then_reserve
    reserves: bool = False  # whether it may grant an item: reserve, and finish with then_reserve
    retry_at: float = 0.0  # fail: when the item is tried again; 0: it is dead


@dataclass
class History:
    """All calls of a run, from all threads, in the order in which they ended."""

    seed: int
    calls: list[Call] = field(default_factory=list)
    grants: int = 0  # calls that returned a lease
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def record(self, call: Call) -> Iterator[Call]:
        """Record a call and its outcome. Refusals are only recorded, not raised; ServerUnavailable is raised,
        so that the caller can wait."""
        call.start = time.time()
        try:
            yield call
            call.outcome = "ok"
        except leaseq.LeaseLost as error:
            call.outcome, call.answer_kept = "lost", error.answer_kept
        except (leaseq.ItemNotFound, leaseq.QueueNotFound):  # a power cut can lose the whole queue
            call.outcome = "gone"
        except leaseq.Invalid:
            call.outcome = "refused"
        except leaseq.ServerRefused:
            call.outcome = "unknown"  # an interrupted script may have done a part
        finally:
            call.end = time.time()
            with self._lock:
                self.calls.append(call)
                self.grants += call.grant is not None

    def calls_of(self, *kinds: CallKind) -> list[Call]:
        return [call for call in self.calls if call.kind in kinds]

    def to_json_lines(self) -> str:
        """Return a line of JSON for each call, to examine a failed run."""
        rows = ({name: getattr(call, name) for name in Call.__slots__} for call in self.calls)
        return "\n".join(json.dumps(row, default=_plain) for row in rows)


def _plain(value: object) -> object:
    if isinstance(value, Grant):
        return [value.id, value.token, value.person, value.expires, value.attempt]
    return value.isoformat() if isinstance(value, datetime) else str(value)


class Recorder:
    """A queue whose calls are recorded. It calls the library as a program would."""

    def __init__(self, queue: leaseq.Queue, history: History) -> None:
        self.queue = queue
        self.history = history

    def enqueue(self, id: str, payload: Any) -> Call:
        with self.history.record(Call("enqueue", id=id)) as call:
            call.added = self.queue.enqueue(payload, id=id).added
        return call

    def fill(self, ids: Iterable[str]) -> None:
        """Enqueue many new items in one call, while there are no faults."""
        start, all_ids = time.time(), list(ids)
        assert self.queue.enqueue_many(NewItem({}, id=id) for id in all_ids).duplicates == 0
        times: dict[str, Any] = {"start": start, "end": time.time()}
        self.history.calls.extend(Call("enqueue", id=id, outcome="ok", added=True, **times) for id in all_ids)

    def reserve(self, person: str, **options: Any) -> leaseq.Lease | None:
        lease = None
        with self.history.record(Call("reserve", person, reserves=True)) as call:
            lease = self.queue.reserve(person, **options)
            call.grant = Grant.of(lease) if lease else None
        return lease

    def finish(
        self, lease: leaseq.Lease, result: Any, *, then_reserve: bool = False
    ) -> tuple[Call, leaseq.Lease | None]:
        next_lease = None
        with self.history.record(
            self._call_of("finish", lease, result=result, reserves=then_reserve)
        ) as call:
            confirmation = self.queue.finish(lease, result, then_reserve=then_reserve)
            call.late, call.replayed, next_lease = confirmation.late, confirmation.replayed, confirmation.next
            call.grant = Grant.of(next_lease) if next_lease else None
        return call, next_lease

    def abandon(self, lease: leaseq.Lease) -> Call:
        with self.history.record(self._call_of("abandon", lease)) as call:
            self.queue.abandon(lease)
        return call

    def fail(self, lease: leaseq.Lease) -> Call:
        with self.history.record(self._call_of("fail", lease)) as call:
            retry_at = self.queue.fail(lease, "broken").retry_at
            call.retry_at = retry_at.timestamp() if retry_at else 0.0
        return call

    def renew(self, lease: leaseq.Lease) -> leaseq.Lease | None:
        renewed_lease = None
        with self.history.record(self._call_of("renew", lease)) as call:
            renewed_lease = self.queue.renew(lease)
            call.grant = Grant.of(renewed_lease)
        return renewed_lease

    @staticmethod
    def _call_of(kind: CallKind, lease: leaseq.Lease, **fields: Any) -> Call:
        return Call(kind, lease.person, lease.id, lease.token, **fields)

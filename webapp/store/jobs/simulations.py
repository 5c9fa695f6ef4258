"""Simulations: simulated people who work on a queue for a few minutes, one run per queue at a time.

A run is in one web process. Every process can read its progress here, and end it.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq.backup import LeftOut
from leaseq.simulation import Outcome, Plan
from leaseq.webapp.store.base import KeyPrefix, Store

_BASE = "leaseq:{@simulations}:"  # no queue can have this name: it has an '@'
_key = KeyPrefix(_BASE + "run:")  # hash, by queue: the record of the latest run
_running_key = KeyPrefix(_BASE + "running:")  # string, by queue: the id of the run, while it is running
SILENT_SECONDS = 15
"""A run whose process has not reported for this long counts as ended."""
_KEPT_SECONDS = 86_400
STORED = (
    LeftOut(_key("*"), "a simulation ends within minutes, and with its process"),
    LeftOut(_running_key("*"), "it is there while a simulation runs"),
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """The latest run of a queue."""

    by: str
    began: datetime
    plan: Plan
    outcome: Outcome
    running: bool
    error: str = ""  # what ended it
    lease: float | None = None  # seconds, the queue's own; None if the run did not change it
    trial_lease: float | None = None  # what the run set instead


class Simulations(Store):
    """The latest run of each queue."""

    def begin(self, queue: str, by: str, plan: Plan, leases: tuple[float, float] | None = None) -> str | None:
        """Record a new run; returns its id, or None while another one is running. ``leases``: the queue's own
        lease time, to be restored after the run, and the one that the run sets."""
        id = secrets.token_urlsafe(9)
        record = {
            "by": by,
            "began": datetime.fromtimestamp(self._clock(), UTC).isoformat(),
            "plan": json.dumps(asdict(plan)),
            "outcome": json.dumps(asdict(Outcome(0))),
            "why": "",
            "leases": json.dumps(leases),
        }
        if not self._redis.set(_running_key(queue), id, nx=True, ex=SILENT_SECONDS):
            return None
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(_key(queue), mapping=record)
        pipe.expire(_key(queue), _KEPT_SECONDS)
        pipe.execute()
        return id

    def report(self, queue: str, id: str, outcome: Outcome) -> bool:
        """Store the run's progress; returns whether to continue it."""
        if self._redis.get(_running_key(queue)) != id.encode():
            return False
        self._redis.expire(_running_key(queue), SILENT_SECONDS)
        self._redis.hset(_key(queue), "outcome", json.dumps(asdict(outcome)))
        return True

    def end(self, queue: str, id: str, outcome: Outcome | None, why: str = "") -> None:
        """Store the end of a run, and the error that ended it, if any."""
        fields = {"why": why} | ({"outcome": json.dumps(asdict(outcome))} if outcome else {})
        running_id = self._redis.get(_running_key(queue))
        if running_id in (None, id.encode()):  # else another run has begun since this one was stopped
            self._redis.hset(_key(queue), mapping=fields)
        if running_id == id.encode():
            self._redis.delete(_running_key(queue))

    def mark_restored(self, queue: str) -> None:
        """Record that the queue has its own lease time again."""
        self._redis.hset(_key(queue), "leases", "null")

    def stop(self, queue: str) -> None:
        """End the run, if there is one: its process reads this within a second."""
        self._redis.delete(_running_key(queue))

    def latest(self, queue: str) -> Simulation | None:
        pipe = self._redis.pipeline(transaction=True)
        pipe.hgetall(_key(queue))
        pipe.exists(_running_key(queue))
        fields, is_running = pipe.execute()
        if b"by" not in fields:
            return None  # or its record was deleted while it ran
        record: dict[str, Any] = {name.decode(): value.decode() for name, value in fields.items()}
        return Simulation(
            record["by"],
            datetime.fromisoformat(record["began"]),
            Plan(**json.loads(record["plan"])),
            Outcome(**json.loads(record["outcome"])),
            bool(is_running),
            record["why"],
            *(json.loads(record.get("leases", "null")) or ()),
        )

    def rename_person(self, person: str, to: str) -> None:
        """Replace the name of a person who started a run."""
        for key in self._hashes_where(_key("*"), "by", person):
            self._client.ask(("HSET", key, "by", to))

    def forget_queue(self, queue: str) -> None:
        """Delete the run of a queue that is deleted, and end it if it is running."""
        self._client.ask(("UNLINK", _running_key(queue)), ("UNLINK", _key(queue)))

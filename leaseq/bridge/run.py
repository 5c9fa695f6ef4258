"""The loop of the bridge: archives, passes changes on, and fills queues, until it is stopped."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from sqlalchemy import Engine

import leaseq
from leaseq.bridge import registry, schema
from leaseq.bridge.archiver import FOLLOWER, Archiver
from leaseq.bridge.database import DatabaseRefused, DatabaseUnavailable, listening, transaction
from leaseq.bridge.migrator import BY, Migrator
from leaseq.bridge.registry import Window
from leaseq.bridge.statements import statements_on
from leaseq.bridge.tables import CHANNEL
from leaseq.errors import ServerUnavailable
from leaseq.followers import Loop, Wait

Part = Literal["migrate", "archive"]
PARTS: tuple[Part, ...] = get_args(Part)

_POLL_SECONDS = 0.2  # between two checks for work
_NAMES_SECONDS = 3.0  # between two checks for new queues
_HEARTBEAT_SECONDS = 5.0  # between two heartbeats

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a bridge."""

    window: Window
    queues: tuple[str, ...] = ()  # empty: all that the database has items of, or had
    parts: tuple[Part, ...] = PARTS
    keep_finished_seconds: float = 3600  # for queues whose policy keeps them permanently
    keep_events: int = 100_000  # archived events that a queue's journal keeps


class Bridge:
    """A process that works on all queues in turn. Several bridges on one database share the work."""

    def __init__(
        self,
        client: leaseq.Client,
        engine: Engine,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._engine = engine
        self._settings = settings
        self._clock = clock
        self._migrator = Migrator(engine, settings.window)
        self._archiver = Archiver(engine, settings.keep_events)
        self._name = secrets.token_hex(8)
        self._names: list[str] = []
        self._next_names_check = -math.inf
        self._next_heartbeats: dict[str, float] = {}
        self._lost_queues: set[str] = set()  # already logged
        self._is_checked = self._is_checking = False  # whether the tables have this version
        self._loop = Loop(
            "the bridge",
            self._queues,
            self._work_on,
            log,
            pause=_POLL_SECONDS,
            outages=(ServerUnavailable, DatabaseUnavailable),
            is_fatal=self._is_fatal,
            clock=clock,
        )

    def run(self, stop: threading.Event) -> None:
        """Run until ``stop`` is set. While the server or the database is unavailable, retry.

        Raises DatabaseRefused if the tables have another version.
        """
        self._loop.run(stop, partial(self._waiting, stop))

    def step(self) -> bool:
        """Work on each queue once, and return whether there was anything to do."""
        return self._loop.round()

    def _is_fatal(self, error: Exception) -> bool:
        has_wrong_tables = self._is_checking and isinstance(error, DatabaseRefused)
        return has_wrong_tables or isinstance(error, registry.WindowConflict)

    def _work_on(self, name: str) -> int:
        queue = leaseq.Queue(self._client, name)
        if self._is_lost(queue):
            return 0
        self._send_heartbeat(queue)
        count = 0
        if "archive" in self._settings.parts:
            count += self._archiver.archive(queue)
        if "migrate" in self._settings.parts:
            self._migrator.change(queue)
            count += self._migrator.fill(queue)
        return count

    def _is_lost(self, queue: leaseq.Queue) -> bool:
        """Whether the server lost a queue that was archived before. Filling it again would grant the same
        tokens a second time."""
        if queue.exists():
            self._lost_queues.discard(queue.name)
            return False
        if queue.name in self._lost_queues:
            return True
        with statements_on(self._engine, queue.name) as statements:
            is_lost = statements.lock() is not None
        if is_lost:
            self._lost_queues.add(queue.name)
            log.warning(
                "queue %s: the server has lost it, and the bridge skips it: run `leaseq bridge rebuild %s`",
                queue.name,
                queue.name,
            )
        self._next_heartbeats.pop(queue.name, None)
        return is_lost

    def _queues(self) -> Sequence[str]:
        if self._settings.queues:
            return self._settings.queues
        if self._clock() >= self._next_names_check:
            with transaction(self._engine) as connection:
                registry.refuse_unusable_queues(connection)
                self._names = registry.queues(connection)
            self._next_names_check = self._clock() + _NAMES_SECONDS
        return self._names

    def _send_heartbeat(self, queue: leaseq.Queue) -> None:
        """Send a heartbeat every few seconds, and prepare the queue the first time."""
        due = self._next_heartbeats.get(queue.name)
        if due is not None and self._clock() < due:
            return
        with statements_on(self._engine, queue.name) as statements:
            registry.register(statements, self._name, self._settings.window)
            if due is None:
                registry.save_policy(statements, self._prepare(queue))
                registry.save_pause(statements, queue.stats().paused)
        self._next_heartbeats[queue.name] = self._clock() + _HEARTBEAT_SECONDS

    def _prepare(self, queue: leaseq.Queue) -> leaseq.Policy:
        """Return the queue's policy, changed if it would keep finished items in the server permanently."""
        policy = queue.find_policy()
        if policy is None or policy.keep_finished_seconds is None:
            seconds = self._settings.keep_finished_seconds
            log.warning(
                "queue %s: finished items are kept for %g seconds, then in SQL only", queue.name, seconds
            )
            policy = queue.configure(keep_finished_seconds=seconds, by=BY)
        if "archive" in self._settings.parts:
            queue.follow(FOLLOWER)
        return policy

    @contextmanager
    def _waiting(self, stop: threading.Event) -> Iterator[Wait]:
        """Yield a function that waits for a short time, or until PostgreSQL announces new rows."""
        self._is_checking = not self._is_checked
        if self._is_checking:
            schema.check(self._engine)
        self._is_checked, self._is_checking = True, False
        if self._engine.dialect.name != "postgresql" or "migrate" not in self._settings.parts:
            yield stop.wait
            return
        with listening(self._engine, CHANNEL) as wait:
            yield wait

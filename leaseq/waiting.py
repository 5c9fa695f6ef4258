"""Waiting for an item: a place in the queue's line, and a wake-up when it is one's turn.

The line is kept in the server, so it holds across processes; the scripts that put an item on a shelf
take the first of the line out of it and publish who that is. Each client that waits listens on one
connection of its own. A message that was lost costs little: everybody who waits also looks by
themselves every second or two, and when the first lease may run out.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from leaseq.errors import LeaseqError
from leaseq.keys import CHANNELS
from leaseq.model import Lease

_LOOK_AGAIN = (1.0, 2.0)  # seconds, at random between: not all at once
_LINGER = 5.0  # seconds that the listener stays when nobody waits any more

Attempt = Callable[[str, bool], Lease | float]
"""One try: given the waiter and whether they were woken, the lease, or in how many seconds to look again."""


class Waiter:
    """One call that waits. ``woken`` is set when it is its turn."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.woken = threading.Event()


class Listener:
    """Hears for one client whose turn it is. Its thread lives while somebody waits, and a little longer."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis
        self.reset()
        _listeners.add(self)

    def reset(self) -> None:
        """Begin anew. In a fork's child the thread, its connection and those who wait are the parent's."""
        self._lock = threading.Lock()
        self._waiters: dict[str, Waiter] = {}
        self._listening = threading.Event()
        self._thread: threading.Thread | None = None
        self._process = secrets.token_hex(6)
        self._number = 0
        self.closed = False

    def join(self) -> Waiter:
        with self._lock:
            self._number += 1
            waiter = Waiter(f"{self._process}.{self._number}")
            self._waiters[waiter.name] = waiter
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="leaseq-waiting", daemon=True)
                self._thread.start()
        self._listening.wait(1)  # not to miss the first message; it is no matter if one is missed
        return waiter

    def leave(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.pop(waiter.name, None)

    def close(self) -> None:
        """Whoever waits gets nothing now, and nobody waits any more."""
        with self._lock:
            self.closed = True
            for waiter in self._waiters.values():
                waiter.woken.set()

    def _live(self) -> None:
        while True:
            try:
                self._listen()
            except Exception:  # noqa: BLE001 - redis-py's errors, or what its reader raises on a closed socket
                time.sleep(random.uniform(0.1, 0.5))  # noqa: S311 - not all at once
            finally:
                self._listening.clear()
            with self._lock:
                if not self._waiters:
                    self._thread = None
                    return

    def _listen(self) -> None:
        """Until nobody has waited for a while, or the link breaks."""
        quiet_since = time.monotonic()
        pubsub: Any = self._redis.pubsub()
        try:
            pubsub.psubscribe(CHANNELS)
            while True:
                message = pubsub.get_message(timeout=1.0)
                if message and message["type"] == "psubscribe":
                    self._listening.set()
                elif message and message["type"] == "pmessage":
                    self._wake(message["data"].decode().split(" "))
                with self._lock:
                    if self._waiters:
                        quiet_since = time.monotonic()
                    elif self.closed or time.monotonic() - quiet_since > _LINGER:
                        return
        finally:
            with suppress(Exception):
                pubsub.close()

    def _wake(self, names: list[str]) -> None:
        with self._lock:
            for name in names:
                if name in self._waiters:
                    self._waiters[name].woken.set()


_listeners: WeakSet[Listener] = WeakSet()


def _reset_all() -> None:
    for listener in _listeners:
        listener.reset()


os.register_at_fork(after_in_child=_reset_all)


def wait_for(
    listener: Listener, seconds: float, attempt: Attempt, leave: Callable[[str], object]
) -> Lease | None:
    """Try until there is a lease or the time is over; ``leave`` takes the waiter out of the line then."""
    until = time.monotonic() + seconds
    waiter = listener.join()
    found: Lease | float = 0
    try:
        while True:
            woken = waiter.woken.is_set()
            waiter.woken.clear()
            found = attempt(waiter.name, woken)
            if isinstance(found, Lease):
                return found
            left = until - time.monotonic()
            if left <= 0 or listener.closed:
                return None
            look_again = random.uniform(*_LOOK_AGAIN)  # noqa: S311 - not all at once
            waiter.woken.wait(min(left, look_again, max(found, 0.01)))
    finally:
        listener.leave(waiter)
        if not isinstance(found, Lease):
            with suppress(LeaseqError):
                leave(waiter.name)

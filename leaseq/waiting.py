"""Waiting for an item: a place in the queue's line, and a wake-up when it is one's turn.

The line is kept in the server, so it holds across processes; the scripts that put an item on a shelf
take the first of the line out of it and publish who that is. Each client that waits listens on one
connection of its own, to the queues that somebody waits on. A message that was lost costs little:
everybody who waits also looks by themselves every second or two, and when the first lease may run out.
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

from leaseq.errors import LeaseqError, ServerUnavailable
from leaseq.model import Lease

_LOOK_AGAIN = (1.0, 2.0)  # seconds, at random between: not all at once
_AWAY = (0.1, 0.5)  # seconds until one looks again whose server is away
_LINGER = 5.0  # seconds that the listener stays with a queue when nobody waits on it any more
_TICK = 0.05  # seconds until it sees that somebody waits on another queue
_SILENCE = 2.0  # seconds after which it asks a link whether it is there, and again until it gives it up

Attempt = Callable[[str, bool], Lease | float]
"""One try: given the waiter and whether they were woken, the lease, or in how many seconds to look again."""


class Waiter:
    """One call that waits. ``woken`` is set when it is its turn."""

    def __init__(self, name: str, channel: str) -> None:
        self.name = name
        self.channel = channel
        self.woken = threading.Event()


class _Channel:
    """A queue's, while somebody waits on it and a little longer."""

    def __init__(self) -> None:
        self.waiters: dict[str, Waiter] = {}
        self.heard = threading.Event()
        self.quiet_since = 0.0


class Listener:
    """Hears for one client whose turn it is. Its thread lives while somebody waits, and a little longer."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis
        self.reset()
        _listeners.add(self)

    def reset(self) -> None:
        """Begin anew. In a fork's child the thread, its connection and those who wait are the parent's."""
        self._lock = threading.Lock()
        self._channels: dict[str, _Channel] = {}
        self._thread: threading.Thread | None = None
        self._process = secrets.token_hex(6)
        self._number = 0
        self.closed = False

    def join(self, name: str) -> Waiter:
        """Wait on the queue of this channel."""
        with self._lock:
            self._number += 1
            waiter = Waiter(f"{self._process}.{self._number}", name)
            channel = self._channels.setdefault(name, _Channel())
            channel.waiters[waiter.name] = waiter
            if self._thread is None:
                self._thread = threading.Thread(target=self._live, name="leaseq-waiting", daemon=True)
                self._thread.start()
        channel.heard.wait(1)  # not to miss the first message; it is no matter if one is missed
        return waiter

    def leave(self, waiter: Waiter) -> None:
        with self._lock:
            channel = self._channels[waiter.channel]
            del channel.waiters[waiter.name]
            channel.quiet_since = time.monotonic()

    def close(self) -> None:
        """Whoever waits gets nothing now, and nobody waits any more."""
        with self._lock:
            self.closed = True
            for channel in self._channels.values():
                for waiter in channel.waiters.values():
                    waiter.woken.set()

    def _live(self) -> None:
        while True:
            try:
                self._listen()
            except Exception:  # noqa: BLE001 - redis-py's errors, or what its reader raises on a closed socket
                time.sleep(random.uniform(*_AWAY))  # noqa: S311 - not all at once
            with self._lock:
                for channel in self._channels.values():
                    channel.heard.clear()
                if not any(channel.waiters for channel in self._channels.values()):
                    self._channels.clear()
                    self._thread = None
                    return

    def _listen(self) -> None:
        """Until nobody has waited for a while, or the link breaks or falls silent."""
        pubsub: Any = self._redis.pubsub()
        subscribed: set[str] = set()
        heard_at, asked = time.monotonic(), False
        try:
            while self._subscribe(pubsub, subscribed):
                message = pubsub.get_message(timeout=_TICK)
                silence = time.monotonic() - heard_at
                if message:
                    heard_at, asked = time.monotonic(), False
                    self._take(message)
                elif asked and silence > 2 * _SILENCE:
                    raise ConnectionError("the link is silent: nobody may be at its other end")
                elif not asked and silence > _SILENCE:
                    pubsub.ping()
                    asked = True
        finally:
            with suppress(Exception):
                pubsub.close()

    def _subscribe(self, pubsub: Any, subscribed: set[str]) -> bool:
        """Hear the queues that somebody waits on, or did a moment ago. False: there is none."""
        now = time.monotonic()
        with self._lock:
            for name, channel in list(self._channels.items()):
                if not channel.waiters and (self.closed or now - channel.quiet_since > _LINGER):
                    del self._channels[name]
            wanted = set(self._channels)
        if wanted and wanted != subscribed:
            if new := wanted - subscribed:
                pubsub.subscribe(*new)
            if gone := subscribed - wanted:
                pubsub.unsubscribe(*gone)
            subscribed.clear()
            subscribed.update(wanted)
        return bool(wanted)

    def _take(self, message: dict[str, Any]) -> None:
        """Whose turn it is, or that a queue is heard from now on."""
        with self._lock:
            channel = message["channel"] and self._channels.get(message["channel"].decode())
            if not channel:
                return
            if message["type"] == "subscribe":
                channel.heard.set()
            elif message["type"] == "message":
                for name in message["data"].decode().split(" "):
                    if name in channel.waiters:
                        channel.waiters[name].woken.set()


_listeners: WeakSet[Listener] = WeakSet()


def _reset_all() -> None:
    for listener in _listeners:
        listener.reset()


os.register_at_fork(after_in_child=_reset_all)


def wait_for(
    listener: Listener, channel: str, seconds: float, attempt: Attempt, leave: Callable[[str], object]
) -> Lease | None:
    """Try until there is a lease or the time is over; ``leave`` takes the waiter out of the line then."""
    until = time.monotonic() + seconds
    waiter = listener.join(channel)
    found: Lease | float = 0
    try:
        while True:
            woken = waiter.woken.is_set()
            waiter.woken.clear()
            left = until - time.monotonic()
            try:
                found = attempt(waiter.name, woken)
            except ServerUnavailable:  # it may come back, or another take its place, while there is time
                if left <= 0 or listener.closed:
                    raise
                found = random.uniform(*_AWAY)  # noqa: S311 - not all at once
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

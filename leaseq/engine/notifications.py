"""Waiting for an item: a place in the queue's waiting list, and a wake-up by pub/sub; and waiting for an
item's answer, by pub/sub alone.

The waiting list is in the server, so it is shared by all processes. A script that makes an item available
removes the first waiter from the list and publishes its name. Each client with waiters subscribes, on one
connection, to the queues that it waits for. A lost message costs little: each waiter also polls every second
or two, and when the first lease may expire. A killed waiter costs little too: when a waiter of another client
is woken, the longest waiting one here polls a moment later, and the server passes on the item that the other
one did not take.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from leaseq.errors import Invalid, ServerUnavailable

_POLL_SECONDS = (1.0, 2.0)  # seconds, random in this range, so that waiters don't all poll together
_RETRY_SECONDS = (0.1, 0.5)  # seconds until a waiter polls again while its server is unavailable
_IDLE_SECONDS = 5.0  # seconds for which a subscription without waiters is kept
_LISTEN_SECONDS = (
    0.05  # seconds until the listener notices a waiter for another queue, or a wait that was ended
)
_SILENCE = 2.0  # seconds without a message until the listener pings, and again until it gives up

_CHECK_ON_OTHERS = 0.3  # seconds after another client's waiter is woken; scripts give it 0.2 to call


class NoItemYet(NamedTuple):
    """The outcome of a try that found no item for the waiter."""

    seconds: float  # until the next poll
    last_token: int  # the queue's last token; 0: not known
    queue_exists: bool = True  # whether the queue exists


T = TypeVar("T")
Attempt: TypeAlias = Callable[[str, bool], T | NoItemYet]
"""One try, called with the waiter's name and whether it was woken."""


class Waiter:
    """One call that waits. ``wake_event`` is set when it should try again: when it is woken, other waiters
    need a check, or its wait is ended."""

    def __init__(self, name: str, channel: str, stop: Any, wake_event: Any, item: str) -> None:
        self.name = name
        self.channel = channel
        self.item = item  # for whose answer it waits; '' for a place in the waiting list
        self.stop = stop
        self.wake_event = wake_event
        self.was_woken = False  # guarded by the listener's lock


class Channel:
    """One queue's subscription, kept while there are waiters and a little longer."""

    def __init__(self, subscribed: Any) -> None:
        self.waiters: dict[str, Waiter] = {}
        self.by_item: dict[str, dict[str, Waiter]] = {}  # those that wait for an item's answer
        self.subscribed = subscribed
        self.idle_since = 0.0
        self.check_at = float("inf")  # when the longest waiting one is to check on other clients' waiters

    def add(self, waiter: Waiter) -> None:
        self.waiters[waiter.name] = waiter
        if waiter.item:
            self.by_item.setdefault(waiter.item, {})[waiter.name] = waiter

    def remove(self, waiter: Waiter) -> None:
        del self.waiters[waiter.name]
        if waiter.item:
            del self.by_item[waiter.item][waiter.name]
            if not self.by_item[waiter.item]:
                del self.by_item[waiter.item]

    def wake(self, text: str) -> None:
        """Handle a message: the names of woken waiters, or an item that has an answer or will get none."""
        if self.by_item:
            for waiter in self.by_item.get(text.partition("\a")[0], {}).values():
                waiter.wake_event.set()
            return
        for name in text.split(" "):
            if name in self.waiters:
                self.waiters[name].was_woken = True
                self.waiters[name].wake_event.set()
            else:
                self.check_at = min(self.check_at, time.monotonic() + _CHECK_ON_OTHERS)


class Waiters:
    """The waiters of one client, and the channels of their wake-ups. ``event`` creates the event that a
    waiter waits for."""

    event: Callable[[], Any]

    def __init__(self, redis: Any) -> None:
        self._redis = redis
        self.closed = False
        self.reset()

    def reset(self) -> None:
        """Start again in the child of a fork: the thread, its connection and the waiters are the parent's."""
        self._lock = threading.Lock()
        self._channels: dict[str, Channel] = {}
        self._runner: Any = None  # the thread or the task that listens
        self._process = secrets.token_hex(6)
        self._number = 0
        self._next_wake_at = 0.0

    def _add(self, name: str, stop: Any, wake_event: Any, item: str = "") -> tuple[Waiter, Channel]:
        self._number += 1
        waiter = Waiter(f"{self._process}.{self._number}", name, stop, wake_event or self.event(), item)
        channel = self._channels.setdefault(name, Channel(self.event()))
        channel.add(waiter)
        return waiter, channel

    def leave(self, waiter: Waiter) -> None:
        with self._lock:
            channel = self._channels[waiter.channel]
            channel.remove(waiter)
            channel.idle_since = time.monotonic()

    def take_wake_ups(self, waiters: Sequence[Waiter]) -> list[bool]:
        """Whether each of the waiters has been woken since the last call. A later wake-up is not lost."""
        with self._lock:
            wake_ups = [waiter.was_woken for waiter in waiters]
            for waiter in waiters:
                waiter.wake_event.clear()
                waiter.was_woken = False
            return wake_ups

    def has_ended(self, stop: Any) -> bool:
        """Whether the wait was ended early."""
        return self.closed or (stop is not None and stop.is_set())

    def close(self) -> None:
        """End all waits, and refuse further ones."""
        with self._lock:
            self.closed = True
            for channel in self._channels.values():
                for waiter in channel.waiters.values():
                    waiter.wake_event.set()

    def _stop_if_idle(self) -> bool:
        """Stop listening if there are no waiters; the next one restarts it. Returns whether it stopped."""
        for channel in self._channels.values():
            channel.subscribed.clear()
        if any(channel.waiters for channel in self._channels.values()):
            return False
        self._channels.clear()
        self._runner = None
        return True

    def _refresh_channels(self) -> set[str]:
        """Wake the waiters that should try again, and drop channels without any. Returns the others'
        names."""
        now = time.monotonic()
        with self._lock:
            due = now >= self._next_wake_at  # not with each message, since there may be many waiters
            self._next_wake_at = now + _LISTEN_SECONDS if due else self._next_wake_at
            for name, channel in list(self._channels.items()):
                if due:
                    self._wake_due_waiters(channel, now)
                if not channel.waiters and (self.closed or now - channel.idle_since > _IDLE_SECONDS):
                    del self._channels[name]
            return set(self._channels)

    def _wake_due_waiters(self, channel: Channel, now: float) -> None:
        """Wake the waiters whose wait was ended, and the first one if other clients' waiters need a check."""
        for waiter in channel.waiters.values():
            if now >= channel.check_at:
                channel.check_at = float("inf")
                waiter.wake_event.set()
            if self.has_ended(waiter.stop):
                waiter.wake_event.set()

    def _handle(self, message: dict[str, Any]) -> None:
        """Handle a message: a wake-up, or the confirmation of a subscription."""
        with self._lock:
            channel = message["channel"] and self._channels.get(message["channel"].decode())
            if not channel:
                return
            if message["type"] == "subscribe":
                channel.subscribed.set()
            elif message["type"] == "message":
                channel.wake(message["data"].decode())


class Listener(Waiters):
    """Receives one client's wake-ups, in a thread that runs while there are waiters and a little longer."""

    event = threading.Event

    def __init__(self, redis: Any) -> None:
        super().__init__(redis)
        _listeners.add(self)

    def end(self) -> None:
        """End all waits. The thread ends by itself."""
        self.close()

    def join(
        self,
        name: str,
        stop: threading.Event | None = None,
        wake_event: threading.Event | None = None,
        item: str = "",
    ) -> Waiter:
        """Add a waiter for the queue of this channel, at most until ``stop`` is set. ``wake_event``: the
        event shared by the waiters of a call that waits for several queues. ``item``: for whose answer it
        waits, on a channel of answers."""
        with self._lock:
            waiter, channel = self._add(name, stop, wake_event, item)
            if self._runner is None:
                self._runner = threading.Thread(target=self._run, name="leaseq-waiting", daemon=True)
                self._runner.start()
        try:
            channel.subscribed.wait(1)  # to get the first message, though missing it does no harm
        except BaseException:  # Ctrl-C
            self.leave(waiter)
            raise
        return waiter

    def _run(self) -> None:
        while True:
            try:
                self._listen()
            except Exception:  # noqa: BLE001 - redis-py's errors, or what its reader raises on a closed socket
                time.sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 - spreads the retries
            with self._lock:
                if self._stop_if_idle():
                    return

    def _listen(self) -> None:
        """Receive messages until there have been no waiters for a while, or the connection breaks or
        stalls."""
        pubsub: Any = self._redis.pubsub()
        subscribed_names: set[str] = set()
        last_message_at, is_ping_sent = time.monotonic(), False
        try:
            while self._subscribe(pubsub, subscribed_names):
                message = pubsub.get_message(timeout=_LISTEN_SECONDS)
                silence = time.monotonic() - last_message_at
                if message:
                    last_message_at, is_ping_sent = time.monotonic(), False
                    self._handle(message)
                elif is_ping_sent and silence > 2 * _SILENCE:
                    raise ConnectionError("the server did not answer a ping in time")
                elif not is_ping_sent and silence > _SILENCE:
                    pubsub.ping()
                    is_ping_sent = True
        finally:
            with suppress(Exception):
                pubsub.close()

    def _subscribe(self, pubsub: Any, subscribed_names: set[str]) -> bool:
        """Subscribe to the queues that have, or recently had, waiters. Returns False if there are none."""
        names = self._refresh_channels()
        if names and names != subscribed_names:
            if new_names := names - subscribed_names:
                pubsub.subscribe(*new_names)
            if old_names := subscribed_names - names:
                pubsub.unsubscribe(*old_names)
            subscribed_names.clear()
            subscribed_names.update(names)
        return bool(names)


_listeners: WeakSet[Listener] = WeakSet()


def _reset_all() -> None:
    for listener in _listeners:
        listener.reset()


os.register_at_fork(after_in_child=_reset_all)


def wait_for(
    listener: Listener, waiters: Sequence[Waiter], seconds: float, attempts: Sequence[Attempt[T]]
) -> T | None:
    """Try until there is an outcome, time is up or the wait is ended. The caller then leaves the waiting
    list.

    A call that waits for several queues has one waiter and one attempt for each, and one event for all. The
    first lease ends the wait.
    """
    until = time.monotonic() + seconds
    stop, wake_event = waiters[0].stop, waiters[0].wake_event
    while not listener.has_ended(stop):
        poll_seconds = random.uniform(*_POLL_SECONDS)  # noqa: S311 - spreads the polls
        for waiter, attempt, woken in zip(waiters, attempts, listener.take_wake_ups(waiters), strict=True):
            outcome: T | NoItemYet
            try:
                outcome = attempt(waiter.name, woken)
            except Invalid:
                if not listener.closed:
                    raise
                return None
            except ServerUnavailable:  # while there is time, it may come back or be replaced
                if time.monotonic() >= until or listener.has_ended(stop):
                    raise
                outcome = NoItemYet(random.uniform(*_RETRY_SECONDS), 0)  # noqa: S311 - spreads the retries
            if not isinstance(outcome, NoItemYet):
                return outcome
            poll_seconds = min(poll_seconds, max(outcome.seconds, 0.01))
        seconds_left = until - time.monotonic()
        if seconds_left <= 0:
            break
        wake_event.wait(min(seconds_left, poll_seconds))
    return None

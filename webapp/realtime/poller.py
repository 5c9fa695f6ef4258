"""Polls the watched queues once a second, in one thread per process, and sends changes to the event streams
of their watchers, as long as these may get them.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import leaseq
from leaseq.followers import Loop, Wait
from leaseq.webapp.store.base import Command, ReadAll

HEARTBEAT = 15.0  # seconds; proxies close connections that are idle for 60
BACKLOG = 1 << 20  # bytes that may wait for one client
_BEAT = b":\n\n"


class Stream:
    """An event stream. Any thread may put events into it; one thread reads them."""

    def __init__(self, *, heartbeat: float = HEARTBEAT) -> None:
        self.open = True
        self._heartbeat = heartbeat
        self._buffer = bytearray()
        self._lock = threading.Lock()
        self._change = threading.Event()

    @property
    def pending(self) -> int:
        """The bytes that wait for the client."""
        return len(self._buffer)

    def put(self, data: bytes) -> None:
        """Add events. A client that falls too far behind is cut off."""
        with self._lock:
            self._buffer += data
        if self.pending > BACKLOG:
            self.end()
        self._change.set()

    def end(self) -> None:
        self.open = False
        self._change.set()

    def events(self) -> Iterator[bytes]:
        """The events put into it, until it ends; a heartbeat if there are none for a while."""
        while self.open:
            if not self._change.wait(self._heartbeat):
                yield _BEAT
            self._change.clear()
            with self._lock:
                data, self._buffer = bytes(self._buffer), bytearray()
            if data and self.open:
                yield data


CHECK_SECONDS = 20.0  # seconds between two checks if nothing has changed: tokens expire


class AccessCheck:
    """A check that is repeated outside the request. ``reads`` are commands that read all on which the answer
    depends, but for the time: as long as the replies are the same, ``is_allowed`` is called every 20 seconds
    only."""

    def __init__(self, is_allowed: Callable[[], bool], reads: Sequence[Command] = ()) -> None:
        self.reads = reads
        self.checked_at = time.monotonic()
        self._is_allowed = is_allowed
        self._rights: Sequence[Any] | None = None  # the replies to the reads when it was checked last

    def passes(self, replies: Mapping[Command, Any]) -> bool:
        """Whether the client is allowed, now that the reads have these replies."""
        now, rights = time.monotonic(), [replies[command] for command in self.reads]
        if rights == self._rights and now - self.checked_at < CHECK_SECONDS:
            return True
        if not self._is_allowed():
            return False
        self._rights, self.checked_at = rights, now
        return True


log = logging.getLogger(__name__)

POLL_SECONDS = 1.0  # seconds
MAX_UNCHECKED_SECONDS = 60.0  # seconds after which a stream ends if the check is not possible
# Sending to all watchers without a pause would delay requests: each takes 0.15 ms.
_AT_ONCE = 25
_PAUSE = 0.01  # seconds
RETRY_MS = 3_000  # how long a browser waits before it reconnects


def message(event: str, data: Any, id: str | None = None) -> bytes:
    """An event in the format of the HTML standard. JSON text contains no line breaks."""
    id_line = f"id: {id}\n" if id else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{id_line}event: {event}\ndata: {text}\n\n".encode()


class Watcher:
    """A client that watches a channel."""

    def __init__(self, stream: Stream, access: AccessCheck) -> None:
        self.stream = stream
        self.access = access


class Channel(ABC):
    """Sends one kind of event to its watchers. Called by the poller's thread only."""

    def __str__(self) -> str:
        return self.name

    @property
    @abstractmethod
    def name(self) -> str:
        """The subject of the events: all watchers of one kind and name share a channel."""

    @abstractmethod
    def serve(self, watchers: Sequence[Any]) -> None:
        """Poll, and send each watcher what is new."""


class QueueChannel(Channel):
    """Sends the events of one queue."""

    def __init__(self, queue: leaseq.Queue) -> None:
        self.queue = queue

    @property
    def name(self) -> str:
        return self.queue.name


class Poller:
    """Polls each channel that has watchers. Before each poll it reads whether they may still watch, so that
    nothing is sent to a client that has lost its access."""

    def __init__(self, read: ReadAll) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._channels: dict[tuple[type[Channel], str], tuple[Channel, list[Watcher]]] = {}
        self._has_watchers = threading.Event()
        self._is_started = self._is_closed = False
        self._loop = Loop(
            "the live updates",
            self._open_channels,
            self._poll,
            log,
            pause=POLL_SECONDS,
            label="live updates of {}",
        )

    def watch(self, channel: Channel, watcher: Watcher) -> None:
        """Add a watcher to the open channel of this kind and name, or to ``channel`` if there is none."""
        with self._lock:
            key = (type(channel), channel.name)
            self._channels.setdefault(key, (channel, []))[1].append(watcher)
            self._has_watchers.set()
            if self._is_closed:
                watcher.stream.end()
            if not self._is_started:
                self._is_started = True
                run = partial(self._loop.run, threading.Event(), self._waiting)
                threading.Thread(target=run, name="leaseq-live-feed", daemon=True).start()

    def close(self) -> None:
        """End all streams, including later ones."""
        with self._lock:
            self._is_closed = True
            for _, watchers in self._channels.values():
                for watcher in watchers:
                    watcher.stream.end()

    @contextmanager
    def _waiting(self) -> Iterator[Wait]:
        def wait(seconds: float) -> None:
            time.sleep(seconds)
            self._has_watchers.wait()

        yield wait

    def poll(self) -> None:
        """Poll each channel once."""
        self._loop.round()

    def _poll(self, channel: Channel) -> None:
        _, watchers = self._channels[type(channel), channel.name]
        for first in range(0, len(watchers), _AT_ONCE):
            self._serve(channel, watchers[first : first + _AT_ONCE])
            time.sleep(_PAUSE)

    def _serve(self, channel: Channel, watchers: Sequence[Watcher]) -> None:
        try:
            self.serve(channel, watchers)
        except leaseq.QueueNotFound:  # it was deleted: the pages reload
            for watcher in watchers:
                watcher.stream.end()
        except leaseq.LeaseqError as error:  # the server is unavailable: the streams stay open
            log.debug("can't poll %s: %s", channel.name, error)

    def serve(self, channel: Channel, watchers: Sequence[Watcher]) -> None:
        try:
            replies = self._read(command for watcher in watchers for command in watcher.access.reads)
            allowed_watchers = [watcher for watcher in watchers if watcher.access.passes(replies)]
        except leaseq.LeaseqError:
            for watcher in watchers:
                if time.monotonic() - watcher.access.checked_at >= MAX_UNCHECKED_SECONDS:
                    watcher.stream.end()
            raise
        for watcher in watchers:
            if watcher not in allowed_watchers:
                watcher.stream.end()
        if allowed_watchers:
            channel.serve(allowed_watchers)

    def _open_channels(self) -> list[Channel]:
        """The channels with watchers whose stream is open; the others are removed."""
        with self._lock:
            for key, (channel, watchers) in list(self._channels.items()):
                open_watchers = [watcher for watcher in watchers if watcher.stream.open]
                if open_watchers:
                    self._channels[key] = (channel, open_watchers)
                else:
                    del self._channels[key]
            if not self._channels:
                self._has_watchers.clear()
            return [channel for channel, _ in self._channels.values()]

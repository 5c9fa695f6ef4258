"""The hub of event streams: one thread per process that writes to all clients without blocking."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

log = logging.getLogger(__name__)

HEARTBEAT = 15.0  # seconds; proxies close connections that are idle for 60
VOUCHED = 60.0  # seconds after which a stream ends if its access was not confirmed
STALLED = 20.0  # and one whose client took nothing of what waits for it
BACKLOG = 1 << 20  # bytes that may wait for one client
_BEAT = b":\n\n"
_READ = 4096


class Stream:
    """The stream of one client. Only the hub's thread touches the socket."""

    def __init__(self, sock: socket.socket, *, chunked: bool, now: float) -> None:
        self.sock = sock
        self.chunked = chunked
        self.pending = bytearray()
        self.vouched = self.progress = self.spoke = now
        self.open = True

    def put(self, data: bytes) -> None:
        self.pending += b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data


class Hub:
    """At most ``places`` streams. Calls of other threads are queued for its own thread, in order."""

    def __init__(self, places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free = threading.BoundedSemaphore(places) if places else None
        self._lock = threading.Lock()
        self._asked: deque[Callable[[], None]] = deque()
        self._streams: set[Stream] = set()
        self._selector: selectors.BaseSelector | None = None
        self._wakes: socket.socket | None = None
        self._closed = False

    # From any thread

    def take_place(self) -> bool:
        """Reserve a place for a stream. ``add`` uses it; ``give_back_place`` frees it."""
        return not self._closed and self._free is not None and self._free.acquire(blocking=False)

    def give_back_place(self) -> None:
        assert self._free is not None  # noqa: S101 - a place is released only after it was taken
        self._free.release()

    def add(self, sock: socket.socket, *, chunked: bool) -> Stream:
        """Add a stream to this client, in a place that was reserved for it."""
        stream = Stream(sock, chunked=chunked, now=self._clock())
        self._ask(lambda: self._begin(stream))
        return stream

    def send(self, stream: Stream, data: bytes) -> None:
        self._ask(lambda: self._put(stream, data))

    def vouch(self, stream: Stream) -> None:
        """Extend the client's permission to watch."""
        stream.vouched = self._clock()

    def end(self, stream: Stream) -> None:
        self._ask(lambda: self._end(stream))

    def close(self) -> None:
        """End all streams, now, and begin no other."""
        self._closed = True
        self._ask(self._end_all)

    def _ask(self, act: Callable[[], None]) -> None:
        with self._lock:
            self._asked.append(act)
            if self._wakes is None:
                self._start()
            assert self._wakes is not None  # noqa: S101 - as started
            with contextlib.suppress(BlockingIOError):  # full: it wakes anyway
                self._wakes.send(b".")

    def _start(self) -> None:
        """Start the thread at the first stream: gunicorn may fork the process after the app was loaded."""
        woken, self._wakes = socket.socketpair()
        woken.setblocking(False)
        self._wakes.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(woken, selectors.EVENT_READ)
        threading.Thread(target=self._live, args=(woken,), name="leaseq-live-hub", daemon=True).start()

    # The hub's thread

    def _live(self, woken: socket.socket) -> None:
        assert self._selector is not None  # noqa: S101 - as started
        while True:
            for key, mask in self._selector.select(1.0):
                if key.fileobj is woken:
                    with contextlib.suppress(BlockingIOError):
                        woken.recv(_READ)
                else:
                    self._look(key.data, mask)
            while self._asked:
                try:
                    self._asked.popleft()()
                except Exception:  # one stream's fault is not the others'
                    log.exception("something asked of the hub failed")
            self.mind(self._clock())

    def mind(self, now: float) -> None:
        """Send heartbeats on idle streams; close stalled ones and those whose permission has expired."""
        for stream in list(self._streams):
            stalled = stream.pending and now - stream.progress > STALLED
            if stalled or now - stream.vouched > VOUCHED:
                self._end(stream)
            elif now - stream.spoke >= HEARTBEAT:
                self._put(stream, _BEAT)

    def _begin(self, stream: Stream) -> None:
        self._streams.add(stream)
        if self._closed:
            self._end(stream)
            return
        assert self._selector is not None  # noqa: S101 - as started
        self._selector.register(stream.sock, selectors.EVENT_READ, stream)

    def _look(self, stream: Stream, mask: int) -> None:
        if not stream.open:
            return
        if mask & selectors.EVENT_READ:
            try:
                heard = stream.sock.recv(_READ)
            except BlockingIOError:
                heard = b"nothing"
            except OSError:
                heard = b""
            if not heard:  # it has gone; whatever else it says is no request
                self._drop(stream)
                return
        if mask & selectors.EVENT_WRITE:
            self._write(stream)

    def _put(self, stream: Stream, data: bytes) -> None:
        if not stream.open:
            return
        now = self._clock()
        if not stream.pending:
            stream.progress = now
        stream.spoke = now
        stream.put(data)
        self._write(stream)
        if len(stream.pending) > BACKLOG:
            self._drop(stream)

    def _write(self, stream: Stream) -> None:
        try:
            sent = stream.sock.send(stream.pending)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(stream)
            return
        if sent:
            del stream.pending[:sent]
            stream.progress = self._clock()
        waits = selectors.EVENT_WRITE if stream.pending else 0
        assert self._selector is not None  # noqa: S101 - as started
        self._selector.modify(stream.sock, selectors.EVENT_READ | waits, stream)

    def _end(self, stream: Stream) -> None:
        """Close the stream; in order where the client has received everything before."""
        if stream.open and stream.chunked and not stream.pending:
            with contextlib.suppress(OSError):
                stream.sock.send(b"0\r\n\r\n")
        self._drop(stream)

    def _drop(self, stream: Stream) -> None:
        if not stream.open:
            return
        stream.open = False
        self._streams.discard(stream)
        assert self._selector is not None  # noqa: S101 - as started
        with contextlib.suppress(KeyError):  # ended before it began
            self._selector.unregister(stream.sock)
        stream.sock.close()
        self.give_back_place()

    def _end_all(self) -> None:
        for stream in list(self._streams):
            self._end(stream)

"""Signal handling that stops a command between two steps, not in the middle of one."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM and SIGINT set; the previous handlers are restored at the end.

    A handler runs in the main thread, between any two of its steps. In the middle of ``stop.wait()`` it would
    wait forever for a lock that its own thread holds. So another thread sets the event: it reads the signals'
    numbers from a socket.
    """
    stop = threading.Event()
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # as set_wakeup_fd requires
    watcher = threading.Thread(target=_set_on_signal, args=(stop, reader), name="leaseq-signals", daemon=True)
    watcher.start()
    old_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    old_handlers = {number: signal.signal(number, lambda *_: None) for number in _NUMBERS}
    try:
        yield stop
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(old_fd)
        writer.close()
        watcher.join()
        reader.close()


def _set_on_signal(stop: threading.Event, reader: socket.socket) -> None:
    """Set the event at the first of the signals; end when the other side is closed."""
    while numbers := reader.recv(64):
        if any(number in _NUMBERS for number in numbers):
            stop.set()

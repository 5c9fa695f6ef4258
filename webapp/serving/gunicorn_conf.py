"""gunicorn's configuration file.

Used by ``--config python:leaseq.webapp.serving.gunicorn_conf``. Settings that are options of ``leaseq
serve`` are passed on gunicorn's command line instead.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import socket
import struct
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from leaseq.webapp.serving.logging import ServerLogger
from leaseq.webapp.serving.queue_time import WAITED

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client at its import, which happens in the web processes only."""

keepalive = 10
graceful_timeout = 10
# guard: forwarded-by-gunicorn
forwarded_allow_ips = ""  # webapp/serving/proxy.py alone decides whose X-Forwarded-* count
reuse_port = True  # the kernel divides the connections evenly among the processes
control_socket_disable = True
logger_class = ServerLogger


AT_ONCE = 64
"""The number of connections accepted before any of them is served. If they were accepted one at a time, a
burst would wait in the kernel, where the waiting time can't be measured."""


SOCKET_SECONDS = 15
"""The time limit on each read of a request and each write of a response, while they occupy a thread."""


SO_ATTACH_FILTER = 26
NO_SYN = (  # a packet filter (BPF); offsets count from the TCP header
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x45, 0, 1, 0x02),  # is SYN set?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # accept it
)


class Connection(TConn):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's connection, with a time limit on its socket. docs/deploy.md lists the attacks that this does
    not stop."""

    def init(self) -> None:
        super().init()
        self.sock.settimeout(SOCKET_SECONDS)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's threaded worker, with four differences:

    - A connection occupies no thread until its client has sent something.
    - The time that each request waited for a thread is measured, for webapp/serving/load_shedding.py.
    - On shutdown, every connection that the kernel has established is accepted and answered.
    - A request that can't be parsed is answered with the same JSON as other errors.
    """

    def accept(self, listener: Any) -> None:
        """Accept waiting connections. Each goes to the thread pool when its client has sent something."""
        for _ in range(AT_ONCE):
            try:
                sock, address = listener.accept()
            except OSError:
                return  # no connection is waiting
            self._add_connection(sock, address, listener)
            if self.nr_conns >= self.worker_connections:
                return

    def _add_connection(self, sock: Any, address: Any, listener: Any) -> None:
        self.nr_conns += 1
        conn = Connection(self.cfg, sock, address, listener.getsockname())
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def enqueue_req(self, conn: Any) -> None:
        conn.came = time.monotonic()
        super().enqueue_req(conn)

    def handle(self, conn: Any) -> Any:
        """Handle a request in a thread. During shutdown none is refused for having waited too long."""
        WAITED.set(time.monotonic() - conn.came if self.alive else 0.0)
        return super().handle(conn)

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that can't be read as REST answers any error; gunicorn's own answer is HTML."""
        from leaseq.webapp.serving import unreadable  # noqa: PLC0415  # imports Flask, which gunicorn's master does without

        if not unreadable.is_unreadable(exc):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("Invalid request from ip=%s: %s", (addr or ("",))[0], exc)
        unreadable.write(client, unreadable.problem_of(exc))

    def set_accept_enabled(self, enabled: bool) -> None:
        super().set_accept_enabled(enabled)
        if not self.alive:
            self._accept_the_last()

    def _accept_the_last(self) -> None:
        """Accept the connections that the kernel has established already: closing the listener would reset
        them. Then close it, so that later connections go to other processes."""
        for listener in self.sockets:
            if listener.sock is None:
                continue
            _drop_new_connections(listener.sock)
            before = -1
            while self.nr_conns != before:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            # equivalent mutant: limit:2: one on which nothing was asked is closed two seconds later at most
            conn.timeout = min(conn.timeout, deadline)


def _drop_new_connections(listener: socket.socket) -> None:
    """Drop the packets that open a connection until the listener is closed; the client sends them again.
    Without this, a connection made between the last accept and the close would be reset."""
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return
    rules = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in NO_SYN))
    program = struct.pack("HP", len(NO_SYN), ctypes.addressof(rules))
    with suppress(OSError):  # a kernel without packet filters
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


assert graceful_timeout > STOP_KEEPALIVE_LINGER  # noqa: S101 - idle connections are closed before the timeout

worker_class = Worker


def on_starting(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Create the directory by which the processes share their metrics (docs/decisions/0008-metrics.md)."""
    os.environ[METRICS] = tempfile.mkdtemp(prefix="leaseq-metrics-")


def post_worker_init(worker: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Exclude the app's 90,000 objects from garbage collection: each full collection would stop all threads
    for 50 ms."""
    gc.collect()
    gc.freeze()


def on_exit(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    shutil.rmtree(os.environ.pop(METRICS), ignore_errors=True)

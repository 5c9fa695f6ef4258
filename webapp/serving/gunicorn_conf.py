"""gunicorn's configuration file.

``--config python:leaseq.webapp.serving.gunicorn_conf`` names it. What a flag of ``leaseq serve`` can
change stands on gunicorn's command line instead.
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
reuse_port = True  # each process has its share of the connections; one could hold all of them otherwise
control_socket_disable = True
logger_class = ServerLogger


AT_ONCE = 64
"""The number of connections accepted before the accepted ones are served. One at a time, a burst would
wait in the kernel, where nothing measures it."""


SOCKET_SECONDS = 15
"""How long a client may send nothing of its request, or read nothing of its answer, and keep a thread."""


SO_ATTACH_FILTER = 26
NO_SYN = (  # a filter of packets (BPF), which begin with their TCP header
    (0x30, 0, 0, 13),  # the byte with its flags
    (0x45, 0, 1, 0x02),  # SYN?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # let it through
)


class Connection(TConn):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's, with a time limit on its socket. docs/deploy.md lists the attacks that this does not
    stop."""

    def init(self) -> None:
        super().init()
        self.sock.settimeout(SOCKET_SECONDS)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's, with these differences: who connects takes no thread before they say something, how long a
    request waited for one is known (webapp/serving/load_shedding.py), who was let in before it stops is
    answered, and what
    is no request is answered as any error is."""

    def accept(self, listener: Any) -> None:
        """Accept waiting connections. The thread pool gets one once its client has sent something."""
        for _ in range(AT_ONCE):
            try:
                sock, address = listener.accept()
            except OSError:
                return  # nobody there any more
            self._let_in(sock, address, listener)
            if self.nr_conns >= self.worker_connections:
                return

    def _let_in(self, sock: Any, address: Any, listener: Any) -> None:
        self.nr_conns += 1
        conn = Connection(self.cfg, sock, address, listener.getsockname())
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def enqueue_req(self, conn: Any) -> None:
        conn.came = time.monotonic()
        super().enqueue_req(conn)

    def handle(self, conn: Any) -> Any:
        """Handle a request in a thread. While the process stops it is answered, late or not."""
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
            self._let_in_the_last()

    def _let_in_the_last(self) -> None:
        """The kernel has greeted more clients than we let in, and hangs up on them when the listener closes.
        It is closed at once after, so that those who come later go elsewhere."""
        for listener in self.sockets:
            if listener.sock is None:
                continue
            _greet_no_more(listener.sock)
            before = -1
            while self.nr_conns != before:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)


def _greet_no_more(listener: socket.socket) -> None:
    """Let the kernel drop new connections from now on, until the listener is closed. One that arrived between
    the last accept and the close, which other threads delay by milliseconds, would be reset."""
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return
    rules = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in NO_SYN))
    program = struct.pack("HP", len(NO_SYN), ctypes.addressof(rules))
    with suppress(OSError):  # a kernel without it
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


assert graceful_timeout > STOP_KEEPALIVE_LINGER  # noqa: S101 - those who stay silent are let go in time

worker_class = Worker


def on_starting(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """A directory in which the processes share what they count (docs/decisions/0008-metrics.md)."""
    os.environ[METRICS] = tempfile.mkdtemp(prefix="leaseq-metrics-")


def post_worker_init(worker: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Freeze the app's objects: the garbage collector would look at 90,000 of them again, which halts all
    threads for 50 ms."""
    gc.collect()
    gc.freeze()


def on_exit(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    shutil.rmtree(os.environ.pop(METRICS), ignore_errors=True)

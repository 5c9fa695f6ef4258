"""How gunicorn serves the app: its configuration file, as ``--config python:webapp.serving``.

What a flag of ``leaseq serve`` can change stands on gunicorn's command line instead.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import time
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from webapp.logs import ServerLogger

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client when it is imported, which only the processes that serve do."""

keepalive = 10
graceful_timeout = 10
forwarded_allow_ips = ""  # webapp/proxies.py alone decides whose X-Forwarded-* count
reuse_port = True  # each process has its share of the connections; one could hold all of them otherwise
control_socket_disable = True
logger_class = ServerLogger


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's, with two differences: who connects takes no thread before they say something, and who was
    let in before it stops is answered."""

    def accept(self, listener: Any) -> None:
        """Let somebody in. The thread pool hears of them once they have sent something."""
        try:
            sock, address = listener.accept()
        except OSError:
            return  # nobody there any more
        self.nr_conns += 1
        conn = TConn(self.cfg, sock, address, listener.getsockname())
        conn.timeout = time.monotonic() + self.cfg.keepalive
        self.pending_conns.append(conn)
        self.poller.register(sock, EVENT_READ, partial(self.on_pending_socket_readable, conn))

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
            before = -1
            while self.nr_conns != before:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)


assert graceful_timeout > STOP_KEEPALIVE_LINGER  # noqa: S101 - those who stay silent are let go in time

worker_class = Worker


def on_starting(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """A directory in which the processes share what they count (docs/decisions/0008-metrics.md)."""
    os.environ[METRICS] = tempfile.mkdtemp(prefix="leaseq-metrics-")


def post_worker_init(worker: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """What the app is made of stays: the garbage collector need not look at its 90,000 objects again, which
    would halt all threads for 50 ms."""
    gc.collect()
    gc.freeze()


def on_exit(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    shutil.rmtree(os.environ.pop(METRICS), ignore_errors=True)

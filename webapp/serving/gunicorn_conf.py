"""gunicorn's configuration file.

Used by ``--config python:leaseq.webapp.serving.gunicorn_conf``. Settings that are options of ``leaseq
serve`` are passed on gunicorn's command line instead. Why the gevent worker: docs/decisions/0022-worker.md.
"""

from __future__ import annotations

import gc
import logging
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import gevent
from gevent.server import StreamServer
from gunicorn.workers.ggevent import GeventWorker

from leaseq.webapp.serving import shutdown, unreadable
from leaseq.webapp.serving.logging import ServerLogger

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client at its import, which happens in the web processes only."""

LINGER_SECONDS = 2
"""After a stop, connections on which nothing is asked are closed this much later. docs/nginx/leaseq.conf
keeps its connections for a shorter time, so that none is closed as a request comes."""

keepalive = 10
"""Seconds for the headers of a request, and that a connection is kept without one."""

UNREAD_PIECE = 16_384
"""The bytes of a body that are read at a time, where the app did not read it."""

worker_connections = 10_000
graceful_timeout = 10 + shutdown.drain_seconds()
# guard: forwarded-by-gunicorn
forwarded_allow_ips = ""  # webapp/serving/proxy.py alone decides whose X-Forwarded-* count
# The kernel divides the connections evenly among the processes. A socket that systemd holds is shared.
reuse_port = "LISTEN_FDS" not in os.environ
control_socket_disable = True
logger_class = ServerLogger


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's gevent worker, with these hooks:

    - A request that can't be parsed is answered with the same JSON as other errors.
    - SIGTERM makes the process not ready first; it stops accepting when the drain is over.
    - A stop does not wait for connections on which nothing is asked.
    - All connections that have come are accepted at once.
    - What the app left of a body is read in pieces, with others served in between.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waits: dict[gevent.Timeout, Any] = {}  # by time limit: the connection's greenlet

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """The time limit on the headers of a connection's next request."""
        seconds = self.cfg.keepalive if self.alive else LINGER_SECONDS
        # False: it ends the block, and raises nothing
        with gevent.Timeout(seconds, False) as wait:  # type: ignore[arg-type]
            self._waits[wait] = gevent.getcurrent()
            try:
                yield
            finally:
                del self._waits[wait]

    def server_class(
        self, listener: Any, *, spawn: Any, ssl_context: Any = None, **_options: Any
    ) -> StreamServer:
        """A server that accepts all connections that have come. gunicorn's takes one and then looks after the
        others: in a burst of 2,000, /healthz waited for 0.4 s. Where processes share a socket, that divides
        the connections among them."""
        tls = {} if ssl_context is None else {"ssl_context": ssl_context}
        server = StreamServer(listener, handle=partial(self.handle, listener), spawn=spawn, **tls)
        if not reuse_port:
            server.max_accept = 1
        return server

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Answer a request that can't be read as REST answers any error; gunicorn's own answer is HTML."""
        if not unreadable.is_unreadable(exc):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("Invalid request from ip=%s: %s", (addr or ("",))[0], exc)
        unreadable.write(client, unreadable.problem_of(exc))

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Handle a request, then read what the app left of its body. In gunicorn's own loop for that, nothing
        else runs while data comes: one fast client that was refused stopped the whole process."""
        super().handle_request(listener_name, req, sock, addr)
        if req.body.failed:
            return  # gunicorn closes the connection
        with gevent.Timeout(self.cfg.keepalive, False):  # type: ignore[arg-type]
            while req.body.read(UNREAD_PIECE):
                gevent.sleep(0)
            return
        raise StopIteration  # closes the connection

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM. A signal handler may not block, so a greenlet does the rest."""
        gevent.spawn(self._stop, sig, frame)

    def _stop(self, sig: int, frame: FrameType | None) -> None:
        shutdown.begin()
        gevent.sleep(shutdown.drain_seconds())
        super().handle_exit(sig, frame)
        shutdown.end_waits()
        gevent.sleep(LINGER_SECONDS)
        for wait in list(self._waits):
            gevent.get_hub().loop.run_callback(self._end_wait, wait)

    def _end_wait(self, wait: gevent.Timeout) -> None:
        """Called by the event loop, which has no other greenlet run in between: where the request has come
        meanwhile, the wait is over, and the request is not disturbed."""
        greenlet = self._waits.get(wait)
        if greenlet is not None:
            greenlet.throw(wait)


worker_class = Worker


def on_starting(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Allow as many open files as this user may have: each connection is one. Create the directory by which
    the processes share their metrics (docs/decisions/0008-metrics.md)."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    os.environ[METRICS] = tempfile.mkdtemp(prefix="leaseq-metrics-")


def post_worker_init(worker: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Exclude the app's 90,000 objects from garbage collection: each full collection would stop all requests
    for 50 ms."""
    gc.collect()
    gc.freeze()


def worker_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Have the interpreter not take down the log's handlers one by one as it ends: the lock for that is
    gevent's, which does not work any more then, and each would print a traceback."""
    logging._handlerList.clear()  # type: ignore[attr-defined]  # noqa: SLF001


def on_exit(server: Any) -> None:  # noqa: ARG001 - as gunicorn calls it
    shutil.rmtree(os.environ.pop(METRICS), ignore_errors=True)

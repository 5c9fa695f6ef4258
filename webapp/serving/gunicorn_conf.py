"""gunicorn's configuration file.

Used with ``--config python:leaseq.webapp.serving.gunicorn_conf``. Settings that are options of ``leaseq
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
from gevent import events
from gevent.server import StreamServer
from gunicorn.workers.ggevent import GeventWorker

from leaseq.webapp.serving import problem, shutdown
from leaseq.webapp.serving.logs import ServerLogger
from leaseq.webapp.serving.time_slices import end_slice_when_over

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client when it is imported, which happens only in the web processes."""

LINGER_SECONDS = 2
"""How long idle connections are kept open after a stop. docs/nginx/leaseq.conf keeps its connections for a
shorter time, so that none is closed just as a request arrives."""

keepalive = 10
"""The seconds for the headers of a request, and those that an idle connection is kept."""

UNREAD_PIECE = 16_384
"""How many bytes of a body are read at a time, if the app did not read it."""

worker_connections = 10_000
graceful_timeout = 10 + shutdown.drain_seconds()
forwarded_allow_ips = ""  # only webapp/serving/middleware.py decides whose X-Forwarded-* are trusted
# The kernel divides the connections evenly among the processes. A socket that systemd holds is shared.
reuse_port = "LISTEN_FDS" not in os.environ
control_socket_disable = True
logger_class = ServerLogger


class _ExpectedBody:
    """The body of a request with ``Expect: 100-continue``: its client sends it only once it is asked
    to, which gunicorn would do before the app has checked who sends it."""

    def __init__(self, body: Any, client: Any) -> None:
        self._body, self._client = body, client
        self.is_requested = False

    def read(self, size: int | None = None) -> bytes:
        if not self.is_requested:
            self.is_requested = True
            self._client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        data: bytes = self._body.read(size)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn carries no types
    """gunicorn's gevent worker, with these hooks:

    - A request that can't be parsed is answered with the same JSON as other errors.
    - SIGTERM first makes the process not ready; it stops accepting when the drain is over.
    - A stop does not wait for idle connections.
    - All pending connections are accepted together.
    - ``100 Continue`` is sent when the app begins to read the body, so not to a stranger.
    - The unread rest of a body is read in pieces, with other requests served in between.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waits: dict[gevent.Timeout, Any] = {}  # by time limit: the connection's greenlet

    def patch(self) -> None:
        """Replace functions that block. For each module, gevent would look through all installed packages for
        plugins, which takes a tenth of a start."""
        events.notify_and_call_entry_points = events.notify  # type: ignore[attr-defined]  # not in their types
        super().patch()

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """The time limit on the headers of a connection's next request."""
        seconds = self.cfg.keepalive if self.alive else LINGER_SECONDS
        # False: it ends the block without raising
        with gevent.Timeout(seconds, False) as wait:  # type: ignore[arg-type]
            self._waits[wait] = gevent.getcurrent()
            try:
                yield
            finally:
                del self._waits[wait]

    def server_class(
        self, listener: Any, *, spawn: Any, ssl_context: Any = None, **_options: Any
    ) -> StreamServer:
        """A server that accepts all pending connections. gunicorn's accepts only one per turn of the event
        loop: in a burst of 2,000, /healthz waited for 0.4 s. If processes share a socket, one per turn is
        right, since it divides the connections among them."""
        tls = {} if ssl_context is None else {"ssl_context": ssl_context}
        server = StreamServer(listener, handle=partial(self.handle, listener), spawn=spawn, **tls)
        if not reuse_port:
            server.max_accept = 1
        return server

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Respond to an unreadable request like REST to any error; gunicorn's own response is HTML."""
        if not problem.is_unreadable(exc):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("Invalid request from ip=%s: %s", (addr or ("",))[0], exc)
        problem.write(client, problem.problem_of(exc))

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Handle a request, then read the rest of its body. During gunicorn's own loop for that, nothing else
        runs while data arrives: one fast client that was refused stopped the whole process."""
        expected_body = None
        if req._expected_100_continue:  # noqa: SLF001
            req._expected_100_continue = False  # noqa: SLF001
            req.body = expected_body = _ExpectedBody(req.body, sock)
        super().handle_request(listener_name, req, sock, addr)
        if expected_body is not None and not expected_body.is_requested:
            raise StopIteration  # closes the connection: the client may or may not send the body now
        if req.body.failed:
            return  # gunicorn closes the connection
        with gevent.Timeout(self.cfg.keepalive, False):  # type: ignore[arg-type]
            while req.body.read(UNREAD_PIECE):
                end_slice_when_over()
            return
        raise StopIteration  # closes the connection

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGTERM. A signal handler may not block, so a greenlet does the rest."""
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
        """Called by the event loop, with no other greenlet in between: if the request has arrived by now, its
        wait is over, and it is not disturbed."""
        greenlet = self._waits.get(wait)
        if greenlet is not None:
            greenlet.throw(wait)


worker_class = Worker


def on_starting(server: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Allow as many open files as this user may have, since each connection is one. Create the directory in
    which the processes share their metrics (docs/decisions/0008-metrics.md)."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    os.environ[METRICS] = tempfile.mkdtemp(prefix="leaseq-metrics-")


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Collect no garbage while the app is loaded: there is next to none, and a start takes a tenth longer."""
    gc.disable()


def post_worker_init(worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Exclude the app's 150,000 objects from garbage collection: each full collection would stop all requests
    for 50 ms."""
    gc.freeze()
    gc.enable()


def worker_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Keep the interpreter from closing the log handlers one by one at exit: the lock for that is gevent's,
    which no longer works then, and each would print a traceback."""
    logging._handlerList.clear()  # type: ignore[attr-defined]  # noqa: SLF001


def on_exit(server: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    shutil.rmtree(os.environ.pop(METRICS), ignore_errors=True)

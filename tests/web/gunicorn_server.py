"""A real web server: gunicorn as `leaseq serve` runs it, on a port of this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from leaseq.webapp.commands.serve import gunicorn_argv
from tests.support.ports import free_port
from tests.support.waiting import TIMEOUT, eventually

ADJUSTED_APP = "tests.web.adjusted_app:app"


@contextlib.contextmanager
def serve_app(
    redis_url: str, secret: str, *, workers: int = 1, threads: int = 4, **settings: Any
) -> Iterator[str]:
    """Run gunicorn; yield its address. Each worker takes more than a second of CPU time to start."""
    with run_gunicorn(redis_url, secret, workers=workers, threads=threads, **settings) as (url, _):
        yield url


@contextlib.contextmanager
def run_gunicorn(
    redis_url: str,
    secret: str,
    *,
    workers: int,
    threads: int,
    access_log: Path | None = None,
    options: Sequence[str] = (),
    app: str = "leaseq.webapp.wsgi:app",
    **settings: str,
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run gunicorn; yield its address and its process. The access log is written only to a named file.
    ``options`` of gunicorn are added to ours. An app other than leaseq's must have a /readyz; ADJUSTED_APP is
    leaseq's with other limits."""
    port = free_port()
    environment = {
        **os.environ,
        "LEASEQ_REDIS_URL": redis_url,
        "LEASEQ_SECRET_KEY": secret,
        "LEASEQ_MAX_QUEUE_SECONDS": "60",  # a machine that runs tests may be slow
        **settings,
    }
    level = "info" if access_log else "warning"
    command = gunicorn_argv("127.0.0.1", port, workers, threads, log_level=level)
    command[-1:] = [*options, app]
    with access_log.open("wb") if access_log else contextlib.nullcontext() as log:
        process = subprocess.Popen(command, env=environment, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        eventually(lambda: process.poll() is not None or _is_ready(url), "gunicorn is ready")
        assert process.poll() is None, "gunicorn ended"
        yield url, process
    finally:
        process.send_signal(signal.SIGINT)  # immediate stop; tests of the graceful stop send SIGTERM
        process.wait(timeout=TIMEOUT)


def _is_ready(url: str) -> bool:
    with urllib.request.urlopen(f"{url}/readyz", timeout=TIMEOUT):
        return True


def send_request(
    address: str, path: str, method: str = "GET", body: Any = None, **headers: str
) -> tuple[int, bytes]:
    """Send one request on its own connection."""
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    try:
        content = None if body is None else json.dumps(body)
        content_type = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, content, {**content_type, **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()

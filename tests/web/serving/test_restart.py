"""A restart of the web app behind nginx, with a socket held by systemd: no request fails."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import leaseq
from tests.support.waiting import TIMEOUT, eventually
from tests.web.conftest import SECRET, Caller
from tests.web.nginx_server import HAS_NGINX, run_nginx, tls_context

# As systemd does for leaseq-web.socket: the socket is file descriptor 3, and these variables name it.
ACTIVATION = """
import os, sys
os.dup2({fd}, 3, inheritable=True)
os.environ |= {{"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}}
os.execv(sys.executable, [sys.executable, "-m", "leaseq", "serve"])
"""


@contextmanager
def serve_on(listener: socket.socket, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `leaseq serve` on a socket that was opened for it."""
    command = [sys.executable, "-c", ACTIVATION.format(fd=listener.fileno())]
    settings = {"LEASEQ_REDIS_URL": url, "LEASEQ_SECRET_KEY": SECRET, "LEASEQ_MAX_QUEUE_SECONDS": "60"}
    process = subprocess.Popen(
        command, env={**os.environ, **settings}, pass_fds=(listener.fileno(),), stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(TIMEOUT) == 0


class LoadGenerator:
    """Programs that enqueue items through nginx, one after the other."""

    def __init__(self, port: int, path: str, token: str) -> None:
        self._port, self._path = port, path
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._stop = threading.Event()
        self.added = 0
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=self._send) for _ in range(4)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(TIMEOUT)

    def _send(self) -> None:
        with closing(
            http.client.HTTPSConnection("127.0.0.1", self._port, context=tls_context(), timeout=TIMEOUT)
        ) as connection:
            while not self._stop.is_set():
                connection.request("POST", self._path, json.dumps({"payload": 1}), self._headers)
                response = connection.getresponse()
                text = response.read()
                if response.status == 201:
                    self.added += 1
                else:
                    self.failures.append(f"{response.status} {text!r}")
                    return


@pytest.mark.skipif(not HAS_NGINX, reason="platform: there is no nginx, or no openssl")
def test_restart_behind_nginx_fails_no_request(
    server: Any, tmp_path: Path, manager: Caller, queue: leaseq.Queue
) -> None:
    queue.configure()
    with (
        socket.create_server(("127.0.0.1", 0), backlog=4_096) as listener,
        run_nginx(f"127.0.0.1:{listener.getsockname()[1]}", tmp_path) as port,
    ):
        load = LoadGenerator(port, f"/api/v1/queues/{queue.name}/items", manager.token)
        for is_last in (False, True):
            before = load.added
            with serve_on(listener, server.url):
                eventually(lambda before=before: load.failures or load.added > before + 50, "it serves")  # type: ignore[misc]
                if is_last:
                    load.end()
    assert load.failures == []
    assert queue.stats().inbound == load.added

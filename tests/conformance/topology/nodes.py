"""One server process that a test kills, freezes and starts again, always on the same port."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Self

import redis

from leaseq.server.embedded import server_binary
from tests.support.ports import free_port
from tests.support.waiting import eventually


class Node:
    """A server process with a data folder. ``options`` are those of the server's command line."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir()
        self.folder = folder
        self.port = free_port()
        self.client = redis.Redis(port=self.port, socket_timeout=5)
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.kill()

    def __repr__(self) -> str:
        return f"<Node {self.port}>"

    def start(self, *extra_options: str) -> None:
        """Start it, and return once it answers. ``extra_options`` are for this start only."""
        address_options = ("--port", str(self.port), "--dir", str(self.folder), "--bind", "127.0.0.1")
        with (self.folder / "log").open("ab") as log:
            command = [server_binary(), *self._options, *address_options, *extra_options]
            process = self._process = subprocess.Popen(command, stdout=log, stderr=log)
        eventually(lambda: process.poll() is not None or self.client.ping())
        assert process.poll() is None, (self.folder / "log").read_text()

    def signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def freeze(self) -> None:
        """Stop the process without closing its connections: like a machine that hangs, or lags far behind."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self.signal(signal.SIGKILL)
            self._process.wait()

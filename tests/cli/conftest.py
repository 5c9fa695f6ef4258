"""Two ways to run ``leaseq``: in this process where that is enough, and as a separate process."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import pytest
from click.testing import CliRunner, Result

import leaseq
from leaseq.cli import main
from leaseq.server.embedded import EmbeddedServer
from leaseq.webapp.store.accounts import Accounts
from tests.conftest import Server

Call = Callable[..., Result]
Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def call(server: Any) -> Call:
    """Run a command in this process, on the tests' server."""

    def run(*args: str, input: bytes | None = None) -> Result:
        return CliRunner(env={"LEASEQ_REDIS_URL": server.url}).invoke(
            main, args, prog_name="leaseq", input=input, catch_exceptions=False
        )

    return run


@pytest.fixture
def worker(server: Server) -> str:
    """The name of somebody with an account."""
    name = f"Ann {secrets.token_hex(4)}"
    Accounts(server.admin or server.client).add(name, by="tests")
    return name


@pytest.fixture
def spawn(server: Any) -> Iterator[Spawn]:
    """Start a command as a separate process with pipes; it is stopped at the end of the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def run(
        *args: str, url: str | None = None, stdin: int | IO[bytes] | None = None
    ) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "LEASEQ_REDIS_URL": url or server.url}
        process = subprocess.Popen(
            [sys.executable, "-m", "leaseq", *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server for one test, which may stop it and start it again with its data."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        yield server


@pytest.fixture
def new_queue(server: Any, queue_name: str) -> leaseq.Queue:
    queue = leaseq.Queue(server.client, queue_name)
    queue.configure()
    return queue

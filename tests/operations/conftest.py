from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leaseq.server.embedded import EmbeddedServer
from tests.operations.processes import Up
from tests.ports import free_port


@pytest.fixture(scope="session")
def server(server_of_pages: Any) -> Any:
    """The app's user of the server."""
    return server_of_pages


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A new directory with a short path: a unix socket's may have 107 bytes only."""
    path = Path(tempfile.mkdtemp(prefix="leaseq-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def up(data_dir: Path, port: int) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*arguments: str) -> Up:
        started.append(Up(data_dir, port, "--workers", "1", *arguments))  # one starts sooner than two
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server of this test's own, beside any that ``leaseq up`` runs."""
    with tempfile.TemporaryDirectory(prefix="leaseq-") as folder, EmbeddedServer(folder) as server:
        yield server

"""A second server, into which a backup of the tests' server is restored."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator

import pytest

import leaseq
from leaseq import backup
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Clock, Server

MakeBackup = Callable[[], io.BytesIO]


@pytest.fixture(scope="module")
def empty_server() -> Iterator[EmbeddedServer]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder, fsync="no") as server:
        yield server


@pytest.fixture
def other(empty_server: EmbeddedServer) -> Iterator[leaseq.Client]:
    """A client of the other server, which is empty."""
    client = leaseq.connect(empty_server.url)
    client.redis.flushall()
    yield client
    client.close()


@pytest.fixture
def make_backup(server: Server, clock: Clock) -> Iterator[MakeBackup]:
    """Return a function that makes a backup, using the test's clock."""

    def back_up() -> io.BytesIO:
        stream = io.BytesIO()
        backup.back_up(server.client, stream, clock=clock)
        stream.seek(0)
        return stream

    server.redis.flushall()
    yield back_up
    server.redis.flushall()

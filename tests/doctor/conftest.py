"""Servers without problems; each test introduces one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from leaseq.server.embedded import EmbeddedServer
from tests.conformance.topology.servers import running
from tests.doctor.reports import SAFE_OPTIONS


@pytest.fixture(scope="session")
def tcp_server() -> Iterator[redis.Redis]:
    """A server on a port, without problems."""
    with running(*SAFE_OPTIONS) as client:
        yield client


@pytest.fixture
def scratch_server(tcp_server: Any) -> Iterator[Any]:
    """The same server, to be changed by CONFIG SET; afterwards its settings are restored."""
    before = tcp_server.config_get()
    yield tcp_server
    after = tcp_server.config_get()
    for name, value in before.items():
        if after[name] != value:
            tcp_server.config_set(name, value)
    tcp_server.flushall()


@pytest.fixture
def embedded_server() -> Iterator[EmbeddedServer]:
    """A server on a socket, as `leaseq up` starts it."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        yield server

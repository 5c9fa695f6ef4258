"""Servers with which all is well, for each test to set up wrong in one way."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from leaseq.server.embedded import EmbeddedServer
from tests.conformance.topology.servers import running
from tests.doctor.looking import WELL


@pytest.fixture(scope="session")
def listening() -> Iterator[redis.Redis]:
    """A server on a port, all well."""
    with running(*WELL) as client:
        yield client


@pytest.fixture
def wrong(listening: Any) -> Iterator[Any]:
    """The same, to be set up wrong by CONFIG SET: it is as before afterwards."""
    before = listening.config_get()
    yield listening
    after = listening.config_get()
    for name, value in before.items():
        if after[name] != value:
            listening.config_set(name, value)
    listening.flushall()


@pytest.fixture
def embedded() -> Iterator[EmbeddedServer]:
    """A server on a socket as `leaseq up` starts it."""
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder) as server:
        yield server

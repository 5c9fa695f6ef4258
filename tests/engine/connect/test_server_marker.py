"""The marker that a program leaves in each server: it disappears when the server is restarted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import leaseq
from leaseq.engine.client import connection_of
from leaseq.engine.connection import ServerMarker
from tests.conftest import Server

KEY = "leaseq:{marker}:ledger"


@pytest.fixture
def client(server: Server) -> Iterator[leaseq.Client]:
    client = leaseq.connect(server.url)
    yield client
    client.close()


def scripts(server: Server) -> int:
    return int(server.redis.info("memory")["number_of_cached_scripts"])


def test_marker_is_loaded_once_per_program(server: Server, client: leaseq.Client) -> None:
    before = scripts(server)
    for _ in range(3):
        marker = ServerMarker(connection_of(client), KEY)
        marker.load()
        assert marker.is_present()
    assert scripts(server) == before + 1


def test_restarted_server_gets_new_marker(server: Server, client: leaseq.Client) -> None:
    """Each marker has a unique text, so a restarted server is not mistaken for the earlier one."""
    marker = ServerMarker(connection_of(client), KEY)
    marker.load()
    before = ServerMarker(connection_of(client), KEY, marker.text)
    server.redis.script_flush()
    assert not before.is_present()
    marker.load()
    assert marker.is_present()
    assert not before.is_present()

"""The marker of a server: it exists as long as the server runs, and a program leaves one in each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import leaseq
from leaseq.engine.client import connection_of
from leaseq.engine.server_marker import ServerMarker
from tests.conftest import Server

KEY = "leaseq:{marker}:ledger"


@pytest.fixture
def client(server: Server) -> Iterator[leaseq.Client]:
    client = leaseq.connect(server.url)
    yield client
    client.close()


def scripts(server: Server) -> int:
    return int(server.redis.info("memory")["number_of_cached_scripts"])


def test_one_serves_all_scans_of_a_program(server: Server, client: leaseq.Client) -> None:
    before = scripts(server)
    for _ in range(3):
        marker = ServerMarker(connection_of(client), KEY)
        marker.load()
        assert marker.is_present()
    assert scripts(server) == before + 1


def test_a_server_that_was_restarted_gets_another(server: Server, client: leaseq.Client) -> None:
    """Its text is unique: a server that comes back is not mistaken for the one that replaced it."""
    marker = ServerMarker(connection_of(client), KEY)
    marker.load()
    before = ServerMarker(connection_of(client), KEY, marker.text)
    server.redis.script_flush()
    assert not before.is_present()
    marker.load()
    assert marker.is_present()
    assert not before.is_present()

"""Client.ask: commands on keys outside queues, in one round trip."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

import leaseq
from leaseq.server.embedded import EmbeddedServer
from tests.conftest import Server
from tests.support.refused import raises
from tests.support.waiting import eventually


@pytest.fixture
def key(request: pytest.FixtureRequest, server: Server) -> Iterator[str]:
    name = f"leaseq:{{@{request.node.name}}}:hash"
    yield name
    server.redis.delete(name)


def test_replies_come_in_the_order_of_the_commands(server: Server, key: str) -> None:
    replies = server.client.ask(
        ("HSET", key, "a", 1, "b", "zwei"), ("HGET", key, "b"), ("HGET", key, "c"), ("HMGET", key, "b", "a")
    )
    assert replies == [2, b"zwei", None, [b"zwei", b"1"]]


def test_an_error_is_raised_and_leaves_no_reply_behind(server: Server, key: str) -> None:
    with raises(leaseq.ServerRefused, "server_refused", "WRONGTYPE"):
        server.client.ask(("HSET", key, "a", 1), ("ZADD", key, 1, "x"), ("HSET", key, "a", 2))
    assert server.client.ask(("HGET", key, "a")) == [b"2"], "the reply to this command, not to an earlier one"


def test_a_broken_connection_is_replaced(server: Server, key: str) -> None:
    server.client.ask(("HSET", key, "a", 1))
    server.redis.client_kill_filter(_type="normal", skipme=True)
    assert server.client.ask(("HGET", key, "a")) == [b"1"]


def test_unavailable_server_is_named_in_error() -> None:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder:
        with EmbeddedServer(folder, fsync="no") as embedded_server:
            client = leaseq.connect(embedded_server.url)
            assert client.ask(("GET", "leaseq:{@x}")) == [None]
        with raises(leaseq.ServerUnavailable, "no_answer"):
            client.ask(("GET", "leaseq:{@x}"))
        with EmbeddedServer(folder, fsync="no"):
            eventually(lambda: client.ask(("GET", "leaseq:{@x}")) == [None], "it answers again")
        client.close()

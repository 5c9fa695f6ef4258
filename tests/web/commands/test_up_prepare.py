"""What `leaseq up` does to its server before the web app starts, in this process."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import redis

import leaseq
from leaseq.engine.keys import QUEUES
from leaseq.server.datadir import DataDir
from leaseq.server.embedded import EmbeddedServer
from leaseq.server.supervisor import Child
from leaseq.webapp.commands.up import _Startup
from leaseq.webapp.store.accounts import Accounts
from tests.support.leases import not_none
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD


def test_the_set_up_link_is_given_until_there_is_an_admin(data_dir: Path) -> None:
    with DataDir(data_dir) as directory, EmbeddedServer(data_dir) as server:
        startup = _Startup(directory, None, "127.0.0.1", 8000)
        url, token = not_none(startup.prepare(demo=False)).split("token=")
        assert url == "http://127.0.0.1:8000/setup?"
        client = leaseq.connect(server.url)
        Accounts(client, passwords=CHEAP_PASSWORDS).set_up(token, "ann", PASSWORD)
        assert startup.prepare(demo=False) is None
        client.close()


def test_the_demo_is_added_where_asked_for_and_no_connection_stays_open(data_dir: Path) -> None:
    with (
        DataDir(data_dir) as directory,
        EmbeddedServer(data_dir) as server,
        redis.Redis.from_url(server.url) as connection,
    ):
        startup = _Startup(directory, None, "127.0.0.1", 8000)
        for demo in (False, True):
            startup.prepare(demo=demo)
            connection.ping()  # connections closed before this are no longer in the list
            assert len(connection.client_list()) == 1, "the connection of this test"
            assert bool(connection.smembers(QUEUES)) == demo


def test_what_a_server_of_its_own_said_last_is_told_where_it_ended(data_dir: Path) -> None:
    """If it still answers, its log does not say why it refuses."""
    with DataDir(data_dir) as directory, EmbeddedServer(data_dir) as server:
        startup = _Startup(directory, None, "127.0.0.1", 1)
        with redis.Redis.from_url(server.url) as connection:
            connection.config_set("min-replicas-to-write", 1)
        with pytest.raises(leaseq.ServerUnavailable, match="NOREPLICAS") as first_error:
            startup.prepare(demo=False)
        assert server.end_reason() not in str(first_error.value)
        server.stop()
        with pytest.raises(leaseq.ServerUnavailable) as second_error:
            startup.prepare(demo=False)
        assert str(second_error.value).endswith(f": {server.end_reason()}")


def test_a_stop_allows_for_the_drain(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[Child] = []
    monkeypatch.setenv("LEASEQ_DRAIN_SECONDS", "30")
    with DataDir(data_dir) as directory:
        startup = _Startup(directory, "redis://127.0.0.1", "127.0.0.1", 1)
        startup.start_web(SimpleNamespace(start=children.append), 1, 1)  # type: ignore[arg-type]
    (web,) = children
    assert web.grace == 45

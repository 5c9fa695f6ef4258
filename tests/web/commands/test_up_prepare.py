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
from tests.support.refused import raises
from tests.web.conftest import CHEAP_PASSWORDS, PASSWORD


def test_setup_link_is_returned_until_admin_exists(data_dir: Path) -> None:
    with DataDir(data_dir) as directory, EmbeddedServer(data_dir) as server:
        startup = _Startup(directory, None, "127.0.0.1", 8000)
        url, token = not_none(startup.prepare(demo=False)).split("token=")
        assert url == "http://127.0.0.1:8000/setup?"
        client = leaseq.connect(server.url)
        Accounts(client, passwords=CHEAP_PASSWORDS).set_up(token, "ann", PASSWORD)
        assert startup.prepare(demo=False) is None
        client.close()


def test_prepare_adds_demo_on_request_and_closes_connections(data_dir: Path) -> None:
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


def test_error_contains_end_reason_only_if_server_ended(data_dir: Path) -> None:
    """The log of a server that still answers does not explain its refusal."""
    with DataDir(data_dir) as directory, EmbeddedServer(data_dir) as server:
        startup = _Startup(directory, None, "127.0.0.1", 1)
        with redis.Redis.from_url(server.url) as connection:
            connection.config_set("min-replicas-to-write", 1)
        with raises(leaseq.ServerUnavailable, "no_answer", "NOREPLICAS") as first_error:
            startup.prepare(demo=False)
        assert server.end_reason() not in str(first_error.value)
        server.stop()
        with pytest.raises(leaseq.ServerUnavailable) as second_error:
            startup.prepare(demo=False)
        assert str(second_error.value).endswith(f": {server.end_reason()}")


def test_grace_period_of_web_process_includes_drain_seconds(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    children: list[Child] = []
    monkeypatch.setenv("LEASEQ_DRAIN_SECONDS", "30")
    with DataDir(data_dir) as directory:
        startup = _Startup(directory, "redis://127.0.0.1", "127.0.0.1", 1)
        startup.start_web(SimpleNamespace(start=children.append), 1, 1)  # type: ignore[arg-type]
    (web,) = children
    assert web.grace == 45

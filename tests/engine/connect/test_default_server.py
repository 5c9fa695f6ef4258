"""`connect` without a URL finds the server in the same way as the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import leaseq
from leaseq.server.datadir import DataDir


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEASEQ_REDIS_URL", raising=False)
    monkeypatch.delenv("LEASEQ_DATA", raising=False)


@contextmanager
def running_server(path: Path, url: str) -> Iterator[None]:
    with DataDir(path) as folder:
        folder.publish(url=url, web="http://localhost", pids={})
        yield


def test_connect_finds_leaseq_up_of_current_directory(tmp_path: Path) -> None:
    with running_server(tmp_path / "leaseq-data", "redis://here:1/0"):
        assert leaseq.connect().url == "redis://here:1/0"


def test_leaseq_data_takes_precedence_over_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEQ_DATA", str(tmp_path / "elsewhere"))
    with running_server(tmp_path / "leaseq-data", "redis://here:1/0"):
        with pytest.raises(leaseq.Invalid):
            leaseq.connect()
        with running_server(tmp_path / "elsewhere", "redis://there:1/0"):
            assert leaseq.connect().url == "redis://there:1/0"


def test_given_url_takes_precedence_over_data_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEQ_REDIS_URL", "redis://named:1/0")
    with running_server(tmp_path / "leaseq-data", "redis://here:1/0"):
        assert leaseq.connect().url == "redis://named:1/0"
        assert leaseq.connect("redis://given:1/0").url == "redis://given:1/0"


def test_error_without_server_lists_searched_places(tmp_path: Path) -> None:
    with pytest.raises(leaseq.Invalid) as error:
        leaseq.connect()
    assert error.value.field == "url"
    message = str(error.value)
    assert "LEASEQ_REDIS_URL is not set" in message
    assert f"no `leaseq up` is running for the data directory '{tmp_path}/leaseq-data'" in message
    assert "set LEASEQ_DATA" in message


def test_with_statement_closes_client() -> None:
    with leaseq.connect("redis://localhost:6379/0") as client:
        assert not client.closed
    assert client.closed

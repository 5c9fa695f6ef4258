"""``leaseq backup`` and ``leaseq restore``: files, pipes, and messages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaseq
from leaseq import backup
from leaseq.server.embedded import EmbeddedServer
from tests.cli.conftest import Call
from tests.conftest import Server
from tests.support.leases import take


@pytest.fixture(scope="module")
def empty_server() -> Iterator[EmbeddedServer]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder, fsync="no") as server:
        yield server


@pytest.fixture
def other_client(empty_server: EmbeddedServer, server: Server) -> Iterator[leaseq.Client]:
    """A client of an empty server; the tests' own server is empty, too."""
    server.redis.flushall()
    client = leaseq.connect(empty_server.url)
    client.redis.flushall()
    yield client
    client.close()


@pytest.fixture
def lease(queue: leaseq.Queue, other_client: leaseq.Client) -> leaseq.Lease:
    queue.enqueue_many([{"n": 1}, {"n": 2}])
    return take(queue, "ann")


def test_backup_file_is_restored_into_empty_server_only(
    call: Call, other_client: leaseq.Client, lease: leaseq.Lease, tmp_path: Path
) -> None:
    file = tmp_path / "leaseq.backup"
    backup_result = call("backup", "--to", str(file))
    assert (backup_result.exit_code, backup_result.stdout, backup_result.stderr) == (
        0,
        "",
        "written: queues: 1, items: 2\n",
    )
    assert file.stat().st_mode & 0o777 == 0o600
    restore_result = call("restore", str(file), "--redis", other_client.url)
    assert (restore_result.stderr, restore_result.stdout) == (
        "",
        "restored: queues: 1, items: 2, leases held: 1\n",
    )
    assert leaseq.Queue(other_client, lease.queue).mine("ann") == [lease]
    second_result = call("restore", str(file), "--redis", other_client.url)
    assert (second_result.exit_code, second_result.stdout) == (1, "")
    assert second_result.stderr == (
        f"leaseq: the server already has the queue '{lease.queue}', and so does the backup: restore into an "
        "empty server, or delete what is there with `leaseq queue delete` first\n"
    )


def test_backup_through_pipe_is_restored(
    call: Call, other_client: leaseq.Client, lease: leaseq.Lease
) -> None:
    backup_result = call("backup", "--to", "-")
    assert backup_result.stderr == "written: queues: 1, items: 2\n"
    restore_result = call(
        "restore", "-", "--json", "--redis", other_client.url, input=backup_result.stdout_bytes
    )
    assert json.loads(restore_result.stdout) == {"queues": 1, "items": 2, "held": 1}


def test_backup_prints_counts_as_json(call: Call, lease: leaseq.Lease, tmp_path: Path) -> None:
    result = call("backup", "--to", str(tmp_path / "b"), "--json")
    assert json.loads(result.stdout) == {"queues": 1, "items": 2}
    assert call("backup", "--to", "-", "--json").exit_code == 2


def test_failed_backup_keeps_existing_file(
    call: Call, lease: leaseq.Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "leaseq.backup"
    file.write_text("yesterday's")

    def fail(*_: object, **__: object) -> None:
        raise backup.BackupFailed("the server was restarted")

    monkeypatch.setattr("leaseq.backup.server.write_queue", fail)
    result = call("backup", "--to", str(file))
    assert (result.exit_code, result.stderr) == (1, "leaseq: the server was restarted\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["yesterday's"]


def test_restore_of_file_that_is_no_backup_exits_1(
    call: Call, other_client: leaseq.Client, tmp_path: Path
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("id,text\n1,hello\n")
    result = call("restore", str(file), "--redis", other_client.url)
    assert result.exit_code == 1
    assert result.stderr == "leaseq: line 1: this is not a backup of leaseq: `leaseq backup` writes one\n"

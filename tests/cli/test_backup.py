"""``leaseq backup`` and ``leaseq restore``: files, pipes, and what they say."""

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
from tests.support.taking import take


@pytest.fixture(scope="module")
def empty_server() -> Iterator[EmbeddedServer]:
    with tempfile.TemporaryDirectory(prefix="leaseq") as folder, EmbeddedServer(folder, fsync="no") as server:
        yield server


@pytest.fixture
def other(empty_server: EmbeddedServer, server: Server) -> Iterator[leaseq.Client]:
    """An empty server's; the tests' own is empty, too."""
    server.redis.flushall()
    client = leaseq.connect(empty_server.url)
    client.redis.flushall()
    yield client
    client.close()


@pytest.fixture
def held(queue: leaseq.Queue, other: leaseq.Client) -> leaseq.Lease:
    queue.enqueue_many([{"n": 1}, {"n": 2}])
    return take(queue, "ann")


def test_a_file_there_and_back(call: Call, other: leaseq.Client, held: leaseq.Lease, tmp_path: Path) -> None:
    file = tmp_path / "leaseq.backup"
    made = call("backup", "--to", str(file))
    assert (made.exit_code, made.stdout, made.stderr) == (0, "", "written: queues: 1, items: 2\n")
    assert file.stat().st_mode & 0o777 == 0o600
    restored = call("restore", str(file), "--redis", other.url)
    assert (restored.stderr, restored.stdout) == ("", "restored: queues: 1, items: 2, leases held: 1\n")
    assert leaseq.Queue(other, held.queue).mine("ann") == [held]
    again = call("restore", str(file), "--redis", other.url)
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == (
        f"leaseq: the server already has the queue '{held.queue}', and so does the backup: restore into an "
        "empty server, or delete what is there with `leaseq queue delete` first\n"
    )


def test_a_pipe(call: Call, other: leaseq.Client, held: leaseq.Lease) -> None:
    made = call("backup", "--to", "-")
    assert made.stderr == "written: queues: 1, items: 2\n"
    restored = call("restore", "-", "--json", "--redis", other.url, input=made.stdout_bytes)
    assert json.loads(restored.stdout) == {"queues": 1, "items": 2, "held": 1}


def test_json(call: Call, held: leaseq.Lease, tmp_path: Path) -> None:
    made = call("backup", "--to", str(tmp_path / "b"), "--json")
    assert json.loads(made.stdout) == {"queues": 1, "items": 2}
    assert call("backup", "--to", "-", "--json").exit_code == 2


def test_a_backup_that_fails_leaves_the_older_one(
    call: Call, held: leaseq.Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "leaseq.backup"
    file.write_text("yesterday's")

    def fail(*_: object, **__: object) -> None:
        raise backup.BackupFailed("the server was restarted")

    monkeypatch.setattr("leaseq.backup.writing.write_queue", fail)
    failed = call("backup", "--to", str(file))
    assert (failed.exit_code, failed.stderr) == (1, "leaseq: the server was restarted\n")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["yesterday's"]


def test_a_damaged_file(call: Call, other: leaseq.Client, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("id,text\n1,hello\n")
    refused = call("restore", str(file), "--redis", other.url)
    assert refused.exit_code == 1
    assert refused.stderr == "leaseq: line 1: this is no backup of leaseq: `leaseq backup` writes one\n"

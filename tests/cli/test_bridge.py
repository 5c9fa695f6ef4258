"""``leaseq bridge``: each of its commands, called as a user does."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

import leaseq
from tests.cli.conftest import Call, Spawn
from tests.support.leases import not_none
from tests.support.waiting import TIMEOUT, eventually


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "work.db"


@pytest.fixture
def url(file: Path) -> str:
    return f"sqlite:///{file}"


def add(file: Path, queue: str, *ids: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.executemany(
            "INSERT INTO leaseq_item (queue, id, payload) VALUES (?, ?, '1')", [(queue, id) for id in ids]
        )


def test_init_creates_tables_once_without_server(call: Call, url: str) -> None:
    result = call("bridge", "init", "--database", url)
    assert (result.exit_code, result.output) == (0, "The tables are of version 0002 now.\n")
    assert call("bridge", "init", "--database", url).output == "The tables are of version 0002 already.\n"


@pytest.mark.parametrize(
    "url", ["", "work.db", "mysql://h/d", "sqlite://", "sqlite:///:memory:", "postgresql"]
)
def test_invalid_database_url_is_refused(call: Call, url: str) -> None:
    result = call("bridge", "init", "--database", url)
    assert result.exit_code == 2
    assert "database: expected postgresql://" in result.output


def test_command_without_tables_names_bridge_init(call: Call, url: str, queue: leaseq.Queue) -> None:
    for command in (("run",), ("rebuild", queue.name), ("verify",)):
        result = call("bridge", *command, "--database", url)
        assert result.exit_code == 1
        assert "run `leaseq bridge init`" in result.output


def test_command_with_a_mistyped_path_makes_no_file(call: Call, file: Path, queue: leaseq.Queue) -> None:
    mistyped = file.with_name("mistyped.db")
    for command in (("run",), ("rebuild", queue.name), ("verify",)):
        result = call("bridge", *command, "--database", f"sqlite:///{mistyped}")
        assert result.exit_code == 1
        assert not mistyped.exists()


def test_tables_of_a_newer_version_are_refused(call: Call, url: str, file: Path) -> None:
    call("bridge", "init", "--database", url)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE leaseq_version SET version_num = '9999'")
    for command in ("init", "run"):
        result = call("bridge", command, "--database", url)
        assert result.exit_code == 1
        assert "a newer leaseq made" in result.output


def test_failed_migration_is_rolled_back(call: Call, url: str, file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE leaseq_event (mine text)")  # the third of the tables
    result = call("bridge", "init", "--database", url)
    assert result.exit_code == 1
    assert "leaseq_event already exists" in result.output
    with sqlite3.connect(file) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        connection.execute("DROP TABLE leaseq_event")
    assert names == {"leaseq_event"}
    assert call("bridge", "init", "--database", url).exit_code == 0


def test_run_moves_items_and_archives_answers_until_sigterm(
    spawn: Spawn, call: Call, url: str, file: Path, queue: leaseq.Queue
) -> None:
    call("bridge", "init", "--database", url)
    add(file, queue.name, "a", "b")
    process = spawn("bridge", "run", "--database", url, "--window", "10", "--queue", queue.name)
    eventually(lambda: queue.exists() and queue.stats().inbound == 2, "both are moved")
    queue.finish(not_none(queue.reserve("ann")), "yes")

    def archived_answers() -> list[object]:
        with sqlite3.connect(file) as connection:
            return connection.execute("SELECT id, result FROM leaseq_answer").fetchall()

    eventually(lambda: archived_answers() == [("a", '"yes"')], "the answer is archived")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=TIMEOUT) == 0


def test_verify_prints_each_difference(
    call: Call, url: str, file: Path, queue: leaseq.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaseq.bridge.verify._RETRY_SECONDS", 0.01)
    call("bridge", "init", "--database", url)
    add(file, queue.name, "a")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE leaseq_item SET status = 'queued'")
    result = call("bridge", "verify", "--database", url, "--queue", queue.name)
    text = "is queued in the database, and the queue does not have it"
    assert result.exit_code == 1
    assert result.stdout == f"{queue.name} a: {text}\n"
    assert f"`leaseq bridge rebuild {queue.name}` gives that queue its items again" in result.stderr
    json_result = call("bridge", "verify", "--database", url, "--queue", queue.name, "--json")
    assert json.loads(json_result.stdout) == {"queue": queue.name, "id": "a", "text": text}
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE leaseq_item SET status = 'cancelled'")
    second_result = call("bridge", "verify", "--database", url)
    assert (second_result.exit_code, second_result.output) == (0, "")


def test_rebuild_restores_items_and_prints_counts(
    call: Call, url: str, file: Path, queue: leaseq.Queue
) -> None:
    call("bridge", "init", "--database", url)
    add(file, queue.name, "a", "b", "c")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE leaseq_item SET status = 'queued' WHERE id <> 'c'")
    result = call("bridge", "rebuild", queue.name, "--database", url)
    assert result.exit_code == 0
    assert result.output.startswith(
        f"{queue.name}: 2 items wait again, 1 row is still to be moved by the bridge, 0 were refused; "
    )
    assert queue.stats().inbound == 2


def test_unavailable_database_is_reported_in_one_line(call: Call) -> None:
    result = call("bridge", "init", "--database", "postgresql://nobody@127.0.0.1:1/none")
    assert result.exit_code == 1
    assert result.output.startswith("leaseq: the database does not answer: ")
    assert result.output.count("\n") == 1


def test_missing_bridge_extra_is_reported(call: Call, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for name in [name for name in sys.modules if name.startswith("leaseq.bridge")]:
        monkeypatch.delitem(sys.modules, name)
    result = call("bridge", "init", "--database", url)
    assert result.exit_code == 1
    assert result.output == (
        "leaseq: `leaseq bridge` needs the bridge parts, and sqlalchemy is not installed: "
        "pip install 'leaseq[bridge]'\n"
    )

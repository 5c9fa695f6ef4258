"""Real processes for tests, and functions to inspect them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import TIMEOUT

LEASEQ = Path(sys.executable).with_name("leaseq")


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without leaseq's settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith("LEASEQ_")} | changes


class UpProcess:
    """A real ``leaseq up``, started by its constructor."""

    def __init__(
        self,
        data: Path,
        port: int,
        *arguments: str,
        command: Path = LEASEQ,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.data, self.port = data, port
        self.process = subprocess.Popen(
            [str(command), "up", "--data", str(data), "--port", str(port), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**(settings or {})),
        )
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if "Ctrl-C stops it" in line:
                return
        assert self.process.stderr is not None
        stderr = self.process.stderr.read()
        self.stop()
        pytest.fail(f"leaseq up ended: {stderr}")

    def state(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.data / "up.json").read_text())
        return content

    def pids(self) -> set[int]:
        """All its processes, including grandchildren."""
        return {self.process.pid} | descendants(self.process.pid)

    def error_line(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline()

    def get(self, path: str) -> int:
        return get(self.port, path)

    def stop(self, signal_number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        try:
            return self.process.wait(TIMEOUT)
        finally:
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()


def settings_of(pid: int) -> set[str]:
    """The names of leaseq's settings in a process's environment, on Linux only."""
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return {
        name for name in (word.partition(b"=")[0].decode() for word in words) if name.startswith("LEASEQ_")
    }


def get(port: int, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def descendants(pid: int) -> set[int]:
    parents = {child: parent for child, (parent, _) in processes().items()}
    pids: set[int] = set()
    level = {pid}
    while level:
        level = {child for child, parent in parents.items() if parent in level} - pids
        pids |= level
    return pids


def is_alive(pid: int) -> bool:
    """True if the process runs; one that has ended and waits to be reaped does not."""
    _, state = processes().get(pid, (0, "Z"))
    return not state.startswith("Z")


def processes() -> dict[int, tuple[int, str]]:
    """The parent and state of every process, from /proc if it exists: a minimal machine has no ps."""
    if not Path("/proc/self/stat").exists():
        listing = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
        )
        rows = map(str.split, listing.stdout.splitlines())
        return {int(pid): (int(parent), state) for pid, parent, state in rows}
    by_pid = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended in the meantime
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            by_pid[int(entry.parent.name)] = (int(parent), state)
    return by_pid


def run_leaseq(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LEASEQ), *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment(**env),
        check=False,
    )


def is_ready(port: int) -> Callable[[], bool]:
    def check() -> bool:
        try:
            return get(port, "/readyz") == 200
        except OSError:
            return False

    return check

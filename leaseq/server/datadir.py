"""The data directory of ``leaseq up``: private, locked by one process, with the server's address.

It contains ``up.lock`` (which process uses it), ``up.json`` (what is running, and where), ``secret-key``, and
the embedded server's own files (see ``embedded.py``).
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from leaseq.discovery import read_state, try_lock
from leaseq.errors import LeaseqError
from leaseq.server.supervisor import print_message

CLAIM_TIMEOUT = 0.5  # seconds; longer than running_url holds the lock
TAKEOVER_TIMEOUT = 20.0  # seconds for the children of a killed `up` to write and answer to the end
POLL = 0.02


class DataDirRefused(LeaseqError):
    """The data directory can't be used: another `up` uses it, its permissions are wrong, or it contains other
    files."""


class DataDir:
    """A data directory: claim it, publish what runs, release it. The lock ends when the process ends, in any
    way."""

    def __init__(self, path: str | Path, *, check: Callable[[], None] = lambda: None) -> None:
        """``check`` is called repeatedly while the claim waits; an error that it raises ends the wait."""
        self.path = Path(path).absolute()
        self._check = check
        self._lock: int | None = None

    @property
    def lock_fd(self) -> int:
        """The descriptor of the lock. A child that inherits it keeps the lock."""
        if self._lock is None:
            raise DataDirRefused(f"{self.path} is not claimed")
        return self._lock

    def __enter__(self) -> Self:
        self.claim()
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()

    def claim(self) -> None:
        """Create the directory if it is missing, and lock it for this process."""
        with self._explain_errors():
            self._make_directory()
            lock = os.open(self.path / "up.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                self._wait_for(lock)
                os.ftruncate(lock, 0)
                os.write(lock, f"{os.getpid()}\n".encode())
            except BaseException:
                os.close(lock)
                raise
        self._lock = lock

    def release(self) -> None:
        if self._lock is not None:
            (self.path / "up.json").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def publish(self, *, url: str, web: str, pids: Mapping[str, int]) -> None:
        """Write ``up.json``: the URLs of the server and of the pages, and the processes."""
        state = {"url": url, "web": web, "pid": os.getpid(), "pids": dict(pids)}
        try:
            private_file(self.path / "up.json", json.dumps(state, indent=1) + "\n")
        except OSError as error:
            if not (self.path / "up.json").exists():
                raise self._refusal(error) from None
            # A full disk must not end what runs: the file keeps its old content.

    def secret_key(self) -> str:
        """The key that signs sessions: created once, stored here, readable by its owner only."""
        path = self.path / "secret-key"
        with self._explain_errors():
            if not path.exists():
                private_file(path, secrets.token_urlsafe(48) + "\n")
            return path.read_text().strip()

    def _make_directory(self) -> None:
        make_folder(self.path, 0o700)
        has_other_files = not (self.path / "up.lock").exists() and any(self.path.iterdir())
        if has_other_files:
            raise DataDirRefused(
                f"{self.path} holds other files and is no leaseq data directory: "
                "name an empty or a new one with --data"
            )
        self.path.chmod(0o700)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> DataDirRefused:
        return DataDirRefused(f"cannot use {self.path} as data directory: {error.strerror}")

    def _wait_for(self, lock: int) -> None:
        """Take the lock. If its `up` was killed, end the processes that it left, and wait for their end."""
        start = time.monotonic()
        has_signalled = False
        while not try_lock(lock, fcntl.LOCK_EX):
            holder = _read_pid(lock)
            is_alive = _is_alive(holder)
            if time.monotonic() - start > (CLAIM_TIMEOUT if is_alive else TAKEOVER_TIMEOUT):
                raise DataDirRefused(self._in_use_message(holder))
            if not is_alive and not has_signalled:
                has_signalled = True
                message = f"the `leaseq up` of {self.path} (pid {holder}) was killed"
                print_message(f"{message}; waiting for its processes to end")
                self._terminate_holders()
            self._check()
            time.sleep(POLL)

    def _terminate_holders(self) -> None:
        """End the processes that hold the lock. While they hold it, their pids can't belong to others."""
        pids = read_state(self.path).get("pids", {})
        for pid in (pids.get("web"), pids.get("server")):
            if isinstance(pid, int) and _is_alive(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)

    def _in_use_message(self, holder: int) -> str:
        web = read_state(self.path).get("web")
        where = f" at {web}" if web else ""
        return (
            f"{self.path} is in use by another `leaseq up` (pid {holder}){where}: "
            "use that one, stop it first, or name another directory with --data"
        )


def private_file(path: Path, text: str) -> None:
    """Write a file that only its owner may read, completely or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Create the folder and its parents if they are missing, and fsync their names, so that they survive a
    power cut."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode, exist_ok=True)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Fsync the names in a folder, if it can be opened and the file system supports it."""
    with suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _read_pid(lock: int) -> int:
    digits = os.pread(lock, 32, 0).strip()
    return int(digits) if digits.isdigit() else 0


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True

"""Where the files of answers are kept: a folder of this machine, or an S3-compatible bucket (`bucket`)."""

from __future__ import annotations

import errno
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from leaseq.webapp.files.keys import SentFile, is_key
from leaseq.webapp.serving.problem import Problem
from leaseq.webapp.serving.time_slices import in_slices, run_beside

PIECE = 65_536  # bytes that are read or written at once
_PARTS = "~parts"  # no queue has this name
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept, whether or not an answer names it."""

    key: str
    size: int
    at: datetime  # when it arrived


class Storage(ABC):
    """Where files are kept, by their keys. All methods raise a problem if they can't be reached."""

    origin: str | None = None
    """The origin to which browsers send files; None: to this app."""

    def upload_form(self, file: SentFile, seconds: int) -> tuple[str, dict[str, str]] | None:
        """The URL to which a browser sends this file, and the fields of the form; None: to this app."""
        _ = file, seconds
        return None

    def download_url(self, file: SentFile) -> str | None:
        """A URL that is valid for a minute; None: this app sends the file itself."""
        _ = file
        return None

    @abstractmethod
    def put(self, key: str, body: IO[bytes], size: int) -> bool:
        """Store the rest of the body. False, and nothing is stored, if it has another size."""

    @abstractmethod
    def size_of(self, key: str) -> int | None:
        """The bytes of a file; None if it has not arrived."""

    @abstractmethod
    def read(self, key: str) -> Iterator[bytes]: ...

    @abstractmethod
    def stored(self, folder: str = "") -> Iterator[StoredFile]:
        """All files, or those of a queue or an item: the beginning of their keys, without its slash."""

    @abstractmethod
    def delete(self, key: str) -> None: ...


def unavailable(*, no_room: bool = False) -> Problem:
    """The problem if files can't be stored or read now."""
    problem = Problem.of(503, "server-unavailable", "unavailable", what="no_room" if no_room else "files")
    problem.headers["Retry-After"] = "5"
    return problem


class Folder(Storage):
    """A folder of this machine, readable by its owner only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, key: str, body: IO[bytes], size: int) -> bool:
        """A file that is there already stays: the same upload may be sent again."""
        path = self._path(key)
        with _as_problem():
            if path.exists():
                return self.size_of(key) == size
            part = self._root / _PARTS / secrets.token_hex(16)
            part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(part, _NEW, 0o600), "wb") as file:
                    written = _copy(body, file, size)
                    file.flush()
                    run_beside(os.fsync, file.fileno())
                if written == size:
                    part.replace(path)
                return written == size
            finally:
                part.unlink(missing_ok=True)

    def size_of(self, key: str) -> int | None:
        with _as_problem(), suppress(FileNotFoundError):
            return self._path(key).stat().st_size
        return None

    def read(self, key: str) -> Iterator[bytes]:
        with _as_problem(), self._path(key).open("rb") as file:
            yield from in_slices(iter(lambda: file.read(PIECE), b""))

    def stored(self, folder: str = "") -> Iterator[StoredFile]:
        with _as_problem():
            for path in in_slices(sorted((self._root / folder).rglob("*"))):
                key = path.relative_to(self._root).as_posix()
                if is_key(key):
                    facts = path.stat()
                    yield StoredFile(key, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))

    def delete(self, key: str) -> None:
        path = self._path(key)
        with _as_problem():
            path.unlink(missing_ok=True)
            with suppress(OSError):  # the item has more
                path.parent.rmdir()

    def _path(self, key: str) -> Path:
        if not is_key(key):
            raise ValueError(f"not a key: {key!r}")
        return self._root / key


def _copy(body: IO[bytes], file: IO[bytes], size: int) -> int:
    """Copy at most one byte more than the size, and return how many there were."""
    count = 0
    for piece in in_slices(_pieces(body, size + 1)):
        file.write(piece)
        count += len(piece)
    return count


def _pieces(body: IO[bytes], most: int) -> Iterable[bytes]:
    while most > 0 and (piece := body.read(min(PIECE, most))):
        most -= len(piece)
        yield piece


@contextmanager
def _as_problem() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unavailable(no_room=error.errno in _NO_ROOM) from error

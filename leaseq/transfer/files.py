"""Writes a file atomically: either all of it is there, or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a temporary file next to ``path``, and rename it to ``path`` when everything is written.

    If the block raises, the temporary file is removed and the file at ``path`` is unchanged. Only the owner
    may read a new file, since it contains what people answered; one that is replaced keeps its mode, except
    with ``private``.
    """
    original_path, path = path, path.resolve()  # follows a symbolic link to the file itself
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        error.filename = str(original_path)  # instead of the temporary file's name
        raise
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(0o600 if private or not path.exists() else path.stat().st_mode & 0o7777)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

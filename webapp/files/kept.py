"""The files that an app keeps: where, and under which keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leaseq.webapp.files.keys import FileKeys
from leaseq.webapp.files.storage import Folder, Storage

S3 = "s3://"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the app's answers."""

    storage: Storage
    keys: FileKeys
    max_bytes: int  # of one file


def open_files(url: str | None, secret: str, max_bytes: int) -> Files | None:
    """The files kept at this URL or in this folder; None: nowhere. Raises ValueError with what is wrong."""
    return None if url is None else Files(open_storage(url), FileKeys(secret), max_bytes)


def open_storage(url: str) -> Storage:
    """The storage at this URL, or in this folder. Raises ValueError with what is wrong."""
    if not url.startswith(S3):
        return Folder(Path(url))
    from leaseq.webapp.files.bucket import Bucket  # noqa: PLC0415 - its package is optional, and large

    return Bucket.of(url)

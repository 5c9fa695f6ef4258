"""The backup file: lines of JSON, each with its own checksum. The first line contains the format's number,
the last one the number of lines and the SHA-256 of all lines before it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from typing import Any, BinaryIO, Final
from zlib import crc32

from leaseq.backup.stored_keys import Registry, StoredKeys, registry
from leaseq.engine.keys import SCHEMA
from leaseq.errors import Invalid, LeaseqError
from leaseq.policy import FIELDS, Policy

FORMAT: Final = 1
_MARK: Final = "leaseq-backup"
_CRC: Final = b', "crc32": '
_FIRST_LINE_BYTES: Final = 1_000  # the longest first line, in bytes
Line = Mapping[str, Any]


class BackupDamaged(LeaseqError):
    """The file is not a backup, is incomplete, or differs from what was written. Nothing was restored."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line:,}: {message}")
        self.line = line


class RestoreRefused(LeaseqError):
    """The backup can't be restored by this version, or into this server. Nothing was restored, unless another
    program used the server during the restore: then the message says how to continue."""


@dataclass(slots=True)
class Contents:
    """The contents of a backup."""

    created_at: datetime
    version: str
    """The version of leaseq that wrote it."""
    queues: list[str] = field(default_factory=list)
    items: int = 0
    entries: Counter[str] = field(default_factory=Counter)
    """The number of people and the number of webhook endpoints."""
    sha256: str = ""
    """The SHA-256 of the file without its last line."""

    def count(self, line: Line, entries: str) -> None:
        """Count a line. ``entries`` is the name of its key's entries, or '' if they are not counted."""
        if "queue" in line:
            self.queues.append(line["queue"])
        elif "item" in line:
            self.items += 1
        elif entries:
            self.entries[entries] += len(line["values"])


class Writer:
    """The writer of a backup's lines."""

    def __init__(self, stream: BinaryIO, now: float) -> None:
        self._stream = stream
        self._digest = sha256()
        self._lines = 0
        self.contents = Contents(datetime.fromtimestamp(now, UTC), version("leaseq"))
        at = self.contents.created_at.isoformat(timespec="seconds").replace("+00:00", "Z")
        self._write({_MARK: FORMAT, "schema": SCHEMA, "version": self.contents.version, "created_at": at})

    def write(self, line: Line, entries: str = "") -> None:
        self._write(line)
        self.contents.count(line, entries)

    def end(self) -> Contents:
        self.contents.sha256 = self._digest.hexdigest()
        self._write({"lines": self._lines, "sha256": self.contents.sha256})
        return self.contents

    def _write(self, line: Line) -> None:
        text = json.dumps(line, ensure_ascii=False).encode()[:-1]
        text += b"%b%d}\n" % (_CRC, crc32(text))
        self._digest.update(text)
        self._stream.write(text)
        self._lines += 1


def lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield the lines of a verified file, except the first and the last."""
    next(stream)
    previous_line: bytes | None = None
    for text in stream:
        if previous_line is not None:
            yield json.loads(previous_line)
        previous_line = text


def verify(stream: BinaryIO) -> Contents:
    """Read and check a whole backup. Raises BackupDamaged if it differs from what was written, and
    RestoreRefused if it was written by a newer version of leaseq."""
    first_line, key_registry = stream.readline(_FIRST_LINE_BYTES), registry()
    contents = _read_first(first_line)
    digest, number, last_line = sha256(first_line), 1, None
    for number, text in enumerate(stream, 2):
        if last_line is not None:
            raise BackupDamaged("there is more after the end of the backup", number)
        line = _parse(text, number)
        if "sha256" in line:
            last_line = line
        else:
            digest.update(text)
            contents.count(line, _check(line, key_registry, contents))
    if last_line is None:
        raise BackupDamaged("the file ends without the last line of a backup: it was cut off", number)
    if (last_line["lines"], last_line["sha256"]) != (number - 1, digest.hexdigest()):
        raise BackupDamaged("lines are missing, or not in their places: the file's checksum differs", number)
    contents.sha256 = last_line["sha256"]
    return contents


def _read_first(first_line: bytes) -> Contents:
    """The contents according to the first line. Raises BackupDamaged and RestoreRefused."""
    if not first_line.startswith(b'{"%b": ' % _MARK.encode()):
        raise BackupDamaged("this is not a backup of leaseq: `leaseq backup` writes one", 1)
    line = _parse(first_line, 1)
    for field_name, newest in ((_MARK, FORMAT), ("schema", SCHEMA)):
        if line[field_name] > newest:
            raise RestoreRefused(
                f"leaseq {line['version']} wrote this backup, and this is leaseq {version('leaseq')}, which "
                f"reads {field_name} {newest} and not {line[field_name]}: use the newer version"
            )
    return Contents(datetime.fromisoformat(line["created_at"]), line["version"])


def _parse(text: bytes, number: int) -> Line:
    """Parse a line and check its checksum. Raises BackupDamaged."""
    if not text.endswith(b"}\n"):
        raise BackupDamaged("it does not end as a line of a backup: the file is cut off or damaged", number)
    content, _, crc = text.removesuffix(b"}\n").rpartition(_CRC)
    if not crc.isdigit() or int(crc) != crc32(content):
        raise BackupDamaged("its checksum differs: the line is damaged", number)
    line: Line = json.loads(content + b"}")
    return line


def _check(line: Line, key_registry: Registry, contents: Contents) -> str:
    """Raise RestoreRefused if the line contains something that this version does not know. Returns the name
    of its key's entries, or ''."""
    if "queue" in line:
        for name in line["policy"].keys() - FIELDS.keys():
            raise RestoreRefused(_unknown_feature(f"the policy field {name!r}", contents))
        try:
            Policy(**line["policy"])
        except Invalid as error:
            raise RestoreRefused(_unknown_feature(f"a value of the policy, {error}", contents)) from error
    if "key" not in line:
        return ""
    kind = key_registry.find(line["key"])
    if not isinstance(kind, StoredKeys) or kind.type != line["type"]:
        raise RestoreRefused(f"the backup has the key {line['key']}, which {key_registry.unknown_problem}")
    return kind.entries


def _unknown_feature(feature: str, contents: Contents) -> str:
    return (
        f"leaseq {contents.version} wrote this backup, and this is leaseq {version('leaseq')}, which does "
        f"not know {feature}: use the newer version"
    )

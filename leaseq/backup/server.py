"""The backup of a server, and its restore into one that has none of its queues and no people."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import copyfileobj
from typing import BinaryIO, cast

from leaseq.backup import file
from leaseq.backup.file import Contents, Line, RestoreRefused, Writer
from leaseq.backup.key_lines import load_key, write_keys
from leaseq.backup.queue_lines import QueueLoader, write_queue
from leaseq.backup.stored_keys import registry
from leaseq.engine.client import Client, check_client
from leaseq.engine.commands import Clock
from leaseq.engine.keys import RESTORED_QUEUES, RESTORING, RESTORING_KEYS
from leaseq.queue import Queue, queues


def back_up(client: Client, stream: BinaryIO, *, clock: Clock | None = None) -> Contents:
    """Write a backup of all queues, people and everything else stored, and return its contents.

    Work can continue. The backup contains everything acknowledged before it began, each item as it is at one
    moment. An item removed during the backup may be in it, and an item added may be missing. Raises
    BackupFailed if the server is restarted or replaced, or a queue deleted, during the backup: then run it
    again. ``clock`` (microseconds since the epoch) is for tests.
    """
    writer = Writer(stream, time.time())
    write_keys(check_client(client), writer)
    for name in queues(client):
        write_queue(client, name, writer, clock)
    return writer.end()


@dataclass(frozen=True, slots=True)
class Restored:
    """The contents of a restored backup."""

    queues: int
    items: int
    held: int
    """The number of held leases. Their people can finish them; otherwise they expire."""
    entries: Counter[str]
    """The number of people and the number of webhook endpoints."""


def restore(client: Client, stream: BinaryIO, *, clock: Clock | None = None) -> Restored:
    """Restore a backup. The whole file is checked before anything is written.

    The server must have none of the backup's queues, and no people or webhook endpoints if the backup has
    any. Other calls find a queue only when it is complete. Later tokens are higher than all that the other
    server granted after the backup. If a restore is interrupted, the same call with the same file continues
    it; until then another file is refused.

    Raises BackupDamaged and RestoreRefused; the latter also if another program creates one of the backup's
    queues during the restore. ``clock`` (microseconds since the epoch) is for tests.
    """
    check_client(client)
    with _seekable(stream) as seekable_stream:
        contents = file.verify(seekable_stream)
        seekable_stream.seek(0)
        _begin(client, contents)
        _load(client, file.lines(seekable_stream), clock, contents)
    client.ask(("UNLINK", RESTORING, RESTORING_KEYS, RESTORED_QUEUES))
    lease_count = sum(Queue(client, name).stats().reserved for name in contents.queues)
    return Restored(len(contents.queues), contents.items, lease_count, contents.entries)


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream, or if it can be read only once, a copy on disk that nobody else can open."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        copyfileobj(stream, copy)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def _begin(client: Client, contents: Contents) -> None:
    """Mark the server as being restored from this file. Raises RestoreRefused if it is in use."""
    if _restoring_sha256(client) is None:
        _refuse_used(client, contents)
        client.ask(("SET", RESTORING, contents.sha256, "NX"))
    sha256 = _restoring_sha256(client)
    if sha256 != contents.sha256:
        raise RestoreRefused(
            "the restore of another backup into this server was begun and not completed: run it again with "
            f"that file, whose SHA-256 begins with {str(sha256)[:12]}, or restore into an empty server"
        )


def _restoring_sha256(client: Client) -> str | None:
    """The checksum of the backup that is being restored, or None."""
    sha256 = client.ask(("MGET", RESTORING))[0][0]
    return sha256.decode() if sha256 else None


def _refuse_used(client: Client, contents: Contents) -> None:
    queues = [name for name in contents.queues if Queue(client, name).exists()]
    conflicts = [_queues_in_words(queues)] if queues else []
    conflicts += [
        kind.entries
        for kind in registry().entries
        if contents.entries[kind.entries] and client.ask(("HLEN", kind.pattern))[0]
    ]
    if conflicts:
        advice = "restore into an empty server"
        if len(conflicts) == len(queues[:1]):  # only queues, no people or webhook endpoints
            advice += ", or delete what is there with `leaseq queue delete` first"
        conflict_list = " and ".join(filter(None, (", ".join(conflicts[:-1]), conflicts[-1])))
        raise RestoreRefused(f"the server already has {conflict_list}, and so does the backup: {advice}")


def _queues_in_words(names: list[str]) -> str:
    suffix = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"the queue{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:5]))}{suffix}"


def _load(client: Client, lines: Iterable[Line], clock: Clock | None, contents: Contents) -> None:
    keys_are_there = client.ask(("MGET", RESTORING_KEYS))[0][0] is not None
    loader: QueueLoader | None = None
    for line in lines:
        if "key" in line:
            if not keys_are_there:
                load_key(client, line)
        elif "queue" in line:
            _end(loader)
            client.ask(("SET", RESTORING_KEYS, contents.sha256))  # keys come first in the file
            loader = QueueLoader(client, line, clock)
        elif loader:
            loader.add(line)
    _end(loader)


def _end(loader: QueueLoader | None) -> None:
    if loader:
        loader.end()

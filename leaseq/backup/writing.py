"""Writes a backup of a server."""

from __future__ import annotations

import time
from typing import BinaryIO

from leaseq.backup.file import Contents, Writer
from leaseq.backup.key_lines import write_keys
from leaseq.backup.queue_lines import write_queue
from leaseq.engine.client import Client, check_client
from leaseq.engine.commands import Clock
from leaseq.queue import queues


def back_up(client: Client, stream: BinaryIO, *, clock: Clock | None = None) -> Contents:
    """Write a backup of all queues, people and what else is stored, and return what is in it.

    Work may go on. The backup has all that was acknowledged before it began, each item as of one moment. An
    item that was removed meanwhile may be in it, and one that was added may not. Raises BackupFailed where
    the server was restarted or replaced meanwhile, or a queue was deleted: then make another.
    ``clock`` (microseconds since the epoch) is for tests.
    """
    writer = Writer(stream, time.time())
    write_keys(check_client(client), writer)
    for name in queues(client):
        write_queue(client, name, writer, clock)
    return writer.end()

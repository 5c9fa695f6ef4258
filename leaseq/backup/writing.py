"""The backup of a server."""

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

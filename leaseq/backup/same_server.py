"""Checks that a scan read from the same server from beginning to end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from leaseq.backup.stored_keys import BackupFailed
from leaseq.engine.client import Client, connection_of
from leaseq.engine.server_marker import ServerMarker


@contextmanager
def require_same_server(client: Client, key: str) -> Iterator[None]:
    """Raise BackupFailed at the end if another server process has the key by then."""
    marker = ServerMarker(connection_of(client), key)
    marker.load()
    yield
    if not marker.is_present():
        raise BackupFailed(
            "the server was restarted or replaced during the backup, which may lack items: run it again"
        )

"""The names of the queues in a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from leaseq.engine.connection import Connection
from leaseq.engine.keys import QUEUES, STATUS, Keys
from leaseq.errors import LeaseqError
from leaseq.validation import is_dot_segment

_BATCH = 1_000  # queues looked up in one round trip


def names(connection: Connection) -> list[str]:
    """The names of the queues, sorted. Adds again those that the list has lost: see `leaseq.queues`."""
    (members,) = connection.ask_all([("SMEMBERS", QUEUES)])
    stored_names = {name.decode() if isinstance(name, bytes) else name for name in members}
    listed_names = {name for name in stored_names if not is_dot_segment(name)}  # the doctor finds the others
    missing_names = connection.names - listed_names
    existing_names = _existing_names(connection, sorted(listed_names | missing_names))
    if lost_names := missing_names.intersection(existing_names):
        with suppress(LeaseqError):  # a read-only user gets the list nevertheless
            connection.ask_all([("SADD", QUEUES, *lost_names)])
    connection.names.update(existing_names)
    connection.names.difference_update(missing_names - lost_names)
    return existing_names


def _existing_names(connection: Connection, candidates: Sequence[str]) -> list[str]:
    """The names of the candidates that exist."""
    statuses: list[bytes | None] = []
    for start in range(0, len(candidates), _BATCH):
        batch = candidates[start : start + _BATCH]
        statuses += connection.ask_all([("HGET", Keys(name).ledger, STATUS) for name in batch])
    return [name for name, status in zip(candidates, statuses, strict=True) if status is not None]

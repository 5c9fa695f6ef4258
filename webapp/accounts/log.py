"""The managers' log: who changed what about whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from leaseq import Client
from webapp.accounts import keys

LOG_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class LogEntry:
    at: datetime
    by: str
    what: str
    about: str
    detail: str


def write_entry(client: Client, by: str, what: str, about: str, detail: str = "") -> None:
    entry: dict[Any, Any] = {"by": by, "what": what, "about": about, "detail": detail}
    with client.translating():
        client.redis.xadd(keys.LOG, entry, maxlen=LOG_LENGTH, approximate=True)


def latest_entries(client: Client, limit: int) -> list[LogEntry]:
    """The latest first."""
    with client.translating():
        found: Any = client.redis.xrevrange(keys.LOG, count=limit)
    return [_entry(cursor, fields) for cursor, fields in found]


def _entry(cursor: bytes, fields: dict[bytes, bytes]) -> LogEntry:
    at = datetime.fromtimestamp(int(cursor.partition(b"-")[0]) / 1_000, UTC)
    text = {name.decode(): value.decode() for name, value in fields.items()}
    return LogEntry(at, text["by"], text["what"], text["about"], text["detail"])

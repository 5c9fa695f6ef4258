"""The keys that a backup holds, and whether a server is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, Literal

from leaseq.engine.client import Client, connection_of
from leaseq.engine.connection import ServerMarker
from leaseq.engine.keys import (
    RESTORED_QUEUES,
    RESTORING,
    RESTORING_KEYS,
    UNDECLARED_PROXY,
    WEBHOOK_EVENTS,
    WEBHOOK_STATE,
    WEBHOOKS,
)
from leaseq.engine.parts import load_parts
from leaseq.errors import LeaseqError

GROUP = "leaseq.backup"
Type = Literal["hash", "list", "set", "stream", "string", "zset"]


class BackupFailed(LeaseqError):
    """The server could not be backed up. What was written so far is no backup."""


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """A key that backups include, or with a ``*`` at its end all keys with that prefix.

    ``entries`` is the name of this hash's fields, such as people. They are counted, and a backup that has any
    is not restored into a server that has any.
    """

    pattern: str
    type: Type
    entries: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A key that backups leave out, or with a ``*`` at its end all keys with that prefix, and why."""

    pattern: str
    why: str


Kind = StoredKeys | LeftOut


class Registry:
    """The keys of all installed parts of leaseq. ``missing_package``: the package whose absence keeps a part
    from listing its keys, or ''."""

    def __init__(self, kinds: Iterable[Kind], missing_package: str = "") -> None:
        self.kinds = sorted(kinds, key=lambda kind: (kind.pattern.endswith("*"), -len(kind.pattern)))
        self._missing_package = missing_package

    @property
    def unknown_problem(self) -> str:
        """The reason why a key is unknown, and the advice."""
        if self._missing_package:
            advice = "pip install 'leaseq[web]'"
            return f"needs the web parts, and {self._missing_package} is not installed: {advice}"
        return "this version of leaseq does not know: use the version that wrote it"

    def find(self, key: str) -> Kind | None:
        """The entry for a key, from the pattern that fits it best; None if the key is unknown."""
        return next((kind for kind in self.kinds if _matches(kind.pattern, key)), None)

    @cached_property
    def tags(self) -> Sequence[str]:
        """The prefixes of the keys in a backup; the keys of one prefix are in one slot of a cluster."""
        patterns = (kind.pattern for kind in self.kinds if isinstance(kind, StoredKeys))
        return sorted({pattern.partition("}")[0] + "}:" for pattern in patterns})

    @property
    def entries(self) -> Sequence[StoredKeys]:
        return [kind for kind in self.kinds if isinstance(kind, StoredKeys) and kind.entries]


def _matches(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


LIBRARY_KEYS: Final[tuple[Kind, ...]] = (
    StoredKeys(WEBHOOKS, "hash", entries="webhook endpoints"),
    StoredKeys(WEBHOOK_STATE, "hash"),
    StoredKeys(WEBHOOK_EVENTS, "stream"),
    LeftOut(UNDECLARED_PROXY, "an undeclared proxy of this server, seen in the last two hours"),
    LeftOut(RESTORING, "exists only while a backup is restored"),
    LeftOut(RESTORING_KEYS, "exists only while a backup is restored"),
    LeftOut(RESTORED_QUEUES, "exists only while a backup is restored"),
)


def registry() -> Registry:
    parts, missing_package = load_parts(GROUP)
    return Registry([*LIBRARY_KEYS, *chain(*parts)], missing_package)


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

"""The keys that are in a backup beside those of the queues. The web app lists its own, by an entry point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Final, Literal

from leaseq.engine.keys import (
    RESTORED_QUEUES,
    RESTORING,
    RESTORING_KEYS,
    UNDECLARED_PROXY,
    WEBHOOK_EVENTS,
    WEBHOOK_STATE,
    WEBHOOKS,
)
from leaseq.errors import LeaseqError

GROUP = "leaseq.backup"
Type = Literal["hash", "list", "set", "stream", "string", "zset"]


class BackupFailed(LeaseqError):
    """The server could not be backed up. What was written so far is no backup."""


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """A key that a backup has, or with a ``*`` at its end all keys that begin so.

    ``entries``: what the fields of this hash are called, such as people. They are counted, and a server that
    has any is not restored into.
    """

    pattern: str
    type: Type
    entries: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A key that no backup has, or all that begin so, and why."""

    pattern: str
    why: str


Kind = StoredKeys | LeftOut


class Registry:
    """The keys of all parts that are installed. ``missing``: the package without which a part could not be
    asked for its keys, or ''."""

    def __init__(self, kinds: Iterable[Kind], missing_package: str = "") -> None:
        self.kinds = sorted(kinds, key=lambda one: (one.pattern.endswith("*"), -len(one.pattern)))
        self._missing_package = missing_package

    @property
    def unknown_problem(self) -> str:
        """Why it does not know a key, and what to do."""
        if self._missing_package:
            cure = "pip install 'leaseq[web]'"
            return f"needs the web parts, and {self._missing_package} is not installed: {cure}"
        return "this version of leaseq does not know: use the version that wrote it"

    def of(self, key: str) -> Kind | None:
        """What is known of a key: by the pattern that fits it best."""
        return next((one for one in self.kinds if _covers(one.pattern, key)), None)

    @cached_property
    def tags(self) -> Sequence[str]:
        """What the keys that are in a backup begin with: each is in one slot of a cluster."""
        patterns = (one.pattern for one in self.kinds if isinstance(one, StoredKeys))
        return sorted({pattern.partition("}")[0] + "}:" for pattern in patterns})

    @property
    def entries(self) -> Sequence[StoredKeys]:
        return [one for one in self.kinds if isinstance(one, StoredKeys) and one.entries]


def _covers(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


OWN: Final[tuple[Kind, ...]] = (
    StoredKeys(WEBHOOKS, "hash", entries="webhook endpoints"),
    StoredKeys(WEBHOOK_STATE, "hash"),
    StoredKeys(WEBHOOK_EVENTS, "stream"),
    LeftOut(UNDECLARED_PROXY, "what one server's proxy did in the last two hours"),
    LeftOut(RESTORING, "there while a backup is restored"),
    LeftOut(RESTORING_KEYS, "there while a backup is restored"),
    LeftOut(RESTORED_QUEUES, "there while a backup is restored"),
)


def registry() -> Registry:
    kinds: list[Kind] = [*OWN]
    missing_package = ""
    for entry in entry_points(group=GROUP):
        try:
            kinds += entry.load()
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package == "leaseq":
                raise
            missing_package = package
    return Registry(kinds, missing_package)

"""The doctor's checks and findings: a finding says what is wrong in one line, and how to fix it in another.

The checks contain these texts, and the table in docs/doctor.md is made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "unseen"]
"""An error loses data, lets someone in or stops work; a warning may; unseen: could not be checked."""

Group = Literal[
    "append-only file", "memory", "access", "server", "permissions", "replication", "queues", "names", "pages"
]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at a server; ``where`` is its address, without a password."""

    check: str
    level: Level
    where: str
    says: str
    cure: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check; ``says`` and ``cure`` have ``{names}`` as placeholders for the facts."""

    name: str
    group: Group
    level: Level
    says: str
    cure: str

    def finding(self, where: str, **facts: object) -> Finding:
        return Finding(self.name, self.level, where, self.says.format(**facts), self.cure.format(**facts))

"""The keys of the import jobs, all in one slot of a cluster. No queue can have this name: it has an '@'."""

from __future__ import annotations

from leaseq.backup import LeftOut

_BASE = "leaseq:{@imports}:"
STORED = (LeftOut(_BASE + "*", "an import job ends within minutes, and its file is not stored"),)


def run(id: str) -> str:
    """Hash: the record of a job; one field is ``queue``."""
    return f"{_BASE}run:{id}"


def bad_rows(id: str) -> str:
    """List: its rejected rows, as JSON."""
    return f"{_BASE}bad:{id}"


def latest(queue: str) -> str:
    """List: the ids of a queue's latest jobs."""
    return f"{_BASE}latest:{queue}"

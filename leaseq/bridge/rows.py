"""Rows that the bridge reads from the database or writes to it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class ItemRow(NamedTuple):
    """A row of leaseq_item."""

    id: str
    payload: str  # JSON
    priority: object
    requires: str  # comma-separated skills, or a JSON array of them
    due: datetime | None
    problem: str | None = None  # a column that can't be read, and what it should contain


class Runner(NamedTuple):
    """A bridge that works, or worked, on a queue."""

    name: str
    high: int | None
    low: int | None
    seconds: float  # since its last heartbeat, by the database's clock


class ChangeRow(NamedTuple):
    """A row of leaseq_change, with the item's row."""

    id: str
    number: int
    status: str | None  # None: the row was deleted
    row: ItemRow | None


class AnswerRow(NamedTuple):
    """A row of leaseq_answer, without its queue."""

    id: str
    token: int
    person: str
    result: str  # JSON
    finished_at: datetime
    late: bool
    accepted: bool

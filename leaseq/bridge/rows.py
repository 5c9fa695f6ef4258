"""What the bridge reads from the database and writes to it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class ItemRow(NamedTuple):
    """A row of leaseq_item."""

    id: str
    payload: str  # JSON
    priority: object
    requires: str  # skills with commas between, or a JSON array of them
    due: datetime | None
    problem: str | None = None  # what a column has that can't be read


class Runner(NamedTuple):
    """A bridge that works, or worked, on a queue."""

    name: str
    high: int | None
    low: int | None
    seconds: float  # since its last sign of life, by the database's clock


class ChangeRow(NamedTuple):
    """A row of leaseq_change, and the row that it is about."""

    id: str
    number: int
    status: str | None  # None: the row was deleted
    row: ItemRow | None


class AnswerRow(NamedTuple):
    """A row of leaseq_answer, but for its queue."""

    id: str
    token: int
    person: str
    result: str  # JSON
    finished_at: datetime
    late: bool
    accepted: bool

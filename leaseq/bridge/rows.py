"""Rows that the bridge reads from the database or writes to it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from leaseq.models import OutcomeRow

DUE_LIMIT = "due: a time from 1970 to 9000, such as 2030-01-31 12:00:00"


class ItemRow(NamedTuple):
    """A row of leaseq_item. SQLite may hold values of other types; a row with such a value is refused."""

    id: str
    payload: str  # JSON
    priority: object
    requires: str  # comma-separated skills, or a JSON array of them
    due: datetime | None
    problem: str | None = None  # a column that can't be read, and what it should contain
    rowid: int | None = None  # in SQLite


def item_row(outcome: OutcomeRow) -> ItemRow:
    """The row for an item that did not come from the database."""
    return ItemRow(outcome.id, outcome.payload, outcome.priority, outcome.requires, outcome.due)


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
    rowid: int | None = None  # in SQLite, of the record of the change


class AnswerRow(NamedTuple):
    """A row of leaseq_answer, without its queue."""

    id: str
    token: int
    number: int  # among the answers under this token, by their times
    person: str
    result: str  # JSON
    finished_at: datetime
    late: bool
    accepted: bool

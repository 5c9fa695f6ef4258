"""The bridge's tables, described in docs/bridge.md, and their rows. The migrations create the tables.

Times are UTC: ``timestamptz`` in PostgreSQL; in SQLite, text in a format that its date functions read. JSON
is ``json`` in PostgreSQL, which does not change the text, and text in SQLite.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Boolean, Column, FetchedValue, Integer, MetaData, Table, Text
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.types import JSON, TIMESTAMP, TypeDecorator, TypeEngine

from leaseq.errors import Invalid
from leaseq.models import OutcomeRow, State

STATUSES: Final = ("waiting", "queued", "finished", "dead", "cancelled", "refused")
"""``waiting``: for the migrator; ``queued``: moved into the queue; ``refused``: ``error`` says why."""

STATUS_OF: Final[dict[State, str]] = {
    "inbound": "queued",
    "reserved": "queued",
    "scheduled": "queued",
    "finished": "finished",
    "dead": "dead",
}
"""The status of a row whose item the queue has, by the item's state."""

CHANNEL: Final = "leaseq"
"""The channel on which PostgreSQL notifies the bridge of new and changed rows."""


def sqlite_time(value: object) -> object:
    """A value for SQLite: a time as text, others as they are."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(" ", "microseconds").removesuffix("+00:00")
    return value


class _Time(TypeDecorator[datetime]):
    impl = TIMESTAMP(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else TIMESTAMP(timezone=True))

    def process_bind_param(self, value: object, dialect: Dialect) -> object:
        return sqlite_time(value) if dialect.name == "sqlite" else value

    def process_result_value(self, value: object, _dialect: Dialect) -> Any:
        return datetime.fromisoformat(value).replace(tzinfo=UTC) if isinstance(value, str) else value


metadata = MetaData()
_TIME = _Time()
_JSON = JSON().with_variant(Text(), "sqlite")

item = Table(
    "leaseq_item",
    metadata,
    Column("queue", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("payload", _JSON, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("run_at", _TIME, nullable=False),
    Column("requires", Text, nullable=False),
    Column("due", _TIME),
    Column("form", _JSON),
    Column("expires_at", _TIME),
    Column("assignee", Text),
    Column("status", Text, nullable=False),
    Column("error", Text),
    Column("created_at", _TIME, nullable=False),
    Column("details", _JSON),  # for a rebuild
)

answer = Table(
    "leaseq_answer",
    metadata,
    Column("queue", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("token", BigInteger, primary_key=True, autoincrement=False),
    Column("person", Text, nullable=False),
    Column("result", _JSON, nullable=False),
    Column("finished_at", _TIME, nullable=False),
    Column("late", Boolean, nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("number", Integer, primary_key=True, autoincrement=False),  # among those under a token, from 0
)

event = Table(
    "leaseq_event",
    metadata,
    Column("queue", Text, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),  # microseconds since the epoch
    Column("number", Integer, primary_key=True, autoincrement=False),  # among the events of one call, from 0
    Column("at", _TIME, FetchedValue()),  # computed from position
    Column("what", Text, nullable=False),
    Column("id", Text),
    Column("person", Text),
    Column("token", BigInteger),
    Column("detail", _JSON),
)

change = Table(
    "leaseq_change",
    metadata,
    Column("queue", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),  # changes since the bridge last processed the row
)

bridge = Table(
    "leaseq_bridge",
    metadata,
    Column("queue", Text, primary_key=True),
    Column("cursor", Text),  # of the last archived event
    Column("policy", _JSON),
    Column("high", Integer),  # the window of the bridge that ran last
    Column("low", Integer),
    Column("runner", Text),  # that bridge's name
    Column("seen_at", _TIME),  # its last heartbeat
    Column("paused", _JSON),  # the reason of the pause, "" without one; NULL: the queue is not paused
)

DUE_LIMIT = Invalid("due", "format", what="database_due")
EXPIRY_LIMIT = Invalid("expires_at", "format", what="database_due")


class ItemRow(NamedTuple):
    """A row of leaseq_item. SQLite may hold values of other types; a row with such a value is refused."""

    id: str
    payload: str  # JSON
    priority: object
    requires: str  # comma-separated skills, or a JSON array of them
    due: datetime | None
    form: str | None = None  # JSON
    expires_at: datetime | None = None
    assignee: str | None = None
    problem: Invalid | None = None  # a column that can't be read
    rowid: int | None = None  # in SQLite


def item_row(outcome: OutcomeRow) -> ItemRow:
    """The row for an item that did not come from the database."""
    assignee = outcome.assigned_to[0] if len(outcome.assigned_to) == 1 else None
    return ItemRow(
        outcome.id,
        outcome.payload,
        outcome.priority,
        outcome.requires,
        outcome.due,
        outcome.form,
        outcome.expires,
        assignee,
    )


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
    key: object  # what finds the record of the change again


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

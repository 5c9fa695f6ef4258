"""The rows of leaseq_bridge: which bridge works on a queue, with which window, and the queue's policy."""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table, Text, cast, func, null, select, update

from leaseq import validation
from leaseq.bridge.statements import Statements
from leaseq.bridge.tables import bridge, change, item
from leaseq.errors import Invalid
from leaseq.policy import FIELDS, Policy

BEGINNING = "0.0"
"""The cursor before the first event of any journal."""

HEARTBEAT_TIMEOUT = 15.0
"""A bridge that has sent no heartbeat for this long counts as ended."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Window:
    """The numbers of waiting items between which a queue is kept: it is refilled to ``high`` when at most
    ``low`` are left."""

    high: int
    low: int

    def __post_init__(self) -> None:
        if not 1 <= self.high <= 1_000_000:
            raise Invalid("window", "range", minimum=1, maximum=1_000_000, value=self.high)
        if not 0 <= self.low < self.high:
            raise Invalid("low", "range", minimum=0, maximum=self.high - 1, value=self.low)


class WindowConflict(Invalid):
    """Another bridge works on the queue with a different window."""


def register(statements: Statements, name: str, window: Window) -> None:
    """Register the bridge with this name for the queue. Raises WindowConflict."""
    statements.lock()
    other = statements.runner()
    other_window = Window(other.high, other.low) if other and other.high and other.low is not None else window
    if other and other.name != name and other.seconds < HEARTBEAT_TIMEOUT and other_window != window:
        raise WindowConflict(
            "window", "other_window", high=other_window.high, low=other_window.low, queue=statements.queue
        )
    _save(statements, runner=name, high=window.high, low=window.low, seen_at=func.now())


def save_policy(statements: Statements, policy: Policy) -> None:
    """Save the policy's fields that differ from the default, for `leaseq bridge rebuild`."""
    values = {name: getattr(policy, name) for name in FIELDS}
    fields = {name: value for name, value in values.items() if value != FIELDS[name].default}
    _save(statements, policy=_json(statements, fields))


def read_policy(statements: Statements) -> Mapping[str, object]:
    """Return the saved fields of the policy, for `Queue.configure`."""
    fields = _read(statements, bridge.c.policy) or {}
    return {name: value for name, value in fields.items() if name in FIELDS}


def save_pause(statements: Statements, reason: str | None) -> None:
    """Save the reason for which a queue is paused, "" without one; None: it is not paused."""
    _save(statements, paused=null() if reason is None else _json(statements, reason))


def read_pause(statements: Statements) -> str | None:
    """The saved reason."""
    reason: str | None = _read(statements, bridge.c.paused)
    return reason


def save_cursor(statements: Statements, cursor: str) -> None:
    """Save the cursor of the last archived event."""
    _save(statements, cursor=cursor)


def _save(statements: Statements, **values: object) -> None:
    statements.execute(update(bridge).where(bridge.c.queue == statements.queue).values(values))


def _read(statements: Statements, column: Column[Any]) -> Any:
    """The value of a JSON column."""
    text = select(cast(column, Text)).where(bridge.c.queue == statements.queue)
    return json.loads(statements.execute(text).scalar() or "null")


def queues(connection: Connection) -> list[str]:
    """The queues to work on, by name: those that the database has items of, those whose last item was deleted
    in it, and those that a bridge has worked on."""
    names = {name for table in (item, change, bridge) for name in _names(connection, table)}
    return sorted(str(name) for name in names if _limit_of(name) is None)


def refuse_unusable_queues(connection: Connection) -> None:
    """Refuse the waiting rows whose queue has a name that no queue can have."""
    for name in _names(connection, item):
        if error := _limit_of(name):
            # In SQLite, a name that is not text can only be compared as bytes.
            column = item.c.queue if isinstance(name, str) else cast(item.c.queue, LargeBinary)
            clause = (column == name) & (item.c.status == "waiting")
            refused = connection.execute(
                update(item).where(clause).values(status="refused", error=str(error))
            )
            if refused.rowcount:
                log.warning("%d rows of a queue %r are refused: %s", refused.rowcount, name, error)


def _names(connection: Connection, table: Table) -> list[Hashable]:
    """All values of the table's column of queues. Each takes one lookup in the primary key."""
    return list(
        connection.exec_driver_sql(
            f"WITH RECURSIVE names (name) AS (SELECT min(queue) FROM {table.name} UNION ALL "
            f"SELECT (SELECT min(queue) FROM {table.name} WHERE queue > name) FROM names "
            "WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL"
        ).scalars()
    )


def _limit_of(name: object) -> Invalid | None:
    try:
        validation.queue_name(name)
    except Invalid as error:
        return error
    return None


def _json(statements: Statements, value: object) -> object:
    """A value for a JSON column: SQLAlchemy encodes it if the database has that type."""
    return value if statements.connection.dialect.name == "postgresql" else json.dumps(value)

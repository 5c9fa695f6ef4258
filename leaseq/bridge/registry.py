"""The rows of leaseq_bridge: which bridge works on a queue, with which window, and the queue's policy."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, LargeBinary, Text, cast, null, select, update

from leaseq import validation
from leaseq.bridge.statements import Statements
from leaseq.bridge.tables import bridge, item
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


def register(connection: Connection, statements: Statements, queue: str, name: str, window: Window) -> None:
    """Register the bridge with this name for the queue. Raises WindowConflict."""
    statements.lock(connection, queue)
    other = statements.runner(connection, queue)
    other_window = Window(other.high, other.low) if other and other.high and other.low is not None else window
    if other and other.name != name and other.seconds < HEARTBEAT_TIMEOUT and other_window != window:
        raise WindowConflict(
            "window", "other_window", high=other_window.high, low=other_window.low, queue=queue
        )
    statements.set_runner(connection, queue, name, window.high, window.low)


def save_policy(connection: Connection, queue: str, policy: Policy) -> None:
    """Save the policy's fields that differ from the default, for `leaseq bridge rebuild`."""
    values = {name: getattr(policy, name) for name in FIELDS}
    fields = {name: value for name, value in values.items() if value != FIELDS[name].default}
    connection.execute(update(bridge).where(bridge.c.queue == queue).values(policy=_json(connection, fields)))


def read_policy(connection: Connection, queue: str) -> Mapping[str, object]:
    """Return the saved fields of the policy, for `Queue.configure`."""
    record = connection.execute(select(bridge.c.policy).where(bridge.c.queue == queue)).scalar()
    fields: Mapping[str, object] = (json.loads(record) if isinstance(record, str) else record) or {}
    return {name: value for name, value in fields.items() if name in FIELDS}


def save_pause(connection: Connection, queue: str, reason: str | None) -> None:
    """Save the reason for which a queue is paused, "" without one; None: it is not paused."""
    value = null() if reason is None else _json(connection, reason)
    connection.execute(update(bridge).where(bridge.c.queue == queue).values(paused=value))


def read_pause(connection: Connection, queue: str) -> str | None:
    record = connection.execute(select(cast(bridge.c.paused, Text)).where(bridge.c.queue == queue)).scalar()
    return None if record is None else str(json.loads(record))


def save_cursor(connection: Connection, queue: str, cursor: str) -> None:
    """Save the cursor of the last archived event."""
    connection.execute(update(bridge).where(bridge.c.queue == queue).values(cursor=cursor))


def queues(connection: Connection) -> list[str]:
    """The queues that the database has rows for, by name."""
    return [str(name) for name in _names(connection) if _limit_of(name) is None]


def refuse_unusable_queues(connection: Connection) -> None:
    """Refuse the waiting rows whose queue has a name that no queue can have."""
    for name in _names(connection):
        if error := _limit_of(name):
            # In SQLite, a name that is not text can only be compared as bytes.
            column = item.c.queue if isinstance(name, str) else cast(item.c.queue, LargeBinary)
            clause = (column == name) & (item.c.status == "waiting")
            refused = connection.execute(
                update(item).where(clause).values(status="refused", error=str(error))
            )
            if refused.rowcount:
                log.warning("%d rows of a queue %r are refused: %s", refused.rowcount, name, error)


def _names(connection: Connection) -> list[object]:
    """All values of the column. Each takes one lookup in the primary key."""
    return list(
        connection.exec_driver_sql(
            "WITH RECURSIVE names (name) AS (SELECT min(queue) FROM leaseq_item UNION ALL "
            "SELECT (SELECT min(queue) FROM leaseq_item WHERE queue > name) FROM names "
            "WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL"
        ).scalars()
    )


def _limit_of(name: object) -> Invalid | None:
    try:
        validation.queue_name(name)
    except Invalid as error:
        return error
    return None


def _json(connection: Connection, value: object) -> object:
    """A value for a JSON column: SQLAlchemy encodes it if the database has that type."""
    return value if connection.dialect.name == "postgresql" else json.dumps(value)

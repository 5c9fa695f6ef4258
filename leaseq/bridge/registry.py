"""The rows of leaseq_bridge: which bridge works on a queue, with which window, and the queue's policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from leaseq.bridge.dialect import Dialect
from leaseq.bridge.tables import bridge, item
from leaseq.errors import Invalid
from leaseq.policy import FIELDS, Policy

HEARTBEAT_TIMEOUT = 15.0
"""A bridge that has sent no heartbeat for this long counts as ended."""


@dataclass(frozen=True, slots=True)
class Window:
    """How many items wait in a queue: it is refilled to ``high`` when at most ``low`` are left."""

    high: int
    low: int

    def __post_init__(self) -> None:
        if not 1 <= self.high <= 1_000_000:
            raise Invalid("window", "1 to 1,000,000 items")
        if not 0 <= self.low < self.high:
            raise Invalid("low", f"0 to {self.high - 1:,} items: fewer than the window")


def register(connection: Connection, dialect: Dialect, queue: str, name: str, window: Window) -> None:
    """Register the bridge with this name for the queue. Raises Invalid if another bridge works on the queue
    with a different window."""
    dialect.lock(connection, queue)
    other = dialect.runner(connection, queue)
    other_window = Window(other.high, other.low) if other and other.high and other.low is not None else window
    if other and other.name != name and other.seconds < HEARTBEAT_TIMEOUT and other_window != window:
        raise Invalid(
            "window",
            f"{other_window.high:,} and refilled at {other_window.low:,}, like the bridge that works on "
            f"queue {queue!r} now: use the same, or stop that one first",
        )
    dialect.set_runner(connection, queue, name, window.high, window.low)


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


def queues(connection: Connection) -> Iterator[str]:
    """Yield the queues that the database has rows for. Each takes one lookup in the primary key."""
    last_name = ""
    while True:
        name = connection.execute(select(func.min(item.c.queue)).where(item.c.queue > last_name)).scalar()
        if name is None:
            return
        yield name
        last_name = name


def _json(connection: Connection, value: object) -> object:
    """A value for a JSON column: SQLAlchemy encodes it if the database has that type."""
    return value if connection.dialect.name == "postgresql" else json.dumps(value)

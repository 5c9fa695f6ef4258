"""The bridge's tables, described in docs/bridge.md. The migrations create them.

Times are UTC: ``timestamptz`` in PostgreSQL; in SQLite, text in a format that its date functions read. JSON
is ``json`` in PostgreSQL, which does not change the text, and text in SQLite.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, FetchedValue, Integer, MetaData, Table, Text
from sqlalchemy.types import JSON, TIMESTAMP

STATUSES: Final = ("waiting", "queued", "finished", "dead", "cancelled", "refused")
"""``waiting``: for the migrator; ``queued``: moved into the queue; ``refused``: ``error`` says why."""

CHANNEL: Final = "leaseq"
"""The channel on which PostgreSQL notifies the bridge of new and changed rows."""

metadata = MetaData()
_TIME = TIMESTAMP(timezone=True).with_variant(Text(), "sqlite")
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
    Column(
        "number", Integer, primary_key=True, autoincrement=False
    ),  # among the answers under a token, from 0
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

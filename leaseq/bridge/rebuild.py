"""Restores a queue from the database after the server lost it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, Text, cast, delete, func, select, update

import leaseq
from leaseq.bridge import registry
from leaseq.bridge.database import transaction
from leaseq.bridge.dialect import Dialect
from leaseq.bridge.dialects import dialect_of
from leaseq.bridge.migrator import BY, new_item
from leaseq.bridge.rows import ItemRow
from leaseq.bridge.tables import answer, bridge, change, event, item
from leaseq.errors import Invalid
from leaseq.models import GivenAnswerRow

_BATCH = 500
_MARGIN = 1_000_000  # tokens that may have been granted since the last archived one


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of a rebuild."""

    restored: int  # items that were in the queue and wait again
    refused: int  # rows that the queue refused: `error` says why
    waiting: int  # rows that were not moved yet, which the bridge moves as usual
    tokens_above: int


def rebuild(client: leaseq.Client, engine: Engine, name: str) -> Rebuilt:
    """Restore a queue whose items the server no longer has.

    Its policy is the last one that the bridge saved. Each row with status `queued` waits again, with the
    answers that people gave. New tokens are higher than the time in microseconds, and so higher than all
    earlier ones. Items that the queue has are not changed, so an interrupted rebuild can be run again.
    Raises Invalid if the database has no rows for the queue.
    """
    queue, dialect = leaseq.Queue(client, name), dialect_of(engine)
    with transaction(engine) as connection:
        _refuse_unknown(connection, name)
        tokens = max(_last_token(connection, name) + _MARGIN, time.time_ns() // 1_000)
        fields = registry.read_policy(connection, name)
    is_lost = not queue.exists()
    queue.configure(by=BY, **fields)  # type: ignore[arg-type]
    queue.raise_tokens(tokens, by=BY)
    restored_count = refused_count = 0
    for rows in _batches(engine, dialect, name):
        with transaction(engine) as connection:
            for row in rows:
                if _restore(connection, queue, row):
                    restored_count += 1
                else:
                    refused_count += 1
    with transaction(engine) as connection:
        if is_lost:  # the journal is new: the old one is archived, or lost with the queue
            connection.execute(update(bridge).where(bridge.c.queue == name).values(cursor=None))
        connection.execute(delete(change).where(change.c.queue == name))
        waiting = select(func.count()).where(item.c.queue == name, item.c.status == "waiting")
        return Rebuilt(restored_count, refused_count, connection.execute(waiting).scalar_one(), tokens)


def _refuse_unknown(connection: Connection, name: str) -> None:
    if name not in registry.queues(connection):
        raise Invalid("queue", f"a queue that the database has rows of; it has none of {name!r}")


def _last_token(connection: Connection, name: str) -> int:
    answer_tokens = select(func.max(answer.c.token)).where(answer.c.queue == name)
    event_tokens = select(func.max(event.c.token)).where(event.c.queue == name)
    return max(connection.execute(one).scalar() or 0 for one in (answer_tokens, event_tokens))


def _batches(engine: Engine, dialect: Dialect, name: str) -> Iterator[list[ItemRow]]:
    """Yield the queued rows, by priority and age."""
    offset = 0
    with transaction(engine) as connection:
        ids = dialect.queued_ids(connection, name)
    while offset < len(ids):
        with transaction(engine) as connection:
            rows = dialect.items(connection, name, ids[offset : offset + _BATCH])
        yield rows
        offset += _BATCH


def _restore(connection: Connection, queue: leaseq.Queue, row: ItemRow) -> bool:
    try:
        queue.restore(new_item(row), _answers(connection, queue.name, row.id), by=BY)
    except Invalid as error:
        clause = (item.c.queue == queue.name) & (item.c.id == row.id)
        connection.execute(update(item).where(clause).values(status="refused", error=str(error)))
        return False
    return True


def _answers(connection: Connection, queue: str, id: str) -> list[GivenAnswerRow]:
    columns = (answer.c.token, answer.c.person, cast(answer.c.result, Text), answer.c.finished_at)
    rows = connection.execute(
        select(*columns, answer.c.late, answer.c.accepted)
        .where(answer.c.queue == queue, answer.c.id == id)
        .order_by(answer.c.finished_at)
    )
    return [
        GivenAnswerRow(token, person, result, _time(at), late, stands)
        for token, person, result, at, late, stands in rows
    ]


def _time(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)

"""PostgreSQL: rows go as arrays, one for each column, in one statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine

from leaseq.bridge.database import translating
from leaseq.bridge.dialect import Dialect
from leaseq.bridge.rows import AnswerRow, ChangeRow, EventRow, ItemRow, Runner

_COLUMNS = "id, payload::text, priority, requires, due"


class PostgreSQL(Dialect):
    def lock(self, connection: Connection, queue: str) -> str | None:
        connection.exec_driver_sql(
            "INSERT INTO leaseq_bridge (queue) VALUES (%s) ON CONFLICT DO NOTHING", (queue,)
        )
        cursor: str | None = connection.exec_driver_sql(
            "SELECT cursor FROM leaseq_bridge WHERE queue = %s FOR UPDATE", (queue,)
        ).scalar()
        return cursor

    def waiting(self, connection: Connection, queue: str, limit: int) -> list[ItemRow]:
        found = connection.exec_driver_sql(
            f"SELECT {_COLUMNS} FROM leaseq_item WHERE queue = %s AND status = 'waiting' AND run_at <= now() "
            "ORDER BY priority, created_at, id LIMIT %s FOR UPDATE SKIP LOCKED",
            (queue, limit),
        )
        return [ItemRow(*row) for row in found]

    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = %s, error = NULL WHERE queue = %s AND id = ANY(%s)",
            (status, queue, list(ids)),
        )

    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        found = connection.exec_driver_sql(
            "SELECT change.id, change.number, item.status, item.payload::text, item.priority, item.requires, item.due "
            "FROM leaseq_change AS change LEFT JOIN leaseq_item AS item USING (queue, id) "
            "WHERE change.queue = %s AND change.id > %s ORDER BY change.id LIMIT %s",
            (queue, after, limit),
        )
        return [
            ChangeRow(id, number, status, ItemRow(id, *row) if status else None)
            for id, number, status, *row in found
        ]

    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None:
        _insert(
            connection,
            "INSERT INTO leaseq_event (queue, position, number, at, what, id, person, token, detail) "
            "SELECT %s, position, number, to_timestamp(position / 1e6), what, id, person, token, detail::json "
            "FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[]) "
            "AS row (position, number, what, id, person, token, detail)",
            queue,
            rows,
        )

    def put_answers(self, connection: Connection, queue: str, rows: Sequence[AnswerRow]) -> None:
        _insert(
            connection,
            "INSERT INTO leaseq_answer (queue, id, token, person, result, finished_at, late, accepted) "
            "SELECT %s, id, token, person, result::json, finished_at, late, accepted "
            "FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::bool[], %s::bool[]) "
            "AS row (id, token, person, result, finished_at, late, accepted) "
            "ON CONFLICT (queue, id, token) DO UPDATE SET person = excluded.person, result = excluded.result, "
            "finished_at = excluded.finished_at, late = excluded.late, accepted = excluded.accepted",
            queue,
            rows,
        )

    def missing(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        found = connection.exec_driver_sql(
            "SELECT id FROM unnest(%s::text[]) AS id WHERE NOT EXISTS "
            "(SELECT FROM leaseq_item AS item WHERE item.queue = %s AND item.id = id.id)",
            (list(ids), queue),
        )
        return list(found.scalars())

    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        _insert(
            connection,
            "INSERT INTO leaseq_item (queue, id, payload, priority, requires, due, status) "
            "SELECT %s, id, payload::json, priority, requires, due, status "
            "FROM unnest(%s::text[], %s::text[], %s::int[], %s::text[], %s::timestamptz[], %s::text[]) "
            "AS row (id, payload, priority, requires, due, status) ON CONFLICT DO NOTHING",
            queue,
            [(*row[:5], status) for row, status in rows],
        )

    def runner(self, connection: Connection, queue: str) -> Runner | None:
        found = connection.exec_driver_sql(
            "SELECT runner, high, low, extract(epoch FROM now() - seen_at) FROM leaseq_bridge "
            "WHERE queue = %s AND runner IS NOT NULL",
            (queue,),
        ).one_or_none()
        return None if found is None else Runner(found[0], found[1], found[2], float(found[3]))

    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_bridge SET runner = %s, high = %s, low = %s, seen_at = now() WHERE queue = %s",
            (name, high, low, queue),
        )

    def settled(self, connection: Connection, queue: str, after: str, limit: int) -> list[tuple[str, str]]:
        found = connection.exec_driver_sql(
            'SELECT id, status FROM leaseq_item WHERE queue = %s AND id COLLATE "C" > %s '
            'ORDER BY id COLLATE "C" LIMIT %s',
            (queue, after, limit),
        )
        return [(id, status) for id, status in found]


@contextmanager
def listening(engine: Engine, channel: str) -> Iterator[Callable[[float], object]]:
    """A function that waits so many seconds, or until a notification comes on the channel."""
    with translating(), engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, psycopg.Connection)  # noqa: S101 - of the one driver that is used
        raw.autocommit = True
        raw.execute(f"LISTEN {channel}")
        try:
            yield lambda seconds: list(raw.notifies(timeout=seconds, stop_after=1))
        finally:
            connection.invalidate()  # so that no other use of it listens


def _insert(connection: Connection, statement: str, queue: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        connection.exec_driver_sql(statement, (queue, *map(list, zip(*rows, strict=True))))

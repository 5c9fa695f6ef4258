"""PostgreSQL: many rows are sent as one JSON text, in one statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
from sqlalchemy import Connection, Engine

from leaseq.bridge.database import is_lost_connection, translated, translating
from leaseq.bridge.dialect import Dialect
from leaseq.bridge.rows import DUE_LIMIT, AnswerRow, ChangeRow, ItemRow, Runner
from leaseq.events import EventRow

_EARLIEST, _LATEST = "'1970-01-01 00:00+00'", "'9001-01-01 00:00+00'"
_COLUMNS = (
    "item.id, item.payload::text, item.priority, item.requires, "
    f"CASE WHEN item.due >= {_EARLIEST} AND item.due < {_LATEST} THEN item.due AT TIME ZONE 'UTC' END, "
    f"item.due < {_EARLIEST} OR item.due >= {_LATEST}"  # psycopg can't read all of these
)
_IS_WITHDRAWN = (
    "(item.status = 'cancelled' AND EXISTS (SELECT FROM leaseq_change AS change "
    "WHERE change.queue = item.queue AND change.id = item.id))"
)


class PostgreSQL(Dialect):
    def lock(self, connection: Connection, queue: str) -> str | None:
        connection.exec_driver_sql(
            "INSERT INTO leaseq_bridge (queue) VALUES (%s) ON CONFLICT DO NOTHING", (queue,)
        )
        cursor: str | None = connection.exec_driver_sql(
            "SELECT cursor FROM leaseq_bridge WHERE queue = %s FOR UPDATE", (queue,)
        ).scalar()
        return cursor

    def waiting_rows(self, connection: Connection, queue: str, limit: int) -> list[ItemRow]:
        rows = connection.exec_driver_sql(
            f"SELECT {_COLUMNS} FROM leaseq_item AS item "
            "WHERE queue = %s AND status = 'waiting' AND run_at <= now() "
            "ORDER BY priority, created_at, id LIMIT %s FOR UPDATE SKIP LOCKED",
            (queue, limit),
        )
        return [_row(*row) for row in rows]

    def set_moved(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = %s, error = NULL, details = NULL "
            "WHERE queue = %s AND id IN (SELECT json_array_elements_text(%s::json))",
            (status, queue, json.dumps(list(ids))),
        )

    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item AS item SET status = %s, error = NULL, details = NULL "
            "WHERE queue = %s AND id IN (SELECT json_array_elements_text(%s::json)) "
            f"AND status <> 'waiting' AND NOT {_IS_WITHDRAWN}",
            (status, queue, json.dumps(list(ids))),
        )

    def set_details(self, connection: Connection, queue: str, rows: Sequence[tuple[str, str | None]]) -> None:
        if rows:
            connection.exec_driver_sql(
                "UPDATE leaseq_item AS item SET details = row.details::json "
                "FROM json_to_recordset(%s::json) AS row (id text, details text) "
                "WHERE item.queue = %s AND item.id = row.id",
                (json.dumps([{"id": id, "details": text} for id, text in rows]), queue),
            )

    def time(self, value: datetime) -> object:
        return value

    def set_error(
        self, connection: Connection, queue: str, row: ItemRow, error: str | None, status: str
    ) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = %s, error = %s WHERE queue = %s AND id = %s",
            (status, error, queue, row.id),
        )

    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        rows = connection.exec_driver_sql(
            f"SELECT change.id, change.number, item.status, {_COLUMNS} FROM leaseq_change AS change "
            "LEFT JOIN leaseq_item AS item ON item.queue = change.queue AND item.id = change.id "
            "WHERE change.queue = %s AND change.id > %s ORDER BY change.id LIMIT %s",
            (queue, after, limit),
        )
        return [
            ChangeRow(id, number, status, _row(*row) if status else None) for id, number, status, *row in rows
        ]

    def forget_change(self, connection: Connection, queue: str, change: ChangeRow) -> None:
        connection.exec_driver_sql(
            "DELETE FROM leaseq_change WHERE queue = %s AND id = %s AND number = %s",
            (queue, change.id, change.number),
        )

    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None:
        _insert(
            connection,
            "INSERT INTO leaseq_event (queue, position, number, what, id, person, token, detail) "
            "SELECT %s, position, number, what, id, person, token, detail::json "
            "FROM json_to_recordset(%s::json) AS row (position bigint, number int, what text, id text, "
            "person text, token bigint, detail text) "
            "ON CONFLICT DO NOTHING",
            queue,
            [row._asdict() for row in rows],
        )

    def put_answers(
        self, connection: Connection, queue: str, ids: Sequence[str], rows: Sequence[AnswerRow]
    ) -> None:
        tokens = [{"id": row.id, "token": row.token} for row in rows if row.number == 0]
        connection.exec_driver_sql(
            "DELETE FROM leaseq_answer AS answer USING json_to_recordset(%s::json) AS given "
            "(id text, token bigint) "
            "WHERE answer.queue = %s AND answer.id = given.id AND answer.token = given.token",
            (json.dumps(tokens), queue),
        )
        connection.exec_driver_sql(
            "UPDATE leaseq_answer SET accepted = false, late = true "
            "WHERE queue = %s AND id IN (SELECT json_array_elements_text(%s::json)) AND accepted",
            (queue, json.dumps(list(ids))),
        )
        _insert(
            connection,
            "INSERT INTO leaseq_answer (queue, id, token, number, person, result, "
            "finished_at, late, accepted) "
            "SELECT %s, id, token, number, person, result::json, finished_at, late, accepted "
            "FROM json_to_recordset(%s::json) AS row (id text, token bigint, number int, person text, "
            "result text, finished_at timestamptz, late bool, accepted bool)",
            queue,
            [row._asdict() for row in rows],
        )

    def missing_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT id FROM json_array_elements_text(%s::json) AS wanted (id) WHERE NOT EXISTS "
            "(SELECT FROM leaseq_item AS item WHERE item.queue = %s AND item.id = wanted.id) AND NOT EXISTS "
            "(SELECT FROM leaseq_change AS change WHERE change.queue = %s AND change.id = wanted.id)",
            (json.dumps(list(ids)), queue, queue),
        )
        return list(result.scalars())

    def ended_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT id FROM json_array_elements_text(%s::json) AS added (id) WHERE EXISTS "
            "(SELECT FROM leaseq_item AS item WHERE item.queue = %s AND item.id = added.id "
            f"AND item.status NOT IN ('waiting', 'queued') AND NOT {_IS_WITHDRAWN}) OR EXISTS "
            "(SELECT FROM leaseq_answer AS answer WHERE answer.queue = %s AND answer.id = added.id "
            "AND answer.accepted)",
            (json.dumps(list(ids)), queue, queue),
        )
        return list(result.scalars())

    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        _insert(
            connection,
            "INSERT INTO leaseq_item (queue, id, payload, priority, requires, due, status) "
            "SELECT %s, id, payload::json, priority, requires, due, status FROM json_to_recordset(%s::json) "
            "AS row (id text, payload text, priority int, requires text, due timestamptz, status text) "
            "ON CONFLICT DO NOTHING",
            queue,
            [row._asdict() | {"status": status} for row, status in rows],
        )

    def runner(self, connection: Connection, queue: str) -> Runner | None:
        row = connection.exec_driver_sql(
            "SELECT runner, high, low, extract(epoch FROM now() - seen_at) FROM leaseq_bridge "
            "WHERE queue = %s AND runner IS NOT NULL",
            (queue,),
        ).one_or_none()
        return None if row is None else Runner(row[0], row[1], row[2], float(row[3]))

    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_bridge SET runner = %s, high = %s, low = %s, seen_at = now() WHERE queue = %s",
            (name, high, low, queue),
        )

    def ids(self, connection: Connection, queue: str, after: str | bytes, limit: int) -> list[str | bytes]:
        result = connection.exec_driver_sql(
            "SELECT id FROM leaseq_item WHERE queue = %s AND id > %s ORDER BY id LIMIT %s",
            (queue, after, limit),
        )
        return list(result.scalars())

    def ids_with(self, connection: Connection, queue: str, status: str) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT id FROM leaseq_item WHERE queue = %s AND status = %s ORDER BY priority, created_at, id",
            (queue, status),
        )
        return list(result.scalars())

    def items(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[ItemRow]:
        rows = connection.exec_driver_sql(
            f"SELECT {_COLUMNS} FROM json_array_elements_text(%s::json) "
            "WITH ORDINALITY AS wanted (id, place) "
            "JOIN leaseq_item AS item ON item.queue = %s AND item.id = wanted.id ORDER BY wanted.place",
            (json.dumps(list(ids)), queue),
        )
        return [_row(*row) for row in rows]


def _row(
    id: str, payload: str, priority: int, requires: str, due: datetime | None, is_out_of_range: bool | None
) -> ItemRow:
    problem = DUE_LIMIT if is_out_of_range else None
    return ItemRow(id, payload, priority, requires, due and due.replace(tzinfo=UTC), problem)


@contextmanager
def listening(engine: Engine, channel: str) -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits for a notification on the channel, at most this many seconds, and returns
    whether one came."""
    with translating(), engine.connect() as connection:
        driver_connection = connection.connection.driver_connection
        assert isinstance(driver_connection, psycopg.Connection)  # noqa: S101 - the only driver that is used

        def wait(seconds: float) -> bool:
            with _translating_driver():
                return bool(list(driver_connection.notifies(timeout=seconds, stop_after=1)))

        try:
            with _translating_driver():
                driver_connection.autocommit = True
                driver_connection.execute(f"LISTEN {channel}")
            yield wait
        finally:
            connection.invalidate()  # so that the pool does not reuse it


@contextmanager
def _translating_driver() -> Iterator[None]:
    """Translate the errors of calls that bypass SQLAlchemy."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, is_lost_connection(error)) from error


def _insert(connection: Connection, statement: str, queue: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Add rows with one statement. An array for each column would take psycopg three times as long."""
    if rows:
        connection.exec_driver_sql(statement, (queue, json.dumps(rows, default=str)))

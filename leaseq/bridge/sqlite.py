"""SQLite: a statement for many rows runs once for each row, without a round trip."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from leaseq.bridge.dialect import Dialect
from leaseq.bridge.rows import DUE_LIMIT, AnswerRow, ChangeRow, ItemRow, Runner
from leaseq.events import EventRow

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = (
    "item.id, item.payload, item.priority, item.requires, item.due, "
    "round((julianday(item.due) - 2440587.5) * 86400000), item.rowid"
)
_LATEST = datetime(9001, 1, 1, tzinfo=UTC)
_IS_WITHDRAWN = (
    "(status = 'cancelled' AND EXISTS (SELECT 1 FROM leaseq_change AS change "
    "WHERE change.queue = leaseq_item.queue AND change.id = leaseq_item.id))"
)


class SQLite(Dialect):
    """Each transaction begins as a writer, so there is only one at a time."""

    def lock(self, connection: Connection, queue: str) -> str | None:
        connection.exec_driver_sql("INSERT OR IGNORE INTO leaseq_bridge (queue) VALUES (?)", (queue,))
        cursor: str | None = connection.exec_driver_sql(
            "SELECT cursor FROM leaseq_bridge WHERE queue = ?", (queue,)
        ).scalar()
        return cursor

    def waiting_rows(self, connection: Connection, queue: str, limit: int) -> list[ItemRow]:
        rows = connection.exec_driver_sql(
            f"SELECT {_COLUMNS}, julianday(run_at) IS NULL FROM leaseq_item AS item WHERE queue = ? "
            "AND status = 'waiting' AND coalesce(julianday(run_at), 0) <= julianday('now') "
            "ORDER BY priority, created_at, rowid LIMIT ?",
            (queue, limit),
        )
        return [_row(*columns) for columns in rows]

    def set_moved(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = ?, error = NULL, details = NULL WHERE queue = ? AND id = ?",
            [(status, queue, id) for id in ids],
        )

    def set_status(self, connection: Connection, queue: str, ids: Sequence[str], status: str) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = ?, error = NULL, details = NULL "
            f"WHERE queue = ? AND id = ? AND status <> 'waiting' AND NOT {_IS_WITHDRAWN}",
            [(status, queue, id) for id in ids],
        )

    def set_details(self, connection: Connection, queue: str, rows: Sequence[tuple[str, str | None]]) -> None:
        if rows:
            connection.exec_driver_sql(
                "UPDATE leaseq_item SET details = ? WHERE queue = ? AND id = ?",
                [(text, queue, id) for id, text in rows],
            )

    def time(self, value: datetime) -> object:
        return _text(value)

    def set_error(
        self, connection: Connection, queue: str, row: ItemRow, error: str | None, status: str
    ) -> None:
        # By rowid, since the id may be none that can be sent.
        connection.exec_driver_sql(
            "UPDATE leaseq_item SET status = ?, error = ? WHERE queue = ? AND rowid = ?",
            (status, error, queue, row.rowid),
        )

    def changes(self, connection: Connection, queue: str, after: str, limit: int) -> list[ChangeRow]:
        rows = connection.exec_driver_sql(
            f"SELECT change.id, change.number, item.status, change.rowid, {_COLUMNS} "
            "FROM leaseq_change AS change "
            "LEFT JOIN leaseq_item AS item ON item.queue = change.queue AND item.id = change.id "
            "WHERE change.queue = ? AND change.id > CAST(? AS text) ORDER BY change.id LIMIT ?",
            (queue, after, limit),
        )
        return [
            ChangeRow(id, number, status, _row(*columns) if status else None, rowid)
            for id, number, status, rowid, *columns in rows
        ]

    def forget_change(self, connection: Connection, queue: str, change: ChangeRow) -> None:
        connection.exec_driver_sql(
            "DELETE FROM leaseq_change WHERE queue = ? AND rowid = ? AND number = ?",
            (queue, change.rowid, change.number),
        )

    def add_events(self, connection: Connection, queue: str, rows: Sequence[EventRow]) -> None:
        statement = (
            "INSERT OR IGNORE INTO leaseq_event (queue, position, number, what, id, person, token, detail) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        values = [(queue, *row) for row in rows]
        if values:
            connection.exec_driver_sql(statement, values)

    def put_answers(
        self, connection: Connection, queue: str, ids: Sequence[str], rows: Sequence[AnswerRow]
    ) -> None:
        tokens = [(queue, row.id, row.token) for row in rows if row.number == 0]
        if tokens:
            connection.exec_driver_sql(
                "DELETE FROM leaseq_answer WHERE queue = ? AND id = ? AND token = ?", tokens
            )
        if ids:
            connection.exec_driver_sql(
                "UPDATE leaseq_answer SET accepted = 0, late = 1 WHERE queue = ? AND id = ? AND accepted",
                [(queue, id) for id in ids],
            )
        if rows:
            connection.exec_driver_sql(
                "INSERT INTO leaseq_answer "
                "(queue, id, token, number, person, result, finished_at, late, accepted) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(queue, *row[:5], _text(row.finished_at), row.late, row.accepted) for row in rows],
            )

    def missing_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT value FROM json_each(?) WHERE NOT EXISTS "
            "(SELECT 1 FROM leaseq_item WHERE queue = ? AND id = value) AND NOT EXISTS "
            "(SELECT 1 FROM leaseq_change WHERE queue = ? AND id = value)",
            (json.dumps(list(ids)), queue, queue),
        )
        return list(result.scalars())

    def ended_ids(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT value FROM json_each(?) WHERE EXISTS "
            "(SELECT 1 FROM leaseq_item WHERE queue = ? AND id = value "
            f"AND status NOT IN ('waiting', 'queued') AND NOT {_IS_WITHDRAWN}) OR EXISTS "
            "(SELECT 1 FROM leaseq_answer WHERE queue = ? AND id = value AND accepted)",
            (json.dumps(list(ids)), queue, queue),
        )
        return list(result.scalars())

    def add_items(self, connection: Connection, queue: str, rows: Sequence[tuple[ItemRow, str]]) -> None:
        statement = (
            "INSERT OR IGNORE INTO leaseq_item (queue, id, payload, priority, requires, due, status) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        values = [(queue, *row[:4], row.due and _text(row.due), status) for row, status in rows]
        if values:
            connection.exec_driver_sql(statement, values)

    def runner(self, connection: Connection, queue: str) -> Runner | None:
        row = connection.exec_driver_sql(
            "SELECT runner, high, low, (julianday('now') - julianday(seen_at)) * 86400 FROM leaseq_bridge "
            "WHERE queue = ? AND runner IS NOT NULL",
            (queue,),
        ).one_or_none()
        return None if row is None else Runner(*row)

    def set_runner(self, connection: Connection, queue: str, name: str, high: int, low: int) -> None:
        connection.exec_driver_sql(
            "UPDATE leaseq_bridge SET runner = ?, high = ?, low = ?, seen_at = datetime('now') "
            "WHERE queue = ?",
            (name, high, low, queue),
        )

    def ids(self, connection: Connection, queue: str, after: str | bytes, limit: int) -> list[str | bytes]:
        result = connection.exec_driver_sql(
            "SELECT id FROM leaseq_item WHERE queue = ? AND id > CAST(? AS text) AND typeof(id) = 'text' "
            "ORDER BY id LIMIT ?",
            (queue, after, limit),
        )
        return list(result.scalars())

    def ids_with(self, connection: Connection, queue: str, status: str) -> list[str]:
        result = connection.exec_driver_sql(
            "SELECT id FROM leaseq_item WHERE queue = ? AND status = ? ORDER BY priority, created_at, rowid",
            (queue, status),
        )
        return list(result.scalars())

    def items(self, connection: Connection, queue: str, ids: Sequence[str]) -> list[ItemRow]:
        rows = connection.exec_driver_sql(
            f"SELECT {_COLUMNS} FROM json_each(?) AS wanted "
            "JOIN leaseq_item AS item ON item.queue = ? AND item.id = wanted.value ORDER BY wanted.key",
            (json.dumps(list(ids)), queue),
        )
        return [_row(*row) for row in rows]


def _row(
    id: str,
    payload: str,
    priority: object,
    requires: str,
    due: object,
    milliseconds: float | None,
    rowid: int,
    bad_run_at: bool = False,
) -> ItemRow:
    problem = "run_at: a time that SQLite can read, such as 2030-01-31 12:00:00" if bad_run_at else None
    due_at = None
    if due is not None:
        if milliseconds is None or not 0 <= milliseconds < (_LATEST - _EPOCH) / timedelta(milliseconds=1):
            problem = DUE_LIMIT
        else:
            due_at = _EPOCH + timedelta(milliseconds=milliseconds)
    return ItemRow(id, payload, priority, requires, due_at, problem, rowid)


def _text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(" ", "microseconds").removesuffix("+00:00")

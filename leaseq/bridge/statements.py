"""The statements on the bridge's tables, each for many rows, in SQLAlchemy's Core. What differs between the
two databases is in `PostgreSQL` and `SQLite`.

Many rows are sent as one JSON text, which the database takes apart: as parameters of their own they would
take psycopg three times as long.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    column,
    delete,
    exists,
    extract,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.selectable import FromClause

from leaseq.bridge.database import transaction
from leaseq.bridge.tables import (
    DUE_LIMIT,
    EXPIRY_LIMIT,
    AnswerRow,
    ChangeRow,
    ItemRow,
    Runner,
    answer,
    bridge,
    change,
    event,
    item,
    sqlite_time,
)
from leaseq.errors import Invalid
from leaseq.events import EventRow

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9001, 1, 1, tzinfo=UTC)
_WRITTEN_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")
_RUN_AT_LIMIT = Invalid("run_at", "format", what="database_time")
_IS_WITHDRAWN = and_(
    item.c.status == "cancelled",
    exists().where(change.c.queue == item.c.queue, change.c.id == item.c.id).correlate(item),
)
_COLUMNS = ItemRow._fields.index("problem")  # the fields of an ItemRow that are columns
_NEW_STATE = {"error": None, "details": null()}


class _Ids(NamedTuple):
    """A list of ids in a statement, as a table."""

    table: FromClause
    id: ColumnElement[str]
    place: ColumnElement[int]


class Statements(ABC):
    """The statements on the rows of ``queue``, a name, in one transaction."""

    columns: tuple[ColumnElement[Any], ...]  # of leaseq_item, as `row` takes them
    waiting_columns: tuple[ColumnElement[Any], ...] = ()  # further ones, of waiting rows
    is_due: ColumnElement[bool]
    tie: ColumnElement[Any]  # orders rows of the same priority and age
    change_key: ColumnElement[Any]  # what finds the row of a change again, whatever its id
    seconds_since_seen: ColumnElement[Any]
    insert_into: Callable[[Table], Any]  # with SQLAlchemy's on_conflict_do_nothing()

    def __init__(self, connection: Connection, queue: str) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.queue = queue

    @abstractmethod
    def row(self, *values: Any) -> ItemRow:
        """The row with these values of `columns`."""

    @abstractmethod
    def is_row(self, row: ItemRow) -> ColumnElement[bool]:
        """The clause that finds a row again, whatever its id."""

    @abstractmethod
    def listed(self, ids: Sequence[str]) -> _Ids: ...

    @abstractmethod
    def records(self, types: Mapping[str, Any], rows: Sequence[Sequence[object]]) -> FromClause:
        """Rows in a statement, as a table with columns of these names and types."""

    @abstractmethod
    def insert(self, table: Table, names: tuple[str, ...], rows: Sequence[Any]) -> None:
        """Insert rows that are not there yet, with values for these columns."""

    def lock(self) -> str | None:
        """Lock out other archivers of this queue until the transaction ends, and return the cursor of the
        last archived event. In SQLite each transaction begins as a writer, so there is only one at a time."""
        only_queue = self.insert_into(bridge).values(queue=self.queue)
        self.execute(only_queue.on_conflict_do_nothing())
        cursor = select(bridge.c.cursor).where(bridge.c.queue == self.queue).with_for_update()
        return self.execute(cursor).scalar()

    def waiting_rows(self, limit: int) -> list[ItemRow]:
        """Waiting rows whose ``run_at`` has passed, by priority and age. Other migrators don't get them."""
        rows = (
            select(*self.columns, *self.waiting_columns)
            .where(item.c.queue == self.queue, item.c.status == "waiting", self.is_due)
            .order_by(item.c.priority, item.c.created_at, self.tie)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return [self.row(*row) for row in self.execute(rows)]

    def set_moved(self, ids: Sequence[str], status: str) -> None:
        """Set the status of rows from `waiting_rows`, and clear their errors and details."""
        clause = (item.c.queue == self.queue) & item.c.id.in_(select(self.listed(ids).id))
        self.execute(update(item).where(clause).values(status=status, **_NEW_STATE))

    def set_status(self, ids: Sequence[str], status: str) -> None:
        """Set the status of rows, and clear their errors and details. Rows that wait, or were cancelled in
        the database just now, are left to the migrator."""
        clause = (item.c.queue == self.queue) & item.c.id.in_(select(self.listed(ids).id))
        others = item.c.status != "waiting"
        self.execute(update(item).where(clause, others, ~_IS_WITHDRAWN).values(status=status, **_NEW_STATE))

    @abstractmethod
    def set_details(self, rows: Sequence[tuple[str, str | None]]) -> None:
        """Set the details, as JSON text, of rows with these ids."""

    def set_error(self, row: ItemRow, error: str | None, status: str) -> None:
        """Set the error and the status of a row, whatever its id."""
        clause = (item.c.queue == self.queue) & self.is_row(row)
        self.execute(update(item).where(clause).values(status=status, error=error))

    def set_each(self, name: str, values: Mapping[str, object]) -> None:
        """Set a column of rows, to a value for each id, except those that `set_status` leaves."""
        if values:
            is_row = (item.c.queue == self.queue) & (item.c.id == bindparam("row"))
            clause = and_(is_row, item.c.status != "waiting", ~_IS_WITHDRAWN)
            type = item.c[name].type
            value: ColumnElement[Any] = bindparam("value", type_=type)
            if isinstance(type, JSON):  # given as text
                value = cast(bindparam("value", type_=Text), type)
            statement = update(item).where(clause).values({name: value})
            self.execute(statement, [{"row": id, "value": value} for id, value in values.items()])

    def changes(self, after: str, limit: int) -> list[ChangeRow]:
        """Queued rows that were changed in the database, by id."""
        its_item = (item.c.queue == change.c.queue) & (item.c.id == change.c.id)
        rows = (
            select(change.c.id, change.c.number, item.c.status, self.change_key, *self.columns)
            .select_from(change.outerjoin(item, its_item))
            .where(change.c.queue == self.queue, change.c.id > cast(literal(after), Text))
            .order_by(change.c.id)
            .limit(limit)
        )
        return [
            ChangeRow(id, number, status, self.row(*row) if status else None, key)
            for id, number, status, key, *row in self.execute(rows)
        ]

    def forget_change(self, row: ChangeRow) -> None:
        """Delete the record of a change, unless the row was changed again meanwhile."""
        clause = (
            (change.c.queue == self.queue) & (self.change_key == row.key) & (change.c.number == row.number)
        )
        self.execute(delete(change).where(clause))

    def add_events(self, rows: Sequence[EventRow]) -> None:
        self.insert(event, EventRow._fields, rows)

    def put_answers(self, ids: Sequence[str], rows: Sequence[AnswerRow]) -> None:
        """Write the answers of items, replacing those with the same id and token. The items' other answers
        are no longer accepted."""
        if tokens := [(row.id, row.token) for row in rows if row.number == 0]:
            given = self.records({"id": Text, "token": BigInteger}, tokens)
            is_given = tuple_(answer.c.id, answer.c.token).in_(select(given.c.id, given.c.token))
            self.execute(delete(answer).where(answer.c.queue == self.queue, is_given))
        if ids:
            clause = (answer.c.queue == self.queue) & answer.c.id.in_(select(self.listed(ids).id))
            others = update(answer).where(clause, answer.c.accepted).values(accepted=False, late=True)
            self.execute(others)
        self.insert(answer, AnswerRow._fields, rows)

    def missing_ids(self, ids: Sequence[str]) -> list[str]:
        """The ids that leaseq_item does not have, except those of rows that were deleted just now."""
        listed = self.listed(ids)
        is_item = exists().where(item.c.queue == self.queue, item.c.id == listed.id)
        is_change = exists().where(change.c.queue == self.queue, change.c.id == listed.id)
        return list(self.execute(select(listed.id).where(~is_item, ~is_change)).scalars())

    def ended_ids(self, ids: Sequence[str]) -> list[str]:
        """The ids whose rows say that the item has ended, or that have accepted answers, except those of rows
        that were cancelled just now."""
        listed = self.listed(ids)
        has_ended = exists().where(
            item.c.queue == self.queue,
            item.c.id == listed.id,
            item.c.status.not_in(("waiting", "queued")),
            ~_IS_WITHDRAWN,
        )
        is_answered = exists().where(
            answer.c.queue == self.queue, answer.c.id == listed.id, answer.c.accepted
        )
        return list(self.execute(select(listed.id).where(or_(has_ended, is_answered))).scalars())

    def add_items(self, rows: Sequence[tuple[ItemRow, str]]) -> None:
        """Add rows, each with a status, for items that did not come from the database."""
        names = (*ItemRow._fields[:_COLUMNS], "status")
        self.insert(item, names, [(*row[:_COLUMNS], status) for row, status in rows])

    def runner(self) -> Runner | None:
        """The bridge that last worked on the queue."""
        columns = (bridge.c.runner, bridge.c.high, bridge.c.low, self.seconds_since_seen)
        clause = (bridge.c.queue == self.queue) & bridge.c.runner.is_not(None)
        row = self.execute(select(*columns).where(clause)).one_or_none()
        return None if row is None else Runner(row[0], row[1], row[2], float(row[3]))

    def ids(self, after: str | bytes, limit: int) -> list[str | bytes]:
        """The ids of the queue's rows after this one, ordered as text. Bytes are no valid id."""
        clause = (item.c.queue == self.queue) & (item.c.id > cast(literal(after), Text))
        ids = select(item.c.id).where(clause, self.is_text(item.c.id)).order_by(item.c.id).limit(limit)
        return list(self.execute(ids).scalars())

    def is_text(self, column: Column[str]) -> ColumnElement[bool]:
        """Whether a value of a text column is text."""
        return column.is_not(None)

    def ids_with(self, status: str) -> list[str]:
        """The ids of rows with a status, by priority and age."""
        ids = select(item.c.id).where(item.c.queue == self.queue, item.c.status == status)
        return list(self.execute(ids.order_by(item.c.priority, item.c.created_at, self.tie)).scalars())

    def items(self, ids: Sequence[str], *, with_payload: bool = True) -> list[ItemRow]:
        """The rows with these ids, in the same order. Without payload, it is empty."""
        listed = self.listed(ids)
        is_row = (item.c.queue == self.queue) & (item.c.id == listed.id)
        id, payload, *others = self.columns
        columns = (id, payload if with_payload else literal(""), *others)
        rows = select(*columns).select_from(listed.table.join(item, is_row)).order_by(listed.place)
        return [self.row(*row) for row in self.execute(rows)]


class PostgreSQL(Statements):
    insert_into = staticmethod(postgresql.insert)
    # psycopg can't read all times
    _is_due_bad, _is_expiry_bad = (
        or_(time < _EPOCH, time >= _LATEST) for time in (item.c.due, item.c.expires_at)
    )
    columns = (
        item.c.id,
        cast(item.c.payload, Text),
        item.c.priority,
        item.c.requires,
        case((~_is_due_bad, item.c.due)),
        _is_due_bad,
        cast(item.c.form, Text),
        case((~_is_expiry_bad, item.c.expires_at)),
        _is_expiry_bad,
        item.c.assignee,
    )
    is_due = item.c.run_at <= func.now()
    tie = item.c.id
    change_key = change.c.id
    seconds_since_seen = extract("epoch", func.now() - bridge.c.seen_at)

    def row(self, *values: Any) -> ItemRow:
        id, payload, priority, requires, due, is_due_bad, form, expires_at, is_expiry_bad, assignee = values
        problem = DUE_LIMIT if is_due_bad else EXPIRY_LIMIT if is_expiry_bad else None
        due, expires_at = (time and time.astimezone(UTC) for time in (due, expires_at))
        return ItemRow(id, payload, priority, requires, due, form, expires_at, assignee, problem)

    def is_row(self, row: ItemRow) -> ColumnElement[bool]:
        is_row: ColumnElement[bool] = item.c.id == row.id
        return is_row

    def listed(self, ids: Sequence[str]) -> _Ids:
        listed = func.json_array_elements_text(_json(ids)).table_valued(
            column("id", Text), with_ordinality="place", name="listed"
        )
        table = listed.render_derived()
        return _Ids(table, table.c.id, table.c.place)

    def records(self, types: Mapping[str, Any], rows: Sequence[Sequence[object]]) -> FromClause:
        texts = _json([dict(zip(types, row, strict=True)) for row in rows])
        columns = [column(name, type) for name, type in types.items()]
        return (
            func.json_to_recordset(texts).table_valued(*columns, name="given").render_derived(with_types=True)
        )

    def set_details(self, rows: Sequence[tuple[str, str | None]]) -> None:
        if rows:
            given = self.records({"id": Text, "details": Text}, rows)
            is_row = (item.c.queue == self.queue) & (item.c.id == given.c.id)
            details = cast(given.c.details, item.c.details.type)
            self.execute(update(item).where(is_row).values(details=details))

    def insert(self, table: Table, names: tuple[str, ...], rows: Sequence[Any]) -> None:
        if rows:
            columns = [table.c[name] for name in names]
            types = {
                column.name: Text if isinstance(column.type, JSON) else column.type for column in columns
            }
            given = self.records(types, rows)
            values = [cast(given.c[column.name], column.type) for column in columns]
            rows_of_queue = select(literal(self.queue, Text), *values)
            statement = self.insert_into(table).from_select(["queue", *names], rows_of_queue)
            self.execute(statement.on_conflict_do_nothing())


def _milliseconds(time: ColumnElement[Any]) -> ColumnElement[Any]:
    """A time since the epoch, as SQLite reads it; NULL if it can't."""
    return func.round((func.julianday(time) - 2440587.5) * 86_400_000)


def _moment(text: object, milliseconds: float | None) -> datetime | None:
    """A time in SQLite, or None. SQLite reads it to the millisecond; what the bridge wrote is exact."""
    if milliseconds is None or not 0 <= milliseconds < (_LATEST - _EPOCH) / timedelta(milliseconds=1):
        return None
    time = _EPOCH + timedelta(milliseconds=milliseconds)
    if isinstance(text, str) and _WRITTEN_TIME.fullmatch(text):
        with suppress(ValueError):  # SQLite reads February 31, too
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
    return time


class SQLite(Statements):
    """Columns may contain values of any type, and times are text."""

    insert_into = staticmethod(sqlite.insert)
    columns = (
        item.c.id,
        item.c.payload,
        item.c.priority,
        item.c.requires,
        cast(item.c.due, Text),
        _milliseconds(item.c.due),
        item.c.form,
        cast(item.c.expires_at, Text),
        _milliseconds(item.c.expires_at),
        item.c.assignee,
        literal_column("leaseq_item.rowid"),
    )
    waiting_columns = (func.julianday(item.c.run_at).is_(None),)
    is_due = func.coalesce(func.julianday(item.c.run_at), 0) <= func.julianday("now")
    tie = literal_column("leaseq_item.rowid")
    change_key = literal_column("leaseq_change.rowid")
    seconds_since_seen = (func.julianday("now") - func.julianday(bridge.c.seen_at)) * 86_400

    def row(self, *values: Any) -> ItemRow:
        id, payload, priority, requires, due_text, due_ms, form, *others = values
        expiry_text, expiry_ms, assignee, rowid, *is_bad_run_at = others
        problem = _RUN_AT_LIMIT if any(is_bad_run_at) else None
        due, expires_at = _moment(due_text, due_ms), _moment(expiry_text, expiry_ms)
        if due_text is not None and due is None:
            problem = DUE_LIMIT
        elif expiry_text is not None and expires_at is None:
            problem = EXPIRY_LIMIT
        return ItemRow(id, payload, priority, requires, due, form, expires_at, assignee, problem, rowid)

    def is_row(self, row: ItemRow) -> ColumnElement[bool]:
        # Its id may be none that can be sent.
        is_row: ColumnElement[bool] = literal_column("leaseq_item.rowid") == row.rowid
        return is_row

    def is_text(self, column: Column[str]) -> ColumnElement[bool]:
        is_text: ColumnElement[bool] = func.typeof(column) == "text"
        return is_text

    def listed(self, ids: Sequence[str]) -> _Ids:
        table = func.json_each(json.dumps(list(ids))).table_valued("key", "value", name="listed")
        return _Ids(table, table.c.value, table.c.key)

    def records(self, types: Mapping[str, Any], rows: Sequence[Sequence[object]]) -> FromClause:
        given = func.json_each(json.dumps([list(row) for row in rows])).table_valued("value", name="rows")
        columns = [
            func.json_extract(given.c.value, f"$[{place}]", type_=type).label(name)
            for place, (name, type) in enumerate(types.items())
        ]
        return select(*columns).subquery("given")

    def set_details(self, rows: Sequence[tuple[str, str | None]]) -> None:
        """One row after the other: in an UPDATE … FROM, SQLite looks at all rows of the queue."""
        if rows:
            is_row = (item.c.queue == self.queue) & (item.c.id == bindparam("row"))
            statement = update(item).where(is_row).values(details=bindparam("text"))
            self.execute(statement, [{"row": id, "text": text} for id, text in rows])

    def insert(self, table: Table, names: tuple[str, ...], rows: Sequence[Any]) -> None:
        """Without SQLAlchemy's processing of each value, which would take as long as the insert."""
        if rows:
            statement, places = _sqlite_insert(table, ("queue", *names))
            has_times = any(table.c[name].type is item.c.due.type for name in names)
            values = [(self.queue, *(map(sqlite_time, row) if has_times else row)) for row in rows]
            self.connection.exec_driver_sql(statement, list(map(itemgetter(*places), values)))


@lru_cache(maxsize=16)
def _sqlite_insert(table: Table, names: tuple[str, ...]) -> tuple[str, list[int]]:
    """The text of an insert, and the places of its parameters among ``names``."""
    statement = sqlite.insert(table).on_conflict_do_nothing()
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="qmark"), column_keys=names)
    return str(compiled), [names.index(name) for name in compiled.positiontup or ()]


def _json(value: object) -> ColumnElement[Any]:
    return cast(literal(json.dumps(value, default=str), Text), JSON)


@contextmanager
def statements_on(engine: Engine, queue: str) -> Iterator[Statements]:
    """Open a transaction for statements on a queue's rows, as `transaction` does."""
    with transaction(engine) as connection:
        yield (PostgreSQL if engine.dialect.name == "postgresql" else SQLite)(connection, queue)

"""The answers of items in the database: all that the queue has, and those that it has no longer.

One token may have several answers: a person who sends another result under a token that was used already
gets it kept as a late answer. They are numbered by their times, so that the numbers stay the same when a
manager accepts another one of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, Text, cast, select

from leaseq.bridge.dialect import Dialect
from leaseq.bridge.rows import AnswerRow
from leaseq.bridge.tables import answer
from leaseq.errors import Invalid, QueueNotFound
from leaseq.models import GivenAnswerRow, OutcomeRow
from leaseq.queue import Queue
from leaseq.validation import is_same_json, item_id


def write(connection: Connection, dialect: Dialect, queue: str, outcomes: Sequence[OutcomeRow]) -> None:
    """Write the answers of items that the queue has. Others that the database has for these items are from
    before the item was removed and added again: they are kept as answers that are not accepted."""
    rows = [row for outcome in outcomes for row in rows_of(outcome)]
    dialect.put_answers(connection, queue, [outcome.id for outcome in outcomes], rows)


def rows_of(outcome: OutcomeRow) -> list[AnswerRow]:
    """The rows of an item's answers, by token and number."""
    answers = sorted(outcome.answers, key=attrgetter("token", "finished_at", "result"))
    return [
        AnswerRow(
            outcome.id, one.token, number, one.person, one.result, one.finished_at, one.late, one.stands
        )
        for _, same_token in groupby(answers, attrgetter("token"))
        for number, one in enumerate(same_token)
    ]


def outcomes(queue: Queue, ids: Sequence[str]) -> list[OutcomeRow | None]:
    """The outcomes of items, as `Queue.outcome_rows` returns them. There is none for an id that no item can
    have, and none at all if there is no queue."""
    item_ids = [id for id in ids if _is_item_id(id)]
    try:
        by_id = dict(zip(item_ids, queue.outcome_rows(item_ids), strict=True))
    except QueueNotFound:
        by_id = {}
    return [by_id.get(id) for id in ids]


def _is_item_id(id: object) -> bool:
    try:
        return bool(item_id(id))
    except Invalid:
        return False


def read(connection: Connection, queue: str, ids: Sequence[str]) -> dict[str, list[AnswerRow]]:
    """The rows of these items' answers, by token and number."""
    columns = (
        answer.c.id,
        answer.c.token,
        answer.c.number,
        answer.c.person,
        cast(answer.c.result, Text),
        answer.c.finished_at,
        answer.c.late,
        answer.c.accepted,
    )
    statement = select(*columns).where(answer.c.queue == queue, answer.c.id.in_(ids))
    rows: dict[str, list[AnswerRow]] = defaultdict(list)
    for id, token, number, person, result, at, late, accepted in connection.execute(
        statement.order_by(answer.c.id, answer.c.token, answer.c.number)
    ):
        rows[id].append(AnswerRow(id, token, number, person, result, _time(at), bool(late), bool(accepted)))
    return rows


def given(rows: Iterable[AnswerRow]) -> list[GivenAnswerRow]:
    """The answers of an item as `Queue.restore` takes them, in the order in which they were given."""
    return [
        GivenAnswerRow(row.token, row.person, row.result, row.finished_at, row.late, row.accepted)
        for row in sorted(rows, key=attrgetter("finished_at"))
    ]


def difference(outcome: OutcomeRow, rows: Sequence[AnswerRow]) -> str | None:
    """How an item's answers in the database differ from those in the queue; None if they don't."""
    queue_rows = {(row.token, row.number): row for row in rows_of(outcome)}
    database_rows = {(row.token, row.number): row for row in rows}
    for key in sorted(queue_rows.keys() | database_rows.keys()):
        queue_row, database_row = queue_rows.get(key), database_rows.get(key)
        if database_row is None:
            return f"its answer with token {key[0]} is not in the database"
        if queue_row is None:
            if database_row.accepted:
                return f"its answer with token {key[0]} is not in the queue"
        elif not _is_same(queue_row, database_row):
            return f"its answer with token {key[0]} is a different one in the database"
    return None


def _is_same(one: AnswerRow, other: AnswerRow) -> bool:
    if one._replace(result="") != other._replace(result=""):
        return False
    try:
        return is_same_json(json.loads(one.result), json.loads(other.result))
    except ValueError:  # somebody wrote it into the database
        return False


def _time(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)

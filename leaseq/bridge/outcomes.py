"""The parts of an item that the database has beside its row: its answers, and the details of an unfinished
one.

One token may have several answers: a person who sends another result under a token that was used already
gets it kept as a late answer. They are numbered by their times, so that the numbers stay the same when a
manager accepts another one of them. The details are what a rebuild restores: JSON in the column `details`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Text, cast, select

from leaseq.bridge.statements import Statements
from leaseq.bridge.tables import AnswerRow, ItemRow, answer, item
from leaseq.engine import codec
from leaseq.errors import Invalid, QueueNotFound
from leaseq.models import DiedOf, GivenAnswerRow, OutcomeRow
from leaseq.queue import Queue
from leaseq.validation import is_same_json, is_valid, item_id, load_json


def write_answers(statements: Statements, outcomes: Sequence[OutcomeRow]) -> None:
    """Write the answers of items that the queue has. Others that the database has for these items are from
    before the item was removed and added again: they are kept as answers that are not accepted."""
    rows = [row for outcome in outcomes for row in answer_rows(outcome)]
    statements.put_answers([outcome.id for outcome in outcomes], rows)


def answer_rows(outcome: OutcomeRow) -> list[AnswerRow]:
    """The rows of an item's answers, by token and number."""
    answers = sorted(outcome.answers, key=attrgetter("token", "finished_at", "result"))
    return [
        AnswerRow(
            outcome.id,
            answer.token,
            number,
            answer.person,
            answer.result,
            answer.finished_at,
            answer.late,
            answer.stands,
        )
        for _, same_token in groupby(answers, attrgetter("token"))
        for number, answer in enumerate(same_token)
    ]


def outcomes_of(queue: Queue, ids: Sequence[str]) -> list[OutcomeRow | None]:
    """The outcomes of items, as `Queue.outcome_rows` returns them. There is none for an id that no item can
    have, and none at all if there is no queue."""
    item_ids = [id for id in ids if is_valid(item_id, id)]
    try:
        by_id = dict(zip(item_ids, queue.outcome_rows(item_ids), strict=True))
    except QueueNotFound:
        by_id = {}
    return [by_id.get(id) for id in ids]


def read_answers(statements: Statements, ids: Sequence[str]) -> dict[str, list[AnswerRow]]:
    """The rows of these items' answers, by token and number."""
    columns = [answer.c[name] for name in AnswerRow._fields]
    texts = [cast(column, Text) if column is answer.c.result else column for column in columns]
    given = select(*texts).where(answer.c.queue == statements.queue, answer.c.id.in_(ids))
    rows: dict[str, list[AnswerRow]] = defaultdict(list)
    for row in statements.execute(given.order_by(answer.c.id, answer.c.token, answer.c.number)):
        rows[row.id].append(AnswerRow._make(row))
    return rows


def given_answers(rows: Iterable[AnswerRow]) -> list[GivenAnswerRow]:
    """The answers of an item as `Queue.restore` takes them, in the order in which they were given."""
    return [
        GivenAnswerRow(row.token, row.person, row.result, row.finished_at, row.late, row.accepted)
        for row in sorted(rows, key=attrgetter("finished_at"))
    ]


def answer_difference(outcome: OutcomeRow, rows: Sequence[AnswerRow]) -> str | None:
    """The difference between an item's answers in the database and in the queue; None if they don't."""
    queue_rows = {(row.token, row.number): row for row in answer_rows(outcome)}
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


def _is_same(row: AnswerRow, other: AnswerRow) -> bool:
    if row._replace(result="") != other._replace(result=""):
        return False
    try:
        return is_same_json(json.loads(row.result), json.loads(other.result))
    except ValueError:  # somebody wrote it into the database
        return False


class Details(NamedTuple):
    """The fields of an `OutcomeRow` with these names."""

    failures: int = 0
    max_attempts: int | None = None
    answers_needed: int | None = None
    assigned_to: tuple[str, ...] = ()
    at: datetime | None = None
    died_of: DiedOf | None = None  # None, too, if it failed
    reason: str | None = None
    asked_by: str | None = None

    @classmethod
    def of(cls, outcome: OutcomeRow) -> Details:
        details = cls(*(getattr(outcome, name) for name in cls._fields))
        return details._replace(died_of=None) if details.died_of == "failed" else details

    @classmethod
    def parse(cls, text: object) -> Details:
        """The details in a row. Raises Invalid: somebody else may have written them."""
        if text is None:
            return cls()
        fields: Any = load_json(text, "details") if isinstance(text, str) else None
        try:
            fields["assigned_to"] = tuple(fields.get("assigned_to", ()))
            if "at" in fields:
                fields["at"] = datetime.fromisoformat(fields["at"])
            return cls(**fields)
        except (TypeError, ValueError, AttributeError):
            raise Invalid("details", "format", what="details") from None

    def text(self) -> str | None:
        """As JSON, without what has its default; None if all has."""
        fields: dict[str, Any] = {
            name: value for name, value in self._asdict().items() if value != self._field_defaults[name]
        }
        return json.dumps(fields, ensure_ascii=False, default=str) if fields else None


def write_details(
    statements: Statements, outcomes: Iterable[OutcomeRow], changed_ids: Collection[str]
) -> None:
    """Write the details of unfinished items. Those of ``changed_ids`` are the only ones whose rows may have
    others."""
    texts = {outcome.id: Details.of(outcome).text() for outcome in outcomes if outcome.state != "finished"}
    rows = [(id, text) for id, text in texts.items() if text is not None or id in changed_ids]
    statements.set_details(rows)


def write_ends(
    statements: Statements, outcomes: Sequence[OutcomeRow], needed_ids: Collection[str | None]
) -> None:
    """Write why nobody needs the dead items any more, and the forms and deadlines of ``needed_ids``, which
    may be others than before."""
    errors = {outcome.id: codec.why_ended(outcome) for outcome in outcomes if outcome.state == "dead"}
    statements.set_each("error", {id: error for id, error in errors.items() if error is not None})
    write_fixed_columns(statements, [outcome for outcome in outcomes if outcome.id in needed_ids])


def write_fixed_columns(statements: Statements, outcomes: Collection[OutcomeRow]) -> None:
    """Write the columns that don't change while the queue has an item."""
    statements.set_each("expires_at", {outcome.id: outcome.expires for outcome in outcomes})
    statements.set_each("form", {outcome.id: outcome.form for outcome in outcomes})


def read_details(statements: Statements, ids: Sequence[str]) -> dict[str, str | None]:
    """The stored details of rows."""
    clause = (item.c.queue == statements.queue) & item.c.id.in_(ids)
    rows = statements.execute(select(item.c.id, cast(item.c.details, Text).label("text")).where(clause))
    return {row.id: row.text for row in rows}


def row_difference(outcome: OutcomeRow, row: ItemRow) -> str | None:
    """The difference between an item's row and the item in what doesn't change while the queue has it; None
    if they don't."""
    if row.expires_at != outcome.expires:
        return f"its expires_at is {row.expires_at} in the database and {outcome.expires} in the queue"
    try:
        form = None if row.form is None else load_json(row.form, "form")
    except Invalid as error:
        return f"its {error}"
    if not is_same_json(form, None if outcome.form is None else json.loads(outcome.form)):
        return "its form is a different one in the database"
    return None


def details_difference(outcome: OutcomeRow, text: str | None) -> str | None:
    """The difference between an unfinished item's details in the database and in the queue; None if they
    don't."""
    if outcome.state == "finished":
        return None
    try:
        queue_details, row_details = Details.of(outcome), Details.parse(text)
    except Invalid as error:
        return f"its {error}"
    if queue_details.at is None:  # that time has come since
        row_details = row_details._replace(at=None)
    if outcome.state == "reserved":  # an undo lets a person hold it again, and is in no event
        row_details = row_details._replace(failures=queue_details.failures)
    for name, value, other in zip(Details._fields, queue_details, row_details, strict=True):
        if value != other:
            return f"its {name} is {other} in the database and {value} in the queue"
    return None

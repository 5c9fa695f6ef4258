"""What the queue knows of an unfinished item and its row's other columns don't say: JSON in the row's column
`details`, from which a rebuild restores it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, cast, select

from leaseq.bridge.dialect import Dialect
from leaseq.bridge.tables import item
from leaseq.errors import Invalid
from leaseq.models import OutcomeRow
from leaseq.validation import load_json

_LIMIT = "JSON as the bridge writes it, or NULL"


class Details(NamedTuple):
    """The fields of an `OutcomeRow` with these names."""

    failures: int = 0
    max_attempts: int | None = None
    answers_needed: int | None = None
    assigned_to: tuple[str, ...] = ()
    at: datetime | None = None

    @classmethod
    def of(cls, outcome: OutcomeRow) -> Details:
        return cls(*(getattr(outcome, name) for name in cls._fields))

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
            raise Invalid("details", _LIMIT) from None

    def text(self) -> str | None:
        """As JSON, without what has its default; None if all has."""
        fields: dict[str, Any] = {
            name: value for name, value in self._asdict().items() if value != self._field_defaults[name]
        }
        return json.dumps(fields, ensure_ascii=False, default=str) if fields else None


def write(
    connection: Connection,
    dialect: Dialect,
    queue: str,
    outcomes: Sequence[OutcomeRow],
    changed_ids: Collection[str],
) -> None:
    """Write the details of unfinished items. Those of ``changed_ids`` are the only ones whose rows may have
    others."""
    texts = {one.id: Details.of(one).text() for one in outcomes if one.state != "finished"}
    rows = [(id, text) for id, text in texts.items() if text is not None or id in changed_ids]
    dialect.set_details(connection, queue, rows)


def read(connection: Connection, queue: str, ids: Sequence[str]) -> dict[str, str | None]:
    """The stored details of rows."""
    clause = (item.c.queue == queue) & item.c.id.in_(ids)
    rows = connection.execute(select(item.c.id, cast(item.c.details, Text).label("text")).where(clause))
    return {row.id: row.text for row in rows}


def difference(outcome: OutcomeRow, text: str | None) -> str | None:
    """How an unfinished item's details in the database differ from those in the queue; None if they don't."""
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

"""The rebuild of a queue from the database after the server lost it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Engine, func, select

import leaseq
from leaseq.bridge import registry
from leaseq.bridge.migrator import BY, new_item
from leaseq.bridge.outcomes import Details, given_answers, read_answers, read_details
from leaseq.bridge.statements import Statements, statements_on
from leaseq.bridge.tables import ItemRow, answer, event, item
from leaseq.errors import Invalid
from leaseq.models import GivenAnswerRow

_BATCH = 500
_MARGIN = 1_000_000  # tokens that may have been granted since the last archived one


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The result of a rebuild."""

    restored: int  # items that were in the queue and wait again
    dead: int  # dead items that are in the queue again
    refused: int  # rows that the queue refused: `error` says why
    waiting: int  # rows that were not moved yet, which the bridge moves as usual
    tokens_above: int


def rebuild(client: leaseq.Client, engine: Engine, name: str) -> Rebuilt:
    """Restore a queue whose items the server no longer has.

    Its policy is the last one that the bridge saved. Each row with status `queued` waits again, with the
    answers that people gave, and each with status `dead` is dead again, unless the policy lets the server
    forget dead items. New tokens are higher than the time in microseconds, and so higher than all earlier
    ones. Items that the queue has are not changed, so an interrupted rebuild can be run again. Raises Invalid
    if the database has no rows for the queue.
    """
    return _Rebuild(client, engine, name).run()


class _Rebuild:
    def __init__(self, client: leaseq.Client, engine: Engine, name: str) -> None:
        self._queue = leaseq.Queue(client, name)
        self._transaction = partial(statements_on, engine, name)
        self._refused_count = 0

    def run(self) -> Rebuilt:
        queue = self._queue
        with self._transaction() as statements:
            if queue.name not in registry.queues(statements.connection):
                raise Invalid("queue", "database_queue", name=queue.name)
            tokens = max(_last_token(statements) + _MARGIN, time.time_ns() // 1_000)
            fields = registry.read_policy(statements)
            pause = registry.read_pause(statements)
            was_lost = not queue.exists()
            if was_lost:
                # The journal will be a new one. This is saved first, in case that the rebuild is interrupted.
                # It is not deleted: a queue without a cursor is a new one, which the bridge creates itself.
                statements.lock()
                registry.save_cursor(statements, registry.BEGINNING)
        queue.configure(by=BY, **fields)  # type: ignore[arg-type]
        if was_lost and pause is not None:
            queue.pause(pause or None, by=BY)
        queue.raise_tokens(tokens, by=BY)
        restored_count = self._restore_all("queued")
        dead_count = self._restore_all("dead") if queue.policy.keep_dead_seconds is None else 0
        with self._transaction() as statements:
            waiting = select(func.count()).where(item.c.queue == queue.name, item.c.status == "waiting")
            waiting_count = statements.execute(waiting).scalar_one()
        return Rebuilt(restored_count, dead_count, self._refused_count, waiting_count, tokens)

    def _restore_all(self, status: str) -> int:
        """Restore the items of rows with this status, and return how many the queue has now."""
        count = 0
        for rows in self._batches(status):
            with self._transaction() as statements:
                ids = [row.id for row in rows]
                given = read_answers(statements, ids)
                stored = read_details(statements, ids)
                for row in rows:
                    answers = given_answers(given.get(row.id, ()))
                    count += self._restore(statements, row, answers, stored.get(row.id), status)
        return count

    def _batches(self, status: str) -> Iterator[list[ItemRow]]:
        """Yield the rows with this status, by priority and age."""
        with self._transaction() as statements:
            ids = statements.ids_with(status)
        for offset in range(0, len(ids), _BATCH):
            with self._transaction() as statements:
                rows = statements.items(ids[offset : offset + _BATCH])
            yield rows

    def _restore(
        self,
        statements: Statements,
        row: ItemRow,
        item_answers: Sequence[GivenAnswerRow],
        details_text: str | None,
        status: str,
    ) -> bool:
        try:
            details = Details.parse(details_text)
            self._queue.restore(
                replace(new_item(row), max_attempts=details.max_attempts, at=details.at, to=None),
                item_answers,
                dead=status == "dead",
                answers_needed=details.answers_needed,
                failures=details.failures,
                assigned_to=details.assigned_to,
                died_of=details.died_of,
                reason=details.reason,
                asked_by=details.asked_by,
                by=BY,
            )
        except Invalid as error:
            statements.set_error(row, str(error), "refused")
            self._refused_count += 1
            return False
        return True


def _last_token(statements: Statements) -> int:
    latest = (
        select(func.max(table.c.token)).where(table.c.queue == statements.queue) for table in (answer, event)
    )
    return max(statements.execute(statement).scalar() or 0 for statement in latest)

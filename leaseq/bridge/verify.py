"""The comparison of a queue in the server with its rows in the database."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from sqlalchemy import Engine, select

import leaseq
from leaseq.bridge.outcomes import (
    answer_difference,
    details_difference,
    outcomes_of,
    read_answers,
    read_details,
    row_difference,
)
from leaseq.bridge.statements import statements_on
from leaseq.bridge.tables import AnswerRow, item
from leaseq.models import STATES, OutcomeRow

_BATCH = 250
_RETRIES = 5  # if the sides differ: they are read one after the other, and the archiver lags a little
_RETRY_SECONDS = 0.5  # before each retry

NOT_IN_QUEUE = "is queued in the database, and the queue does not have it"


@dataclass(frozen=True, slots=True)
class Difference:
    queue: str
    id: str
    text: str

    def __str__(self) -> str:
        return f"{self.queue} {self.id}: {self.text}"


def verify(
    client: leaseq.Client, engine: Engine, name: str, sleep: Callable[[float], object] = time.sleep
) -> list[Difference]:
    """The differences between the two sides, except short-lived ones while the bridge works."""
    queue = leaseq.Queue(client, name)
    policy = queue.find_policy()
    compare = partial(_compare, queue, engine, policy is not None and policy.keep_dead_seconds is not None)
    differences = list(chain.from_iterable(map(compare, _all_ids(queue, engine))))
    for _ in range(_RETRIES):
        if not differences:
            break
        sleep(_RETRY_SECONDS)
        ids = [difference.id for difference in differences]
        batches = (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
        differences = list(chain.from_iterable(map(compare, batches)))
    return differences


def _all_ids(queue: leaseq.Queue, engine: Engine) -> Iterator[list[str]]:
    """Yield the ids in the database, then those that only the server has."""
    last_id: str | bytes = ""
    while True:
        with statements_on(engine, queue.name) as statements:
            batch = statements.ids(last_id, _BATCH)
        if not batch:
            break
        yield [id for id in batch if isinstance(id, str)]
        last_id = batch[-1]
    if not queue.exists():
        return
    for state in STATES:
        after = None
        while True:
            page = queue.page(state, limit=_BATCH, after=after)
            with statements_on(engine, queue.name) as statements:
                foreign_ids = statements.missing_ids(sorted({item.id for item in page.items}))
            yield foreign_ids
            after = page.after
            if after is None:
                break


def _compare(queue: leaseq.Queue, engine: Engine, forgets_dead: bool, ids: Sequence[str]) -> list[Difference]:
    with statements_on(engine, queue.name) as statements:
        clause = (item.c.queue == queue.name) & item.c.id.in_(ids)
        item_rows = statements.execute(select(item.c.id, item.c.status).where(clause))
        statuses = {row.id: row.status for row in item_rows}
        rows = read_answers(statements, ids)
        texts = read_details(statements, ids)
        columns = {row.id: row for row in statements.items(ids, with_payload=False)}
    differences: list[Difference] = []
    for id, outcome in zip(ids, outcomes_of(queue, ids), strict=True):
        text = _difference(statuses.get(id), outcome, rows.get(id, ()), texts.get(id), forgets_dead)
        if text is None and outcome is not None and id in columns:
            text = row_difference(outcome, columns[id])
        if text is not None:
            differences.append(Difference(queue.name, id, text))
    return differences


def _difference(
    status: str | None,
    outcome: OutcomeRow | None,
    rows: Sequence[AnswerRow],
    details_text: str | None,
    forgets_dead: bool,
) -> str | None:
    if status is None:
        return f"is {outcome.state} in the queue, and the database has no row for it" if outcome else None
    if outcome is None:
        if status == "queued":
            return NOT_IN_QUEUE
        if status == "dead" and not forgets_dead:
            return "is dead in the database, and the queue does not have it"
        if status == "finished" and not rows:
            return "is finished in the database, which has no answer for it"
        return None
    expected_status = outcome.state if outcome.state in ("finished", "dead") else "queued"
    if status != expected_status:
        return f"is {status} in the database and {outcome.state} in the queue"
    return answer_difference(outcome, rows) or details_difference(outcome, details_text)

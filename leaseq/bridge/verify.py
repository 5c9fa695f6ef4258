"""Compares a queue in the server with its rows in the database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, Text, cast, select

import leaseq
from leaseq.bridge.database import transaction
from leaseq.bridge.dialects import dialect_of
from leaseq.bridge.tables import answer, item
from leaseq.errors import QueueNotFound
from leaseq.models import STATES, OutcomeRow

_BATCH = 250
_RETRIES = 5  # if the sides differ: they are read one after the other, and the archiver lags a little
_RETRY_SECONDS = 0.5  # before each retry

NOT_IN_QUEUE = "is queued in the database, and the queue does not have it"

_Answers = Mapping[tuple[str, int], tuple[str, str]]  # id and token: person and result


@dataclass(frozen=True, slots=True)
class Difference:
    queue: str
    id: str
    text: str

    def __str__(self) -> str:
        return f"{self.queue} {self.id}: {self.text}"


def verify(
    client: leaseq.Client, engine: Engine, name: str, sleep: Callable[[float], object] = time.sleep
) -> Iterator[Difference]:
    """Yield the differences between the two sides, except short-lived ones while the bridge works."""
    queue = leaseq.Queue(client, name)
    for ids in _all_ids(queue, engine):
        differences = _compare(queue, engine, ids)
        for _ in range(_RETRIES):
            if not differences:
                break
            sleep(_RETRY_SECONDS)
            differences = _compare(queue, engine, [one.id for one in differences])
        yield from differences


def _all_ids(queue: leaseq.Queue, engine: Engine) -> Iterator[list[str]]:
    """Yield the ids in the database, then those that only the server has."""
    dialect, last_id = dialect_of(engine), ""
    while True:
        with transaction(engine) as connection:
            batch = list(dialect.statuses(connection, queue.name, last_id, _BATCH))
        if not batch:
            break
        yield batch
        last_id = batch[-1]
    if not queue.exists():
        return
    for state in STATES:
        after = None
        while True:
            page = queue.page(state, limit=_BATCH, after=after)
            with transaction(engine) as connection:
                foreign_ids = dialect.missing_ids(
                    connection, queue.name, sorted({one.id for one in page.items})
                )
            yield foreign_ids
            after = page.after
            if after is None:
                break


def _compare(queue: leaseq.Queue, engine: Engine, ids: Sequence[str]) -> list[Difference]:
    with transaction(engine) as connection:
        clause = (item.c.queue == queue.name) & item.c.id.in_(ids)
        item_rows = connection.execute(select(item.c.id, item.c.status).where(clause))
        rows = {row.id: row.status for row in item_rows}
        answers = _answers(connection, queue.name, ids)
    try:
        outcomes = queue.outcome_rows(ids)
    except QueueNotFound:
        outcomes = [None] * len(ids)
    differences: list[Difference] = []
    for id, outcome in zip(ids, outcomes, strict=True):
        text = _difference(
            rows.get(id), outcome, {key: content for key, content in answers.items() if key[0] == id}
        )
        if text is not None:
            differences.append(Difference(queue.name, id, text))
    return differences


def _answers(connection: Connection, queue: str, ids: Sequence[str]) -> _Answers:
    clause = (answer.c.queue == queue) & answer.c.id.in_(ids)
    columns = (answer.c.id, answer.c.token, answer.c.person, cast(answer.c.result, Text))
    rows = connection.execute(select(*columns).where(clause))
    return {(id, token): (person, result) for id, token, person, result in rows}


def _difference(status: str | None, outcome: OutcomeRow | None, answers: _Answers) -> str | None:
    if status is None:
        return f"is {outcome.state} in the queue, and the database has no row for it" if outcome else None
    if outcome is None:
        if status == "queued":
            return NOT_IN_QUEUE
        if status == "dead":
            return "is dead in the database, and the queue does not have it"
        if status == "finished" and not answers:
            return "is finished in the database, which has no answer for it"
        return None
    expected_status = outcome.state if outcome.state in ("finished", "dead") else "queued"
    if status != expected_status:
        return f"is {status} in the database and {outcome.state} in the queue"
    queue_answers = {(outcome.id, one.token): (one.person, one.result) for one in outcome.answers}
    for key in sorted(queue_answers.keys() | answers.keys()):
        if not _is_same_answer(queue_answers.get(key), answers.get(key)):
            side = "database" if key not in answers else "queue" if key not in queue_answers else None
            return (
                f"its answer with token {key[1]} is not in the {side}"
                if side
                else f"its answer with token {key[1]} is a different one in the database"
            )
    return None


def _is_same_answer(one: tuple[str, str] | None, other: tuple[str, str] | None) -> bool:
    if one is None or other is None:
        return False
    return one[0] == other[0] and json.loads(one[1]) == json.loads(other[1])

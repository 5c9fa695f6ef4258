"""After any sequence of calls, the database has what the queue has, and every answer that was accepted."""

from __future__ import annotations

import itertools
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Text, cast, select

import leaseq
from leaseq.bridge.outcomes import Details
from leaseq.bridge.rebuild import rebuild
from leaseq.bridge.tables import answer, item
from leaseq.bridge.verify import verify
from tests.bridge.conftest import Database, Make, lose, settle
from tests.conftest import Clock, Server

IDS = ("a", "b")
PEOPLE = ("ann", "bob", "cid")
AT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
RESULTS = (1, True, {"x": [1, None]})
VERBS = (
    "add",
    "insert",
    "reserve",
    "finish",
    "finish",
    "undo",
    "abandon",
    "fail",
    "expire",
    "adopt",
    "reopen",
    "correct",
    "revive",
    "need",
    "assign",
    "unassign",
    "prioritize",
    "delay",
    "remove",
    "forget",
    "cancel",
    "call_off",
    "delete",
    "retry",
    "change",
    "step",
    "archive",
)
steps = st.tuples(st.sampled_from(VERBS), st.integers(0, 11), st.sampled_from(RESULTS))
numbers = itertools.count()
EXAMPLES = 1_000 if "LEASEQ_SOAK_MINUTES" in os.environ else 30


class Run:
    """A queue with a bridge, and what was acknowledged in it."""

    def __init__(self, server: Server, database: Database, make: Make, answers: int) -> None:
        self.clock = Clock.from_now(3600)
        self.name = f"both-sides.{database.engine.dialect.name}.{next(numbers)}"
        self.queue = leaseq.Queue(server.client, self.name, clock=self.clock)
        self.queue.configure(answers=answers, max_attempts=3, lease_seconds=10, keep_finished_seconds=100)
        self.server, self.database, self.bridge = server, database, make(self.name)
        self.archiver = make(self.name, parts=("archive",))
        self.leases: list[leaseq.Lease] = []
        self.acknowledged: set[tuple[str, int, str]] = set()  # id, token, result

    def do(self, verb: str, number: int, result: Any) -> None:
        self.clock.tick(0.01)
        with suppress(leaseq.LeaseLost, leaseq.Invalid, leaseq.ItemNotFound):
            getattr(self, verb)(number, result)

    def add(self, number: int, _: object) -> None:
        form = {"ask": {"type": "object"}} if number % 4 == 3 else None
        self.queue.enqueue({"n": 1}, id=IDS[number % 2], expires=(None, 5, 500)[number % 3], form=form)

    def insert(self, number: int, _: object) -> None:
        id = IDS[number % 2]
        if id not in self.statuses():
            self.database.add(self.name, id, expires_at=AT if number % 3 == 1 else None)

    def reserve(self, number: int, _: object) -> None:
        if lease := self.queue.reserve(PEOPLE[number % 3], skills=["fr"]):
            self.leases.append(lease)

    def finish(self, number: int, result: Any) -> None:
        lease = self.lease(number)
        self.queue.finish(lease, result)
        self.acknowledged.add((lease.id, lease.token, json.dumps(result)))

    def undo(self, number: int, _: object) -> None:
        lease = self.lease(number)
        self.leases.append(self.queue.undo_finish(lease))
        gone = {one for one in self.acknowledged if one[:2] == (lease.id, lease.token)}
        self.acknowledged -= gone

    def abandon(self, number: int, _: object) -> None:
        self.queue.abandon(self.lease(number), "no")

    def fail(self, number: int, _: object) -> None:
        self.queue.fail(self.lease(number), "no")

    def expire(self, *_: object) -> None:
        self.clock.tick(11)
        self.queue.clear()

    def adopt(self, number: int, _: object) -> None:
        lease = self.lease(number)
        self.queue.adopt(lease.id, lease.token)

    def reopen(self, number: int, _: object) -> None:
        lease = self.lease(number)
        self.queue.reopen(lease.id, lease.token)

    def correct(self, number: int, result: Any) -> None:
        lease = self.lease(number)
        self.queue.correct(lease.id, lease.token, result, by="meg")

    def revive(self, number: int, _: object) -> None:
        self.queue.revive(IDS[number % 2])

    def need(self, number: int, _: object) -> None:
        self.queue.change(IDS[number % 2], answers=1)

    def assign(self, number: int, _: object) -> None:
        self.queue.assign(IDS[number % 2], PEOPLE[number % 3])

    def unassign(self, number: int, _: object) -> None:
        self.queue.unassign(IDS[number % 2])

    def prioritize(self, number: int, result: Any) -> None:
        self.queue.change(IDS[number % 2], priority=number + 1, requires=["fr"][: number % 2], due=AT)
        self.queue.change(IDS[number % 2], payload=result)

    def delay(self, number: int, _: object) -> None:
        self.queue.change(IDS[number % 2], delay=1_000)

    def remove(self, number: int, _: object) -> None:
        """A manager's remove drops the answers that are not archived yet."""
        self.archive()
        self.queue.remove(IDS[number % 2])

    def forget(self, *_: object) -> None:
        self.clock.tick(200)
        self.queue.clear()

    def cancel(self, number: int, _: object) -> None:
        self.write(IDS[number % 2], "UPDATE leaseq_item SET status = 'cancelled'")

    def call_off(self, number: int, _: object) -> None:
        self.queue.cancel(IDS[number % 2], "sold" if number % 3 else None)

    def delete(self, number: int, _: object) -> None:
        self.write(IDS[number % 2], "DELETE FROM leaseq_item")

    def retry(self, number: int, _: object) -> None:
        self.write(IDS[number % 2], "UPDATE leaseq_item SET status = 'waiting'", "dead", "cancelled")

    def change(self, number: int, _: object) -> None:
        self.write(IDS[number % 2], f"UPDATE leaseq_item SET priority = {number}")

    def step(self, *_: object) -> None:
        self.bridge.step()

    def archive(self, *_: object) -> None:
        settle(self.archiver)

    def lease(self, number: int) -> leaseq.Lease:
        if not self.leases:
            raise leaseq.ItemNotFound(self.name, "none")
        return self.leases[-1 - number % min(len(self.leases), 4)]

    def write(self, id: str, statement: str, *statuses: str) -> None:
        values = "', '".join(statuses or ("queued",))
        where = f"WHERE queue = :queue AND id = :id AND status IN ('{values}')"
        self.database.run(f"{statement} {where}", queue=self.name, id=id)

    def statuses(self) -> dict[str, str]:
        with self.database.engine.begin() as connection:
            rows = connection.execute(select(item.c.id, item.c.status).where(item.c.queue == self.name))
            return {row.id: row.status for row in rows}

    def rows(self) -> list[tuple[str, int, str, str, bool]]:
        """Id, token, person, result and accepted of each answer in the database."""
        columns = (
            answer.c.id,
            answer.c.token,
            answer.c.person,
            cast(answer.c.result, Text),
            answer.c.accepted,
        )
        with self.database.engine.begin() as connection:
            rows = connection.execute(select(*columns).where(answer.c.queue == self.name))
            return [(id, token, person, text(json.loads(r)), bool(yes)) for id, token, person, r, yes in rows]

    def check(self) -> None:
        for _ in range(3):
            settle(self.bridge)
        assert self.bridge._loop._failures == {}
        rows = self.rows()
        assert self.acknowledged <= {(id, token, result) for id, token, _, result, _ in rows}
        for id in IDS:
            try:
                item = self.queue.get(id)
            except leaseq.ItemNotFound:
                continue
            accepted = sorted((id, one.token, one.person, text(one.result)) for one in item.answers)
            late = {(id, one.token, one.person, text(one.result)) for one in item.late_answers}
            assert sorted(row[:4] for row in rows if row[0] == id and row[4]) == accepted
            assert late <= {row[:4] for row in rows if not row[4]}
        assert verify(self.server.client, self.database.engine, self.name, lambda _: None) == []

    def check_rebuild(self) -> None:
        """The server loses the queue: what is rebuilt is what it was, except that nobody holds anything, and
        that an item has the columns of its row, which may have been changed while somebody held it. Its time
        runs ahead of the server's, so that an item that was due in it may be due later after the rebuild."""
        now = self.queue.journal(limit=10_000)[-1].at
        before, late = self.unfinished(now)
        lose(self.server, self.queue)
        rebuild(self.server.client, self.database.engine, self.name)
        rebuilt, rebuilt_late = self.unfinished(now)
        assert rebuilt == before
        assert late <= rebuilt_late, "with those to an item that had the id earlier"
        settle(self.bridge)
        assert verify(self.server.client, self.database.engine, self.name, lambda _: None) == []

    def unfinished(self, now: datetime) -> tuple[list[dict[str, Any]], set[str]]:
        """What the queue has of each unfinished item, and their late answers."""
        outcomes = [one for one in self.queue.outcomes(IDS) if one and is_unfinished(one)]
        items = [
            {name: getattr(one, name) for name in ("id", *Details._fields)}
            | {
                "at": one.at if one.at and one.at > now else None,
                "dead": one.state == "dead",
                "answers": {str(given) for given in one.answers if given.stands},
            }
            for one in outcomes
        ]
        return items, {str(given) for one in outcomes for given in one.answers if not given.stands}


def is_unfinished(one: leaseq.Outcome) -> bool:
    """Whether it would still need an answer if nobody held it."""
    count = sum(given.stands for given in one.answers)
    return one.state != "finished" and not (one.answers_needed and count >= one.answers_needed)


def text(value: object) -> str:
    return json.dumps(value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=EXAMPLES)
@given(answers=st.sampled_from((1, 2)), sequence=st.lists(steps, min_size=5, max_size=40))
def test_database_has_what_the_queue_has_after_any_calls(
    server: Server, database: Database, make: Make, answers: int, sequence: list[tuple[str, int, Any]]
) -> None:
    run = Run(server, database, make, answers)
    for verb in ("insert", "step", "reserve"):
        run.do(verb, 0, None)
    for verb, number, result in sequence:
        run.do(verb, number, result)
    run.check()
    if run.statuses():
        run.check_rebuild()

"""The schema number of a queue, and how this version treats a queue with a newer schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaseq
from leaseq.engine.keys import SCHEMA, Keys
from leaseq.engine.scripts import SCRIPTS
from tests.conftest import Server
from tests.engine.server_contents import everything
from tests.support.leases import take
from tests.support.refused import raises

LEASE: dict[str, Any] = {"id": "one", "token": 1, "person": "ann"}
LEASE_KEY = ("one", 1, "ann")
CALLS: dict[str, Callable[[leaseq.Queue], object]] = {
    "configure": lambda queue: queue.configure(title="new"),
    "policy": lambda queue: queue.policy,
    "enqueue": lambda queue: queue.enqueue({}),
    "enqueue_many": lambda queue: queue.enqueue_many([{}]),
    "reserve": lambda queue: queue.reserve("bob"),
    "reserve, waiting": lambda queue: queue.reserve("bob", wait=5),
    "renew": lambda queue: queue.renew(**LEASE),
    "save_draft": lambda queue: queue.save_draft(draft={}, **LEASE),
    "finish": lambda queue: queue.finish(result={}, **LEASE),
    "finish and reserve": lambda queue: queue.finish(result={}, then_reserve=True, **LEASE),
    "finish, with a cached form": lambda queue: queue._commands.run("finish", *LEASE_KEY, "{}", "-"),
    "undo_finish": lambda queue: queue.undo_finish(**LEASE),
    "take_back": lambda queue: queue.take_back(**LEASE),
    "reopen": lambda queue: queue.reopen("one", 1),
    "correct": lambda queue: queue.correct("one", 1, {}, by="meg"),
    "abandon": lambda queue: queue.abandon(**LEASE),
    "fail": lambda queue: queue.fail(**LEASE),
    "clear": lambda queue: queue.clear(),
    "revive": lambda queue: queue.revive("one"),
    "revive_all": lambda queue: queue.revive_all(),
    "release": lambda queue: queue.release("one"),
    "cancel": lambda queue: queue.cancel("one"),
    "ask": lambda queue: queue.wait_for("one"),
    "assign": lambda queue: queue.assign("one", "bob"),
    "unassign": lambda queue: queue.unassign("one"),
    "unassign_person": lambda queue: queue.unassign_all("bob"),
    "stop": lambda queue: queue.stop("ann"),
    "decide": lambda queue: queue.decide("one", 1, how="agreed", tokens=[1]),
    "let_work": lambda queue: queue.let_work("ann"),
    "stopped": lambda queue: queue.stopped(),
    "change": lambda queue: queue.change("one", priority=1),
    "remove": lambda queue: queue.remove("one"),
    "remove_all": lambda queue: queue.remove_all("reserved"),
    "delete": lambda queue: queue.delete(),
    "person_items": lambda queue: list(queue.person_items("ann")),
    "erase_person": lambda queue: queue.erase_person("ann", "erased-1"),
    "adopt": lambda queue: queue.adopt("one", 1),
    "pause": lambda queue: queue.pause("again"),
    "resume": lambda queue: queue.resume(),
    "get": lambda queue: queue.get("one"),
    "items": lambda queue: queue.items("reserved"),
    "late_items": lambda queue: list(queue.late_items()),
    "mine": lambda queue: queue.mine("ann"),
    "why_nothing": lambda queue: queue.why_nothing("bob"),
    "stats": lambda queue: queue.stats(),
    "waiting_rows": lambda queue: queue.waiting_rows(),
    "alerts": lambda queue: queue.alerts(),
    "check_alerts": lambda queue: queue._commands.run("check_alerts", ""),
    "history": lambda queue: queue.history("one"),
    "follow": lambda queue: queue.follow("archive"),
    "unfollow": lambda queue: queue.unfollow("archive"),
    "outcomes": lambda queue: queue.outcomes(["one"]),
    "outcome_rows": lambda queue: queue.outcome_rows(["one"]),
    "restore": lambda queue: queue.restore(leaseq.NewItem({}, "three")),
    "raise_tokens": lambda queue: queue.raise_tokens(9),
    "dump": lambda queue: queue._commands.run("dump"),
    "dump_items": lambda queue: queue._commands.run("dump_items", "0", 10),
    "end_wait": lambda queue: queue._commands.run("end_wait", "waiter", "ann", "r", 0),
}
# Scripts that are not calls of a queue, or that work with any schema.
OTHERS = {"confirm", "journal", "schema", "delete_keys", "load", "load_items"}


@pytest.fixture
def newer_queue(server: Server, queue: leaseq.Queue) -> Iterator[leaseq.Queue]:
    """A queue in use that a later version has upgraded."""
    queue.enqueue_many(leaseq.NewItem({}, id) for id in ("one", "two"))
    assert queue.reserve("ann") is not None
    queue.pause()
    ledger = Keys(queue.name).ledger
    status = server.redis.hget(ledger, "status")
    assert status is not None
    server.redis.hset(ledger, "status", f"v{SCHEMA + 1} {status.decode()}")
    yield queue
    server.redis.hset(ledger, "status", status)  # other tests read all queues


def test_used_queue_has_the_current_schema(server: Server, queue: leaseq.Queue) -> None:
    before = queue.schema
    assert before is None
    queue.enqueue({})
    assert queue.schema == SCHEMA
    assert queue.finish(take(queue, "ann"), {}).replayed is False


@pytest.mark.parametrize("call", CALLS)
def test_newer_schema_is_refused_before_anything_changes(
    server: Server, newer_queue: leaseq.Queue, call: str
) -> None:
    before = everything(server.redis, newer_queue.name)
    with raises(leaseq.ServerRefused, "newer", what="schema", name=str(SCHEMA + 1)):
        CALLS[call](newer_queue)
    assert everything(server.redis, newer_queue.name) == before


def test_calls_cover_every_script() -> None:
    names = {word for call in CALLS for word in call.split(", ")[0].split(" ")}
    assert set(SCRIPTS) - names == OTHERS


def test_newer_schema_number_and_journal_can_be_read(server: Server, newer_queue: leaseq.Queue) -> None:
    assert newer_queue.schema == SCHEMA + 1
    assert newer_queue.exists()
    assert newer_queue.name in leaseq.queues(server.client)
    assert [event.what for event in newer_queue.journal()] == [
        "created",
        *["enqueued"] * 2,
        "reserved",
        "paused",
    ]

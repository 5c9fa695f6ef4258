"""A queue that doesn't exist: every call raises, except those that create it or check for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leaseq
from tests.conftest import Server


@pytest.fixture
def calls_of_queue() -> dict[str, Callable[[leaseq.Queue], object]]:
    """Every call of a queue, except those that create it or check whether it exists."""
    lease: dict[str, Any] = {"id": "one", "token": 1, "person": "ann"}
    return {
        "renew": lambda q: q.renew(**lease),
        "save_draft": lambda q: q.save_draft(draft={}, **lease),
        "finish": lambda q: q.finish(result={}, **lease),
        "finish and next": lambda q: q.finish(result={}, then_reserve=True, **lease),
        "undo_finish": lambda q: q.undo_finish(**lease),
        "take_back": lambda q: q.take_back(**lease),
        "abandon": lambda q: q.abandon(**lease),
        "abandon and next": lambda q: q.abandon(then_reserve=True, **lease),
        "fail": lambda q: q.fail(error="no", **lease),
        "fail and next": lambda q: q.fail(error="no", then_reserve=True, **lease),
        "mine": lambda q: q.mine("ann"),
        "why_nothing": lambda q: q.why_nothing("ann"),
        "clear": leaseq.Queue.clear,
        "pause": leaseq.Queue.pause,
        "resume": leaseq.Queue.resume,
        "get": lambda q: q.get("one"),
        "items": lambda q: q.items("inbound"),
        "page": lambda q: q.page("dead"),
        "find": lambda q: q.find("finished"),
        "by_due": leaseq.Queue.by_due,
        "late_items": lambda q: list(q.late_items()),
        "late_page": leaseq.Queue.late_page,
        "answers": lambda q: list(q.answers()),
        "answers with late ones": lambda q: list(q.answers(with_late=True)),
        "revive": lambda q: q.revive("one"),
        "cancel": lambda q: q.cancel("one"),
        "wait_for": lambda q: q.wait_for("one"),
        "revive_all": leaseq.Queue.revive_all,
        "remove_all": lambda q: q.remove_all("dead"),
        "release": lambda q: q.release("one"),
        "assign": lambda q: q.assign("one", "ann"),
        "unassign": lambda q: q.unassign("one"),
        "unassign_all": lambda q: q.unassign_all("ann"),
        "stop": lambda q: q.stop("ann"),
        "decide": lambda q: q.decide("one", 1, how="agreed", tokens=[1]),
        "decision": lambda q: q.decision("one"),
        "decisions": lambda q: list(q.decisions()),
        "let_work": lambda q: q.let_work("ann"),
        "stopped": leaseq.Queue.stopped,
        "check_alerts": lambda q: q.check_alerts(unreachable=1),
        "waiting_rows": leaseq.Queue.waiting_rows,
        "change": lambda q: q.change("one", priority=1),
        "remove": lambda q: q.remove("one"),
        "adopt": lambda q: q.adopt("one", 1),
        "reopen": lambda q: q.reopen("one", 1),
        "correct": lambda q: q.correct("one", 1, {}, by="meg"),
        "delete": leaseq.Queue.delete,
        "erase_person": lambda q: q.erase_person("ann", "nobody"),
        "person_items": lambda q: list(q.person_items("ann")),
        "stats": leaseq.Queue.stats,
        "alerts": leaseq.Queue.alerts,
        "journal": leaseq.Queue.journal,
        "journal after": lambda q: q.journal(after="1.0"),
        "latest_events": leaseq.Queue.latest_events,
        "history": lambda q: q.history("one"),
        "follow": lambda q: q.follow("archive"),
        "event_rows": leaseq.Queue.event_rows,
        "unfollow": lambda q: q.unfollow("archive"),
        "outcomes": lambda q: q.outcomes(["one"]),
        "outcome_rows": lambda q: q.outcome_rows(["one"]),
    }


CREATING_OR_CHECKING_CALLS = {
    "ask",
    "restore",
    "raise_tokens",
    "enqueue",
    "enqueue_many",
    "reserve",
    "configure",
    "exists",
    "find_policy",
    "remove_read",  # without the queue, the item is gone
}


def test_every_call_on_missing_queue_raises_queue_not_found(
    queue: leaseq.Queue, server: Server, calls_of_queue: dict[str, Callable[[leaseq.Queue], object]]
) -> None:
    outcome: object
    wrong_outcomes: dict[str, object] = {}
    for name, call in calls_of_queue.items():
        try:
            outcome = call(queue)
        except leaseq.LeaseqError as error:
            outcome = error
        if not isinstance(outcome, leaseq.QueueNotFound) or outcome.queue != queue.name:
            wrong_outcomes[name] = outcome
    assert wrong_outcomes == {}
    assert list(server.redis.scan_iter(f"*{queue.name}*")) == [], "nothing was created"
    assert queue.name not in leaseq.queues(server.client)


def test_every_public_call_is_covered(calls_of_queue: dict[str, Callable[[leaseq.Queue], object]]) -> None:
    calls = {name for name in dir(leaseq.Queue) if callable(getattr(leaseq.Queue, name)) and name[0] != "_"}
    assert calls == {name.split(" ")[0] for name in calls_of_queue} | CREATING_OR_CHECKING_CALLS


def test_reserve_before_first_enqueue_returns_none(queue: leaseq.Queue) -> None:
    assert queue.reserve("ann") is None
    assert queue.reserve("ann", wait=0.01) is None
    assert queue.find_policy() is None
    assert queue.policy == leaseq.Policy()
    queue.enqueue({}, id="one")
    assert queue.get("one").state == "inbound"

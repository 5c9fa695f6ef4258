"""Preparations for calls whose replies get lost, and calls of several steps."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

import leaseq
from leaseq import NewItem, backup
from leaseq.backup.file import Writer
from leaseq.backup.queue_lines import write_queue
from tests.conftest import Clock

RESULT = {"label": "good"}
ANSWER = leaseq.GivenAnswer(77, "eve", 1, datetime(2026, 1, 1, tzinfo=UTC), late=False, stands=True)


def no_preparation(queue: leaseq.Queue) -> None:
    pass


def take_lease(queue: leaseq.Queue, person: str = "ann") -> leaseq.Lease:
    lease = queue.reserve(person)
    assert lease is not None
    return lease


def two_leases(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(holds=3)
    take_lease(queue)
    return take_lease(queue)


def advance(queue: leaseq.Queue, seconds: float) -> None:
    clock = queue._commands._clock
    assert isinstance(clock, Clock)
    clock.tick(seconds)


def expired_lease(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    advance(queue, 301)
    queue.clear()
    return lease


def three_expired_leases(queue: leaseq.Queue) -> None:
    for n in range(3):
        take_lease(queue, f"p{n}")
    advance(queue, 301)


def alert_rules(queue: leaseq.Queue) -> None:
    queue.configure(alerts=("waiting>3", "idle>60"))


def last_attempt(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(max_attempts=1)
    return take_lease(queue)


def dead_item(queue: leaseq.Queue) -> None:
    queue.fail(last_attempt(queue), "no")


def regranted_lease(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    queue.release("a")
    take_lease(queue, "bob")
    return lease


def take_back(queue: leaseq.Queue, lease: leaseq.Lease) -> object:
    return queue.take_back(lease, request_id="r").token


def erase_ann(queue: leaseq.Queue, _: object) -> list[str]:
    """Erase ann without the totals, which differ if a step's reply was lost."""
    queue.erase_person("ann", "nobody")
    return [grant.person for grant in queue.get("a").history]


def next_id(outcome: leaseq.Abandoned | leaseq.Failed) -> str | None:
    return outcome.next.id if outcome.next else None


def finish_lost_lease(queue: leaseq.Queue, lease: leaseq.Lease) -> object:
    with pytest.raises(leaseq.LeaseLost) as error:
        queue.finish(lease, RESULT)
    return error.value.answer_kept


def two_answers(queue: leaseq.Queue) -> None:
    lease = take_lease(queue)
    queue.finish(lease, {"v": 1})
    finish_lost_lease(queue, lease)


def finish_and_next(queue: leaseq.Queue, lease: leaseq.Lease) -> object:
    next_lease = queue.finish(lease, RESULT, then_reserve=True, request_id="r").next
    return next_lease and (next_lease.id, next_lease.token, next_lease.expires_at)


def reserve(queue: leaseq.Queue, _: object) -> object:
    lease = queue.reserve("ann", request_id="r")
    return lease and (lease.id, lease.token, lease.expires_at)


def reserve_with_skills(queue: leaseq.Queue, _: object) -> object:
    lease = queue.reserve("ann", skills=["de", "fr"], request_id="r")
    return lease and (lease.id, lease.token)


def scheduled_item(queue: leaseq.Queue) -> None:
    queue.enqueue({}, id="z", delay=60)


def finished_lease(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    queue.finish(lease, RESULT)
    return lease


def abandoned_lease(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    queue.abandon(lease)
    return lease


def failed_lease(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    queue.fail(lease, "torn")
    return lease


def lease_of_dead_item(queue: leaseq.Queue) -> leaseq.Lease:
    lease = last_attempt(queue)
    queue.fail(lease, "torn")
    return lease


def three_answers(queue: leaseq.Queue) -> leaseq.Lease:
    """Bob holds the second assignment of an item, and ann the first."""
    queue.configure(answers=3)
    for id in ("b", "c", "d"):
        queue.remove(id)
    take_lease(queue)
    lease = queue.reserve("bob")
    assert lease is not None
    return lease


def twice_granted(queue: leaseq.Queue) -> leaseq.Lease:
    """Ann's lease expired and bob has the assignment now; another one of the item is waiting, and other
    items."""
    queue.configure(answers=3, holds=2)
    lease = expired_lease(queue)
    take_lease(queue, "bob")
    for person in ("cyd", "dan", "eve"):
        take_lease(queue, person)
    return lease


def second_of_two(queue: leaseq.Queue) -> leaseq.Lease:
    """Bob has the item's last attempt; another assignment of it is waiting."""
    queue.configure(max_attempts=1)
    return three_answers(queue)


def wholly_dead_item(queue: leaseq.Queue) -> None:
    queue.fail(second_of_two(queue), "no")
    queue.fail(queue.mine("ann")[0], "no")


def once_abandoned_item(queue: leaseq.Queue) -> leaseq.Lease:
    queue.configure(max_abandons=2)
    queue.abandon(take_lease(queue))
    return take_lease(queue, "bob")


def assigned_item(queue: leaseq.Queue) -> None:
    queue.assign("b", "ann")


def decide(queue: leaseq.Queue, lease: leaseq.Lease) -> bool:
    return queue.decide(lease.id, {"label": "good"}, how="reviewed", by="meg", tokens=[lease.token])


def stopped_person(queue: leaseq.Queue) -> None:
    queue.stop("ann", "too fast")


def stopped_holder(queue: leaseq.Queue) -> leaseq.Lease:
    lease = take_lease(queue)
    queue.stop("ann")
    return lease


def item_with_skills(queue: leaseq.Queue) -> None:
    for id in "abcd":
        queue.remove(id)
    queue.enqueue({}, id="french", requires=["fr"])


def dedupe_window(queue: leaseq.Queue) -> None:
    queue.configure(dedupe_seconds=60)


def enqueued_payload(queue: leaseq.Queue) -> None:
    dedupe_window(queue)
    queue.enqueue({"n": 1}, id="first")


def enqueue_conflicts(queue: leaseq.Queue) -> object:
    conflicts: list[leaseq.Conflict] = []
    pairs = [("a", "another"), ("new", "first"), ("b", "b"), ("new", "second")]
    counts = queue.enqueue_many((NewItem({"n": n}, id=id) for id, n in pairs), on_conflict=conflicts.append)
    return counts, conflicts


MANY = [NewItem({}, id=id, delay=9 if id == "y" else 0) for id in ("a", "x", "y", "x")]


def backup_of_queue(queue: leaseq.Queue) -> io.BytesIO:
    """Back up this queue only, and delete it."""
    take_lease(queue)
    file = io.BytesIO()
    writer = Writer(file, 0.0)
    write_queue(queue._client, queue.name, writer, queue._commands._clock)
    writer.end()
    file.seek(0)
    queue.delete()
    return file


def load_backup(queue: leaseq.Queue, file: io.BytesIO) -> backup.Restored:
    return backup.restore(queue._client, file, clock=queue._commands._clock)


def ask_without_waiting(queue: leaseq.Queue, id: str) -> str:
    """Ask the question that an item is; returns its id."""
    payload = queue.get(id).payload if id == "a" else {}
    with pytest.raises(leaseq.StillWaiting) as waiting:
        queue.ask(payload, id=id, wait=0)
    return waiting.value.id

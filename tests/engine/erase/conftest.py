"""A queue with every kind of record that a person can have."""

from __future__ import annotations

import pytest

import leaseq
from tests.conftest import Clock

NAME, OTHER = "Ann %w+ (a)", "Ann"  # a Lua pattern, and a prefix of it
IDS = ("both", "late", "draft", "later", "never", "failed", "corrected", "held")


@pytest.fixture
def full(timed_queue: leaseq.Queue, clock: Clock) -> leaseq.Queue:
    """A queue with every kind of record of the person."""
    return fill(timed_queue, clock, NAME, OTHER)


def fill(queue: leaseq.Queue, clock: Clock, name: str, other: str) -> leaseq.Queue:
    queue.configure(answers=2, holds=9, lease_seconds=60, max_abandons=9)
    for id in IDS:
        queue.enqueue({}, id=id, requires=[id])

    def get(id: str, person: str) -> leaseq.Lease:
        lease = queue.reserve(person, skills=[id])
        assert lease is not None
        assert lease.id == id
        return lease

    for person in (other, name):
        queue.finish(get("both", person), {"by": "somebody"})
    late_lease = get("late", name)
    clock.tick(61)
    queue.clear()
    queue.save_draft(late_lease, {"half": 1})
    for person in (other, "cyd"):
        queue.finish(get("late", person), 1)
    with pytest.raises(leaseq.LeaseLost):
        queue.finish(late_lease, {"v": 3})
    for person in (other, name):
        lease_with_draft = get("draft", person)
        queue.save_draft(lease_with_draft, {"of": "somebody"})
        queue.release("draft")
    queue.abandon(get("later", name), "tired")
    queue.abandon(get("never", name), again=False)
    queue.fail(get("failed", name), "torn")
    queue.finish(get("corrected", "cyd"), 1)
    (answer,) = queue.get("corrected").answers
    queue.correct("corrected", answer.token, 2, by=name)
    get("held", other)
    queue.save_draft(get("held", name), {"half": 2})
    for id in ("for", "elsewhere"):
        queue.enqueue({}, id=id, delay=0 if id == "for" else 99)
        queue.assign(id, name)
    return queue

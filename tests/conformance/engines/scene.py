"""A small queue as two programs use it, prepared for a call."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import leaseq
from tests.conftest import Clock


@dataclass
class Scene:
    """A queue with four items, which uses the test's clock; another program has it open, too."""

    queue: leaseq.Queue
    other: leaseq.Queue
    clock: Clock

    def take(self, person: str = "ann") -> leaseq.Lease:
        lease = self.queue.reserve(person)
        assert lease is not None
        return lease

    def kill_item(self) -> str:
        lease = self.take()
        for _ in range(3):
            self.queue.fail(lease, "torn")
            self.clock.tick(100)
            if self.queue.get(lease.id).state == "dead":
                break
            self.queue.assign(lease.id, "ann")
            lease = self.take()
        return lease.id

    def finish_late(self) -> leaseq.Lease:
        """Let ann's answer arrive when bob already holds the item."""
        lease = self.take()
        self.clock.tick(301)
        self.take("bob")
        with pytest.raises(leaseq.LeaseLost):
            self.queue.finish(lease, {"by": "ann"})
        return lease

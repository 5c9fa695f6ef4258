"""People who wait for an item, each in a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import leaseq
from leaseq.engine.keys import Keys
from tests.conftest import Server

LONG = 30  # seconds: far more than needed; a test that takes that long has failed
Start = Callable[..., Future[leaseq.Lease | None]]


def in_line(server: Server, queue: leaseq.Queue) -> int:
    return int(server.redis.zcard(Keys(queue.name).waiters))


def granted_ids(*futures: Future[leaseq.Lease | None]) -> list[str]:
    leases = [future.result(LONG) for future in futures]
    assert all(leases)
    return [lease.id for lease in leases if lease]

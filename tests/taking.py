"""Taking an item where there must be one."""

from __future__ import annotations

import leaseq


def take(queue: leaseq.Queue, person: str, *skills: str) -> leaseq.Lease:
    lease = queue.reserve(person, skills=skills)
    assert lease is not None
    return lease

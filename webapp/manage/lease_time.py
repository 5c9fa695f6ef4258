"""A lease time that fits how long people held items that they finished."""

from __future__ import annotations

from dataclasses import dataclass

import leaseq
from leaseq.webapp.context import state

LEAST = 20  # finished items, from which a suggestion is made
_TIMES = (30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600, 7_200, 14_400, 28_800, 86_400)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What was seen in the last hour, and the time that follows from it. Durations in seconds."""

    of: int  # finished items
    p95: float  # 95 % of them were held for at most so long
    expired: int  # leases that ran out
    seconds: int


def suggestion_of(queue: leaseq.Queue, current_seconds: float) -> Suggestion | None:
    """None where too little was seen, or the time in force is as good."""
    rates = state().live.snapshots.of(queue).rates()
    handling = rates.handling()
    if handling is None or handling.count < LEAST:
        return None
    seconds = lease_time(handling.p95)
    return (
        Suggestion(handling.count, handling.p95, rates.expired(), seconds)
        if seconds != current_seconds
        else None
    )


def lease_time(p95: float) -> int:
    """The first usual time that is twice the 95th percentile or more: one person in twenty takes longer than
    that, some much longer, and an item that somebody left should not wait much longer either."""
    return next((one for one in _TIMES if one >= 2 * p95), _TIMES[-1])

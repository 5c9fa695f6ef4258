"""Suggests a lease time from how long people held the items they finished."""

from __future__ import annotations

from dataclasses import dataclass

import leaseq
from leaseq.webapp.context import state

MIN_FINISHED = 20  # finished items, at least, for a suggestion
_TIMES = (30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600, 7_200, 14_400, 28_800, 86_400)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Figures of the last hour, and the lease time they suggest. Durations are in seconds."""

    count: int  # finished items
    p95: float  # 95 % of them were held for at most this long
    expired: int  # expired leases
    seconds: int


def suggestion_of(queue: leaseq.Queue, current_seconds: float) -> Suggestion | None:
    """The suggestion; None if there are too few figures or the current time is already right."""
    rates = state().live.snapshots.get(queue).rates()
    handling = rates.handling()
    if handling is None or handling.count < MIN_FINISHED:
        return None
    seconds = lease_time(handling.p95)
    return (
        Suggestion(handling.count, handling.p95, rates.expired(), seconds)
        if seconds != current_seconds
        else None
    )


def lease_time(p95: float) -> int:
    """The first usual time of at least twice the 95th percentile: one lease in twenty takes longer than the
    percentile, some much longer, but an item that somebody left should not wait much longer either."""
    return next((one for one in _TIMES if one >= 2 * p95), _TIMES[-1])

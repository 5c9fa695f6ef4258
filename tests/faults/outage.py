"""How long clients got no replies after a fault."""

from __future__ import annotations

from itertools import pairwise

from tests.faults.history import Call, History

WINDOW = 30.0  # seconds after a fault
MAX_OUTAGE = 5.0  # seconds


def longest_gap(history: History, at: float) -> tuple[float, float]:
    """Return the longest time between two replies; the first may have come just before the fault."""
    ends = sorted(call.end for call in _answered_calls(history) if call.end < at + WINDOW)
    gaps = ((before, after) for before, after in pairwise(ends) if after > at)
    return max(gaps, key=lambda gap: gap[1] - gap[0], default=(at, at))


def recovery_time(history: History, at: float) -> float:
    """Return the seconds until each active person had a reply again."""
    first_ends: dict[str, float] = {}
    for call in _answered_calls(history):
        if at < call.start and call.person:
            first_ends[call.person] = min(call.end, first_ends.get(call.person, call.end))
    return max(first_ends.values(), default=at) - at


def _answered_calls(history: History) -> list[Call]:
    return [call for call in list(history.calls) if call.outcome != "unknown"]

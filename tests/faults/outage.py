"""For how long nobody was answered while something went wrong."""

from __future__ import annotations

from itertools import pairwise

from tests.faults.history import Call, History

WITHIN = 30.0  # seconds after a fault
MOST = 5.0  # seconds


def gap(history: History, at: float) -> tuple[float, float]:
    """The longest time between two answers, the first of which may have come just ahead of the fault."""
    answered = sorted(call.end for call in _answered(history) if call.end < at + WITHIN)
    gaps = ((before, after) for before, after in pairwise(answered) if after > at)
    return max(gaps, key=lambda gap: gap[1] - gap[0], default=(at, at))


def last_to_go_on(history: History, at: float) -> float:
    """Until each of those who were at work was answered again."""
    first: dict[str, float] = {}
    for call in _answered(history):
        if at < call.start and call.person:
            first[call.person] = min(call.end, first.get(call.person, call.end))
    return max(first.values(), default=at) - at


def _answered(history: History) -> list[Call]:
    return [call for call in list(history.calls) if call.outcome != "unknown"]

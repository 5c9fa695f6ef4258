"""Decides whether a history is linearizable: Wing and Gong's search, with Lowe's memory of states already
tried.

Wing, Gong: Testing and Verifying Concurrent Objects (1993). Lowe: Testing for Linearizability (2017). A
history is linearizable if its calls can be put in an order in which each takes effect at one moment between
its start and its end, and each reply is what a sequential object would have replied. A call without a reply
may take effect at any moment after its start, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

Op = TypeVar("Op")
State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span(Generic[Op]):
    """A call on an object: the time span in which it may have taken effect. ``end`` is inf for a call without
    a reply, which need not have taken effect at all."""

    op: Op
    start: float
    end: float


def linearization(
    spans: Sequence[Span[Op]], initial_state: State, step: Callable[[State, Op], Iterable[State]]
) -> list[Op] | None:
    """Return an order that explains every reply, or None. ``step`` yields the states that may follow; none if
    the reply is impossible in this state."""
    by_start = sorted(spans, key=lambda span: span.start)
    required_mask = sum(1 << n for n, span in enumerate(by_start) if span.end != inf)
    visited: set[tuple[int, State]] = set()
    stack: list[tuple[int, State, tuple[int, ...]]] = [(0, initial_state, ())]
    while stack:
        mask, state, order = stack.pop()
        if mask & required_mask == required_mask:
            return [by_start[n].op for n in order]
        if (mask, state) in visited:
            continue
        visited.add((mask, state))
        open_numbers = [n for n in range(len(by_start)) if not mask >> n & 1]
        first_end = min(by_start[n].end for n in open_numbers)  # later calls can't be the next
        for n in reversed([n for n in open_numbers if by_start[n].start <= first_end]):
            stack.extend(
                (mask | 1 << n, next_state, (*order, n)) for next_state in step(state, by_start[n].op)
            )
    return None

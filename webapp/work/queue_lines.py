"""What each queue has for the person: for the home page, and for the page without an item."""

from __future__ import annotations

from dataclasses import dataclass

import leaseq
from leaseq.webapp.context import person, queue_names, state
from leaseq.webapp.store.day_figures import DayFigures

MAX_NAMED = 3
MAX_ASKED = 30
"""Other queues named on the page without an item, and queues queried to find them."""


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A queue and what it has for this person."""

    name: str
    title: str
    stats: leaseq.Stats
    why: leaseq.WhyNothing | None  # None: nothing waits, and the queue is not paused
    held: int  # by this person
    today: DayFigures  # this person's

    @property
    def has_item(self) -> bool:
        """Whether there is work for this person now."""
        return self.why is not None and self.why.reason is None


def line_of(queue: leaseq.Queue, today: DayFigures) -> QueueLine:
    caller, stats = person(), queue.stats()
    explanation = (
        queue.why_nothing(caller.name, caller.skills) if stats.inbound or stats.paused is not None else None
    )
    return QueueLine(queue.name, title_of(queue), stats, explanation, len(queue.mine(caller.name)), today)


def title_of(queue: leaseq.Queue) -> str:
    return queue.policy.title or queue.name


def waiting_elsewhere(queue: str) -> list[QueueLine]:
    """Some other queues with items for this person. At most MAX_ASKED queues are queried."""
    result: list[QueueLine] = []
    for name in [one for one in queue_names() if one != queue][:MAX_ASKED]:
        lines, _errors = leaseq.read_queues(
            state().client, lambda other: line_of(other, DayFigures()), [name]
        )
        result += [line for line in lines.values() if line.has_item or line.held]
        if len(result) == MAX_NAMED:
            break
    return result

"""The events of a queue's journal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from leaseq.models import Json

EventKind = Literal[
    "created",
    "configured",
    "paused",
    "resumed",
    "alert.raised",
    "alert.resolved",
    "enqueued",
    "due",
    "assigned",
    "changed",
    "reserved",
    "renewed",
    "finished",
    "undone",
    "late",
    "adopted",
    "reopened",
    "corrected",
    "abandoned",
    "failed",
    "expired",
    "released",
    "died",
    "revived",
    "removed",
    "restored",
    "forgotten",
]
"""The kinds of journal events: the first six are about the queue itself, the others about an item."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the journal: a change of one item, or of the queue itself."""

    cursor: str  # passed as ``after``, the page begins behind this event
    at: datetime
    what: EventKind
    id: str | None  # of the item; None: about the queue itself
    person: str | None  # the person whose lease it is about, or the manager who did it
    token: int | None  # of the lease
    detail: Json  # a text or None; of an alert a dict of ``alert``, ``limit`` and ``value``


class EventRow(NamedTuple):
    """An event as `Queue.event_rows` gives it, for programs that store many of them."""

    position: int  # the time of its journal entry, in microseconds since the epoch
    number: int  # among the events of the entry, from 0
    what: EventKind
    id: str | None  # as in `Event`
    person: str | None  # as in `Event`
    token: int | None  # as in `Event`
    detail: str | None  # as JSON

    @property
    def cursor(self) -> str:
        """As `Event.cursor`."""
        return f"{self.position}.{self.number}"


@dataclass(frozen=True, slots=True)
class History:
    """The journal's events of one item, the oldest first."""

    events: tuple[Event, ...]
    whole: bool  # False: the journal was too long to be read to its end

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
    "stopped",
    "let-work",
    "enqueued",
    "due",
    "assigned",
    "unassigned",
    "changed",
    "closed",
    "reserved",
    "renewed",
    "finished",
    "undone",
    "late",
    "adopted",
    "reopened",
    "corrected",
    "decided",
    "abandoned",
    "failed",
    "expired",
    "released",
    "died",
    "cancelled",
    "lapsed",
    "revived",
    "removed",
    "restored",
    "forgotten",
]
"""The kinds of journal events: the first eight are about the queue or a person, the others about an item."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the journal: a change of one item, or of the queue itself."""

    cursor: str  # passed as ``after``, the page begins after this event
    at: datetime
    what: EventKind
    id: str | None  # the item's id; None: the event is about the queue itself
    person: str | None  # the person whose lease it is about, or the manager who did it
    token: int | None  # the lease's token
    detail: Json  # mostly text or None; for alerts, a dict with ``alert``, ``limit`` and ``value``


class EventRow(NamedTuple):
    """An event as `Queue.event_rows` returns it, for programs that store many of them."""

    position: int  # the time of its journal entry, in microseconds since the epoch
    number: int  # the event's place in that entry, from 0
    what: EventKind
    id: str | None  # as in `Event`
    person: str | None  # as in `Event`
    token: int | None  # as in `Event`
    detail: str | None  # as in `Event`, but as JSON text

    @property
    def cursor(self) -> str:
        """The same as `Event.cursor`."""
        return f"{self.position}.{self.number}"


@dataclass(frozen=True, slots=True)
class History:
    """The journal's events about one item, oldest first."""

    events: tuple[Event, ...]
    whole: bool  # False: the journal was too long to be read to its end

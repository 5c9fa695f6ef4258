"""The library's data types: frozen, typed, free of I/O.

Times are aware ``datetime`` in UTC, durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, get_args

Json: TypeAlias = Any
"""Any JSON value: a dict with string keys, a list, a string, a number, a bool or None."""

LeaseKey: TypeAlias = tuple[str, int, str]
"""Id, token and person of a lease: what its holder shows."""

State = Literal["inbound", "reserved", "scheduled", "finished", "dead"]
"""The states of an item, or of one of its assignments."""

STATES: tuple[State, ...] = get_args(State)

Ending = Literal[
    "held",
    "expired",
    "abandoned",
    "failed",
    "released",
    "finished",
    "undone",
    "reopened",
    "corrected",
]
"""How a grant ended; ``held`` while it hasn't. The last two: with an answer that a manager took back, or
replaced."""

ListName = Literal[State, "due"]
"""A list of items: those in one state, or those with a due date that are neither finished nor dead."""

LeaseOutcome = Literal[Ending, "assigned"]
"""The outcome of a person's lease that a search matches, or that the item is assigned to them."""

NothingReason = Literal["empty", "held", "not-eligible", "paused"]
"""Why a reserve would get nothing."""

AlertName = Literal["waiting", "oldest", "dead", "idle", "bridge", "webhooks"]
"""What an alert is about: the measures of the policy field ``alerts``, which docs/policy.md explains."""

CounterName = Literal[
    "enqueued",
    "reserved",
    "finished",
    "late",
    "abandoned",
    "expired",
    "failed",
    "died",
    "revived",
    "released",
    "assigned",
    "deduped",
    "undone",
    "reopened",
    "corrected",
    "forgotten",
]
"""The counters in ``Stats.counters``, since the queue was created."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """One item to enqueue; every field but the payload has a default."""

    payload: Json
    id: str | None = None  # None: one is made, or derived from the request id
    priority: int = 100  # by the policy's bands high, normal or low; a higher band is reserved first
    delay: float = 0  # seconds before it may be reserved
    requires: tuple[str, ...] = ()  # skills that a person needs
    due: datetime | None = None  # shown and searched for; it does not change the order
    max_attempts: int | None = None  # None: the policy's
    at: datetime | None = None  # when it may be reserved, instead of a delay; a past time: at once


class ItemChanges(TypedDict, total=False):
    """The keyword arguments of ``change``: what is left out stays as it is."""

    priority: int  # by the policy's bands high, normal or low; a higher band is reserved first
    due: datetime | None  # None: no due date
    requires: Sequence[str]  # skills that a person needs
    payload: Json
    delay: float  # seconds from now until it may be reserved; 0: at once


@dataclass(frozen=True, slots=True)
class Enqueued:
    id: str  # of the item, or of the earlier one with an equal payload (dedupe_seconds)
    added: bool  # False: the queue has an item of this id or an equal payload, and nothing changed


@dataclass(frozen=True, slots=True)
class EnqueuedMany:
    added: int
    duplicates: int  # items whose id or equal payload was there already: nothing changed


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item that was not added: the queue has an item of its id with another payload."""

    place: int  # among the items given, from 0
    id: str


@dataclass(frozen=True, slots=True)
class Lease:
    """One grant of one item to one person."""

    queue: str
    id: str
    token: int  # unique in the queue; later leases have higher ones
    payload: Json
    attempt: int  # number of this grant among the item's grants, from 1
    reserved_at: datetime
    expires_at: datetime
    lease_seconds: float  # how long it is granted for, and renewed for
    draft: Json  # what `save_draft` kept, or None
    person: str


@dataclass(frozen=True, slots=True)
class Finished:
    id: str
    late: bool  # the lease had expired, and the item was not reserved again
    replayed: bool  # a repeated call: the item was finished by this request before
    next: Lease | None = None  # with then_reserve: the next item, if there was one
    held_seconds: float = field(default=0, compare=False)  # from the grant to the finish
    finished_at: datetime | None = field(default=None, compare=False)  # also when a new next item was given


@dataclass(frozen=True, slots=True)
class Abandoned:
    id: str
    next: Lease | None = None  # with then_reserve: the next item, if there was one


@dataclass(frozen=True, slots=True)
class Failed:
    id: str
    retry_at: datetime | None  # None: the item is dead
    next: Lease | None = None  # with then_reserve: the next item, if there was one


@dataclass(frozen=True, slots=True)
class Cleared:
    returned: int  # items whose lease expired, inbound again
    released: int  # scheduled items that came due
    died: int  # items whose lease expired and that used up their attempts
    more: bool  # the limit was reached and there is more to do
    forgotten: int = 0  # finished and dead items that the policy keeps no longer, deleted


@dataclass(frozen=True, slots=True)
class Grant:
    """One lease of an item, past or present, as the item's record keeps it."""

    token: int
    person: str
    attempt: int  # its number among the item's grants, from 1
    reserved_at: datetime
    how: Ending  # how it ended; held: it has not
    ended_at: datetime | None = None
    expires_at: datetime | None = None  # of a held one
    renewals: int = 0
    reason: str | None = None  # of an abandon, a fail or a reopen


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished piece of work; one line of an export."""

    id: str
    payload: Json
    result: Json
    person: str
    token: int  # of the lease
    attempt: int  # number of the lease among the item's grants, from 1; a correction keeps it
    finished_at: datetime
    late: bool  # given after the lease had expired; also true of late_answers and of adopted ones


class GivenAnswer(NamedTuple):
    """An answer as `Queue.outcomes` gives it."""

    token: int  # of the lease
    person: str
    result: str  # as JSON
    finished_at: datetime
    late: bool  # as in `Answer`
    stands: bool  # False: it is a late answer, which doesn't count unless a manager adopts it


class Outcome(NamedTuple):
    """What became of an item, and what `Queue.enqueue` was given for it."""

    id: str
    state: State
    payload: str  # as JSON
    priority: int
    requires: str  # the skills, with commas between
    due: datetime | None
    answers: tuple[GivenAnswer, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A work item and all that is known about it."""

    id: str
    state: State
    payload: Json
    priority: int
    requires: tuple[str, ...]  # skills that a person needs
    due: datetime | None
    attempts: int  # grants so far
    failures: int  # expiries and fails so far
    max_attempts: int  # failures after which it is dead
    enqueued_at: datetime
    state_since: datetime  # since when; reserved: when the lease expires; scheduled: when it may be reserved
    leases: tuple[Grant, ...]  # those held now
    answers: tuple[Answer, ...]  # those that count
    late_answers: tuple[Answer, ...]  # those that do not: too late, reopened or corrected
    history: tuple[Grant, ...]  # every grant kept, oldest first, the latest included
    last_error: str | None  # the last fail's text
    assigned_to: tuple[str, ...]  # the people to whom it, or one of its assignments, is assigned
    assignment: int  # in a list of a queue with several answers: which of its assignments; else 1
    cursor: str  # passed as ``after``, the page begins behind this item


@dataclass(frozen=True, slots=True)
class Filter:
    """The criteria of a search, all of which must match. ``person``, ``outcome`` and ``text`` must match
    in one and the same lease of the item."""

    id: str = ""  # the id begins with this
    person: str | None = None  # a person who had a lease of it
    outcome: LeaseOutcome | None = None  # how that lease ended; assigned: the item is assigned to the person
    text: str | None = None  # part of the reason or error of that lease; the case of a to z is ignored
    skill: str | None = None  # a skill that it requires
    given_back_by: int | None = None  # at least so many people gave it back
    since: datetime | None = None  # on state_since (in the list by due date, on the date): from then on
    until: datetime | None = None  # and before this one


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list of items. ``after`` is the cursor of the next page; None on the last one."""

    items: tuple[Item, ...]
    after: str | None
    scanned: int = field(default=0, compare=False)  # entries of the list that were looked at for them


@dataclass(frozen=True, slots=True)
class Alert:
    """A raised alert of a queue: a measure that was above the limit of the policy's rule."""

    name: AlertName  # what it is about
    limit: int  # items or seconds, as the rule has it
    value: int  # of the measure when the alert was raised
    since: datetime  # when it was raised


@dataclass(frozen=True, slots=True)
class Stats:
    inbound: int
    reserved: int
    scheduled: int
    finished: int
    dead: int
    oldest_inbound_seconds: float | None  # None: nothing waits
    waiting: int  # calls that wait for an item
    overdue: int  # neither finished nor dead, and past their due date
    paused: str | None  # the reason ("" when none was given); None: not paused
    counters: Mapping[CounterName, int] = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()  # that are raised now


@dataclass(frozen=True, slots=True)
class Ineligibility:
    """Why a person is not eligible for the waiting items."""

    lacking: tuple[tuple[str, ...], ...]  # what is missing of each set of skills required; fewest first
    assigned: bool  # some waiting items are assigned to other people
    passed: bool  # some they answered, gave back with `again=False`, or hold another assignment of


@dataclass(frozen=True, slots=True)
class WhyNothing:
    """Why a reserve would get nothing; ``reason`` is None where it would get something."""

    reason: NothingReason | None
    free_at: datetime | None = None  # when the first held or scheduled item may come free
    detail: str | None = None  # the reason given for a pause
    ineligibility: Ineligibility | None = field(default=None, compare=False)  # with not-eligible: why

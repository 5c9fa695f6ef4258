"""The values that the library returns: items, leases, figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypedDict, get_args

Json: TypeAlias = Any
"""Any JSON value: a dict with string keys, a list, a string, a number, a bool or None."""

LeaseKey: TypeAlias = tuple[str, int, str]
"""The id, token and person of a lease, with which its holder identifies it."""

State = Literal["inbound", "reserved", "scheduled", "finished", "dead"]
"""The states of an item, or of one of its assignments."""

STATES: tuple[State, ...] = get_args(State)

Ending = Literal[
    "held", "expired", "abandoned", "failed", "released", "finished", "undone", "reopened", "corrected"
]
"""How a grant ended; ``held`` if it hasn't. ``reopened``, ``corrected``: a manager took back or replaced its
answer."""

DiedOf = Literal["failed", "cancelled", "expired"]
"""Why an item is dead: its attempts were used up or somebody reported that it can't be done; somebody
cancelled it; nobody answered it in time."""

ListName = Literal[State, "due"]
"""A list of items: those in one state, or those with a due date that are neither finished nor dead."""

LeaseOutcome = Literal[Ending, "assigned"]
"""The outcome of a lease, as a search criterion; ``assigned``: the item is assigned to the person."""

NothingReason = Literal["empty", "held", "not-eligible", "paused", "stopped"]
"""Why a reserve would return nothing."""

AlertName = Literal["waiting", "oldest", "question", "dead", "idle", "unreachable", "bridge", "webhooks"]
"""What an alert measures: see the policy field ``alerts`` in docs/policy.md."""

CounterName = Literal[
    "enqueued",
    "reserved",
    "finished",
    "late",
    "abandoned",
    "expired",
    "failed",
    "died",
    "cancelled",
    "lapsed",
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


class QuestionOptions(TypedDict, total=False):
    """The keyword arguments of ``ask`` that are fields of `NewItem`."""

    form: Json
    requires: Collection[str]
    to: str | None
    priority: int


class ItemOptions(TypedDict, total=False):
    """The keyword arguments of ``enqueue`` that are fields of `NewItem`."""

    form: Json
    requires: Collection[str]
    to: str | None
    priority: int
    delay: float
    due: datetime | None
    max_attempts: int | None
    at: datetime | None
    expires: float | datetime | None


@dataclass(frozen=True, slots=True)
class NewItem:
    """One item to enqueue; every field but the payload has a default."""

    payload: Json
    id: str | None = None  # None: generated, or derived from the request id
    priority: int = 100  # high, normal or low by the policy's bands; a higher band is reserved first
    delay: float = 0  # seconds before it may be reserved
    requires: Collection[str] = ()  # skills that a person needs
    due: datetime | None = None  # shown, and can be searched for; doesn't affect the order
    max_attempts: int | None = None  # None: the policy's
    at: datetime | None = None  # when it may be reserved, instead of ``delay``; a past time: immediately
    form: Json = None  # asked instead of the queue's form
    expires: float | datetime | None = None  # seconds from now, or when: nobody needs its answer after that
    to: str | None = None  # the only person who may reserve it, until they give it back


class ItemChanges(TypedDict, total=False):
    """The keyword arguments of ``change``; a field that is left out stays as it is."""

    priority: int  # high, normal or low by the policy's bands; a higher band is reserved first
    due: datetime | None  # None: no due date
    requires: Collection[str]  # skills that a person needs
    payload: Json
    delay: float  # seconds from now until it may be reserved; 0: immediately
    answers: int  # how many answers it needs; allowed in any state if it is the only change


@dataclass(frozen=True, slots=True)
class Enqueued:
    id: str  # the item's id, or that of an earlier one with an equal payload (dedupe_seconds)
    added: bool  # False: the queue has an item with this id or an equal payload, and nothing changed


@dataclass(frozen=True, slots=True)
class EnqueuedMany:
    added: int
    duplicates: int  # items that the queue already had, by id, or by payload (dedupe_seconds); not added
    conflicts: int = 0  # items whose id the queue has with another payload; not added


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item that was not added: the queue has an item with its id and another payload."""

    place: int  # its place among the given items, from 0
    id: str


@dataclass(frozen=True, slots=True)
class Lease:
    """One grant of one item to one person."""

    queue: str
    id: str
    token: int  # unique in the queue; later leases have higher tokens
    payload: Json
    attempt: int  # number of this grant among the item's grants, from 1
    reserved_at: datetime
    expires_at: datetime
    lease_seconds: float  # for how long it is granted, and renewed
    draft: Json  # the saved draft of the answer, or None
    person: str
    form: Json = field(default=None, compare=False)
    """The form that counts: the item's own, else the queue's as it was up to two seconds ago; None: one text
    box."""
    has_own_form: bool = False
    asked_by: str | None = None  # as `Item.asked_by`
    needed_until: datetime | None = None  # as `Item.expires`


@dataclass(frozen=True, slots=True)
class Finished:
    id: str
    late: bool  # the lease had expired, but nobody else had been granted the item
    replayed: bool  # a repeated call: an earlier one had already finished the item
    next: Lease | None = None  # with then_reserve: the next item, if there was one
    held_seconds: float = field(default=0, compare=False)  # time from the grant to the finish
    finished_at: datetime | None = field(default=None, compare=False)  # also the reserved_at of a new `next`


@dataclass(frozen=True, slots=True)
class Abandoned:
    id: str
    next: Lease | None = None  # with then_reserve: the next item, if there was one


@dataclass(frozen=True, slots=True)
class Failed:
    id: str
    retry_at: datetime | None  # None: the item is dead, or needs no more answers
    next: Lease | None = None  # with then_reserve: the next item, if there was one


@dataclass(frozen=True, slots=True)
class Cleared:
    returned: int  # items whose lease expired; they are inbound again
    released: int  # scheduled items that became due
    died: int  # items that are dead: no attempts were left, or nobody needs them any more
    more: bool  # the limit was reached and there is more to do
    forgotten: int = 0  # finished and dead items deleted because the policy no longer keeps them


@dataclass(frozen=True, slots=True)
class Grant:
    """One lease of an item, past or present, as recorded in the item."""

    token: int
    person: str
    attempt: int  # its number among the item's grants, from 1; an undo continues the attempt
    reserved_at: datetime
    how: Ending  # how it ended; held: it hasn't
    ended_at: datetime | None = None
    expires_at: datetime | None = None  # only for held leases
    renewals: int = 0
    reason: str | None = None  # only for an abandon or a fail, also an undone one, or a reopen
    undone: Literal["finished", "abandoned", "failed"] | None = None  # only for undone: what the person undid
    renewable: bool = (
        False  # expired, but its person may renew it, within the policy's limits; False in lists
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished piece of work; one line of an export."""

    id: str
    payload: Json
    result: Json
    person: str
    token: int  # the lease's token
    attempt: int  # number of the lease among the item's grants, from 1; a correction keeps it
    finished_at: datetime
    late: bool  # given after the lease had expired; also true for late_answers and adopted answers
    reserved_at: datetime | None = None  # None if nothing recorded it, as for a manager's correction
    changed: tuple[str, ...] = ()
    """The questions that the queue's form prefills from the payload, and that were answered otherwise."""

    @property
    def seconds(self) -> float | None:
        """The time from ``reserved_at`` to ``finished_at`` in seconds; None if that is not known."""
        if self.reserved_at is None:
            return None
        return round((self.finished_at - self.reserved_at).total_seconds(), 3)


How = Literal["single", "undecided", "default"]
"""What settled a question: one answer; several answers, of which nothing has decided yet; the default of the
program that asked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a question: see `Queue.ask`."""

    id: str
    result: Json  # of the first answer, or the default
    answers: tuple[Answer, ...]  # all answers that count, in the order in which they were given
    how: How
    late: bool = False  # the first answer was given after the question's deadline


class GivenAnswer(NamedTuple):
    """An answer as `Queue.outcomes` returns it."""

    token: int  # the lease's token
    person: str
    result: Json
    finished_at: datetime
    late: bool  # as in `Answer`
    stands: bool  # False: a late answer, which counts only if a manager adopts it


class Outcome(NamedTuple):
    """The state and the answers of an item, with all else that `Queue.restore` takes."""

    id: str
    state: State
    payload: Json
    priority: int
    requires: tuple[str, ...]  # skills that a person needs
    due: datetime | None
    answers: tuple[GivenAnswer, ...]
    failures: int = 0  # expiries and fails so far
    max_attempts: int | None = None  # failures after which it is dead; None: the policy's
    answers_needed: int | None = None  # how many answers it needs; None: the policy's
    assigned_to: tuple[str, ...] = ()  # the people to whom it or one of its assignments is assigned
    at: datetime | None = None  # when it may be reserved, if it is scheduled
    form: Json = None  # its own form
    expires: datetime | None = None  # nobody needs its answer after that
    died_of: DiedOf | None = None  # only for a dead item
    reason: str | None = None  # only for a cancelled item: why
    asked_by: str | None = None  # somebody asked it as a question: their name, or ""
    decision: StoredDecision | None = None  # what settled it, if that was recorded


class GivenAnswerRow(NamedTuple):
    """An answer as `Queue.outcome_rows` returns it, for programs that store the exact text of the result."""

    token: int  # the lease's token
    person: str
    result: str  # as JSON text
    finished_at: datetime
    late: bool  # as in `Answer`
    stands: bool  # as in `GivenAnswer`


class StoredDecision(NamedTuple):
    """What settled an item that has the answers which it is about: see `Decision`."""

    result: Json  # in an `OutcomeRow`, as JSON text
    how: str
    agreement: float | None
    by: str | None
    at: datetime


class OutcomeRow(NamedTuple):
    """An `Outcome` as `Queue.outcome_rows` returns it, for programs that store many of them."""

    id: str
    state: State
    payload: str  # as JSON text
    priority: int
    requires: str  # the skills, separated by commas
    due: datetime | None
    answers: tuple[GivenAnswerRow, ...]
    failures: int = 0  # expiries and fails so far
    max_attempts: int | None = None  # failures after which it is dead; None: the policy's
    answers_needed: int | None = None  # how many answers it needs; None: the policy's
    assigned_to: tuple[str, ...] = ()  # the people to whom it or one of its assignments is assigned
    at: datetime | None = None  # when it may be reserved, if it is scheduled
    form: str | None = None  # its own form, as JSON text
    expires: datetime | None = None  # nobody needs its answer after that
    died_of: DiedOf | None = None  # only for a dead item
    reason: str | None = None  # only for a cancelled item: why
    asked_by: str | None = None  # somebody asked it as a question: their name, or ""
    decision: StoredDecision | None = None  # what settled it, if that was recorded


@dataclass(frozen=True, slots=True)
class Item:
    """A work item and everything that is known about it."""

    id: str
    state: State
    payload: Json
    priority: int
    requires: tuple[str, ...]  # skills that a person needs
    due: datetime | None
    attempts: int  # grants so far, without those of an undo
    failures: int  # expiries and fails so far
    max_attempts: int  # failures after which it is dead
    enqueued_at: datetime
    state_since: datetime  # when the state began; reserved: lease expiry; scheduled: when it may be reserved
    answers_needed: int  # how many answers it needs: the policy's number, or its own
    leases: tuple[Grant, ...]  # the leases held now
    answers: tuple[Answer, ...]  # the answers that count
    late_answers: tuple[Answer, ...]  # answers that don't count: too late, reopened or corrected
    history: tuple[Grant, ...]  # the recorded grants, oldest first, including those held now
    last_error: str | None  # the error text of the last fail; without one, why a dead item died
    assigned_to: tuple[str, ...]  # the people to whom it or one of its assignments is assigned
    assignment: int  # in lists of a queue with several answers: the number of this assignment; else 1
    cursor: str  # passed as ``after``, the page begins after this item
    form: Json = None  # its own form, asked instead of the queue's
    expires: datetime | None = None  # nobody needs its answer after that: it is dead unless somebody holds it
    died_of: DiedOf | None = None  # only for a dead item
    asked_by: str | None = None  # somebody asked it as a question: their name, or ""


@dataclass(frozen=True, slots=True)
class Filter:
    """The criteria of a search, all of which must match. ``person``, ``outcome`` and ``text`` must match
    the same lease of the item."""

    id: str = ""  # the id begins with this
    person: str | None = None  # a person who had a lease of it
    outcome: LeaseOutcome | None = None  # how that lease ended; assigned: the item is assigned to the person
    text: str | None = None  # part of the reason or error of that lease; the case of a to z is ignored
    skill: str | None = None  # a skill that it requires
    given_back_by: int | None = None  # at least this many people gave it back
    answers_above: int | None = None  # it isn't finished, and needs more answers than this
    since: datetime | None = None  # state_since (in the list by due date: due) is at or after this time
    until: datetime | None = None  # state_since (or due) is before this time


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list of items. ``after`` is the cursor of the next page; None on the last page."""

    items: tuple[Item, ...]
    after: str | None
    scanned: int = field(default=0, compare=False)  # entries of the list that were read for this page


@dataclass(frozen=True, slots=True)
class Alert:
    """A raised alert of a queue: a measure exceeded the limit of a rule of the policy."""

    name: AlertName  # the measure
    limit: int  # the rule's limit, in items or seconds
    value: int  # the measured value when the alert was raised
    since: datetime  # when it was raised


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """The waiting items that the same people may have: those with these skills, or one person."""

    requires: tuple[str, ...]  # the skills, all of which a person needs; empty: none, or `person` is set
    person: str | None  # the only person who may have them
    waiting: int  # how many wait; with several answers, each assignment counts


@dataclass(frozen=True, slots=True)
class Stats:
    inbound: int
    reserved: int
    scheduled: int
    finished: int
    dead: int
    oldest_inbound_seconds: float | None  # how long the oldest inbound item has waited; None: there is none
    waiting: int  # calls that wait for an item
    overdue: int  # items past their due date that are neither finished nor dead
    paused: str | None  # the reason for the pause ("" if none was given); None: not paused
    counters: Mapping[CounterName, int] = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()  # the alerts that are raised now
    unreachable: int | None = None  # waiting items that nobody may have; None: not measured lately
    questions: int = 0  # open ones: somebody asked, the answer is still needed, and nobody has answered
    answer_seconds: float | None = None  # the median, of the latest 100 questions that got one; None: none


@dataclass(frozen=True, slots=True)
class Ineligibility:
    """The reasons why a person is not eligible for the waiting items."""

    lacking: tuple[tuple[str, ...], ...]  # the missing skills, for each required set of skills; fewest first
    assigned: bool  # some waiting items are assigned to other people
    passed: bool  # they answered some, gave some back with `again=False`, or hold another assignment of some


@dataclass(frozen=True, slots=True)
class WhyNothing:
    """The reason why a reserve would return nothing; ``reason`` is None if it would return a lease."""

    reason: NothingReason | None
    free_at: datetime | None = None  # when the first held or scheduled item may become available
    detail: str | None = None  # the reason given for a pause, or for stopping the person
    ineligibility: Ineligibility | None = field(default=None, compare=False)  # only for not-eligible: why


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person who gets no item of a queue until a manager lets them work again."""

    person: str
    reason: str | None
    by: str | None  # who stopped them
    at: datetime


Relation: TypeAlias = Literal["answered", "barred", "put-off"]
"""How an item relates to a person: they gave an answer that counts, never get it again, or get it only if
nothing else waits for them."""

SIGNS: Final[dict[str, Relation]] = {"=": "answered", "-": "barred", "~": "put-off"}


@dataclass(frozen=True, slots=True)
class PersonItem:
    """The data of one person in an item. ``grants``: their past and present leases of it, oldest first."""

    id: str
    state: State
    grants: tuple[Grant, ...]
    answers: tuple[Answer, ...]  # their answers that count
    late_answers: tuple[Answer, ...]  # their answers that don't count
    relation: Relation | None  # barred: they never get it again; put-off: only if nothing else waits for them
    assigned: bool  # it was assigned to them at some time
    has_draft: bool  # whether they have a draft of an answer
    draft: Json  # that draft, or None


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of `Queue.erase_person`."""

    items: int  # items that named the person
    leases: int  # leases of the person that it ended

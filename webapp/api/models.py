"""The shapes that REST takes and gives: the docs are made from these models, and bodies checked."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from leaseq import strict
from webapp.accounts import Role
from webapp.waits import LONGEST

State = Literal["inbound", "reserved", "scheduled", "finished", "dead"]
Reason = Literal["empty", "held", "not-eligible", "paused"]
MAX_TOKEN = 2**53  # the largest whole number that every JSON reader keeps exactly

# What the library checks, for the description only: its own words are better than the models'.
SKILL = {"type": "string", "pattern": "^[a-z0-9._-]{1,64}$"}
SKILLS: dict[str, Any] = {"items": SKILL, "maxItems": strict.MAX_SKILLS}
PRIORITY: dict[str, Any] = {"minimum": 0, "maximum": strict.MAX_PRIORITY}
BANDS: dict[str, Any] = {"items": {"type": "integer", **PRIORITY}, "minItems": 2, "maxItems": 2}
TEXT: dict[str, Any] = {"maxLength": strict.MAX_TEXT}
ID: dict[str, Any] = {"minLength": 1, "maxLength": strict.MAX_ID}
PERSON: dict[str, Any] = {"minLength": 1, "maxLength": strict.MAX_PERSON}
CURSOR: dict[str, Any] = {"minLength": 1}


def _within(least: float, most: float) -> dict[str, Any]:
    return {"minimum": least, "maximum": most}


TIME: dict[str, Any] = {"examples": ["2026-11-21T10:05:00.123Z"]}


class ProblemModel(BaseModel):
    """Any error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str = Field(description="Stable: decide by it")
    detail: str = Field(description="For a person to read")


class Body(BaseModel):
    """A request's body: exact types, and no field that isn't known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class QueuePath(BaseModel):
    q: str = Field(description="The queue's name", json_schema_extra={"pattern": "^[a-z0-9._-]{1,64}$"})


class ItemPath(QueuePath):
    id: str = Field(
        description="The item's id: printable, not . or ..",
        json_schema_extra={"minLength": 1, "maxLength": 200},
    )


class PersonPath(BaseModel):
    name: str = Field(
        description="The person's name: printable, not . or ..",
        json_schema_extra={"minLength": 1, "maxLength": 64},
    )


class Nothing(Body):
    """No fields: {} or no body at all."""


class ReserveBody(Body):
    wait: float = Field(
        0,
        description="Seconds to wait for an item where there is none now",
        json_schema_extra=_within(0, LONGEST),
    )


class Held(Body):
    token: int = Field(ge=1, le=MAX_TOKEN, description="The lease's token")


class FinishBody(Held):
    result: Any = Field(description="The answer: it must fit the queue's form")
    then_reserve: bool = Field(False, description="Also reserve the next item")


class AbandonBody(Held):
    reason: str | None = Field(None, description="Why, for the manager", json_schema_extra=TEXT)
    again: bool = Field(
        True, description="true: later, when nothing else waits for me; false: never to me again"
    )


class FailBody(Held):
    error: str = Field(description="What is wrong with the item", json_schema_extra=TEXT)


class DraftBody(Held):
    draft: Any = Field(description="What there is so far, in any shape")


class ReviveBody(Body):
    """Which of the dead: all of them where nothing is named."""

    error: str | None = Field(
        None, description="Those whose last error contains this", json_schema_extra=TEXT
    )
    person: str | None = Field(None, description="Those that this person had last", json_schema_extra=PERSON)


class AssignBody(Body):
    person: str = Field(
        description="Who alone may reserve it: the name of an account", json_schema_extra=PERSON
    )


class PauseBody(Body):
    reason: str | None = Field(None, description="Shown to people who find nothing", json_schema_extra=TEXT)


class PolicyBody(Body):
    """Policy fields; those left out keep their value."""

    lease_seconds: float = Field(
        300, description="How long a person may hold an item", json_schema_extra=_within(0.1, 604_800)
    )
    max_attempts: int = Field(
        3, description="Expiries and fails until an item is dead", json_schema_extra=_within(1, 1_000)
    )
    retry_seconds: float = Field(
        2,
        description="The wait after the first fail; doubled for each one after it",
        json_schema_extra=_within(0, 604_800),
    )
    retry_max_seconds: float = Field(
        3600, description="The longest such wait", json_schema_extra=_within(0, 604_800)
    )
    holds: int = Field(
        1, description="Leases that one person may have at once", json_schema_extra=_within(1, 100)
    )
    bands: list[int] = Field(
        [50, 150],
        description="Priorities up to the first are high, past the second low",
        json_schema_extra=BANDS,
    )
    renewals: int | None = Field(
        None,
        description="How often one lease may be renewed; null: no limit",
        json_schema_extra=_within(0, 1_000_000),
    )
    share_drafts: bool = Field(False, description="Show a draft to the next person")
    answers: int = Field(1, description="How many people are to answer each item, 1 to 100")
    max_abandons: int | None = Field(
        None, description="When that many people gave an item back, it is dead; null: no limit"
    )
    dedupe_seconds: float = Field(
        0, description="An equal payload within this time is a duplicate, whatever its id"
    )
    keep_finished_seconds: float | None = Field(
        None, description="How long a finished item is kept; null: for good"
    )
    durable: Literal["server", "fsync", "replica"] = Field(
        "server", description="What an acknowledgement waits for: the server, its disk, or a replica"
    )
    form: Any = Field(None, description="How to show a payload and what to ask: {show, ask, keys}")
    title: str = Field("", description="What pages call the queue", json_schema_extra={"maxLength": 200})
    instructions: str = Field("", description="Markdown", json_schema_extra={"maxLength": 65_536})


class PersonBody(Body):
    role: Role | None = Field(None, description="What they may do")
    skills: list[str] | None = Field(None, description="What they can do", json_schema_extra=SKILLS)
    disabled: bool | None = Field(None, description="Whether they are shut out")


class ItemsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: State = Field(description="Which of the five states")
    after: str | None = Field(
        None, description="The cursor that the page before gave", json_schema_extra=CURSOR
    )
    limit: int = Field(100, ge=1, le=1_000)


class DueQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(
        None, description="The cursor that the page before gave", json_schema_extra=CURSOR
    )
    limit: int = Field(100, ge=1, le=1_000)


class JournalQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, description="The cursor of the last event seen", json_schema_extra=CURSOR)
    limit: int = Field(100, ge=1, le=1_000)


class AnswersQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["jsonl", "csv"] = "jsonl"
    with_late: bool = Field(False, description="Add the answers that were refused and kept")


class LeaseModel(BaseModel):
    queue: str
    id: str
    token: int
    payload: Any
    attempt: int = Field(description="The how-manieth grant of the item this is, from 1")
    reserved_at: str = Field(json_schema_extra=TIME)
    expires_at: str = Field(json_schema_extra=TIME)
    lease_seconds: float
    draft: Any
    person: str


class LeasesModel(BaseModel):
    leases: list[LeaseModel]
    after: None


class FinishedModel(BaseModel):
    id: str
    late: bool = Field(description="The lease had run out, and nobody else had been granted the item")
    replayed: bool = Field(description="This finish was counted before: a retry")
    next: LeaseModel | None


class IdModel(BaseModel):
    id: str


class FailedModel(BaseModel):
    id: str
    retry_at: str | None = Field(description="null: the attempts are used up, the item is dead")


class AnswerModel(BaseModel):
    id: str
    payload: Any
    result: Any
    person: str
    token: int
    attempt: int
    finished_at: str = Field(json_schema_extra=TIME)
    late: bool


class GrantModel(BaseModel):
    token: int
    person: str
    attempt: int
    reserved_at: str = Field(json_schema_extra=TIME)
    how: Literal["held", "expired", "abandoned", "failed", "released", "finished"]
    ended_at: str | None
    expires_at: str | None
    renewals: int
    reason: str | None


class ItemModel(BaseModel):
    id: str
    state: State
    payload: Any
    priority: int
    requires: list[str]
    assignment: int = Field(description="In a list: which of the item's answers this is about, from 1")
    assigned_to: list[str] = Field(description="Who alone may reserve it now")
    due: str | None
    attempts: int = Field(description="Grants so far")
    failures: int = Field(description="Expiries and fails so far")
    last_error: str | None = Field(description="What was said of it when it failed last")
    enqueued_at: str = Field(json_schema_extra=TIME)
    leases: list[GrantModel]
    answers: list[AnswerModel]
    late_answers: list[AnswerModel]
    history: list[GrantModel]


class ItemsModel(BaseModel):
    items: list[ItemModel]
    after: str | None


class StatsModel(BaseModel):
    inbound: int
    reserved: int
    scheduled: int
    finished: int
    dead: int
    oldest_inbound_seconds: float | None
    overdue: int = Field(description="Neither finished nor dead, and past their due date")
    waiting: int = Field(description="How many wait for an item")
    paused: str | None = Field(description="The reason, '' where none was given; null: not paused")
    counters: dict[str, int]


class CountsModel(BaseModel):
    inbound: int
    reserved: int
    scheduled: int
    finished: int
    dead: int


class QueueModel(BaseModel):
    name: str
    title: str
    paused: str | None
    policy: PolicyBody
    form: Any
    counts: CountsModel


class QueuesModel(BaseModel):
    queues: list[QueueModel]
    after: None


class ClearedModel(BaseModel):
    returned: int
    released: int
    died: int
    forgotten: int
    more: bool


class RevivedModel(BaseModel):
    revived: int
    more: bool = Field(description="The limit of one call was reached: send it again")


class PausedModel(BaseModel):
    paused: str | None


class EventModel(BaseModel):
    cursor: str
    at: str = Field(json_schema_extra=TIME)
    what: str
    id: str | None
    person: str | None
    token: int | None
    detail: str | None


class EventsModel(BaseModel):
    events: list[EventModel]
    after: str | None


class PersonModel(BaseModel):
    name: str
    role: Role
    skills: list[str]
    disabled: bool
    created_at: str = Field(json_schema_extra=TIME)


class PeopleModel(BaseModel):
    people: list[PersonModel]
    after: None

"""The shapes that REST gives: the docs are made from these models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from webapp.accounts import Role
from webapp.api.bodies import PolicyBody, State

TIME: dict[str, Any] = {"examples": ["2026-11-21T10:05:00.123Z"]}


class ProblemModel(BaseModel):
    """Any error (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str = Field(description="Stable: decide by it")
    detail: str = Field(description="For a person to read")


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
    after: str | None


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
    how: Literal["held", "expired", "abandoned", "failed", "released", "finished", "undone"]
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
    after: str | None


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
    after: str | None

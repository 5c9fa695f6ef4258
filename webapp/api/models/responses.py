"""The bodies of responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from typing_extensions import TypeAliasType

import leaseq
from leaseq import Ending
from leaseq.transfer import rfc3339
from leaseq.webapp.api.models.base import Model, RecordModel, no_defaults, page_model
from leaseq.webapp.api.models.policy import Form, Policy, serialize_policy
from leaseq.webapp.api.models.requests import State, optional

Time = Annotated[
    datetime,
    PlainSerializer(rfc3339),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-21T10:05:00.123Z"]}),
]

DiedOf = TypeAliasType("DiedOf", leaseq.DiedOf)
How = TypeAliasType("How", Literal["single", "undecided", "default"])
Undone = TypeAliasType("Undone", Literal["finished", "abandoned", "failed"])


class Lease(RecordModel):
    queue: str
    id: str
    token: int
    payload: Any
    attempt: int = Field(description="Number of this lease among the item's leases, from 1")
    reserved_at: Time
    expires_at: Time
    lease_seconds: float
    draft: Any
    person: str
    form: Any = Field(description="The form that counts: the item's own, else the queue's")


LeaseList = page_model("LeaseList", leases=list[Lease])


class Finished(RecordModel):
    id: str
    late: bool = Field(description="The lease had expired, and nobody else had been given the item")
    replayed: bool = Field(description="true for a repeated request: it had already finished the item")
    next: Lease | None


class File(RecordModel):
    """A file, as an answer names it."""

    key: str
    name: str
    size: int = Field(description="Bytes")
    type: str = Field(description="The media type, as the sender called it")


class Upload(RecordModel):
    file: File = Field(description="For the answer: a list of these is the answer to the question")
    url: str = Field(description="Where to send the bytes: of this app if it has no host")
    fields: dict[str, str] = Field(
        description="The fields of the form to POST, before the part `file`; {}: PUT the bytes as the body"
    )
    expires_at: Time = Field(description="Send the bytes before")


class Enqueued(BaseModel):
    model_config = ConfigDict(extra="forbid")  # so that it can't be mistaken for EnqueuedMany

    id: str
    added: bool = Field(description="false: the item existed, and nothing changed")


class EnqueuedMany(BaseModel):
    model_config = ConfigDict(extra="forbid")

    added: int
    duplicates: int = Field(description="Items that already existed")


class RowError(BaseModel):
    line: int
    rule: str
    values: dict[str, Any]
    detail: str


class RowConflict(BaseModel):
    line: int
    id: str


class Imported(BaseModel):
    added: int
    duplicates: int = Field(description="Rows whose id already existed, with an equal payload")
    conflicts: int = Field(description="Rows whose id already existed, with another payload: nothing changed")
    rejected: int = Field(description="Lines of the file that were left out")
    errors: list[RowError] = Field(description="The first 100 bad rows")
    conflicting: list[RowConflict] = Field(description="The first 10,000 conflicts")
    sheet: str | None = Field(description="Of a workbook: the name of the sheet that was read, the first one")
    sheets: int | None = Field(description="Of a workbook: how many sheets it has, without hidden ones")


class Abandoned(RecordModel):
    id: str
    next: Lease | None


class Failed(RecordModel):
    id: str
    retry_at: Time | None = Field(
        description="null: no attempts are left, the item is dead; or it needs no more answers"
    )
    next: Lease | None


class Answer(RecordModel):
    id: str
    payload: Any
    result: Any
    person: str
    token: int
    attempt: int
    finished_at: Time
    late: bool
    reserved_at: Time | None = Field(description="When the work on it began; null: not known")
    seconds: float | None = Field(description="From reserved_at to finished_at")
    changed: list[str] = Field(
        description="The questions that the form prefills and that were answered otherwise"
    )


class Answered(RecordModel):
    """The answer of a question."""

    id: str
    state: Literal["answered"]
    result: Any = Field(description="Of the first answer")
    answers: list[Answer] = Field(description="All that count, in the order in which they were given")
    how: How
    late: bool = Field(description="The first answer was given after the question's timeout")


class Waiting(Model):
    """A question that nobody has answered yet."""

    id: str
    state: Literal["waiting"]
    reason: str | None = Field(description="Why nobody can answer now: `paused` or `nobody`")


class Grant(RecordModel):
    token: int
    person: str
    attempt: int
    reserved_at: Time
    how: Ending
    ended_at: Time | None
    expires_at: Time | None
    renewals: int
    reason: str | None
    undone: Undone | None = Field(
        description="Only if `how` is `undone`: what the person undid, which no longer counts"
    )
    renewable: bool = Field(
        description="It expired, but its person may renew it, within the policy's limits; false in lists"
    )


class Item(RecordModel):
    id: str
    state: State
    payload: Any
    priority: int
    requires: list[str]
    assignment: int = Field(description="In a list: the number of the assignment, from 1")
    assigned_to: list[str] = Field(description="The only people who may reserve it now")
    due: Time | None
    form: Any = Field(description="Its own form, asked instead of the queue's")
    expires: Time | None = Field(
        description="Nobody needs its answer after that: it is dead then, unless somebody holds it"
    )
    attempts: int = Field(description="Leases so far, without those of an undo")
    failures: int = Field(description="Expiries and fails so far")
    last_error: str | None = Field(
        description="The error of its last fail; without one, why a dead item died"
    )
    died_of: DiedOf | None = Field(
        description="Only of a dead item: failed, cancelled, or expired: nobody answered in time"
    )
    enqueued_at: Time
    answers_needed: int = Field(description="How many answers it needs: the policy's number, or its own")
    leases: list[Grant]
    answers: list[Answer]
    late_answers: list[Answer]
    history: list[Grant]


AnswerList = page_model("AnswerList", answers=list[Answer])


class NewAnswerList(BaseModel):
    answers: list[Answer]
    more: bool = Field(description="There are more after this page: call again now")
    after: str = Field(description="The cursor for the next call, also if there is nothing new")


ItemList = page_model("ItemList", items=list[Item])


class Counts(RecordModel):
    inbound: int
    reserved: int
    scheduled: int
    finished: int
    dead: int


class Alert(RecordModel):
    name: str = Field(description="The measure of the policy's rule")
    limit: int = Field(description="The rule's limit: items or seconds")
    value: int = Field(description="The measure when the alert was raised")
    since: Time


class Stats(Counts):
    oldest_inbound_seconds: float | None
    overdue: int = Field(description="Items past their due date that are neither finished nor dead")
    waiting: int = Field(description="How many calls wait for an item")
    paused: str | None = Field(description="The reason for the pause, '' if there is none; null: not paused")
    counters: dict[str, int]
    alerts: list[Alert] = Field(description="The alerts that are raised now")
    unreachable: int | None = Field(
        description="Waiting items that nobody can take: assigned to somebody who may not work on the "
        "queue, or with skills that nobody has who may; null: not counted lately"
    )
    questions: int = Field(description="Open questions: their answer is needed, and nobody has answered yet")
    answer_seconds: float | None = Field(
        description="The median time from a question to its first answer, of the latest 100 that got one"
    )


class Queue(Model):
    name: str
    title: str
    paused: str | None
    policy: Policy
    form: Form | None
    counts: Counts
    alerts: list[Alert] = Field(description="The alerts that are raised now")


class UnreadableQueue(BaseModel):
    name: str
    detail: str = Field(description="Why this version of leaseq can't read it")


class QueueList(BaseModel):
    queues: list[Queue]
    unreadable: list[UnreadableQueue]
    after: str | None


class Cleared(RecordModel):
    returned: int
    released: int
    died: int
    forgotten: int
    more: bool


class Revived(BaseModel):
    revived: int
    more: bool = Field(description="The limit of one call was reached: call again")


class RefusedItem(BaseModel):
    id: str
    code: str
    rule: str
    values: dict[str, Any]
    detail: str


class BulkResult(BaseModel):
    done: int
    refused: list[RefusedItem]


class Removed(BaseModel):
    removed: int
    more: bool = Field(description="The limit of one call was reached: call again")


class PauseState(BaseModel):
    paused: str | None


class Stopped(RecordModel):
    person: str
    reason: str | None
    by: str | None = Field(description="Who stopped them")
    at: Time


class StoppedList(BaseModel):
    people: list[Stopped]


class Announcement(Model):
    text: str
    by: str
    at: Time
    until: Time | None = Field(description="When it ends by itself")
    seen: int | None = Field(description="How many have seen it; null unless you may manage the queue")
    people: int | None = Field(description="Of how many who may work on the queue; null as for `seen`")


class AlertDetail(BaseModel):
    alert: str
    limit: int
    value: int = Field(description="The measure at that time")


class Event(RecordModel):
    cursor: str
    at: Time
    what: str
    id: str | None
    person: str | None
    token: int | None
    detail: str | AlertDetail | None = Field(description="A text, such as a reason; for alerts, an object")


EventList = page_model("EventList", events=list[Event])


class Webhook(RecordModel):
    id: str
    url: str
    events: list[str]
    queues: list[str] = Field(description="Empty: all")
    created_at: Time
    created_by: str
    since: Time = Field(description="When it was added or enabled again: later events are sent")
    failing_since: Time | None = Field(description="When the current series of failed tries began")
    disabled_at: Time | None
    disabled_why: str | None
    rotating_until: Time | None = Field(description="Until then, the old secret signs deliveries, too")


class WebhookWithSecret(Webhook):
    secret: str = Field(description="With this the receiver verifies deliveries; not shown again")


WebhookList = page_model("WebhookList", webhooks=list[Webhook])


class Try(RecordModel):
    at: Time
    status: int | None = Field(description="The receiver's HTTP status; null if it did not answer")
    seconds: float | None
    excerpt: str = Field(description="The beginning of its response")
    error: str | None = Field(description="Why there is no response")


class Delivery(RecordModel):
    id: str
    webhook_id: str = Field(description="The id that the receiver gets: the same in every try and replay")
    type: str
    state: Literal["waiting", "sending", "delivered", "failed"]
    created_at: Time
    next_at: Time | None = Field(description="When it is tried again")
    tries: list[Try]


DeliveryList = page_model("DeliveryList", deliveries=list[Delivery])


class Replayed(BaseModel):
    replayed: int


def serialize_queue(queue: leaseq.Queue, policy: leaseq.Policy) -> dict[str, Any]:
    stats = queue.stats()
    return {
        "name": queue.name,
        "title": policy.title,
        "paused": stats.paused,
        "policy": serialize_policy(policy),
        "form": policy.form,
        "counts": Counts.from_record(stats),
        "alerts": [Alert.from_record(alert) for alert in stats.alerts],
    }


class Problem(BaseModel):
    """Any error (RFC 9457). Optional members are present only with the codes they belong to."""

    model_config = ConfigDict(extra="allow", json_schema_extra=no_defaults)

    type: str
    title: str
    status: int
    code: str = Field(description="A stable code, for programs")
    detail: str = Field(description="An explanation, for people")
    rule: str = Field(
        description="The rule that was broken, for programs; the `code`, if there is no narrower one"
    )
    values: dict[str, Any] = Field(description="What the rule allows, and what came instead")
    request_id: str | None = Field(description="As in the server's log; null: the request could not be read")
    field: str = optional("`invalid`, `too-large`, `key-reused`: what was refused")
    limit: str = optional("What is allowed instead")
    errors: dict[str, str] = optional("`form`: what does not fit, by the path of the field")
    id: str = optional("`lease-lost`, `conflict`, `item-finished`, `not-answered`: the item's id")
    reason: Literal["expired", "cancelled", "dead"] = optional("`not-answered`: why nobody answers")
    state: State = optional("`lease-lost`, `item-finished`: the item's state now")
    answer_kept: bool = optional("`lease-lost`: the answer was kept as a late answer")
    line: int = optional("The refused line of a stream of lines")
    added: int = optional("For several items: how many were added")
    duplicates: int = optional("How many existed with an equal payload")
    conflicts: int = optional("How many exist with a different payload")
    items: list[dict[str, Any]] = optional(
        "The first 100 conflicts: `id`, and `number` in the request, from 1"
    )

"""The shapes that REST takes: the docs are made from these models, and requests checked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from leaseq import form, strict
from webapp.accounts import Role
from webapp.api.lists import AFTER, LIMIT
from webapp.waits import LONGEST

State = Literal["inbound", "reserved", "scheduled", "finished", "dead"]
MAX_TOKEN = 2**53  # the largest whole number that every JSON reader keeps exactly

# What the library checks, for the description only: its own words are better than the models'.
SKILL = {"type": "string", "pattern": "^[a-z0-9._-]{1,64}$"}
SKILLS: dict[str, Any] = {"items": SKILL, "maxItems": strict.MAX_SKILLS}
PRIORITY: dict[str, Any] = {"minimum": 0, "maximum": strict.MAX_PRIORITY}
BANDS: dict[str, Any] = {"items": {"type": "integer", **PRIORITY}, "minItems": 2, "maxItems": 2}
TEXT: dict[str, Any] = {"maxLength": strict.MAX_TEXT}
PRINTABLE = "^[^\\u0000-\\u001f\\u007f-\\u00a0]+$"  # and of what lies above what Unicode calls so
ID: dict[str, Any] = {"minLength": 1, "maxLength": strict.MAX_ID}
PERSON: dict[str, Any] = {"minLength": 1, "maxLength": strict.MAX_PERSON, "pattern": PRINTABLE}
_SHELF = "[^/:]*:(high|normal|low)(:[0-9]{1,3})?(:returned)?"
PLACE: dict[str, Any] = {"pattern": f"^({_SHELF})?/[0-9]{{1,17}}/[0-9]{{1,3}}/.{{1,200}}$"}
DUE_PLACE: dict[str, Any] = {"pattern": "^/[0-9]{1,17}/[0-9]{1,3}/.{1,200}$"}
EVENT: dict[str, Any] = {"pattern": r"^[0-9]{1,16}\.[0-9]{1,9}$"}
DAY = "^(19[7-9][0-9]|[2-8][0-9]{3})-"  # what the library takes of all the days that a format has
MOMENT: dict[str, Any] = {
    "anyOf": [{"type": "string", "pattern": DAY, "format": one} for one in ("date", "date-time")]
}
SHOWN: dict[str, Any] = {
    "type": "object",
    "required": ["field"],
    "additionalProperties": False,
    "properties": {
        "field": {"type": "string"},
        "kind": {"enum": list(form.KINDS)},
        "label": {"type": "string"},
        "beside": {"type": "boolean"},
    },
}
ASKED = {
    "type": "object",
    "required": ["type"],
    "description": "JSON Schema, draft 2020-12; a reference may not leave it",
    "properties": {
        "type": {"const": "object"},
        "required": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "properties": {
            "type": "object",
            "additionalProperties": {"anyOf": [{"type": "object"}, {"type": "boolean"}]},
        },
    },
}
FORM: dict[str, Any] = {
    "anyOf": [
        {"type": "null"},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "show": {"type": "array", "items": {"anyOf": [{"type": "string"}, SHOWN]}},
                "ask": ASKED,
                "keys": {"type": "object", "propertyNames": {"minLength": 1, "maxLength": 1}},
            },
        },
    ]
}


def _within(least: float, most: float) -> dict[str, Any]:
    return {"minimum": least, "maximum": most}


Whole = Annotated[int, BeforeValidator(strict.whole)]


class Body(BaseModel):
    """A request's body: exact types, and no field that isn't known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class QueuePath(BaseModel):
    q: str = Field(description="The queue's name", json_schema_extra={"pattern": "^[a-z0-9._-]{1,64}$"})


class ItemPath(QueuePath):
    id: str = Field(
        description="The item's id: printable, not . or ..",
        json_schema_extra={"minLength": 1, "maxLength": 200, "pattern": PRINTABLE},
    )


class PersonPath(BaseModel):
    name: str = Field(
        description="The person's name: printable, not . or ..",
        json_schema_extra={"minLength": 1, "maxLength": 64, "pattern": PRINTABLE},
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
    token: Whole = Field(ge=1, le=MAX_TOKEN, description="The lease's token")


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
    max_attempts: Whole = Field(
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
    holds: Whole = Field(
        1, description="Leases that one person may have at once", json_schema_extra=_within(1, 100)
    )
    bands: list[Whole] = Field(
        [50, 150],
        description="Priorities up to the first are high, past the second low",
        json_schema_extra=BANDS,
    )
    renewals: Whole | None = Field(
        None,
        description="How often one lease may be renewed; null: no limit",
        json_schema_extra=_within(0, 1_000_000),
    )
    share_drafts: bool = Field(False, description="Show a draft to the next person")
    answers: Whole = Field(1, description="How many people are to answer each item, 1 to 100")
    max_abandons: Whole | None = Field(
        None, description="When that many people gave an item back, it is dead; null: no limit"
    )
    dedupe_seconds: float = Field(
        0, description="An equal payload within this time is a duplicate, whatever its id"
    )
    keep_finished_seconds: float | None = Field(
        None, description="How long a finished item is kept; null: for good"
    )
    durable: Literal["server", "fsync", "replica", "majority"] = Field(
        "server",
        description="What an acknowledgement waits for: the server, its disk, a replica, or most of them",
    )
    form: Any = Field(
        None,
        description="How to show a payload and what to ask: {show, ask, keys}; null: one text box",
        json_schema_extra=FORM,
    )
    title: str = Field("", description="What pages call the queue", json_schema_extra={"maxLength": 200})
    instructions: str = Field("", description="Markdown", json_schema_extra={"maxLength": 65_536})


class PersonBody(Body):
    role: Role | None = Field(None, description="What they may do")
    skills: list[str] | None = Field(None, description="What they can do", json_schema_extra=SKILLS)
    disabled: bool | None = Field(None, description="Whether they are shut out")


class ItemsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: State = Field(description="Which of the five states")
    after: str | None = Field(None, description=AFTER, json_schema_extra=PLACE)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class DueQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, description=AFTER, json_schema_extra=DUE_PLACE)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class JournalQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(None, description="The cursor of the last event seen", json_schema_extra=EVENT)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class EventsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: str | None = Field(
        None, description="As the header `Last-Event-ID`, which counts first", json_schema_extra=EVENT
    )


_MOMENT = ": a day of UTC (2026-11-21), or a time with its zone (2026-11-21T10:05:00Z)"


class AnswersQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["jsonl", "json", "csv", "tsv"] = Field("jsonl", description="How to write them")
    since: str | None = Field(
        None, alias="from", description="Finished from this on" + _MOMENT, json_schema_extra=MOMENT
    )
    until: str | None = Field(
        None,
        alias="to",
        description="Finished before this; a day counts whole" + _MOMENT,
        json_schema_extra=MOMENT,
    )
    person: str | None = Field(None, description="One person's only", json_schema_extra=PERSON)
    late: bool | None = Field(None, description="true: only those that came late; false: only those in time")
    with_late: bool = Field(False, description="Add the answers that were refused and kept")

"""The bodies, queries and paths of requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, ConfigDict, Field
from typing_extensions import TypeAliasType

import leaseq
from leaseq import transfer, validation
from leaseq.webapp.api.models.base import AFTER, LIMIT, PageQuery, Query, RequestModel, no_defaults
from leaseq.webapp.services import bulk
from leaseq.webapp.store import announcements
from leaseq.webapp.store.accounts import model

State = Literal["inbound", "reserved", "scheduled", "finished", "dead"]
Role = TypeAliasType("Role", model.Role)  # a separate schema in the OpenAPI document
LONGEST_WAIT = 30  # seconds that a request may wait for an item
MAX_IDS = 1_000  # items of one bulk request
MAX_DELAY = 315_360_000  # ten years, in seconds
MAX_TOKEN = 2**53  # the largest whole number that every JSON reader keeps exactly

# Limits that the library checks, for the OpenAPI document only: the library's errors are clearer.
NAME = "^[a-z0-9._-]{1,64}$"
SKILL = {"type": "string", "pattern": NAME}
SKILLS: dict[str, Any] = {"items": SKILL, "maxItems": validation.MAX_SKILLS}
PRIORITY: dict[str, Any] = {"minimum": 0, "maximum": validation.MAX_PRIORITY}
TEXT: dict[str, Any] = {"maxLength": validation.MAX_TEXT}
PRINTABLE = "^[^\\u0000-\\u001f\\u007f-\\u00a0]+$"  # of those above, only what Unicode calls printable
ID: dict[str, Any] = {"minLength": 1, "maxLength": validation.MAX_ID}
PERSON: dict[str, Any] = {"minLength": 1, "maxLength": validation.MAX_PERSON, "pattern": PRINTABLE}
PERSON_SEGMENT: dict[str, Any] = {**PERSON, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u00a0/\\\\]+$"}
_SHELF = "[^/:]*:(high|normal|low)(:[0-9]{1,3})?(:returned)?"
PLACE: dict[str, Any] = {"pattern": f"^({_SHELF})?/[0-9]{{1,17}}/[0-9]{{1,3}}/.{{1,200}}$"}
DUE_PLACE: dict[str, Any] = {"pattern": "^/[0-9]{1,17}/[0-9]{1,3}/.{1,200}$"}
EVENT: dict[str, Any] = {"pattern": r"^[0-9]{1,16}\.[0-9]{1,9}$"}
ANSWERS_CURSOR: dict[str, Any] = {
    "pattern": "^(0|[a-z0-9._-]{1,64}:[0-9]{1,16}((\\.[0-9]{1,16})*|/[A-Za-z0-9_=-]{1,1100}))$"
}
OWN_FORM: dict[str, Any] = {"type": "object"}
DAY = "^(19[7-9][0-9]|[2-8][0-9]{3})-"  # the years that the library accepts
MOMENT: dict[str, Any] = {
    "anyOf": [{"type": "string", "pattern": DAY, "format": format} for format in ("date", "date-time")]
}


def number_range(minimum: float, maximum: float) -> dict[str, Any]:
    return {"minimum": minimum, "maximum": maximum}


def optional(description: str, **schema: Any) -> Any:
    """A field that may be left out, which changes nothing; its value in Python is then None."""
    return Field(None, description=description, json_schema_extra=schema)


DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time", "pattern": DAY})]
WholeNumber = Annotated[int, BeforeValidator(validation.as_integer)]


class Body(RequestModel):
    """A request body with exact types and no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=no_defaults)


class QueuePath(RequestModel):
    q: str = Field(description="The queue's name", json_schema_extra={"pattern": NAME})


class ItemPath(QueuePath):
    id: str = Field(
        description="The item's id, percent-encoded with its slashes: printable, not . or ..",
        json_schema_extra={**ID, "pattern": PRINTABLE},
    )


class PersonPath(RequestModel):
    name: str = Field(description="The person's name, percent-encoded", json_schema_extra=PERSON_SEGMENT)


class QueuePersonPath(QueuePath, PersonPath):
    pass


class EmptyRequest(Body):
    """No fields: {} or no body."""


class NewItem(Body):
    """An item to add."""

    payload: Any = Field(description="Any JSON, at most 262,144 bytes")
    id: str = optional(
        "Printable, no part between slashes is . or ..; generated if left out; an existing id adds nothing",
        **ID,
        pattern=PRINTABLE,
    )
    priority: WholeNumber = optional("Smaller is sooner; default 100", **PRIORITY)
    delay: float = optional("Seconds before it may be reserved", **number_range(0, MAX_DELAY))
    at: str = optional(
        "When it may be reserved, instead of a delay; a time in the past means now",
        format="date-time",
        pattern=DAY,
    )
    requires: list[str] = optional("Skills that a person needs to get it", **SKILLS)
    due: str = optional("From 1970 to 9000", format="date-time", pattern=DAY)
    max_attempts: WholeNumber = optional(
        "Expiries and fails until it is dead; by default the policy's number", **number_range(1, 1_000)
    )
    form: dict[str, Any] = optional("The item's own form, asked instead of the queue's")
    expires: float | str = optional(
        "When nobody needs its answer any more: seconds from now, or a time; it is dead then unless "
        "somebody holds it",
        anyOf=[
            {"type": "number", **number_range(0.001, MAX_DELAY)},
            {"type": "string", "format": "date-time", "pattern": DAY},
        ],
    )
    to: str = optional(
        "The only person who may reserve it, until they give it back: the name of an account", **PERSON
    )


class ItemChanges(Body):
    """The fields of an item to change; fields that are left out keep their values."""

    priority: WholeNumber = optional("Smaller is sooner", **PRIORITY)
    due: DateTime | None = optional("From 1970 to 9000; null: no due date")
    requires: list[str] = optional("Skills that a person needs to get it", **SKILLS)
    payload: Any = optional("Any JSON, at most 262,144 bytes; only while nobody holds or has answered it")
    delay: float = optional(
        "Seconds from now before it may be reserved; 0: now", **number_range(0, MAX_DELAY)
    )
    answers: WholeNumber = optional("How many answers it needs; alone in any state", minimum=1, maximum=100)

    def sent_fields(self) -> leaseq.ItemChanges:
        """The fields that the request contains, and no others."""
        return _changes(self, self.model_fields_set)


def _changes(body: Body, names: Iterable[str]) -> leaseq.ItemChanges:
    fields: dict[str, Any] = {name: getattr(body, name) for name in names}
    if fields.get("due") is not None:
        fields["due"] = transfer.utc_time(fields["due"], "due")
    return cast("leaseq.ItemChanges", fields)


class ReserveRequest(Body):
    wait: float = Field(
        0,
        description="Seconds to wait for an item if there is none now, default 0",
        json_schema_extra=number_range(0, LONGEST_WAIT),
    )


class QuestionRequest(Body):
    """A question to a person."""

    payload: Any = Field(description="What the person is shown: any JSON, at most 262,144 bytes")
    id: str = optional("Makes the call safe to repeat; generated if left out", **ID, pattern=PRINTABLE)
    form: Any = optional("What is asked: a form, instead of the queue's", **OWN_FORM)
    timeout: float = Field(
        3_600,
        description="Seconds after which nobody needs the answer, default 3600",
        json_schema_extra=number_range(0.001, MAX_DELAY),
    )
    wait: float = Field(
        0,
        description="Seconds to wait for the answer, at most `timeout`, default 0",
        json_schema_extra=number_range(0, LONGEST_WAIT),
    )
    requires: list[str] = optional("Skills that a person needs to get it", **SKILLS)
    to: str | None = optional("The only person who may answer it", **PERSON)
    priority: WholeNumber = optional("Smaller is sooner; default 100", **PRIORITY)


class QuestionQuery(Query):
    wait: float = Field(
        0,
        description="Seconds to wait for the answer, default 0",
        json_schema_extra=number_range(0, LONGEST_WAIT),
    )


class TokenRequest(Body):
    token: WholeNumber = Field(ge=1, le=MAX_TOKEN, description="The lease's token")


class EndRequest(TokenRequest):
    """The end of a lease, optionally followed by the next one."""

    then_reserve: bool = Field(False, description="true: also reserve the next item")


class FinishRequest(EndRequest):
    result: Any = Field(description="The answer: it must fit the item's own form, else the queue's")


class AbandonRequest(EndRequest):
    reason: str | None = optional("The reason, for the manager and the next person", **TEXT)
    again: bool = Field(
        True,
        description="true (default): give it to this person again if nothing else waits for them; "
        "false: never give it to this person again",
    )


class FailRequest(EndRequest):
    error: str = Field(description="What is wrong with the item", json_schema_extra=TEXT)
    retry: bool = Field(
        True, description="false: it is dead immediately, even if attempts are left; default true"
    )


class DraftRequest(TokenRequest):
    draft: Any = Field(description="The unfinished answer, any JSON")


class FilePath(ItemPath):
    file: str = Field(
        description="The last part of the file's `key`", json_schema_extra={"pattern": "^[A-Za-z0-9_.-]{60}$"}
    )


class FileQuery(Query):
    ticket: str = Field(description="From the announcement of the file, as part of its `url`")


class FileRequest(TokenRequest):
    question: str = Field(description="The question for files, by its field")
    name: str = Field(
        description="The file's name; folders and invisible characters are left out, and a long one is cut"
    )
    size: WholeNumber = Field(ge=1, le=MAX_TOKEN, description="Bytes")
    type: str = Field("", description="The media type; by default what the name suggests")


class ReviveRequest(Body):
    """A choice of dead items: all if no field is set."""

    error: str | None = optional("Only items whose last error contains this text", **TEXT)
    person: str | None = optional("Only items that this person held last", **PERSON)


class RemoveRequest(Body):
    """A choice of items in a state: all if no other field is set."""

    state: State = Field(description="The state of the items to delete")
    error: str | None = optional("Only items whose last error contains this text", **TEXT)
    person: str | None = optional("Only items that this person held last", **PERSON)


class AssignRequest(Body):
    person: str = Field(
        description="The only person who may reserve it: the name of an account", json_schema_extra=PERSON
    )


class ReopenRequest(Body):
    token: WholeNumber = Field(ge=1, le=MAX_TOKEN, description="The answer's token")
    to: str | None = optional(
        "The only person who may reserve it then: the name of an account; null: anybody", **PERSON
    )
    reason: str | None = optional("What to do again; the next person reads it", **TEXT)


class CancelRequest(Body):
    reason: str | None = optional("Why nobody needs it any more", **TEXT)


class CorrectRequest(Body):
    token: WholeNumber = Field(ge=1, le=MAX_TOKEN, description="The token of the answer that is replaced")
    result: Any = Field(description="The right answer: it must fit the item's own form, else the queue's")


class BulkRequest(Body):
    action: bulk.Act = Field(description="What to do with each item")
    ids: list[str] = Field(
        description="The items' ids",
        json_schema_extra={"items": {"type": "string", **ID}, "maxItems": MAX_IDS},
    )
    person: str = optional("For assign: the only person who may reserve them", **PERSON)
    unless: Literal["finished"] = optional("For remove: items that somebody has finished are kept")
    to: str | None = optional(
        "For reopen: the only person who may reserve them then; null: anybody", **PERSON
    )
    reason: str | None = optional(
        "For reopen: what to do again; the next person reads it. For cancel: why nobody needs them any more",
        **TEXT,
    )
    priority: WholeNumber = optional("For change: smaller is sooner", **PRIORITY)
    due: DateTime | None = optional("For change: from 1970 to 9000; null: no due date")
    requires: list[str] = optional("For change: skills that a person needs to get them", **SKILLS)
    delay: float = optional(
        "For change: seconds from now before they may be reserved; 0: now", **number_range(0, MAX_DELAY)
    )

    def changes(self) -> leaseq.ItemChanges:
        """The values that each item gets: those that the request contains."""
        return _changes(self, self.model_fields_set & {"priority", "due", "requires", "delay"})


class RemoveQuery(Query):
    unless: Literal["finished"] = optional(
        "Delete the item only while nobody has finished it, or one of its assignments"
    )


class AnnouncementRequest(Body):
    text: str = Field(
        ..., description="One line of plain text", min_length=1, max_length=announcements.MAX_TEXT
    )
    until: DateTime | None = optional("When it ends by itself; null or left out: when it is ended")


class StopRequest(Body):
    reason: str | None = optional("The reason, shown to the person", **TEXT)


class PauseRequest(Body):
    reason: str | None = optional("The reason, shown to people while the queue is paused", **TEXT)


class ItemsQuery(Query):
    state: State = Field(description="The state of the items")
    after: str | None = optional(AFTER, **PLACE)
    limit: int = Field(100, ge=1, le=1_000, description=LIMIT)


class ImportQuery(Query):
    format: Literal["auto", "csv", "tsv", "json", "jsonl", "xlsx"] = Field(
        "auto", description="The format of the file, default auto: that of its Content-Type"
    )
    delimiter: Literal["auto", "comma", "semicolon", "tab", "pipe"] = Field(
        "auto", description="The separator of columns in CSV and TSV, default auto: found in the header"
    )
    quotes: transfer.Quotes = Field(
        "auto",
        description="Double quotes in CSV and TSV: they enclose a field (double), or are text (none); "
        "default auto",
    )
    id_field: str | None = optional("The column of the id")
    priority_field: str | None = optional("The column of the priority")
    due_field: str | None = optional("The column of the due date")
    requires_field: str | None = optional("The column of the skills, split by spaces or commas")
    form_field: str | None = optional("The column of the item's own form, as JSON")
    expires_field: str | None = optional(
        "The column of when nobody needs the answer any more: seconds from now, or a date as in `due_field`"
    )
    to_field: str | None = optional("The column of the only person who may reserve the item")
    payload_field: list[str] | None = optional(
        "A column of the payload; may be repeated; default: all columns"
    )
    dates: transfer.Dates = optional("How dates such as 3/4/2026 are read; without it, they are refused")
    no_header: bool = Field(
        False, description="true: CSV or TSV without a header; its columns are column_1, column_2 and so on"
    )
    header_line: int | None = Field(
        None, ge=1, le=1_000_000, description="The line of the header, if a title is above it"
    )
    raw_cells: bool = Field(
        False,
        description="true: keep all cells of CSV and TSV as text; default: a column whose cells are all "
        "numbers, all booleans or all JSON has values",
    )
    text_field: list[str] = Field([], description="A column of CSV or TSV to keep as text; may be repeated")
    value_field: list[str] = Field(
        [], description="A column of numbers, booleans or JSON: other cells are errors; may be repeated"
    )


_MOMENT_TEXT = ": a UTC day (2026-11-21), or a time with its zone (2026-11-21T10:05:00Z)"


def moment(alias: str, description: str) -> Any:
    """The beginning or the end of a period, as a parameter of a query."""
    return Field(None, alias=alias, description=description + _MOMENT_TEXT, json_schema_extra=MOMENT)


class DueQuery(PageQuery):
    after: str | None = optional(AFTER, **DUE_PLACE)


class JournalQuery(PageQuery):
    after: str | None = optional("The cursor of the last event seen", **EVENT)


class EventsQuery(Query):
    after: str | None = optional("The same as the header `Last-Event-ID`, which takes precedence", **EVENT)


class AnswersQuery(Query):
    format: Literal["jsonl", "json", "csv", "tsv", "xlsx"] = optional(
        "The format of the answers, by default the one that `Accept` prefers, else jsonl"
    )
    since: str | None = moment("from", "Finished at or after this")
    until: str | None = moment("to", "Finished before this; a day is included as a whole")
    person: str | None = optional("Only the answers of this person", **PERSON)
    late: bool | None = optional("true: only late answers; false: only answers in time")
    with_late: bool = Field(False, description="true: add the late answers that were kept, but not accepted")
    raw_cells: bool = Field(
        False,
        description="true: in csv and tsv, no apostrophe before what a spreadsheet would run as a formula",
    )
    bom: bool = Field(False, description="true: csv and tsv begin with a byte order mark, for Excel")


class NewAnswersQuery(PageQuery):
    after: str | None = optional(
        "The cursor from the previous call, by default the beginning", **ANSWERS_CURSOR
    )

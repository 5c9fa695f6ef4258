"""The bodies of requests and responses about people, tokens and invitations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from leaseq.validation import MAX_PERSON
from leaseq.webapp.api.models.base import PageQuery, RecordModel, RequestModel, page_model
from leaseq.webapp.api.models.requests import (
    NAME,
    PERSON,
    PERSON_SEGMENT,
    SKILLS,
    Body,
    Role,
    WholeNumber,
    number_range,
    optional,
)
from leaseq.webapp.api.models.responses import Time
from leaseq.webapp.store.accounts.model import MAX_TEAM, MAX_TOKEN_DAYS, MAX_TOKEN_NAME, Scope
from leaseq.webapp.store.accounts.onboarding import MAX_DAYS

LogKind = TypeAliasType(
    "LogKind", Literal["person", "invitation", "sign-in", "token", "queue", "item", "webhook"]
)
ID = "^[0-9a-f]{1,64}$"


class Person(RecordModel):
    name: str
    shown_name: str = Field(description="What pages call them; empty: the name")
    role: Role
    skills: list[str]
    team: str
    disabled: bool
    created_at: Time


PersonList = page_model("PersonList", people=list[Person])


class PersonExport(BaseModel):
    """All data stored about a person. Each kind of entry is a separate member."""

    model_config = ConfigDict(extra="allow")

    format: Literal["leaseq.person/1"]
    name: str
    exported_at: Time
    account: Any = Field(description="null: there is no account of this name")
    items: list[Any] = Field(description="For each item, what they had, answered or typed")


class PersonChanges(Body):
    role: Role | None = optional("What they may do")
    skills: list[str] | None = optional("Their skills", **SKILLS)
    team: str | None = Field(None, description="Their team; empty: none", max_length=MAX_TEAM)
    shown_name: str | None = Field(
        None, description="What pages call them; empty: the name, which stays", max_length=MAX_PERSON
    )
    disabled: bool | None = optional("Whether the account is disabled")


class TeamPath(RequestModel):
    team: str = Field(description="The team's name")


class NewTeamName(Body):
    to: str = Field(description="A name that no other team has", min_length=1, max_length=MAX_TEAM)


class RenamedTeam(BaseModel):
    team: str
    people: int = Field(description="How many are in it")


class CallerToken(RecordModel):
    scope: Scope
    queue: str | None = Field(description="The only queue that it is valid for; null: all")
    expires_at: Time | None = Field(description="null: it is valid until it is revoked")


class Me(BaseModel):
    name: str
    role: Role
    skills: list[str]
    token: CallerToken | None = Field(description="The token of this request; null: a session")


class Token(CallerToken):
    id: str = Field(description="Identifies the token; it does not authorize calls")
    name: str
    person: str = Field(description="The person that the token acts as")
    created_at: Time
    used_at: Time | None = Field(description="The last use, stored at most once a minute")


class NewToken(Token):
    token: str = Field(description="The token itself, in this response only, since only its hash is stored")


TokenList = page_model("TokenList", tokens=list[Token])


class TokenPath(RequestModel):
    token: str = Field(description="The token's id", json_schema_extra={"pattern": ID})


class TokensQuery(PageQuery):
    person: str | None = optional(
        "The person whose tokens to list; for admins. Default: the caller", **PERSON
    )


class NewTokenRequest(Body):
    name: str = Field(description="What it is for", json_schema_extra={"maxLength": MAX_TOKEN_NAME})
    scope: Scope = optional("What it may do; by default all that the caller's token may do")
    queue: str = optional("The only queue that it is valid for", pattern=NAME)
    days: WholeNumber = optional(
        "How many days it is valid; by default as long as the caller's", **number_range(1, MAX_TOKEN_DAYS)
    )
    person: str = optional("The person that it acts as; for admins. Default: the caller", **PERSON)


class Invitation(RecordModel):
    id: str
    name: str | None = Field(description="null: they choose it")
    role: Role
    skills: list[str]
    team: str
    by: str
    created_at: Time
    expires_at: Time


class NewInvitation(Invitation):
    link: str = Field(description="The address to open; valid once, and in this response only")


InvitationList = page_model("InvitationList", invitations=list[Invitation])


class InvitationPath(RequestModel):
    invitation: str = Field(description="The invitation's id", json_schema_extra={"pattern": ID})


class InvitationRequest(Body):
    name: str = optional("The name that they will have; by default they choose it", **PERSON_SEGMENT)
    role: Role = optional("By default worker")
    skills: list[str] = optional("Their skills", **SKILLS)
    team: str = optional("Their team", maxLength=MAX_TEAM)
    days: WholeNumber = optional("How many days the link is valid, default 7", **number_range(1, MAX_DAYS))


class PasswordLink(BaseModel):
    link: str = Field(
        description="The address at which they choose a password; valid once, within three days"
    )


class LogEntry(RecordModel):
    at: Time
    by: str
    what: str = Field(description="A code, `kind.act`, such as `queue.set` or `sign-in.failed`")
    about: str = Field(description="The person, the queue, or the queue and the item")
    detail: str


class LogEntryList(BaseModel):
    entries: list[LogEntry]
    after: str | None = Field(description="null: the last page. With a filter, a page may be short, or empty")


class LogQuery(PageQuery):
    after: str | None = Field(
        None, description="The cursor from the previous page", pattern="^[0-9]{1,19}-[0-9]{1,19}s?$"
    )
    person: str | None = optional("Only entries by or about this person", **PERSON)
    kind: LogKind | None = optional("Only entries whose code begins with this kind")

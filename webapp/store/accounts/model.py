"""The data types of accounts, frozen, typed, free of I/O; and secrets with their digests."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from leaseq import Invalid, validation
from leaseq.names import normalize

Role: TypeAlias = Literal["worker", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""The roles in rising order: each may do everything that the ones before it may do."""

Scope: TypeAlias = Literal["read", "work", "enqueue", "manage", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""What a token may do, within its person's rights: read, work, only add items, work and manage queues, or
everything."""

NARROW_SCOPES: frozenset[Scope] = frozenset({"enqueue"})
"""The scopes that allow only the calls which name them."""

HIGHEST_ROLE: dict[Scope, Role] = {
    "read": "admin",
    "work": "worker",
    "enqueue": "manager",
    "manage": "manager",
    "admin": "admin",
}
"""The highest role whose calls a scope allows. ``read`` allows only calls that change nothing, the
`NARROW_SCOPES` only those that name them."""

FULL_SCOPE: dict[Role, Scope] = {"worker": "work", "manager": "manage", "admin": "admin"}
"""The scope of each role's full rights."""

MAX_TEAM = 64
"""The maximum length of a team's name."""

MAX_TOKEN_NAME = 100
MAX_TOKEN_DAYS = 3_650
MAX_TOKENS = 50
"""The maximum number of valid tokens of a person."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who can sign in, or for whom a program acts."""

    name: str
    role: Role
    skills: tuple[str, ...]
    team: str  # "": none
    disabled: bool
    version: int  # of their sessions: raising it ends them all
    has_password: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token's record. The token itself is shown once and not stored; its hash is the key."""

    id: str  # the first characters of the hash: identify the token, but don't authorize
    name: str
    person: str
    scope: Scope
    queue: str | None  # the only one that it is valid for; None: all
    created_at: datetime
    expires_at: datetime | None  # None: it is valid until it is revoked
    used_at: datetime | None  # to the minute

    def is_over(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Invitation:
    """The record of a sign-up link. The link itself was shown once."""

    id: str  # the first characters of the link's hash
    name: str | None  # the name that they will have; None: they choose it
    role: Role
    skills: tuple[str, ...]
    team: str
    by: str
    created_at: datetime
    expires_at: datetime


def at_least(have: Role, need: Role) -> bool:
    return ROLES.index(have) >= ROLES.index(need)


def checked_name(value: object) -> str:
    """A new person's name as it will be stored: the library's rule, and no white space at the ends. It may
    differ from the given text, since it is normalized."""
    name = validation.new_person_name(normalize(value) if isinstance(value, str) else value, "name")
    if name != name.strip():
        raise Invalid("name", "spaces", value=name)
    return name


def checked_team(value: object, field: str = "team") -> str:
    """A team's name, in the spelling in which it is stored."""
    name = normalize(value) if isinstance(value, str) else value
    if not isinstance(name, str) or len(name) > MAX_TEAM or not name.isprintable() or name != name.strip():
        raise Invalid(field, "team", maximum=MAX_TEAM)
    return name


def checked_role(value: object) -> Role:
    return validation.one_of(value, ROLES, "role")


def scopes_of(role: Role) -> tuple[Scope, ...]:
    """The scopes that a person of this role may give to a token."""
    return tuple(scope for scope in SCOPES if scope == "read" or at_least(role, HIGHEST_ROLE[scope]))


def checked_scope(value: object, role: Role) -> Scope:
    """A scope that a person of this role may give to a token."""
    scope = validation.one_of(value, SCOPES, "scope")
    if scope not in scopes_of(role):
        raise Invalid("scope", "scope", maximum=FULL_SCOPE[role], role=role)
    return scope


def checked_days(value: object) -> int | None:
    return None if value is None else validation.integer(value, "expires", 1, MAX_TOKEN_DAYS)


def checked_token_name(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= MAX_TOKEN_NAME or not value.isprintable():
        raise Invalid("token_name", "printable", minimum=1, maximum=MAX_TOKEN_NAME)
    return value.strip()


ID_LENGTH = 12
"""The length of the prefix of a secret's hash that identifies it in lists: useless as a secret."""


def new_secret(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

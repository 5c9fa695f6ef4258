"""What accounts take and give: frozen, typed, free of I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from leaseq import Invalid, strict

Role: TypeAlias = Literal["worker", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""In order: each may do all that those before it may."""

MAX_TOKEN_NAME = 100


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can sign in, or for whom a program acts."""

    name: str
    role: Role
    skills: tuple[str, ...]
    disabled: bool
    version: int  # of their sessions: raising it ends them all
    has_password: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token's record. The token itself is shown once and kept nowhere; its hash is the key."""

    id: str  # the first characters of the hash: enough to name it, useless to act with
    name: str
    person: str
    created_at: datetime
    used_at: datetime | None  # to the minute


def at_least(have: Role, need: Role) -> bool:
    return ROLES.index(have) >= ROLES.index(need)


def checked_name(value: object) -> str:
    """A person's name as accounts take it: the library's rule, and no white space at the ends."""
    name = strict.person_name(value, "name")
    if name != name.strip():
        raise Invalid("name", "no space at its beginning or end")
    if strict.is_dots(name):
        raise Invalid("name", "another name than '.' and '..', which no URL can name")
    return name


def checked_role(value: object) -> Role:
    for role in ROLES:
        if value == role:
            return role
    raise Invalid("role", "one of " + ", ".join(ROLES))


def checked_token_name(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= MAX_TOKEN_NAME or not value.isprintable():
        raise Invalid("token_name", f"1 to {MAX_TOKEN_NAME} printable characters")
    return value.strip()

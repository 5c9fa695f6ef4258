"""The data types of accounts, frozen and free of I/O; their keys in the store; secrets and their digests."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from leaseq import Invalid, validation
from leaseq.backup import LeftOut, StoredKeys
from leaseq.names import normalize
from leaseq.webapp.store.base import KeyPrefix

Role: TypeAlias = Literal["worker", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""The roles in rising order: each may do everything that the ones before it may do."""

Scope: TypeAlias = Literal["read", "work", "enqueue", "ask", "manage", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""What a token may do, within its person's rights: read, work, only add items, only ask questions, work and
manage queues, or everything."""

NARROW_SCOPES: frozenset[Scope] = frozenset({"enqueue", "ask"})
"""The scopes that allow only the calls which name them."""

HIGHEST_ROLE: dict[Scope, Role] = {
    "read": "admin",
    "work": "worker",
    "enqueue": "manager",
    "ask": "manager",
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
    shown_name: str = ""  # in place of the name on pages; "": the name itself

    @property
    def label(self) -> str:
        """What pages call them. Items, answers and the log have the name, which never changes."""
        return self.shown_name or self.name


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
        raise Invalid("name", "format", what="spaces", value=name)
    return name


def checked_shown_name(value: object) -> str:
    """A shown name as it will be stored; "" for none."""
    if value == "":
        return ""
    name = validation.label(value, "shown_name", validation.MAX_PERSON)
    if name != name.strip():
        raise Invalid("shown_name", "format", what="spaces", value=name)
    return name


def checked_team(value: object, field: str = "team") -> str:
    """A team's name, in the spelling in which it is stored."""
    name = normalize(value) if isinstance(value, str) else value
    if not isinstance(name, str) or len(name) > MAX_TEAM or not name.isprintable() or name != name.strip():
        raise Invalid(field, "format", what="team", maximum=MAX_TEAM)
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
        raise Invalid("scope", "maximum", what="scope", maximum=FULL_SCOPE[role], role=role)
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


SCHEMA = 1  # in each person's record: every request reads one, so this covers all other keys

_BASE = "leaseq:{@accounts}:"

PEOPLE = _BASE + "people"  # hash: name -> record (JSON)
TOKENS = _BASE + "tokens"  # hash: SHA-256 of a token -> record (JSON)
TOKENS_USED = _BASE + "tokens-used"  # hash: SHA-256 of a token -> when it was last used, in seconds
SETUP = _BASE + "setup"  # string: SHA-256 of the set-up token; expires after a day
LOG = _BASE + "log"  # stream: who changed what
LOG_COPIES = _BASE + "log-copies"  # string: how often a copy replaced the log, to erase a person
SIGN_INS = _BASE + "sign-ins"  # stream: sign-ins that succeeded, failed or were refused; they would flood LOG
FAILED = _BASE + "failed"  # hash: name -> how many sign-ins failed since they last signed in
SIGNED_IN = _BASE + "signed-in"  # hash: name -> when they last signed in, in seconds
FACTORS = _BASE + "factors"  # hash: name -> the second factor (JSON)
INVITATIONS = _BASE + "invitations"  # hash: SHA-256 of its token -> an open invitation (JSON)
PROBE = _BASE + "probe"  # string: tests whether the server accepts writes; expires after a minute
SUBJECTS = _BASE + "subjects"  # hash: name -> SHA-256 of who they are at the identity provider
ERASING = _BASE + "erasing"  # hash: name -> an erasure that is not finished (JSON)


log_copy_key = KeyPrefix(_BASE + "log-copy:")
"""Stream, by the new name: a copy of the log with a person erased, until it replaces the log."""
link_key = KeyPrefix(_BASE + "link:")
"""String, by digest: the record of a password link (JSON); expires after three days."""
link_permission_key = KeyPrefix(_BASE + "tie-allowed:")
"""String, by name: who allowed the account to be linked to an identity provider without its password (JSON);
expires after three days."""
invitation_key = KeyPrefix(_BASE + "invitation:")
"""String, by digest: exists while this invitation may be used."""
session_key = KeyPrefix(_BASE + "session:")
"""String, by digest: "seconds name", when it was last used and by whom; expires if it is not used."""
factor_offered_key = KeyPrefix(_BASE + "factor-offered:")
"""String, by name: the secret of a second factor that is not confirmed yet; expires after 15 minutes."""
recovery_key = KeyPrefix(_BASE + "recovery:")
"""Hash, by name: the SHA-256 of each unused recovery code -> 1."""
code_used_key = KeyPrefix(_BASE + "code-used:")
"""String, by half minute and name: exists if the person used the code of this half minute."""
notices_key = KeyPrefix(_BASE + "news:")
"""List, by name: the notices for the person's next sign-in (JSON), latest first, ten at most."""
code_wait_key = KeyPrefix(_BASE + "slowed:")
"""String, by counter: "count until", how many codes were wrong in a row and when the next may be tried;
expires a day after the last."""
refusal_logged_key = KeyPrefix(_BASE + "refused:")
"""String, by counter: exists if the log already has an entry that this counter is over its limit."""
failures_key = KeyPrefix(_BASE + "failures:")
"""String, by counter: how many sign-ins failed; expires with its window."""
day_key = KeyPrefix(_BASE + "day:")
"""Hash, by date and person: "queue counter" -> count or milliseconds; expires after 400 days
(webapp/store/activity.py)."""
finished_key = KeyPrefix(_BASE + "done:")
"""Hash, by two-minute part since the epoch: "queue person" -> how many items they finished in it; expires
after two hours (webapp/store/activity.py)."""
workers_key = KeyPrefix(_BASE + "worked:")
"""Set, by date: the people who have a hash for this day."""
recent_key = KeyPrefix(_BASE + "recent:")
"""Sorted set, by person: "how queue token id" of items that they finished or gave back, by time; expires
within two days after the last."""


_ONCE = "it works once, and what was used since the backup must not work again"
_SHORT = "it counts for minutes"

STORED = (
    StoredKeys(PEOPLE, "hash", entries="people"),
    StoredKeys(TOKENS, "hash"),
    StoredKeys(TOKENS_USED, "hash"),
    StoredKeys(FACTORS, "hash"),
    StoredKeys(recovery_key("*"), "hash"),
    StoredKeys(SUBJECTS, "hash"),
    StoredKeys(ERASING, "hash"),
    StoredKeys(INVITATIONS, "hash"),
    StoredKeys(invitation_key("*"), "string"),
    StoredKeys(LOG, "stream"),
    StoredKeys(SIGN_INS, "stream"),
    StoredKeys(FAILED, "hash"),
    StoredKeys(SIGNED_IN, "hash"),
    StoredKeys(notices_key("*"), "list"),
    StoredKeys(day_key("*"), "hash"),
    StoredKeys(workers_key("*"), "set"),
    StoredKeys(recent_key("*"), "zset"),
    LeftOut(session_key("*"), "people sign in again: a copy of the file lets nobody in"),
    LeftOut(SETUP, _ONCE),
    LeftOut(link_key("*"), _ONCE),
    LeftOut(link_permission_key("*"), _ONCE),
    LeftOut(code_used_key("*"), _SHORT),
    LeftOut(factor_offered_key("*"), _SHORT),
    LeftOut(PROBE, _SHORT),
    LeftOut(LOG_COPIES, "it counts while a person is erased"),
    LeftOut(log_copy_key("*"), "it is made anew"),
    LeftOut(finished_key("*"), "it counts for an hour"),
    LeftOut(code_wait_key("*"), _SHORT),
    LeftOut(refusal_logged_key("*"), _SHORT),
    LeftOut(failures_key("*"), _SHORT),
)
"""Which of these keys `leaseq backup` writes, and why it leaves out the others."""

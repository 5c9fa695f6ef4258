"""People, their roles and skills, password and token hashes, and the managers' log.

They are in the same server as the queues, under separate keys that only this package uses.
"""

from leaseq.webapp.store.accounts.accounts import Accounts
from leaseq.webapp.store.accounts.log import LogEntry, LogPage
from leaseq.webapp.store.accounts.model import (
    FULL_SCOPE,
    HIGHEST_ROLE,
    NARROW_SCOPES,
    ROLES,
    SCOPES,
    ApiToken,
    Invitation,
    Person,
    Role,
    Scope,
    at_least,
    scopes_of,
)
from leaseq.webapp.store.accounts.passwords import MAX_PASSWORD, MIN_PASSWORD, Passwords
from leaseq.webapp.store.accounts.people import Erasure
from leaseq.webapp.store.accounts.tokens import Caller

__all__ = [
    "FULL_SCOPE",
    "HIGHEST_ROLE",
    "MAX_PASSWORD",
    "MIN_PASSWORD",
    "NARROW_SCOPES",
    "ROLES",
    "SCOPES",
    "Accounts",
    "ApiToken",
    "Caller",
    "Erasure",
    "Invitation",
    "LogEntry",
    "LogPage",
    "Passwords",
    "Person",
    "Role",
    "Scope",
    "at_least",
    "scopes_of",
]

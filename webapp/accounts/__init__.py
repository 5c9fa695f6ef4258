"""People, their roles and skills, password and token hashes, and the managers' log.

They live in the same server as the queues, under keys of their own. This is the only package of the web
app that spells keys.
"""

from webapp.accounts.accounts import Accounts
from webapp.accounts.log import LogEntry
from webapp.accounts.model import ROLES, ApiToken, Person, Role, at_least
from webapp.accounts.passwords import MAX_PASSWORD, MIN_PASSWORD, Passwords

__all__ = [
    "MAX_PASSWORD",
    "MIN_PASSWORD",
    "ROLES",
    "Accounts",
    "ApiToken",
    "LogEntry",
    "Passwords",
    "Person",
    "Role",
    "at_least",
]

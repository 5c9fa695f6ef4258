"""The keys of accounts in the store."""

from __future__ import annotations

from leaseq.backup import LeftOut, StoredKeys

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


def log_copy(to: str) -> str:
    """Stream: a copy of the log with a person erased, until it replaces the log."""
    return f"{_BASE}log-copy:{to}"


def link(digest: str) -> str:
    """String: the record of a password link (JSON); expires after three days."""
    return f"{_BASE}link:{digest}"


def link_permission(name: str) -> str:
    """String: who allowed the account to be linked to an identity provider without its password (JSON);
    expires after three days."""
    return f"{_BASE}tie-allowed:{name}"


def invitation(digest: str) -> str:
    """String: exists while this invitation may be used."""
    return f"{_BASE}invitation:{digest}"


def session(digest: str) -> str:
    """String: "seconds name", when the session was last used and by whom; expires if it is not used."""
    return f"{_BASE}session:{digest}"


def factor_offered(name: str) -> str:
    """String: the secret of a second factor that the person has not confirmed; expires after 15 minutes."""
    return f"{_BASE}factor-offered:{name}"


def recovery(name: str) -> str:
    """Hash: the SHA-256 of each unused recovery code -> 1."""
    return f"{_BASE}recovery:{name}"


def code_used(name: str, step: int) -> str:
    """String: exists if the person used the code of this half minute."""
    return f"{_BASE}code-used:{step}:{name}"


def notices(name: str) -> str:
    """List: the notices for the person's next sign-in (JSON), latest first, ten at most."""
    return f"{_BASE}news:{name}"


def code_wait(counter: str) -> str:
    """String: "count until", how many codes were wrong in a row and when the next may be tried; expires a
    day after the last."""
    return f"{_BASE}slowed:{counter}"


def refusal_logged(counter: str) -> str:
    """String: exists if the log already has an entry that this counter is over its limit."""
    return f"{_BASE}refused:{counter}"


def failures(counter: str) -> str:
    """String: how many sign-ins failed; expires with its window."""
    return f"{_BASE}failures:{counter}"


def day_of(date: str, person: str) -> str:
    """Hash: "queue counter" -> count or milliseconds; expires after 400 days (webapp/store/activity.py)."""
    return f"{_BASE}day:{date}:{person}"


def finished_in(part: int) -> str:
    """Hash: "queue person" -> how many items they finished in this two-minute part, numbered since the epoch;
    expires after two hours (webapp/store/activity.py)."""
    return f"{_BASE}done:{part}"


def workers_of(date: str) -> str:
    """Set: the people who have a hash for this day."""
    return f"{_BASE}worked:{date}"


def recent(person: str) -> str:
    """Sorted set: "how queue token id" of items that the person finished or gave back, by time; expires
    within two days after the last."""
    return f"{_BASE}recent:{person}"


_ONCE = "it works once, and what was used since the backup must not work again"
_SHORT = "it counts for minutes"

STORED = (
    StoredKeys(PEOPLE, "hash", entries="people"),
    StoredKeys(TOKENS, "hash"),
    StoredKeys(TOKENS_USED, "hash"),
    StoredKeys(FACTORS, "hash"),
    StoredKeys(recovery("*"), "hash"),
    StoredKeys(SUBJECTS, "hash"),
    StoredKeys(ERASING, "hash"),
    StoredKeys(INVITATIONS, "hash"),
    StoredKeys(invitation("*"), "string"),
    StoredKeys(LOG, "stream"),
    StoredKeys(SIGN_INS, "stream"),
    StoredKeys(FAILED, "hash"),
    StoredKeys(SIGNED_IN, "hash"),
    StoredKeys(notices("*"), "list"),
    StoredKeys(_BASE + "day:*", "hash"),
    StoredKeys(workers_of("*"), "set"),
    StoredKeys(recent("*"), "zset"),
    LeftOut(session("*"), "people sign in again: a copy of the file lets nobody in"),
    LeftOut(SETUP, _ONCE),
    LeftOut(link("*"), _ONCE),
    LeftOut(link_permission("*"), _ONCE),
    LeftOut(_BASE + "code-used:*", _SHORT),
    LeftOut(factor_offered("*"), _SHORT),
    LeftOut(PROBE, _SHORT),
    LeftOut(LOG_COPIES, "it counts while a person is erased"),
    LeftOut(log_copy("*"), "it is made anew"),
    LeftOut(_BASE + "done:*", "it counts for an hour"),
    LeftOut(code_wait("*"), _SHORT),
    LeftOut(refusal_logged("*"), _SHORT),
    LeftOut(failures("*"), _SHORT),
)
"""Which of these keys `leaseq backup` writes, and why it leaves out the others."""

"""Password hashes: argon2id, at a cost that one sign-in can bear and a thief can't."""

from __future__ import annotations

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from leaseq import Invalid

MIN_PASSWORD = 10
MAX_PASSWORD = 128


class Passwords:
    """Makes and checks hashes. ``hasher`` sets the cost: 19 MiB, two passes, one lane unless told."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        self._nobody = self._hasher.hash(secrets.token_urlsafe(16))

    def hash(self, password: str) -> str:
        return self._hasher.hash(checked_password(password))

    def matches(self, password: str, kept: str | None) -> bool:
        """Whether ``password`` is the one; it takes as long where there is none to compare with."""
        try:
            self._hasher.verify(kept or self._nobody, password[: MAX_PASSWORD + 1])
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return kept is not None

    def is_outdated(self, kept: str) -> bool:
        """Whether the hash was made at another cost than today's."""
        return self._hasher.check_needs_rehash(kept)


def checked_password(password: object) -> str:
    if not isinstance(password, str) or not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise Invalid("password", f"{MIN_PASSWORD} to {MAX_PASSWORD} characters")
    try:
        password.encode()
    except UnicodeEncodeError:
        raise Invalid("password", "text without lone surrogates") from None
    return password

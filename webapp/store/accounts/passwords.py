"""Password rules and hashes: argon2id, at a cost that makes guessing expensive.

Its packages are imported when a password is checked, so that the library alone can read the accounts.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaseq import Invalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_PASSWORD = 10
MAX_PASSWORD = 128
COMMON_PASSWORDS = Path(__file__).with_name("common_passwords.txt")
"""The 75,000 most common passwords of at least MIN_PASSWORD characters, in lower case, each between two line
breaks. From SecLists; see docs/decisions/0009-common-passwords.md."""

SHORTEST_NAME = 3
"""Shorter names are not searched for in a password, since many good ones contain them."""


class Passwords:
    """Creates and checks hashes. ``hasher`` sets the cost: 19 MiB, two passes, one lane by default. ``run``
    calls a function with a tuple of arguments, possibly in another thread, since a hash takes 20 ms."""

    def __init__(
        self,
        hasher: PasswordHasher | None = None,
        run: Callable[[Callable[..., Any], tuple[Any, ...]], Any] = lambda function, args: function(*args),
    ) -> None:
        from argon2 import PasswordHasher  # noqa: PLC0415  # see above

        self._run = run
        self._hasher = hasher or PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)

    @cached_property
    def _dummy_hash(self) -> str:
        """What a password is compared with that has no hash. Made at the first check, since a start
        without it is 50 ms faster."""
        return str(self._run(self._hasher.hash, (secrets.token_urlsafe(16),)))

    def hash(self, password: str, name: str) -> str:
        """The hash of a new password of the person ``name``; raises Invalid if it is too easy to guess."""
        return str(self._run(self._hasher.hash, (checked_password(password, name),)))

    def matches(self, password: str, stored_hash: str | None) -> bool:
        """Whether the password is right. It takes as long if there is no hash to compare with."""
        from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415  # see above

        dummy_hash = self._dummy_hash  # whether it is needed or not, so that the first check shows nothing
        try:
            self._run(self._hasher.verify, (stored_hash or dummy_hash, password[: MAX_PASSWORD + 1]))
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return stored_hash is not None

    def rehashed(self, password: str, stored_hash: str) -> str | None:
        """A new hash of a right password, if the stored one has a different cost from today's."""
        return (
            str(self._run(self._hasher.hash, (password,)))
            if self._hasher.check_needs_rehash(stored_hash)
            else None
        )


def checked_password(password: str, name: str) -> str:
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise Invalid("password", "length", minimum=MIN_PASSWORD, maximum=MAX_PASSWORD)
    try:
        password.encode()
    except UnicodeEncodeError:
        raise Invalid("password", "format", what="surrogates") from None
    folded_password = password.casefold()
    if len(name) >= SHORTEST_NAME and name.casefold() in folded_password:
        raise Invalid("password", "password", what="name")
    if b"\n%b\n" % folded_password.strip().encode() in _common_passwords():
        raise Invalid("password", "password", what="common")
    return password


@lru_cache(1)
def _common_passwords() -> bytes:
    return COMMON_PASSWORDS.read_bytes()

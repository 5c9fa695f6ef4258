"""One-time links with which a person chooses a password: shown once, stored as a hash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from leaseq.webapp.store.accounts import keys
from leaseq.webapp.store.accounts.people import Record, may_grant_access
from leaseq.webapp.store.accounts.secret import digest, new_secret
from leaseq.webapp.store.base import Store

LINK_SECONDS = 3 * 86_400


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link's record: the person, the version of their sessions, and who created it."""

    name: str
    version: int
    by: str

    def is_valid(self, people: Mapping[str, Record]) -> bool:
        """Whether it may be used: not if the person has since got another password, been signed out
        everywhere or been disabled, nor if its author has lost the right to create it."""
        record = people.get(self.name)
        return record is not None and record.version == self.version and may_grant_access(self.by, people)


class Links(Store):
    def make(self, link: PasswordLink) -> str:
        """Create a link; returns its token in plain text, this once."""
        token = new_secret()
        with self._client.translating():
            self._redis.set(keys.link(digest(token)), json.dumps(asdict(link)), ex=LINK_SECONDS)
        return token

    def find(self, token: str) -> PasswordLink | None:
        """The record of this token, unless it was used or has expired."""
        with self._client.translating():
            raw = self._redis.get(keys.link(digest(token)))
        return PasswordLink(**json.loads(raw)) if raw else None

"""Accounts of an identity provider: which of its subjects has which account.

The provider identifies a person by a claim, which may change or later belong to somebody else, and by a
subject, which is permanent. An account is linked to one subject; from then on only the subject decides.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict
from datetime import UTC, datetime

from leaseq import Invalid, validation
from leaseq.webapp.store.accounts import model
from leaseq.webapp.store.accounts.model import Person, digest
from leaseq.webapp.store.accounts.onboarding import LINK_SECONDS, Onboarding, PasswordLink
from leaseq.webapp.store.accounts.people import Record


class AccountNotLinked(Invalid):
    """An account has the name of the provider's person; its owner or an admin must link the two first."""

    def __init__(self, person: Person) -> None:
        super().__init__("name", "sign_in", what="unlinked", name=person.name)
        self.person = person


class ProviderSignIn(Onboarding):
    def authenticate_by_provider(self, name: str, subject: str, *, create: bool) -> Person:
        """The person who signed in at the provider, by its ``subject`` and ``name``. Raises AccountNotLinked
        if the account of this name must be linked to them first."""
        subject_hash = digest(subject)
        linked_name = self._linked_name(subject_hash)
        record = self._people.find(linked_name or validation.text(name, "name"))
        if record is None and create:
            record = self._new(name, "worker", (), None)
            self._people.add(record)
            self.log.write(record.name, "person.added", record.name, role="worker")
        if record is None:
            raise Invalid("name", "sign_in", what="no_account", name=name)
        if record.disabled:
            raise Invalid("name", "sign_in", what="disabled")
        if linked_name is None:
            self._link_by_name(record, subject_hash)
        return record.person()

    def _link_by_name(self, record: Record, subject_hash: str) -> None:
        if self.has_provider_link(record.name):
            raise _other_owner_error(record.name)
        if self._requires_proof(record) and not self._use_permission(record.name):
            raise AccountNotLinked(record.person())
        self._link_provider(record.name, subject_hash)

    def _requires_proof(self, record: Record) -> bool:
        """Whether the account requires more proof than a name at the provider. An account without a password,
        for instance for a program, may have tokens, which its owner can see and revoke."""
        now = datetime.now(UTC)
        return (
            record.password is not None
            or record.role != "worker"
            or self.factors.find(record.name) is not None
            or any(not token.is_over(now) for token in self._tokens.of_person(record.name))
        )

    def link_provider(self, name: str, subject: str) -> None:
        """Link the account to the provider's subject, after its owner has entered its password and code."""
        self._link_provider(name, digest(subject))

    def _link_provider(self, name: str, subject_hash: str) -> None:
        self._redis.hsetnx(model.SUBJECTS, name, subject_hash)
        stored_hash = self._redis.hget(model.SUBJECTS, name).decode()
        if not hmac.compare_digest(stored_hash, subject_hash):
            raise _other_owner_error(name)
        self._notify(name, "sign-in.provider-tied", by=name)

    def _linked_name(self, subject_hash: str) -> str | None:
        """The name of the account that is linked to a subject."""
        subjects = self._redis.hgetall(model.SUBJECTS)
        return next(
            (name.decode() for name, stored_hash in subjects.items() if stored_hash.decode() == subject_hash),
            None,
        )

    def has_provider_link(self, name: str) -> bool:
        """Whether the account is linked to somebody at the provider."""
        return bool(self._redis.hexists(model.SUBJECTS, name))

    def unlink_provider(self, name: str, *, by: str) -> None:
        """Remove the link; the account can be linked again."""
        self._redis.hdel(model.SUBJECTS, name)
        self.log.write(by, "sign-in.provider-untied", name)

    def allow_provider_link(self, name: str, *, by: str) -> None:
        """Allow the next sign-in through the provider under this name, within three days, to link the account
        without its password."""
        record = self._people.get(name)
        text = json.dumps(asdict(PasswordLink(name, record.version, by)))
        self._redis.set(model.link_permission_key(name), text, ex=LINK_SECONDS)
        self.log.write(by, "sign-in.provider-allowed", name)

    def _use_permission(self, name: str) -> bool:
        """Use up an admin's permission, if it is still valid. Only one of two concurrent calls gets it."""
        text = self._redis.get(model.link_permission_key(name))
        if text is None or not self._redis.delete(model.link_permission_key(name)):
            return False
        return PasswordLink(**json.loads(text)).is_valid(self._people.by_name())


def _other_owner_error(name: str) -> Invalid:
    return Invalid("subject", "sign_in", what="other_subject", name=name)

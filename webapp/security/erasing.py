"""Erases a person, for both the page and REST."""

from __future__ import annotations

from leaseq.webapp.context import accounts, person, state
from leaseq.webapp.store.accounts.people import NoSuchPerson
from leaseq.webapp.store.person_data import ErasedPerson, erase_person


def erase(name: str) -> ErasedPerson:
    """Erase a person who has an account, or finish an erasure. Raises NoSuchPerson if there is neither, and
    the errors of `erase_person`."""
    account = accounts().find(name)
    if account is None and accounts().erasures.find(name) is None:
        raise NoSuchPerson(name)
    state().activity.flush()  # what this process still buffers
    return erase_person(state().client, accounts(), account.name if account else name, by=person().name)

"""Accepted and refused passwords, and equal cost of known and unknown names."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq.webapp.store.accounts import Accounts
from tests.support.refused import refused
from tests.web.conftest import CHEAP_PASSWORDS

GOOD_PASSWORD = "correct horse battery"


@pytest.mark.parametrize(
    ("password", "rule", "values"),
    [
        ("x" * 9, "length", {"minimum": 10, "maximum": 128}),
        ("x" * 129, "length", {"minimum": 10, "maximum": 128}),
        ("password123", "password", {"what": "common"}),
        ("PaSsWoRd1234", "password", {"what": "common"}),
        ("1234567890", "password", {"what": "common"}),
        ("qwertyuiop", "password", {"what": "common"}),
        ("iloveyou123", "password", {"what": "common"}),
        ("Annika is the best", "password", {"what": "name"}),
        ("the best is annika", "password", {"what": "name"}),
    ],
)
@pytest.mark.guard("common-passwords", "password-without-name")
def test_weak_password_is_refused_by_every_call(
    server: Any, queue_name: str, password: str, rule: str, values: dict[str, Any]
) -> None:
    accounts = Accounts(server.client, passwords=CHEAP_PASSWORDS)
    annika = f"Annika {queue_name}"[:64]
    personal_password = password.replace("Annika", annika).replace("annika", annika.lower())
    with refused(rule, "password", **values):
        accounts.add(annika, by="test", password=personal_password)
    accounts.add(annika, by="test", password=GOOD_PASSWORD)
    with refused(rule, "password", **values):
        accounts.set_password(annika, personal_password, by="test")
    with refused(rule, "password", **values):
        accounts.use_link(accounts.password_link(annika, by="test"), personal_password)
    assert accounts.verify(annika, GOOD_PASSWORD)


@pytest.mark.parametrize(
    "password", ["x" * 5 + "y" * 4 + "z", "zzyzx road at nine", "日本語のパスワードです", GOOD_PASSWORD]
)
def test_strong_password_is_accepted(password: str) -> None:
    assert CHEAP_PASSWORDS.matches(password, CHEAP_PASSWORDS.hash(password, "ann"))


@pytest.mark.guard("disabled-costs-a-hash")
def test_known_unknown_and_disabled_people_cost_one_hash_each(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal time is checked by the number of hashes, not by a clock."""
    accounts = Accounts(server.client, passwords=CHEAP_PASSWORDS)
    disabled_person, passwordless_person = f"disabled {queue_name}"[:64], f"without {queue_name}"[:64]
    accounts.add(queue_name, by="test", password=GOOD_PASSWORD)
    accounts.add(disabled_person, by="test", password=GOOD_PASSWORD)
    accounts.change(disabled_person, by="test", disabled=True)
    accounts.add(passwordless_person, by="test")
    passwords: list[str] = []
    hasher = type(CHEAP_PASSWORDS._hasher)
    verify = hasher.verify

    def count(self: Any, stored_hash: Any, password: Any) -> bool:
        passwords.append(password)
        return verify(self, stored_hash, password)

    monkeypatch.setattr(hasher, "verify", count)
    for name in (queue_name, disabled_person, passwordless_person, "nobody at all"):
        passwords.clear()
        assert accounts.verify(name, "not this one, surely") is None
        assert passwords == ["not this one, surely"], name


@pytest.mark.guard("rehash-undoes-nothing")
def test_rehash_does_not_overwrite_newer_password(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = Accounts(server.client, passwords=CHEAP_PASSWORDS)
    accounts.add(queue_name, by="test", password=GOOD_PASSWORD)

    def set_meanwhile(password: str, stored_hash: str) -> str:
        accounts.set_password(queue_name, "the thief does not know it", by="test")
        return CHEAP_PASSWORDS.hash(password, queue_name)

    monkeypatch.setattr(CHEAP_PASSWORDS, "rehashed", set_meanwhile)
    accounts.verify(queue_name, GOOD_PASSWORD)
    monkeypatch.undo()
    assert accounts.verify(queue_name, GOOD_PASSWORD) is None
    assert accounts.verify(queue_name, "the thief does not know it")

"""Which passwords are taken, and that an unknown name costs what a known one costs."""

from __future__ import annotations

from typing import Any

import pytest

from leaseq import Invalid
from leaseq.webapp.store.accounts import Accounts
from tests.web.conftest import CHEAP

GOOD = "correct horse battery"


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("x" * 9, "10 to 128"),
        ("x" * 129, "10 to 128"),
        ("password123", "common one"),
        ("PaSsWoRd1234", "common one"),
        ("1234567890", "common one"),
        ("qwertyuiop", "common one"),
        ("iloveyou123", "common one"),
        ("Annika is the best", "the name"),
        ("the best is annika", "the name"),
    ],
)
def test_a_password_that_is_tried_first_is_refused_wherever_one_is_set(
    server: Any, queue_name: str, password: str, why: str
) -> None:
    accounts = Accounts(server.client, passwords=CHEAP)
    annika = f"Annika {queue_name}"[:64]
    tried = password.replace("Annika", annika).replace("annika", annika.lower())
    with pytest.raises(Invalid, match=why) as refused:
        accounts.add(annika, by="test", password=tried)
    assert refused.value.field == "password"
    accounts.add(annika, by="test", password=GOOD)
    with pytest.raises(Invalid, match=why):
        accounts.set_password(annika, tried, by="test")
    with pytest.raises(Invalid, match=why):
        accounts.use_link(accounts.password_link(annika, by="test"), tried)
    assert accounts.verify(annika, GOOD)


@pytest.mark.parametrize(
    "password", ["x" * 5 + "y" * 4 + "z", "zzyzx road at nine", "日本語のパスワードです", GOOD]
)
def test_a_password_that_is_hard_to_guess_is_taken(password: str) -> None:
    assert CHEAP.matches(password, CHEAP.hash(password, "ann"))


def test_known_unknown_and_disabled_people_cost_one_hash_each(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same time, told by the work and not by a clock."""
    accounts = Accounts(server.client, passwords=CHEAP)
    disabled, without = f"disabled {queue_name}"[:64], f"without {queue_name}"[:64]
    accounts.add(queue_name, by="test", password=GOOD)
    accounts.add(disabled, by="test", password=GOOD)
    accounts.change(disabled, by="test", disabled=True)
    accounts.add(without, by="test")
    hashed: list[str] = []
    hasher = type(CHEAP._hasher)
    verify = hasher.verify

    def count(self: Any, kept: Any, tried: Any) -> bool:
        hashed.append(tried)
        return verify(self, kept, tried)

    monkeypatch.setattr(hasher, "verify", count)
    for name in (queue_name, disabled, without, "nobody at all"):
        hashed.clear()
        assert accounts.verify(name, "not this one, surely") is None
        assert hashed == ["not this one, surely"], name


def test_a_hash_that_is_renewed_does_not_undo_a_password_set_meanwhile(
    server: Any, queue_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = Accounts(server.client, passwords=CHEAP)
    accounts.add(queue_name, by="test", password=GOOD)

    def renewed(password: str, kept: str) -> str:
        accounts.set_password(queue_name, "the thief does not know it", by="test")
        return CHEAP.hash(password, queue_name)

    monkeypatch.setattr(CHEAP, "renewed", renewed)
    accounts.verify(queue_name, GOOD)
    monkeypatch.undo()
    assert accounts.verify(queue_name, GOOD) is None
    assert accounts.verify(queue_name, "the thief does not know it")

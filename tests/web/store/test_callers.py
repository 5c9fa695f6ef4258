"""Callers with a token: for how long their data is cached, and what reading it costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from leaseq.webapp.store.accounts import Accounts, model
from leaseq.webapp.store.accounts.people import People
from leaseq.webapp.store.accounts.tokens import FRESH_SECONDS, Callers, Tokens
from tests.support.leases import not_none
from tests.support.round_trips import count_round_trips


class Process:
    """The callers cache of one web process, with its own clocks."""

    def __init__(self, server: Any) -> None:
        self.seconds, self.now = 0.0, datetime.now(UTC).timestamp()
        people = People(server.client)
        tokens = Tokens(server.client, clock=lambda: self.now)
        self.callers = Callers(
            server.client, people, tokens, clock=lambda: self.now, monotonic=lambda: self.seconds
        )

    def accepts(self, token: str) -> bool:
        return self.callers.find(token) is not None


@pytest.fixture
def process(server: Any) -> Process:
    return Process(server)


@pytest.fixture
def other_accounts(server: Any) -> Accounts:
    """The accounts of another process."""
    return Accounts(server.client)


@pytest.fixture
def name(other_accounts: Accounts, new_name: Callable[[str], str]) -> str:
    return other_accounts.add(new_name("bot"), by="test", role="manager").name


@pytest.fixture
def token(other_accounts: Accounts, name: str) -> str:
    return other_accounts.create_token(name, "t", by="test", days=30)


def test_token_revoked_by_other_process_works_at_most_a_second(
    process: Process, other_accounts: Accounts, name: str, token: str
) -> None:
    assert process.accepts(token)
    other_accounts.revoke_tokens(name, by="test")
    process.seconds += FRESH_SECONDS - 0.01
    assert process.accepts(token)
    process.seconds += 0.01
    assert not process.accepts(token)
    assert FRESH_SECONDS <= 1


@pytest.mark.parametrize("change", ["disabled", "role", "skills"])
def test_person_changed_by_other_process_is_updated_after_a_second(
    process: Process, other_accounts: Accounts, name: str, token: str, change: str
) -> None:
    assert process.accepts(token)
    if change == "disabled":
        other_accounts.change(name, disabled=True, by="test")
    elif change == "role":
        other_accounts.change(name, role="worker", by="test")
    else:
        other_accounts.change(name, skills=["french"], by="test")
    process.seconds += FRESH_SECONDS
    caller = process.callers.find(token)
    if change == "disabled":
        assert caller is None
    else:
        person = not_none(caller).person
        assert (person.role, person.skills) == (
            ("worker", ()) if change == "role" else ("manager", ("french",))
        )


def test_changes_by_same_process_apply_immediately(accounts: Accounts, name: str, token: str) -> None:
    assert accounts.callers.find(token)
    accounts.change(name, role="worker", by="test")
    assert not_none(accounts.callers.find(token)).person.role == "worker"
    accounts.revoke_tokens(name, by="test")
    assert accounts.callers.find(token) is None


def test_known_token_takes_one_round_trip_per_second(
    process: Process, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert process.accepts(token)
    with count_round_trips(monkeypatch) as trips:
        assert process.accepts(token)
        assert trips.count == 0
        process.seconds += FRESH_SECONDS
        assert process.accepts(token)
        assert trips.count == 1


def test_unknown_token_is_not_cached(
    process: Process, other_accounts: Accounts, name: str, server: Any
) -> None:
    assert not process.accepts("leaseq_none")
    assert not process.accepts("")
    token = other_accounts.create_token(name, "another", by="test")
    assert process.accepts(token)
    server.client.redis.hdel(model.PEOPLE, name)  # no code does this, but a restored server may be so
    process.seconds += FRESH_SECONDS
    assert not process.accepts(token)
